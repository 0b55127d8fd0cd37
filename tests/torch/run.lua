-- run.lua - the pairs of tests/torch/pairs, run on both sides:
--   streamlab tests/torch/run.lua record FILE    writes what PyTorch shows to FILE
--   streamlab tests/torch/run.lua compare [FILE] shows what PyTorch, or FILE, and streamlab differ in
-- PYTHON names the interpreter that has PyTorch; python3 without it. streamlab runs on the simulator,
-- and with `--backend cuda` in front of the script on the GPU.

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
    local pipe = assert(io.popen(("exec %s '%s/torch/observe.py' > '%s' 2> '%s'"):format(python, folder,
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

local function indented(list)
    return "    " .. table.concat(list, "\n    ")
end

-- Prints the pairs in which the sides differ.
local function compare(path)
    local of, head = results.read(path)
    local backend, n = lab.device().backend, 0
    print(table.concat(head, "\n"))
    for _, pair in ipairs(list) do
        local theirs = of[pair.name] or {}
        for _, torch in ipairs { false, true } do
            local shown = ours.run(pair, backend, torch)
            local wanted = torch and pair.torch or not torch and pair.plain
            local same = results.counted(shown) == results.counted(theirs)
            local expected = wanted and results.counted(shown) .. "\n" == wanted or not wanted and same
            n = n + (expected and 0 or 1)
            if not same then
                print(("%s%s, %s%s"):format(expected and "" or "NOT AS STATED: ", pair.name, backend,
                    torch and " with lab.torch_defaults()" or ""))
                print("  PyTorch\n" .. indented(theirs) .. "\n  streamlab\n" .. indented(shown))
            end
        end
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
