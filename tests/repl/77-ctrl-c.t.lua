-- 77-ctrl-c.t.lua - Ctrl-C, typed at a terminal while something runs: it stops, its line is
-- reported, the prompt is back and the device works.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local session = require "session"
local shell = require "shell"

local sanitized = (os.getenv("STREAMLAB_SANITIZE") or "") ~= ""

local function start()
    local s = session.open { arguments = { "--norc" }, columns = 200 }
    s:wait "lab[1]> "
    return s
end

-- What the screen has from the latest prompt of entry n on.
local function since(s, n)
    local prompt = ("\nlab[%d]>"):format(n):gsub("%p", "%%%0")
    return s:text():match(".*(" .. prompt .. ".*)") or ""
end

-- Types an entry that prints "go", and Ctrl-C a moment after that, when it is most likely inside
-- what comes next; what is said is the same if it is not. Returns its number.
local function interrupt(s, entry)
    local n = s:number()
    s:type(entry .. "\r")
    local began = s:until_true(function()
        return (since(s, n) .. "\n"):find("\ngo\n", 1, true) ~= nil
    end, "'go'")
    s.terminal:wait(0.02)
    s:type("\3")
    return n, began
end

-- The entry is stopped, and that is `said`, N being its number; then values and work are as
-- they should be.
local function stops(s, what, entry, said)
    local n, began = interrupt(s, entry)
    tap.ok(began and s:wait(("lab[%d]> "):format(n + 1)), "Ctrl-C brings the prompt back: " .. what)
    said = (said or "streamlab: lab[N]:1: interrupted!"):gsub("N", n)
    tap.like(since(s, n), "\ngo\n.*\n" .. said:gsub("%p", "%%%0") .. "\n[^\n]*$",
        "and the line is reported: " .. what)
    tap.is(s:ask "lab.matmul(lab.ones(50, 50), lab.ones(50, 50)):sum():item()", "125000.0\n",
        "and the device works: " .. what)
end

local s = start()
s:run "co = function() coroutine.wrap(function() print 'go' while true do end end)() end"
s:run "tl = lab.profile(function() for _ = 1, 30000 do lab.spin(0.001) end end)"
for _, case in ipairs {
    { "a loop", "print 'go' while true do end" },
    { "a coroutine", "co()", "streamlab: lab[1]:1: interrupted!" },
    { "a loop that catches all errors",
        "print 'go' while true do pcall(function() while true do end end) end" },
    { "a loop of work that is waited for",
        "print 'go' while true do lab.spin(1) lab.synchronize() end" },
    { "work in a stream",
        "print 'go' lab.with(lab.stream(), function() while true do lab.spin(1) end end)" },
    { "a recording", "print 'go' lab.profile(function() while true do lab.spin(1) end end)" },
    { "values computed on the CPU",
        "a = lab.randn(8000, 8000) a = lab.matmul(a, a) print 'go' a:get(1, 1)" },
    { "a chain of values", "a = lab.ones(500, 500) for _ = 1, 1000 do a = lab.matmul(a, a) end "
        .. "print 'go' a:get(1, 1)" },
    { "a host function", "s = lab.stream() s:launch_host_func(function() print 'go' "
        .. "while true do end end) s:synchronize()" },
    { "tl:causes() of many operations", "print 'go' while true do tl:causes() end" },
    { "tl:explain() of many operations", "print 'go' for _ = 1, 1e6 do tl:explain() end" },
    { "time(f)", "time(function() print 'go' while true do end end)" },
} do
    stops(s, case[1], case[2], case[3])
end

-- What the prompt itself runs.
shell.write(s.home .. "/loops.lua", "print 'go'\n\nwhile true do end\n")
local n, began = interrupt(s, ".load " .. s.home .. "/loops.lua")
tap.ok(began and s:finds("loops%.lua:3: interrupted!\nlab%[" .. n .. "%]>$"),
    "Ctrl-C stops a script that .load runs")
n, began = interrupt(s, "print 'go' local line = io.read() return line")
tap.ok(began and s:finds("\nstreamlab: lab%[" .. n .. "%]:1: interrupted!\nlab%[" .. n + 1
    .. "%]>$"), "and waiting for a line")
n, began = interrupt(s, "print 'go' return io.read()")
tap.ok(began and s:finds("\nnil +\"[^\n]*\" +4\nlab%[" .. n + 1 .. "%]>$"),
    "also as the last thing, when its value is shown")
n, began = interrupt(s, "return os.execute 'echo go; sleep 100'")
tap.ok(began and s:wait(("lab[%d]> "):format(n + 1)), "and another program")
tap.like(since(s, n), "nil +\"signal\" +2\n", "which os.execute tells")

-- ---- at the prompt -----------------------------------------------------------------------

s:type("1 +")
s:wait(("lab[%d]> 1 +"):format(n + 1))
s:type("\3\3\3\3")
s:interrupt()
tap.is(s:ask "'here'", '"here"\n', "at the prompt it never leaves, however often and fast")
s:type("x = {1,\r")
s:wait "...> "
s:interrupt()
tap.is(s:ask "x", "nil\nhint: x has no value\n", "it drops an entry that is not complete")
tap.is(s:leave(), 0, "and the console ends as ever")
s:close()

-- ---- a long simulation: what is left of it goes on ----------------------------------------

s = start()
s:run("for i = 1, 8 do local s = lab.stream{non_blocking = true} for _ = 1, 1000 do lab.spin(0.1 "
    .. "+ i / 1000, {blocks = 1000003 * i, threads = 64, stream = s}) end end")
n, began = interrupt(s, "print 'go' lab.synchronize()")
tap.ok(began and s:wait(("lab[%d]> "):format(n + 1)), "Ctrl-C stops a long simulation")
tap.is(s:ask "lab.ones(3, {device = 'cpu'}):get(2)", "1.0\n", "and what follows runs as ever")
s:type(".quit\r")
if sanitized then
    tap.skip("what is left of a long simulation is not freed at the end", 1)
else
    tap.is(s:ending(), 0, "and the console ends")
end
s:close()

-- ---- twice -----------------------------------------------------------------------------------

for _, case in ipairs {
    { "a finalizer", "setmetatable({}, {__gc = function() print 'go' while true do end end}) "
        .. "collectgarbage()" },
    { "a search in C", "a = ('a'):rep(3000) print 'go' a:find('.-.-.-.-.-b')" },
} do
    s = start()
    n, began = interrupt(s, case[2])
    tap.is(s.terminal:wait(0.1), nil, "one Ctrl-C does not stop " .. case[1])
    -- Two that come at the same time are one: as often as it takes.
    for _ = 1, 50 do
        s:type("\3")
        if s.terminal:wait(0.2) then
            break
        end
    end
    tap.is(s:ending(), 130, "the second one leaves, with 130: " .. case[1])
    tap.is(s.terminal:modes().canonical and s.terminal:modes().echo, true,
        "and the terminal is as before")
    local _, column = s.screen:cursor()
    tap.is(column, 1, "the cursor too, on a fresh row")
    s:close()
end

-- ---- predict -----------------------------------------------------------------------------------

-- Draw 4 does not end; so the line about it stays.
local folder = shell.folder()
shell.write(folder .. "/waits.lua", [[
package.loaded.n = (package.loaded.n or 0) + 1
lab.spin(1)
while package.loaded.n == 5 do end]])
s = session.open { shell = ("trap : INT; cd %s && \"$P\" predict --profile textbook --spread 9 "
    .. "waits.lua; echo ended $?")
    :format(folder) }
tap.ok(s:finds "waits.lua: draw 4 of 9$", "at a terminal predict says which draw it makes")
s:type "\3"
tap.ok(s:finds "stopped after 3 of 9 draws\nwaits.lua: makespan 1.00 ms[^\n]*\n[^\n]*\nended 130",
    "and Ctrl-C gives what there is, without that line")
s:close()
shell.remove(folder)

tap.done()
