-- new.lua - writes a complete small lab to start from: the files of repl/labs/template.

local files = import "repl/files.lua"

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

-- Makes the folders of a path below `folder`; true, or nil and a sentence.
local function make_folders(folder, path)
    for part in path:gmatch("()/") do
        local made, reason = program.make_folder(folder .. "/" .. path:sub(1, part - 1))
        if not made then
            return nil, reason
        end
    end
    return true
end

local function write_file(folder, path, id)
    local made, reason = make_folders(folder, path)
    if not made then
        return nil, reason
    end
    local written, why = files.write(folder .. "/" .. path, text_of(path, id))
    return written, why and "cannot write " .. why
end

-- Writes the lab into `folder`, which is new or empty. Returns the list of the files, or nil and
-- a sentence.
return function(folder)
    local names = program.folder(folder)
    if names and #names > 0 then
        return nil, ("%s is there already and not empty; a new lab needs a folder of its own")
            :format(folder)
    end
    local made, reason = program.make_folder(folder)
    if not made then
        return nil, reason
    end
    local written = {}
    for _, file in ipairs(embedded(template)) do
        local path = file:sub(#template + 1)
        local fine, why = write_file(folder, path, id_of(folder))
        if not fine then
            return nil, why
        end
        written[#written + 1] = path
    end
    return written
end
