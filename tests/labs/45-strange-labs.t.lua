-- 45-strange-labs.t.lua - labs that do not end, take all memory or ask for limits that no system
-- has: they are refused with a sentence that names the file, as a profile is.
package.path = "tests/repl/?.lua;" .. package.path
local tap, shell = require "tap", require "shell"

local folder = shell.folder()
local root = shell.sh "pwd":match "[^\n]+"
local out, err, code

local function sh(command)
    return shell.sh("cd " .. folder .. "; " .. command)
end
sh(("cp -r %s/tests/labs/attack-lab lab; mkdir class; cp lab/solution.lua "
    .. "class/ada.lua"):format(root))

local lab_text = shell.read(folder .. "/lab/lab.lua")
local function refuses_lab(file, text, why, name)
    local before = shell.read(folder .. "/lab/" .. file)
    shell.write(folder .. "/lab/" .. file, text)
    out, err, code = sh '"$P" lab grade lab class'
    shell.write(folder .. "/lab/" .. file, before)
    tap.like(out .. err .. code, "^streamlab: lab: lab[:/].*" .. why .. "\n1$", name)
end

local ends = "it does not come to an end"
refuses_lab("lab.lua", "while true do end", "lab.lua fails: lab.lua:1: " .. ends,
            "a lab.lua that does not end")
refuses_lab("lab.lua", "local t = {} while true do t = { t, t, t } end",
    "lab.lua takes more than 16 MB of memory", "a lab.lua that takes all memory")
refuses_lab("lab.lua", 'return ("x"):rep(1 << 30)', "attempt to call a nil value %(method 'rep'%)",
    "a lab.lua that has no long texts")
refuses_lab("lab.lua", 'print "x"', "lab.lua:1: attempt to call a nil value %(global 'print'%)",
    "a lab.lua does not print")
if tap.sized(false, true) then       -- two seconds, and in make check as below
    refuses_lab("tests/hidden.lua", "while true do end", "tests/hidden.lua:1: " .. ends,
                "tests that do not end")
end
refuses_lab("tests/visible.lua", "os.execute('sleep 100')",
    "os.execute: only tests start programs, and these are being listed",
    "tests that are listed start no program, which might not end")
refuses_lab("tests/visible.lua", "io.popen('sleep 100')",
    "io.popen: only tests start programs, and these are being listed",
    "nor by another way")
refuses_lab("tests/visible.lua",
    "print(('x'):rep(1000)) io.write('y') io.stdout:write('z') error('later', 0)", "later",
    "and what they print goes nowhere")
if tap.sized(false, true) then
    refuses_lab("tests/hidden.lua",
        "local function f() while true do end end while true do pcall(pcall, f) end",
        "tests/hidden.lua:1: " .. ends, "tests that do not end, in pcall")
end
refuses_lab("tests/hidden.lua",
    "local t = {} for i = 1, math.huge do t[i] = ('x'):rep(1 << 20) .. i end",
    "tests/hidden.lua takes more than 256 MB of memory", "tests that take all memory")
refuses_lab("tests/hidden.lua", "os.exit(0)",
    "tests/hidden.lua:1: os.exit: a lab's tests are listed and run by a process that is not theirs",
    "tests that would end the grader")
refuses_lab("tests/hidden.lua", "io.open('/dev/zero'):read('a')",
    "takes more than 256 MB of memory", "tests that read without end")
for _, case in ipairs { { "processor_s", "1e300", "from 0.01 to 86400, got 1e%+300" },
    { "wall_s", "0/0", "from 0.01 to 86400" },
    { "memory_mib", "1e18", "from 16 to 1048576, got 1e%+18" },
    { "memory_mib", "1", "from 16 to 1048576, got 1" },
    { "output_kib", "-1", "from 0.001 to 1048576, got %-1" },
    { "output_kib", "1e300", "from 0.001 to 1048576" } } do
    refuses_lab("lab.lua",
        (lab_text:gsub("limits = %b{}", ("limits = { %s = %s }"):format(case[1], case[2]))),
        ("lab.lua: limits: '%s' must be a number "):format(case[1]) .. case[3] .. ".*",
        ("a limit of %s = %s"):format(case[1], case[2]))
end
refuses_lab("lab.lua", (lab_text:gsub("points = %d+", "points = 1e300")),
    "'points' must be a positive number up to 1000000, got 1e%+300",
    "points without bound")
sh "mv lab/lab.lua kept.lua; mkfifo lab/lab.lua"
tap.is(select(2, sh '"$P" lab grade lab class'),
    "streamlab: lab: cannot read lab/lab.lua: it is no file\n",
    "a pipe is no lab.lua")
sh "rm lab/lab.lua; ln -s /dev/zero lab/lab.lua"
tap.is(select(2, sh '"$P" lab grade lab class'),
    "streamlab: lab: cannot read lab/lab.lua: it is no file\n",
    "nor is a device")
sh "rm lab/lab.lua; truncate -s 17M lab/lab.lua"
tap.is(select(2, sh '"$P" lab grade lab class'),
    "streamlab: lab: cannot read lab/lab.lua: it has 17825792 bytes, more than "
    .. "16777216\n", "nor what is too long")

shell.remove(folder)
tap.done()
