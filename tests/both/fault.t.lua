-- fault.t.lua - a kernel that faults, and Ctrl-C in a wait: each in a program of its own,
-- since after the first the device is lost. For a real GPU only.
--
-- The one claim about time: neither a wait that Ctrl-C ends, nor the program's end after
-- it, lasts as long as the spin of 12 s that the GPU is busy with.

local T = require "tap"
local shell = require "repl.shell"
local json = require "both.json"

T.open_real()
shell.environment = ":"         -- the children's as well

local folder = shell.folder()
local path, trace = folder .. "/script.lua", folder .. "/trace.json"

-- Runs the script's text, with more options; gives stdout, stderr and the status.
local function run(text, options)
    local words = table.move(options or {}, 1, 2, 2, { "--backend=cuda" })
    words[#words + 1] = shell.write(path, text)
    return shell.run(words)
end

-- ---- a lost device --------------------------------------------------------------------

local function a_fault()
    local out, err, code = run[[
local t = lab.ones(4)
print(lab.sum(t):item())
lab.cuda.trap()
local fine, e = pcall(lab.synchronize)
print(fine, e.code, e.op, e.where)
print(e.message)
]]
    local lines = {}
    for line in out:gmatch("[^\n]+") do lines[#lines + 1] = line end
    T.is(lines[1], "4.0", "before the fault the device works")
    T.is(lines[2], "false\tSL_EFAULT\tsynchronize\tscript.lua:4", "the next call that waits fails")
    T.like(lines[3], "trap at script%.lua:3", "and names what was in flight, with its line")
    T.is(code, 0, "a script that catches the error goes on to its end")
    T.is(err, "", "without a word")
end

-- Every later call says so, none of them hangs, and the memory is dropped all the same.
local function later_calls()
    local out, err, code = run[[
local t, s, e = lab.ones(4), lab.stream{}, lab.event{}
local host = lab.ones(4, {device = "cpu"})
local pinned = lab.ones(4, {device = "cpu", pinned = true})
local square, product = lab.ones(2, 2), lab.ones(2, 2)
e:record(s)
lab.synchronize()
s:launch_host_func(function() end)
lab.synchronize()
lab.cuda.trap()
pcall(lab.synchronize)
local calls = {
    add = function() lab.add(t, t) end, mul = function() lab.mul(t, 2, {out = t}) end,
    matmul = function() lab.matmul(square, square, {out = product}) end,
    fill = function() t:fill_(3) end, get = function() t:get(1) end,
    spin = function() lab.spin(1) end, copy = function() t:copy_(host) end,
    back = function() pinned:copy_(t, {non_blocking = true}) end,
    query = function() s:query() end, wait = function() s:synchronize() end,
    record = function() e:record(s) end, event = function() e:synchronize() end,
    waiting = function() s:wait_event(e) end, func = function() s:launch_host_func(print) end,
    zeros = function() lab.zeros(3) end, stream = function() lab.stream{} end,
    malloc = function() assert(lab.cuda.malloc(100)) end,
    memset = function() lab.cuda.memset(t, 0) end,
    profile = function() lab.profile(function() lab.spin(1) end) end,
    synchronize = lab.synchronize, trap = lab.cuda.trap,
}
for name, f in pairs(calls) do
    local fine, e = pcall(f)
    if fine or type(e) ~= "table" or e.code ~= "SL_EFAULT" then print(name, fine, e) end
end
t:free()
t, s, e, square, product = nil
collectgarbage()
collectgarbage()
print(host:get(4) + pinned:get(4))
lab.open{backend = "sim", profile = "textbook"}
print(lab.sum(lab.ones(5)):item())
print("end")
]]
    T.is(out, "2.0\n5.0\nend\n", "after a fault each call of the device fails with SL_EFAULT, "
         .. "host memory can be read, and a simulated GPU be opened")
    T.is(code .. err, "0", "and the program ends well")
end

local function in_flight()
    local out, _, code = run[[
local t, s, ran = lab.zeros(1000), lab.stream{}, 0
lab.add(t, 1, {out = t, stream = s})
lab.synchronize()
lab.spin(200, {stream = s})
lab.cuda.trap{stream = s}
lab.add(t, 1, {out = t, stream = s})
s:launch_host_func(function() ran = ran + 1 end)
for _ = 1, 100 do lab.add(t, 1, {out = t, stream = s}) end
local fine, e = pcall(s.synchronize, s)
print(fine, e.code, ran, lab.live().ops)
print(e.message)
]]
    T.like(out, "^false\tSL_EFAULT\t0\t0\n",
           "a fault ends what is queued behind it, host functions too")
    T.like(out, "trap at script%.lua:5", "its line is among those that it names")
    T.like(out, " more", "and how many others there were")
    T.is(code, 0, "and the program ends well")
end

local function uncaught()
    local _, err, code = run[[
local t = lab.ones(4)
lab.cuda.trap()
lab.synchronize()
print("never")
]]
    T.is(code, 1, "a script that does not catch it has status 1")
    T.like(err, "script%.lua:3: synchronize: ", "with the line that found out")
    T.like(err, "trap at script%.lua:2", "and the one that did it")
    _, err, code = run[[
lab.ones(4)
lab.cuda.trap()
]]
    T.ok(code == 0 or code == 1, "a program that ends before anybody has noticed ends cleanly")
    T.ok(not err:find("[Aa]bort") and not err:find("[Ss]egmentation"), "and is not torn down")
end

-- The names of the kernels in the saved trace.
local function traced(text)
    os.remove(trace)
    local _, err, code = run(text, { "--trace", trace })
    local fine, read = pcall(json.read, shell.read(trace) or "")
    local names = {}
    if not T.ok(fine, "the trace is whole") then T.diag("  " .. tostring(read)) end
    for _, event in ipairs(fine and read.traceEvents or {}) do
        if event.cat == "kernel" then names[#names + 1] = event.name end
    end
    return table.concat(names, " "), err, code
end

-- What page-locks belongs to no GPU, and waits for host functions of all. Driver 580 takes the
-- other GPUs of the process away as well, also from a program of plain CUDA C.
local another_gpu <const> = [[
local one, two = lab.open{backend = "cuda", index = 0}, lab.open{backend = "cuda", index = 1}
lab.cuda.trap()
print((select(2, pcall(lab.synchronize)).code))
one:make_current()
local ran = 0
local function count() ran = ran + 1 end
local function go_on()
    lab.stream{}:launch_host_func(count)
    local pinned = lab.ones(5000, {device = "cpu", pinned = true})
    lab.stream{}:launch_host_func(count)
    local part = lab.ones(4, {device = "cpu"})
    local seen_twice = part:view(2, 2)
    part:pin()
    lab.synchronize()
    return ran, pinned.pinned, part.pinned
end
local fine, n, pinned, part = pcall(go_on)
print(fine and n or n.code, pinned, part)
]]

local function others_go_on()
    if #lab.devices() < 2 or lab.devices()[2].backend ~= "cuda" then
        return T.skip("this needs two GPUs", 2)
    end
    local out, err, code = run(another_gpu)
    T.ok(out == "SL_EFAULT\n2\ttrue\ttrue\n" or out == "SL_EFAULT\nSL_EFAULT\tnil\tnil\n",
         "with a lost GPU another works, or says that it is lost, too")
    T.is(err .. code, "0", "without a word")
end

local function the_trace_is_saved()
    local names, err, code = traced[[
local t = lab.ones(4)
lab.add(t, t)
lab.spin(1)
lab.synchronize()
lab.cuda.trap()
lab.synchronize()
]]
    T.is(code, 1, "a traced run with a fault has status 1")
    T.like(err, "trap at script%.lua:5", "and its message")
    T.like(names, "fill.*add.*spin", "the trace has what was done before the fault")
    names, _, code = traced[[
local t = lab.ones(4)
lab.add(t, t)
lab.synchronize()
lab.cuda.trap()
pcall(lab.synchronize)
]]
    T.ok(code == 0 or code == 1, "a caught fault ends the run as well")
    T.like(names, "fill.*add", "and leaves its trace")
end

-- ---- Ctrl-C ---------------------------------------------------------------------------

-- The program gets SIGINT after its first line. Gives status, stdout behind that line,
-- stderr, and the seconds it took in all.
local function interrupted(text)
    shell.write(path, "io.stdout:setvbuf('no')\n" .. text)
    local before = os.time()
    local code, err, out = shell.interrupted(path, "--backend=cuda")
    return code, out, err, os.time() - before
end

local function a_wait_that_is_interrupted()
    local code, out, err, seconds = interrupted[[
lab.spin(0)
lab.synchronize()
lab.spin(12000)
print("go")
lab.synchronize()
print("never")
]]
    T.is(code, 130, "Ctrl-C in lab.synchronize ends the program with status 130")
    T.like(err, "interrupted!", "and says so")
    T.is(out, "", "nothing after it is run")
    T.ok(seconds < 10, "and nobody waits for the GPU")
    code, _, err, seconds = interrupted[[
local s, e = lab.stream{}, lab.event{}
lab.spin(12000, {stream = s})
e:record(s)
print("go")
e:synchronize()
]]
    T.is(code, 130, "so it does in an event's synchronize")
    T.like(err, "interrupted!", "which says so")
    T.ok(seconds < 10, "in time")
end

-- While the error is on its way no wait lasts, but what need not wait works.
local function caught()
    local code, out, err, seconds = interrupted[[
local s, other = lab.stream{non_blocking = true}, lab.stream{non_blocking = true}
local x = lab.zeros(10)
lab.add(x, 1, {out = x, stream = other})
lab.spin(0, {stream = s})
lab.synchronize()
lab.spin(6000, {stream = s})
print("go")
local fine, why = pcall(lab.synchronize)
print(fine, tostring(why):find("interrupted", 1, true) ~= nil, s:query())
print(pcall(s.synchronize, s))
]]
    T.like(out, "^false\ttrue\tfalse\nfalse\t[^\n]*interrupted!\n$",
         "a script that catches it goes on, and its next wait ends as well")
    T.is(code .. err, "0", "and ends well")
    T.ok(seconds < 10, "without waiting for the GPU")
end

a_fault()
later_calls()
in_flight()
uncaught()
others_go_on()
the_trace_is_saved()
a_wait_that_is_interrupted()
caught()
shell.remove(folder)
T.done()
