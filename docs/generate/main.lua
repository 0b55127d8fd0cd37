-- main.lua - makes what docs/api is the source of:
--
--     build/streamlab docs/generate/main.lua reference FOLDER   the pages of docs/reference
--     build/streamlab docs/generate/main.lua editor FOLDER      streamlab.d.lua, for LuaLS
--     build/streamlab docs/generate/main.lua man FOLDER         streamlab.1, streamlab-lua.3
--
-- Each kind is a file here with a function files(), which gives name -> text. The data and
-- what the REPL shares with this (the index, the signatures, Markdown) are read from the
-- source tree, under the names that they are built in with.

local root <const> = arg[0]:match("^(.*)docs/generate/[^/]*$") or ""

local function quote(text)
    return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- ---- what these files see ------------------------------------------------------------

local environment, imported = setmetatable({}, { __index = _G }), {}

function environment.import(path)
    if imported[path] == nil then
        imported[path] = assert(loadfile(root .. path, "t", environment))()
    end
    return imported[path]
end

-- The files of a folder.
function environment.embedded(folder)
    local paths = {}
    for name in assert(io.popen("ls " .. quote(root .. folder))):lines() do
        if name:find("%.lua$") then
            paths[#paths + 1] = folder .. name
        end
    end
    return paths
end

-- What a command of the program under which this runs prints.
function environment.output_of(arguments)
    local pipe <close> = assert(io.popen(quote(arg[-1]) .. " " .. arguments))
    return pipe:read("a")
end

-- ---- writing -------------------------------------------------------------------------

local function write(path, text)
    local file <close> = assert(io.open(path, "w"))
    assert(file:write(text))
end

local what, folder = arg[1], arg[2]
local kinds <const> = { reference = true, editor = true, man = true }
if not kinds[what] or not folder or arg[3] then
    io.stderr:write("usage: streamlab docs/generate/main.lua reference|editor|man FOLDER\n")
    os.exit(2)
end
assert(os.execute("mkdir -p " .. quote(folder)))
for name, text in pairs(environment.import("docs/generate/" .. what .. ".lua").files()) do
    write(folder .. "/" .. name, text)
end
