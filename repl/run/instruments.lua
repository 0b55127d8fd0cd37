-- instruments.lua - loads the programs of scripts/measure, which measure GPUs and score the
-- simulator. They are no part of this program: they are read from the folder with its scripts, that
-- of an install or the one beside a program in a checkout. (The playground has some built in.)

local command = import "repl/run/command.lua"
local files = import "repl/run/files.lua"

local instruments = {}

local folder <const> = "scripts/measure/"

local function above(path)
    return path:match("^(.*)/[^/]*$") or "."
end

-- What the paths of instruments are relative to. Not any folder above the program: there may be
-- somebody else's files. The one with the program has `scripts` in a checkout, where make puts a
-- link, whatever the folder is called.
local function find_root()
    local own = internals.own_folder()
    if files.exists(own .. "/" .. folder) then
        return own .. "/"
    end
    return above(own) .. "/share/streamlab/"
end

local function text_of(path)
    if #embedded(path) > 0 then
        return embedded_text(path)
    end
    local root = find_root()
    if not files.exists(root .. folder) then
        command.fail(("this command is read from %s%s, which is not there: a copy of the program "
            .. "alone lacks it"):format(root, folder))
    end
    local text, reason = files.read(root .. path)
    return text or command.fail("cannot read " .. reason)
end

-- They see the libraries, `lab` and `import`, which imports each other as well; what else they need
-- of the program is in measuring.lua.
local environment, imported = {}, {}
for name, value in pairs(_ENV) do
    environment[name] = value
end
environment.internals, environment.program = nil, nil
environment.embedded, environment.embedded_text = nil, nil

local function chunk_of(path)
    local chunk, message = load(text_of(path), "=streamlab", "t", environment)
    return chunk or command.fail(path .. ": " .. message)
end

-- What such a file returns: "scripts/measure/probe/table.lua". It runs once.
function instruments.import(path)
    if imported[path] == nil then
        imported[path] = chunk_of(path)()
    end
    return imported[path]
end

function environment.import(path)
    return (path:sub(1, #folder) == folder and instruments.import or import)(path)
end

-- Runs the program of that name with its command line.
function instruments.run(name, ...)
    return chunk_of(folder .. name .. ".lua")(...)
end

return instruments
