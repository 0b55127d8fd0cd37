-- 41-stream-waits.t.lua - what the program says of waits in streams: a script that ends while
-- something waits for what will never come, and words that a GPU would refuse.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"
local run = shell.run

local folder = shell.folder()
local function script(text)
    return shell.write(folder .. "/s.lua", text)
end

-- ---- what is reported --------------------------------------------------------------

local open_wait = [[
local b = lab.stream{name = "b", non_blocking = true}
local flag = lab.zeros(2, {dtype = "int32", device = "cpu", pinned = true})
b:wait_value(flag, 2, 7, {compare = "eq"})
lab.spin(1, {stream = b})
]]
local wanted = "^streamlab: sim 0, at the end: nothing can go on: wait_value in s.lua:3 waits "
    .. "until element 2 of tensor 1 %(2 int32, made in s.lua:2%) is equal to 7, it is 0, and "
    .. "nothing is left that could change it"

local out, err, code = run { "--backend=sim", "--profile=textbook", script(open_wait
    .. "print 'the last line'") }
tap.is(out, "the last line\n", "a script whose stream waits for ever runs to its end")
tap.like(err, wanted, "then the wait is reported, with its line, element and tensor")
tap.is(code, 1, "and the status is that of an error")
tap.is(select(2, err:gsub("\n", "\n")), 1, "it is one line")

_, err, code = run { "--backend=sim", "--profile=textbook", "-e",
    "lab.stream():wait_value(lab.zeros(1, {dtype = 'int32', device = 'cpu', pinned = true}), 1, "
        .. "1)" }
tap.like(err, "at the end: nothing can go on: wait_value in %(command line%):1 waits until "
    .. "element 1",
    "a chunk of -e is no other")
tap.is(code, 1, "nor is its status")

_, err, code = run { "--backend=sim", "--profile=textbook", script(open_wait .. "os.exit(0)") }
tap.like(err, wanted, "os.exit is an end")
tap.is(code, 1, "whatever status it was given")

_, err, code = run { "--backend=sim", "--profile=textbook", script(open_wait
    .. "lab.graph(function() b:wait_value(flag, 1, 1) end, {stream = b}):launch(b)") }
tap.like(err, wanted, "of several waits the first is reported")
tap.is(code, 1, "those behind it, in a graph too, keep nobody")

_, err = run { "--backend=sim", "--profile=textbook", script [[
local b = lab.stream{non_blocking = true}
local flag = lab.zeros(2, {dtype = "int32", device = "cpu", pinned = true})
local g = lab.graph(function()
    b:wait_value(flag, 1, 1)
end, {stream = b})
g:launch(b)
]] }
tap.like(err, "wait_value in s.lua:4 waits until element 1",
         "a graph's has the line of its capture")

local ranks = [[
local gpus = {lab.open{index = 0}, lab.open{index = 1}}
local comm = lab.comm{devices = gpus}
local t = lab.ones(4, {device = gpus[1]})
comm:all_reduce(t)
]]
_, err, code = run { "--backend=sim", "--profile=textbook", script(ranks) }
tap.like(err, "^streamlab: sim %d, at the end: nothing can go on: all_reduce number 1 of this "
    .. "communicator: rank 0 waits in s.lua:4, rank 1 has not called it",
    "a collective whose partner never comes")
tap.is(code, 1, "is an error as well")
_, err, code = run { "--backend=sim", "--profile=textbook", script(ranks:gsub("comm:all_reduce.*",
    "comm:send(t, {dst = 1})")) }
tap.like(err, "at the end: nothing can go on: send number 1 from rank 0 to rank 1: rank 0 waits in "
    .. "s.lua:4, rank 1 has not called recv", "so is a send that nobody receives")
tap.is(code, 1, "with its status")

_, err, code = run { "--backend=sim", "--profile=textbook", script [[
local s = lab.stream()
s:launch_host_func(function() error "in the function" end)
s:query() lab.host_work(1) s:query()
s = nil
]] }
tap.ok(code == 1 and err:find("in the function", 1, true),
    "a host function that fails late is reported as well")

-- ---- what is not ---------------------------------------------------------------------

_, err, code = run { "--backend=sim", "--profile=textbook", script(open_wait
    .. "error 'before the write'") }
tap.like(err, "^streamlab: [^\n]*s.lua:5: before the write\n", "a script that fails reports that,")
tap.ok(not err:find "nothing can go on", "and not the waits that it has left open")
tap.is(code, 1, "with its status")
_, err, code = run { "--backend=sim", "--profile=textbook",
                     script(open_wait .. "lab.synchronize()") }
tap.is(select(2, err:gsub("nothing can go on", "")), 1, "what was reported is not reported again")
tap.is(code, 1, "at the end of a script that it has ended")
_, err, code = run { "--backend=sim", "--profile=textbook", script(open_wait
    .. "flag:set(2, 7)") }
tap.is(err .. code, "0", "a value that the host writes last is no error")
_, err, code = run { "--backend=sim", "--profile=textbook", script(open_wait
    .. "os.exit(3, false)") }
tap.is(err .. code, "3", "a script that leaves without closing the laboratory asks for nothing")

-- ---- words that a GPU would refuse ------------------------------------------------------

local notice = "streamlab: s.lua:%d: %s: a real GPU refuses this tensor, because its memory is of "
    .. "a pool: use a pinned tensor, or memory of lab.cuda.malloc\n"
_, err, code = run { "--backend=sim", "--profile=textbook", script [[
local s, flag = lab.stream(), lab.zeros(2, {dtype = "int32"})
s:write_value(flag, 1, 1)
s:wait_value(flag, 1, 1)
]] }
tap.is(err, notice:format(2, "write_value"), "the simulator doubts memory that a GPU refuses, once")
tap.is(code, 0, "and takes it")
_, err = run { "--backend=sim", "--profile=textbook", script [[
local s, flag = lab.stream(), lab.zeros(2, {dtype = "int32"})
s:wait_value(flag:narrow(1, 2, 1), 1, 0)
]] }
tap.is(err, notice:format(2, "wait_value"), "of a wait and of a view as well")
_, err = run { "--backend=sim", "--profile=textbook", script [[
local s = lab.stream()
local words = lab.cuda.malloc_async(16, s)
s:write_value(words, 1, 1)
]] }
tap.is(err, notice:format(3, "write_value"), "cudaMallocAsync has a pool")
_, err, code = run { "--backend=sim", "--profile=textbook", script [[
local s, flag = lab.stream(), lab.zeros(2, {dtype = "int32", device = "cpu", pinned = true})
local words = lab.cuda.malloc(16)
s:write_value(flag, 1, 1)
s:wait_value(flag, 1, 1)
s:write_value(words, 4, 1)
s:wait_value(words, 4, 1)
]] }
tap.is(err .. code, "0", "pinned memory and that of lab.cuda.malloc are taken by both")

shell.remove(folder)
tap.done()
