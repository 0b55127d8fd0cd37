-- run.lua - the pairs of tests/torch/pairs, run on both sides:
--   streamlab tests/torch/run.lua record FILE    writes what PyTorch shows to FILE
--   streamlab tests/torch/run.lua compare [FILE] shows what PyTorch, or FILE, and streamlab differ
--   in
-- PYTHON names the interpreter that has PyTorch; python3 without it. streamlab runs on the
-- simulator, and with `--backend cuda` in front of the script on the GPU.

local folder <const> = arg[0]:match("^(.*)/torch/[^/]*$")
package.path = folder .. "/?.lua;" .. package.path

local list = require "torch.pairs"
local ours = require "torch.ours"
local results = require "torch.results"

local function fail(text, code)
    io.stderr:write("tests/torch: ", text, "\n")
    os.exit(code)
end

-- Runs the Python side of all pairs; what it printed is in the file at `path`. Gives why there is
-- no PyTorch here, if there is none.
local function run_python(path)
    local errors = os.tmpname()
    local python = os.getenv("PYTHON") or "python3"
    local pipe =
        assert(io.popen(("exec %s '%s/torch/observe.py' > '%s' 2> '%s'"):format(python, folder,
        path, errors), "w"))
    for _, pair in ipairs(list) do
        pipe:write("=== ", pair.name, "\n", pair.python)
    end
    local fine, _, code = pipe:close()
    local said = io.open(errors):read("a")
    os.remove(errors)
    if fine then
        return nil
    elseif code == 3 then
        return said:gsub("%s+$", "")
    end
    fail("the Python side ended with " .. tostring(code) .. ":\n" .. said, 1)
end

local function record(path)
    local shown = os.tmpname()
    local missing = run_python(shown)
    if missing then
        fail(missing, 1)
    end
    local file = assert(io.open(path, "w"))
    file:write("# What PyTorch shows for the pairs of tests/torch/pairs, written by\n",
        "#     build/streamlab tests/torch/run.lua record FILE\n",
        "# ", os.date("!%Y-%m-%d"), "\n")
    file:write(io.open(shown):read("a"))
    file:close()
    os.remove(shown)
end

local function indented(text)
    return "    " .. text:gsub("\n", "\n    ")
end

-- What the pair shows here otherwise than PyTorch, and whether that is what it states.
local function differing(pair, theirs, backend, torch)
    local shown = ours.run(pair, backend, torch)
    local lines = results.differing(shown, theirs)
    return lines, lines == results.stated(pair, torch)
        and #results.counted(shown) == #results.counted(theirs)
end

-- Prints it, without and with torch_defaults. Gives whether it is as stated both times.
local function compare_pair(pair, theirs, backend)
    local plain, plain_stated = differing(pair, theirs, backend, false)
    local torch, torch_stated = differing(pair, theirs, backend, true)
    local as_stated = plain_stated and torch_stated
    if plain ~= "" or torch ~= "" or not as_stated then
        print((as_stated and "" or "NOT AS STATED: ") .. pair.name)
        print("  PyTorch\n" .. indented(table.concat(theirs, "\n")))
        print(("  streamlab on %s, where it differs\n%s"):format(backend, indented(plain)))
        if torch ~= plain then
            print("  after lab.torch_defaults()\n" .. indented(torch ~= "" and torch or "nothing"))
        end
    end
    return as_stated
end

-- Prints all in which the sides differ. Gives whether that is what the pairs state.
local function compare(path)
    local of, head = results.read(path)
    local backend, n = lab.device().backend, 0
    print(table.concat(head, "\n"))
    for _, pair in ipairs(list) do
        n = n + (compare_pair(pair, of[pair.name] or {}, backend) and 0 or 1)
    end
    print(("%d pairs, %d not as their files state"):format(#list, n))
    return n == 0
end

if arg[1] == "record" and arg[2] then
    record(arg[2])
elseif arg[1] == "compare" and arg[2] then
    os.exit(compare(arg[2]))
elseif arg[1] == "compare" then
    local path = os.tmpname()
    local missing = run_python(path)
    if missing then
        print("make check-torch: skipped: " .. missing)
        os.exit(true)
    end
    os.exit(compare(path))
else
    fail("record FILE, or compare [FILE]", 2)
end
