-- 58-confine.t.lua - what a process can still do that has been confined, what its limits are,
-- and what is left to it when they are reached.
package.path = "tests/repl/?.lua;" .. package.path
local tap, shell = require "tap", require "shell"
local cpath = shell.program:gsub("[^/]*$", "") .. "tests/repl/?.so;" .. package.cpath
local program = debug.getregistry()["streamlab.environment"].program

local sanitized = (os.getenv("STREAMLAB_SANITIZE") or "") ~= ""
local folder = shell.folder()

-- What the children are told first, in one line. `say` gives a line of the report.
local prologue = ([[
package.cpath = %q
local environment = debug.getregistry()["streamlab.environment"]
local program, internals = environment.program, environment.internals
local function say(...)
    local words = { ... }
    for i = 1, select("#", ...) do words[i] = tostring(words[i]) end
    program.report(table.concat(words, " ") .. "\n")
end
local function confine(options)
    options = options or {}
    internals.load_blas()
    local lacking = program.confine {
        processor_seconds = options.processor_seconds or 30,
        memory_bytes = options.memory_bytes or 256 << 20, gpu = options.gpu,
    }
    return table.concat(lacking, "; ")
end
local folder = %q
local _, calls = pcall(require, "calls")
]]):format(cpath, folder)

-- Runs the code in a child, of another program if it is named. Returns the report and everything
-- else.
local function run(code, path_of_program)
    local path = shell.write(folder .. "/code.lua", prologue:gsub("\n", " ") .. "\n" .. code
        .. "\nprogram.leave()")
    program.spawn {
        command = { path_of_program or program.executable(), path }, wall_seconds = 50,
        output_bytes = 10000,
    }
    local result = program.wait()
    if result.status ~= 0 then
        tap.diag(result.errors)
    end
    return result.report, result
end

local lacking = run "say(confine())"
local can_filter = not lacking:find("not filtered", 1, true)

-- ---- the ordinary way -----------------------------------------------------------------------

local report, result = run [[
confine()
io.write("written")
say("reported")
program.leave()
say("not reached")
]]
tap.is(report, "reported\n", "report writes to the parent")
tap.is(result.output, "written", "leave writes what stdout holds")
tap.is(result.status, 0, "and ends the process with status 0")

report = run "program.report(('x'):rep(1000000)) program.leave()"
tap.is(#report, 1000000, "a report can be longer than a pipe")

tap.throws_like(function()
    program.confine { processor_seconds = 1, memory_bytes = 1 << 20 }
end, "confine: descriptor 3 is not a pipe", "who was not spawned is not confined")
for field, value in pairs { processor_seconds = -1, memory_bytes = "x" } do
    local options = { processor_seconds = 1, memory_bytes = 1 << 20, [field] = value }
    tap.throws_like(function() program.confine(options) end,
        "confine: " .. field .. " must be a positive number", field .. " must be one")
end

report = run [[
confine()
local a = lab.ones(200, 200)
say(a:matmul(a):sum():item())
local s = lab.stream()
local timeline = lab.profile(function() lab.ones(1000):to("cuda"):add(1):to("cpu") end)
say(#timeline:spans() > 0 and "recorded")
say(os.date("%Y") >= "2024" and os.getenv("HOME"))
]]
tap.is(report, "8000000.0\nrecorded\n/nonexistent\n",
    "the laboratory computes and records, with BLAS, and dates are there")

-- ---- system calls ---------------------------------------------------------------------------

local trying = [[
local results = calls.try_all()
for list, trials in pairs(results or {}) do
    for name, got in pairs(trials) do say(list, got, name) end
end
say(calls.thread())
]]

-- How often each result came, by list; and the names of those with another than `want`.
local function tried(text, want)
    local counts, others = {}, {}
    for list, got, name in text:gmatch("(%l+) (%a+) ([^\n]+)") do
        local key = list .. " " .. got
        counts[key] = (counts[key] or 0) + 1
        if want and want[list] and got ~= want[list] then
            others[#others + 1] = name .. ": " .. got
        end
    end
    table.sort(others)
    return counts, table.concat(others, ", ")
end

if can_filter then
    local free = tried(run(trying))
    local want = { refused = "EPERM", missing = "ENOSYS", allowed = "done" }
    report = run("confine() " .. trying)
    local counts, others = tried(report, want)
    tap.is(others, "", "every call is refused, missing or allowed as it should be")
    tap.ok(counts["refused EPERM"] > 100, "that is more than a hundred")
    -- In a container some are refused anyway, and more to users.
    tap.ok((free["refused EPERM"] or 0) < counts["refused EPERM"] * 2 // 3,
        "most of which go through without")
    report = run("confine { gpu = true } " .. trying)
    counts, others = tried(report, want)
    tap.is(others, "open: other, openat: other", "with a GPU, files can be opened, no more")
    tap.like(report, "true\n$", "and threads started")

    report = run [[
confine { gpu = true }
say(io.open("/dev/null", "r+") ~= nil)
say((select(2, io.open(folder .. "/new", "w"))))
say((select(2, io.open(folder .. "/code.lua", "w"))))
local old = io.open(folder .. "/code.lua", "r+")
say((select(2, old:write("x"):flush())))
]]
    tap.is(report, "true\n" .. folder .. "/new: Operation not permitted\n" .. folder
        .. "/code.lua: Operation not permitted\nFile too large\n",
        "with a GPU, files can be read, not made, emptied or written")
else
    tap.like(lacking, "system calls are not filtered: .", "no filter here, which is reported")
    tap.skip("no filter of system calls here", 6)
end

local plain = shell.program:gsub("[^/]*$", "tests/repl/streamlab-plain")
if shell.read(plain) then
    lacking = run("say(confine()) say(calls.thread(), io.open('/dev/null') == nil)", plain)
    tap.like(lacking, "^system calls are not filtered: this streamlab was built without libseccomp",
        "a build without libseccomp says so")
    tap.like(lacking, "\n%l+ true\n$", "and has the other limits")
else
    tap.skip("there is no build without libseccomp here", 2)
end

report = run [[
confine()
say(io.open("/dev/null") == nil)
say(io.open(folder .. "/new", "w") == nil)
say(os.execute("exit 0") == nil)
]]
tap.is(report, "true\ntrue\ntrue\n", "no file can be opened and nothing run, filter or not")
tap.is(shell.read(folder .. "/new"), nil, "no file is made")

report = run [[
local lower, higher = io.open("/dev/null"), io.open("/dev/null")
lower:close()
confine()
say(calls.duplicate(), io.type(higher))
]]
tap.is(report, "false file\n", "nor is there a descriptor for one, between those that are open")

-- ---- processor time -------------------------------------------------------------------------

report = run [[
confine { processor_seconds = 1 }
say(program.call_confined(function(...)
    calls.end_time()
    local n = ...
    while true do n = n + 1 end
end, 5))
local n = 0
for i = 1, 1000000 do n = n + i end
say(lab.ones(10):sum():item(), n)
]]
report = report:gsub("/[^ ]*/", "")
tap.is(report, "true false code.lua:6: used up its 1 s of processor time\n10.0 500000500000\n",
    "who has used up its time gets an error, and there is time to tell of it")

-- Each is what the untrusted code does. The signal of the time comes early, to be done sooner.
for _, case in ipairs {
    { "while true do pcall(function() while true do end end) end", "code that catches all errors" },
    { "coroutine.wrap(function() while true do end end)()", "a coroutine" },
    { "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
        "coroutines that are resumed" },
    { "local a = lab.ones(3000, 3000, {device = 'cpu'}):to('cuda') "
        .. "while true do a:matmul(a):sum():item() end", "the laboratory's computing" },
    { "setmetatable({}, {__close = 1}) local function f() return f() end f()", "tail calls" },
} do
    report = run("confine { processor_seconds = 1 }\nlocal up, ok, message = "
        .. "program.call_confined(function() calls.end_time() " .. case[1] .. " end)\n"
        .. "for i = 1, 100000 do end say(up, ok, message)")
    tap.like(report, "^true false [^\n]*code.lua:%d+: used up its 1 s of processor time\n$",
        case[2] .. " ends, and what comes after it does not")
end

report = run [[
confine { processor_seconds = 1 }
say(program.call_confined(function()
    calls.end_time()
    pcall(function() while true do end end)
    return "fine"
end))
]]
tap.is(report, "true true fine\n", "a child that catches the error and returns is reported")

-- What it says in between is that the first second was over when the error came.
report, result = run [[
confine { processor_seconds = 1 }
program.call_confined(function() while true do end end)
say(os.clock() > 0.5 and os.clock() < 2.5)
local text = ("x"):rep(1000)
program.call_confined(function() return text:find((".-"):rep(30) .. "y") end)
say("not reached")
]]
tap.is(report .. tostring(result.signal), "true\n9",
    "the time is what was given, and C code that never looks is killed")
tap.ok(result.processor_s < 3.5 and not result.timed_out, "a second later")

report = run [[
confine { processor_seconds = 1 }
say(program.call_confined(function(...) return select("#", ...), ... end, "a", nil, "c"))
say(program.call_confined(error, "message", 0))
]]
tap.is(report, "false true 3 a nil c\nfalse false message\n",
    "arguments, results and errors are handed on")

-- ---- memory ---------------------------------------------------------------------------------

report = run [[
confine { memory_bytes = 32 << 20 }
local kept
say(program.call_confined(function()
    kept = {}
    while true do kept[#kept + 1] = ("x"):rep(1000) .. #kept end
end))
-- string.rep builds in a buffer and copies: twice 4 of the 16 MiB that are kept back
say(#kept > 20000 and #kept < 33000, #("x"):rep(4 << 20))
]]
tap.is(report, "false false not enough memory\ntrue 4194304\n",
    "Lua's memory is limited, and there is some left to tell of it")

report = run [[
confine { memory_bytes = 32 << 20 }
say(pcall(string.rep, "x", 64 << 20))
say(#string.rep("x", 4 << 20))
local part = ("x"):rep(1 << 16)
for i = 1, 100 do local s = part:rep(64) end
say("end")
]]
tap.is(report, "false not enough memory\n4194304\nend\n", "what is freed can be had again")

report = run [[
confine { memory_bytes = 32 << 20 }
local th = lab.thread(function()
    local kept = {}
    while true do kept[#kept + 1] = ("x"):rep(1000) .. #kept end
end)
say(pcall(th.join, th))
for _ = 1, 300 do lab.thread(function() end):join() end
collectgarbage()
say(#("x"):rep(4 << 20), pcall(string.rep, "x", 64 << 20))
]]
tap.is(report, "false not enough memory\n4194304 false not enough memory\n",
    "the limit is for all states together, and ended threads take nothing of it")

report = run [[
confine { processor_seconds = 1 }
local up, ok, message = program.call_confined(function()
    calls.end_time()
    local th = lab.thread(function() while true do pcall(function() while true do end end) end end)
    while true do pcall(th.join, th) end
end)
say(up, ok, message)
]]
tap.like(report, "^true false [^\n]*used up its 1 s of processor time\n$",
    "a thread that catches all errors ends with the time, too")

if sanitized then
    tap.skip("address sanitizer maps more than any limit", 1)
else
    report = run [[
confine { memory_bytes = 64 << 20 }
local kept, a = {}, lab.rand(1000, 1000)
local up, ok, message = program.call_confined(function()
    for i = 1, 100 do kept[i] = a:matmul(a); kept[i]:sum():item() end
end)
say(up, ok, message)
]]
    tap.like(report, "^false false code.lua:5: .* of host memory\n$", "so is that of tensors")
end

shell.remove(folder)
tap.done()
