-- 81-whole-files.t.lua - what every command writes is there whole or not at all: where the disk is
-- full, and where the program is ended while it writes. A disk that is full is played by a limit on
-- the size of files (SIGXFSZ ignored); where that signal is not ignored, it ends the program at the
-- first byte that it writes, at which it can do nothing about it, as SIGKILL does.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"
local quote = shell.quote

local folder = shell.folder()
if not shell.program:find("^/") then
    shell.program = io.popen("pwd"):read("l") .. "/" .. shell.program
end

local function at(name) return folder .. "/" .. name end

-- ---- what there is to read -------------------------------------------------------------------

shell.sh("mkdir " .. at "in" .. " " .. at "in/class")
shell.write(at "in/spin.lua", [[
local lab = require "streamlab"
lab.profile(function() lab.spin(0.01) end)
]])
shell.sh(("cd %s/in && \"$P\" --backend sim --trace t.json spin.lua && \"$P\" lab new lab && "
    .. "cp lab/solution.lua class/ada.lua && cp lab/starter.lua class/bob.lua"):format(folder))

local function script(text)
    return "--backend sim -e " .. quote("local tl = lab.profile(function() lab.spin(0) end) "
        .. "local r = lab.table{{a = 1, b = 2}, {a = 2, b = 3}} " .. text)
end

local compare <const> = "compare --against t4 --profile textbook --runs 1 --quiet ../in/spin.lua "
local header <const> = "-- A session of streamlab, written by .save.\n"

-- {what the program is given (in the folder `out`, beside `in`), the files that it writes,
--  lines = its stdin, old = what is in the files before, status = its own though a file could not
--  be written, again = false: it is not run without a limit, which takes long}
local cases = {
    { "show ../in/t.json -o x.html", "x.html" },
    { compare .. "--jsonl x.jsonl", "x.jsonl" }, { compare .. "--svg x.svg", "x.svg" },
    { compare .. "--dump .", "0001-.._in_spin.lua.txt" },
    { "calibrate --backend sim --quiet --only queue -o x.lua", "x.lua.partial" },
    { "probe --backend sim --json -o x.json", "x.json" },
    { "probe --backend sim -o /dev/null --save x.lua", "x.lua" },
    { "lab grade ../in/lab ../in/class/ada.lua -o x.json", "x.json" },
    { "lab grade ../in/lab ../in/class -o x.csv", "x.csv" },
    { "lab grade ../in/lab ../in/class -o .", "ada.json bob.json" },
    { "--backend sim --trace x.json ../in/spin.lua", "x.json" },
    { script "tl:save('x.svg')", "x.svg" }, { script "tl:save('x.json.gz')", "x.json.gz" },
    { script "r:csv('x.csv')", "x.csv" }, { script "r:jsonl('x.jsonl')", "x.jsonl" },
    { script "r:plot{x = 'a', y = 'b', file = 'x.svg'}", "x.svg" },
    { "--backend sim -i", "x.svg", lines = ".trace x.svg\n.trace off\n", status = 0 },
    { "--backend sim -i", "x.lua", lines = "x = 1\n.save x.lua\n", status = 0, old = header },
    { "lab pack ../in/lab -o .",
        "copy-and-compute-gradescope.zip copy-and-compute-student.zip", again = false },
}

-- ---- the runs ----------------------------------------------------------------------------------

local out <const> = at "out"

-- Runs the program with a limit on what it writes. What it says, and its status; through a pipe,
-- which has no limit.
local function run(case, before)
    return (shell.sh(("cd %s && { (%s; printf %%s %s | exec \"$P\" %s) 2>&1; echo \"status $?\"; } "
        .. "| cat")
        :format(out, before, quote(case.lines or ""), case[1])))
end

local function lay_out(case)
    shell.sh("rm -rf " .. out .. "; mkdir " .. out)
    for name in case[2]:gmatch("%S+") do
        shell.write(out .. "/" .. name, case.old or "old")
    end
end

-- Whether all files are as they were, and how many are beside them.
local function look(case)
    local is_old, others = true, shell.sh("LC_ALL=C ls -A " .. out)
    for name in case[2]:gmatch("%S+") do
        is_old = is_old and shell.read(out .. "/" .. name) == (case.old or "old")
        others = others:gsub(name:gsub("%p", "%%%0") .. "\n", "", 1)
    end
    return is_old, select(2, others:gsub("\n", ""))
end

local function try(case)
    local name = case.lines and case.lines:gsub("\n", " ") or case[1]:gsub("^.* 3}} ", "")
    lay_out(case)
    local said = run(case, "trap '' XFSZ; ulimit -f 0")
    local is_old, others = look(case)
    tap.ok(is_old and others == 0, "a full disk leaves everything as it was: " .. name)
    tap.like(said, "cannot write '[^\n]*': File too large", "and is reported")
    tap.like(said, ("status %d\n$"):format(case.status or 1), "with the status")

    said = run(case, "ulimit -c 0; ulimit -f 0")
    is_old, others = look(case)
    tap.like(said, "status 1[2-9]%d\n$", "who is ended while it writes: " .. name)
    tap.ok(is_old and others == 1, "leaves the old files, and beside them what it has begun")
    if case.again == false then
        return
    end
    said = run(case, "true")
    is_old, others = look(case)
    tap.ok(not is_old and others == (case[1]:find("^calibrate") and 1 or 0),
        "which the next run removes: " .. name)
    if not tap.like(said, "status 0\n$", "and its files are there") then
        tap.diag(said)
    end
end

for _, case in ipairs(cases) do
    try(case)
end

-- ---- a new lab ---------------------------------------------------------------------------------

local new <const> = { "lab new y/lab", "y/x" }

shell.sh("rm -rf " .. out .. "/*; mkdir " .. out .. "/y")
tap.like(run(new, "trap '' XFSZ; ulimit -f 0"), "cannot write .*: File too large\nstatus 1\n$",
    "a full disk is reported: lab new")
tap.is(shell.sh("ls " .. out .. "/y"), "", "and no part of the lab is there")
tap.like(run(new, "ulimit -c 0; ulimit -f 0"), "status 1[2-9]%d\n$",
         "lab new, ended while it writes")
tap.is(shell.sh("cd " .. out .. "/y && find . -type f ! -name '*.tmp'"), "",
       "leaves no file of a lab")

-- ---- pipes -------------------------------------------------------------------------------------

-- What a reader of a pipe gets, and what is there then.
local function piped(words, name)
    shell.sh("rm -rf " .. out .. "/*; mkfifo " .. out .. "/" .. name)
    local text = shell.sh(("cd %s && { cat %s & \"$P\" %s >../said 2>&1; wait; }"):format(out, name,
        words))
    return text, shell.sh("cd " .. out .. " && ls && [ -p " .. name .. " ] && echo pipe")
end

for words, begins in pairs {
    ["show ../in/t.json -o x.svg"] = "<?xml ", [script "r:csv('x.csv')"] = "a,b\r\n1,2\r\n",
    ["lab grade ../in/lab ../in/class -o x.csv"] = "student,score,",
    [compare .. "--jsonl x.jsonl"] = "{", ["probe --backend sim -o x.txt"] = "",
    ["--backend sim --trace x.json ../in/spin.lua"] = "{",
} do
    local name = words:match("x%.%w+")
    local text, there = piped(words, name)
    tap.ok(#text > 10 and text:sub(1, #begins) == begins, "a pipe is written to: " .. words)
    tap.is(there, name .. "\npipe\n", "and stays one")
end
local text =
    shell.sh(("\"$P\" lab grade %s/in/lab %s/in/class -o /dev/stdout --format csv | cat"):format(
    folder, folder))
tap.like(text, "\nbob [^\n]*\nstudent,score,", "so is stdout")
shell.sh(("\"$P\" lab grade %s/in/lab %s/in/class -o /dev/stdout --format csv "
    .. ">%s/all"):format(folder,
    folder, folder))
tap.is(shell.read(at "all"), text, "also if that is a file")
text = shell.sh(("cd %s && \"$P\" %s ../in/spin.lua --jsonl /dev/stdout | grep -c '^{'"):format(out,
    compare))
tap.is(text, "2\n", "what is written again and again into a file comes once to a pipe")

shell.remove(folder)
tap.done()
