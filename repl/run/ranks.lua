-- ranks.lua - several files for streamlab show: the ranks of one distributed program.

local command = import "repl/run/command.lua"

local lab = lab
local ranks = {}

-- The files of a folder whose names end in one of these.
local function in_folder(folder, endings)
    local found = {}
    for _, name in ipairs(program.folder(folder) or {}) do
        for _, ending in ipairs(endings) do
            if name:sub(-#ending) == ending then
                found[#found + 1] = folder:gsub("/+$", "") .. "/" .. name
                break
            end
        end
    end
    table.sort(found)
    return found
end

-- A rank's files, or nil: what is given is one timeline. `asked`: --ranks is.
function ranks.files(given, asked)
    if #given > 1 then
        return given
    end
    local path = program.real_path(given[1])
    if path and program.file_kind(path) == "folder" then
        local found = in_folder(given[1], { ".json", ".json.gz" })
        if #found == 0 and asked then
            found = in_folder(given[1], { ".spool" })
        end
        if #found > 1 then
            return found
        end
    end
    if asked then
        command.refuse(("--ranks needs several files, or a folder of them; '%s' is one")
            :format(given[1]))
    end
end

-- What says more about one timeline than can be said about several.
local of_one <const> = {
    "chart", "summary", "explain", "stream", "by", "idle", "device", "step", "range", "skip",
    "count", "from", "to", "rows", "files", "theme", "counters",
}

function ranks.print(files, options)
    for _, name in ipairs(of_one) do
        if options[name] ~= nil then
            command.refuse(("several files are ranks of one program, for which there is no --%s; "
                .. "streamlab show prints each alone, and streamlab diff compares two")
                :format(name == "files" and "output" or name))
        end
    end
    local found = command.try(lab.ranks, files)
    if options.json then
        io.write(command.try(found.json, found))
    else
        local columns = options.columns or internals.columns(1)
        io.write(command.try(found.text, found, { columns = columns }))
    end
end

return ranks
