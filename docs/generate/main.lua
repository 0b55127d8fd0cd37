-- main.lua - makes what docs/api and repl/usage are the source of:
--
--     build/streamlab docs/generate/main.lua reference FOLDER   the pages of docs/reference
--     build/streamlab docs/generate/main.lua editor FOLDER      streamlab.d.lua, for LuaLS
--     build/streamlab docs/generate/main.lua man FOLDER         streamlab.1, streamlab-lua.3
--     build/streamlab docs/generate/main.lua completion FOLDER  completion.bash
--
-- Each kind is a file here with a function files(), which gives name -> text. The data and
-- what the REPL shares with this (the index, the signatures, Markdown) are read from the
-- source tree, under the names that they are built in with.

local root <const> = arg[0]:match("^(.*)docs/generate/[^/]*$") or ""

local source = dofile(root .. "docs/generate/source.lua")
local environment = source.environment(root)

-- ---- writing -------------------------------------------------------------------------

local function write(path, text)
    local file <close> = assert(io.open(path, "w"))
    assert(file:write(text))
end

local what, folder = arg[1], arg[2]
local kinds <const> = { reference = true, editor = true, man = true, completion = true }
if not kinds[what] or not folder or arg[3] then
    io.stderr:write("usage: streamlab docs/generate/main.lua reference|editor|man|completion ",
        "FOLDER\n")
    os.exit(2)
end
assert(os.execute("mkdir -p " .. source.quote(folder)))
for name, text in pairs(environment.import("docs/generate/" .. what .. ".lua").files()) do
    write(folder .. "/" .. name, text)
end
