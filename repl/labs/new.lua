-- new.lua - writes a complete small lab to start from: the files of repl/labs/template.

local files = import "repl/run/files.lua"
local lists = import "repl/run/lists.lua"

local template <const> = "repl/labs/template/"

-- The last part of a path, where it can be a lab's id.
local function id_of(folder)
    local name = folder:gsub("/+$", ""):match("[^/]*$")
    return name:find("^%w[%w_.-]*$") and name
end

-- The lab's own id is its folder's name.
local function text_of(path, id)
    local text = embedded_text(template .. path)
    if path == "lab.lua" and id then
        text = text:gsub('id = "[^"]*"', function() return ('id = "%s"'):format(id) end, 1)
    end
    return text
end

-- Makes the folders of a lab's files below `folder`, and that itself; true, or nil and a
-- sentence. Those that were made are in the list `made`, outer ones first.
local function make_folders(made, folder, paths)
    local wanted, seen = { folder }, {}
    for _, path in ipairs(paths) do
        local part = path:match("^(.*)/")
        if part and not seen[part] then
            seen[part] = true
            wanted[#wanted + 1] = folder .. "/" .. part
        end
    end
    for _, path in ipairs(wanted) do
        local is_new = program.file_kind(path) == nil
        local fine, reason = program.make_folder(path)
        if not fine then
            return nil, reason
        end
        made[#made + 1] = is_new and path or nil
    end
    return true
end

local function write(made, folder, paths)
    local fine, reason = make_folders(made, folder, paths)
    if not fine then
        return nil, reason
    end
    local id = id_of(folder)
    return files.write_all(lists.map(paths, function(path)
        return { path = folder .. "/" .. path, text = text_of(path, id) }
    end))
end

-- Writes the lab into `folder`, which is new or empty. Returns the list of the files; or nil and
-- a sentence, and then nothing has been made.
return function(folder)
    local names = program.folder(folder)
    if names and #names > 0 then
        return nil, ("%s is there already and not empty; a new lab needs a folder of its own")
            :format(folder)
    end
    local made = {}
    local paths = lists.map(embedded(template), function(file) return file:sub(#template + 1) end)
    local written, reason = write(made, folder, paths)
    if written then
        return paths
    end
    for i = #made, 1, -1 do
        os.remove(made[i])
    end
    return nil, reason
end
