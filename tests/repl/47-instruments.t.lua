-- 47-instruments.t.lua - the commands that are read from scripts/measure: that each of them loads,
-- and what it says where the folder is not. What they measure is tested by make check-measure.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder = shell.folder()
local function run(program, line)
    return shell.sh(("cd %s && %s %s"):format(shell.quote(folder), program, line))
end

-- A command, a line that needs nothing but its files, and what it prints; a wrong line.
local commands = {
    { "calibrate", "calibrate --difference h200 a100", "sm_count", "calibrate --nix" },
    { "probe", "probe --profile textbook", "cudaMalloc", "probe --nix" },
    { "compare", "compare --benchmark", "there is no docs/results/benchmark.jsonl here",
      "compare --benchmark --runs 2" },
}
for _, row in ipairs(commands) do
    local name, line, shown, wrong = table.unpack(row)
    local out, err, code = run('"$P"', name .. " --help")
    tap.is(code, 0, name .. " --help succeeds")
    tap.like(out, "^usage: streamlab " .. name, "and says how " .. name .. " is called")
    out, err = run('"$P"', line)
    tap.like(out .. err, shown, name .. " runs in any folder")
    out, err, code = run('"$P"', wrong)
    tap.is(code, 2, name .. " refuses a wrong option")
    tap.like(err, "^streamlab: " .. name .. ": .*%(streamlab " .. name .. " %-%-help has more%)\n$",
        "and says where more is said")
end

-- A copy of the program has no folder beside it.
os.execute(('mkdir -p %s/a/bin && cp "%s" %s/a/bin'):format(folder, shell.program, folder))
for _, line in ipairs { "calibrate -o x.lua", "probe", "compare --benchmark" } do
    local name = line:match("%l+")
    local out, err, code = run("a/bin/streamlab", "--backend sim " .. line)
    tap.is(code, 1, name .. " fails without its folder")
    tap.like(err, "^streamlab: " .. name .. ": this command is read from [^\n]*/a/share/streamlab/"
        .. "scripts/measure/, which is not there: a copy of the program alone lacks it\n$",
        "and names the folder in one sentence")
    tap.is(out, "", "and prints nothing else")
end
local _, _, there = run("a/bin/streamlab", "compare --help")
tap.is(there, 0, "compare itself is in the program")

-- An install has it below share/streamlab, for which a link will do.
os.execute(("mkdir -p %s/a/share && ln -s %s %s/a/share/streamlab"):format(folder,
    shell.quote(os.getenv("PWD")), folder))
local out, err, code = run("a/bin/streamlab", "probe --profile textbook")
tap.is(code, 0, "an installed program finds it")
tap.like(out, "cudaMalloc", "and runs it")

-- Also where the folder of the install is called as that of a checkout's build often is.
os.execute(("mv %s/a %s/build && rm -rf %s/scripts"):format(folder, folder, folder))
out, err, code = run("build/bin/streamlab", "probe --profile textbook")
tap.is(code, 0, "an install below build/ finds its own")
tap.like(out, "cudaMalloc", "and runs it")
os.execute(("mv %s/build %s/a"):format(folder, folder))

-- A build has a link beside the program, in a folder of any name.
os.execute(("cd %s && mkdir out && cp a/bin/streamlab out && ln -s %s/scripts out"):format(folder,
    shell.quote(os.getenv("PWD"))))
out, err, code = run("out/streamlab", "probe --profile textbook")
tap.is(code, 0, "a program that was built in a folder of another name finds it")
tap.like(out, "cudaMalloc", "and runs it")

-- Folders that happen to be there are not read: they may be anybody's.
os.execute(("mkdir -p %s/scripts/measure && echo 'print \"planted\"' >%s/scripts/measure/probe.lua")
    :format(folder, folder))
os.execute(("rm %s/a/share/streamlab"):format(folder))
out = run("a/bin/streamlab", "probe")
tap.is(out, "", "what lies in the current folder is not run")
os.execute(("mv %s/a/bin %s/build"):format(folder, folder))
out = run("build/streamlab", "probe")
tap.is(out, "", "nor what lies beside a folder that is called build")

shell.remove(folder)
tap.done()
