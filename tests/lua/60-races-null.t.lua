-- 60-races-null.t.lua - the race checker: the default stream and its rules.
require "lua.quiet" ()
local T = require "tap"
local C = require "lua.race_cases"
T.open()

local right, wrong = C.right, C.wrong

right("the default stream comes after a blocking stream's work", [[
local x = lab.empty(4, 4)
x:fill_(7, one)
lab.add(x, 1, {stream = null})
]])

right("a blocking stream comes after the default stream's work", [[
local x = lab.empty(4, 4)
x:fill_(7)
lab.add(x, 1, {stream = two})
]])

wrong("the default stream does not come after a non-blocking stream's work", [[
local x = lab.empty(4, 4)                   --X
lab.spin(2, {stream = producer})
x:fill_(7, producer)                        --A
lab.add(x, 1)                               --B
]], {
    first = { "A", "write", "fill_f32", "producer" },
    second = { "B", "read", "add_scalar_f32", "default" }, stale = true,
    remedy = "lab.default_stream():wait_stream(producer)",
})

wrong("a non-blocking stream does not come after the default stream's work", [[
local x = lab.empty(4, 4)                   --X
lab.spin(2)
x:fill_(7)                                  --A
lab.add(x, 1, {stream = consumer})          --B
]], {
    first = { "A", "write", "fill_f32", "default" },
    second = { "B", "read", "add_scalar_f32", "consumer" }, stale = true,
    remedy = "consumer:wait_stream(lab.default_stream())",
})

wrong("a tensor of zeros is made in the default stream, and used in a non-blocking one", [[
lab.spin(2)
local x = lab.zeros(4, 4)                   --A
lab.add(x, 1, {stream = consumer})          --B
]], {
    first = { "A", "write", "Memset (Device)", "default" }, made = "A",
    second = { "B", "read", "add_scalar_f32", "consumer" }, stale = true,
    remedy = "consumer:wait_stream(lab.default_stream())",
})

right("a tensor of zeros is made in the default stream, and used in a blocking one", [[
local x = lab.zeros(4, 4)
lab.add(x, 1, {stream = one})
]])

right("a non-blocking stream waits for the default stream", [[
local x = lab.zeros(4, 4)
consumer:wait_stream(null)
lab.add(x, 1, {stream = consumer})
]])

wrong("two blocking streams are not ordered by that alone", [[
local x = lab.empty(4, 4)                   --X
lab.spin(2, {stream = one})
x:fill_(7, one)                             --A
lab.add(x, 1, {stream = two})               --B
]], {
    first = { "A", "write", "fill_f32", "one" },
    second = { "B", "read", "add_scalar_f32", "two" }, stale = true,
})

right("work in the default stream orders two blocking streams, whatever it is", [[
local x = lab.empty(4, 4)
x:fill_(7, one)
lab.spin(0)
lab.add(x, 1, {stream = two})
]])

right("so does a cudaMemset of other memory", [[
local x, m = lab.empty(4, 4), lab.cuda.malloc(64)
x:fill_(7, one)
lab.cuda.memset(m, 0)
lab.add(x, 1, {stream = two})
]])

right("and an event that the default stream waits for", [[
local x = lab.empty(4, 4)
x:fill_(7, one)
null:wait_event(third:record_event())
lab.add(x, 1, {stream = two})
]])

wrong("work in the default stream before the write does not", [[
local x = lab.empty(4, 4)                   --X
lab.spin(0)
lab.spin(2, {stream = one})
x:fill_(7, one)                             --A
lab.add(x, 1, {stream = two})               --B
]], {
    first = { "A", "write", "fill_f32", "one" },
    second = { "B", "read", "add_scalar_f32", "two" }, stale = true,
})

wrong("nor does it order a blocking and a non-blocking stream", [[
local x = lab.empty(4, 4)                   --X
lab.spin(2, {stream = one})
x:fill_(7, one)                             --A
lab.spin(0)
lab.add(x, 1, {stream = consumer})          --B
]], {
    first = { "A", "write", "fill_f32", "one" },
    second = { "B", "read", "add_scalar_f32", "consumer" }, stale = true,
})

right("an event in the default stream stands for the blocking streams' work, too", [[
local x = lab.empty(4, 4)
x:fill_(7, one)
consumer:wait_event(null:record_event())
lab.add(x, 1, {stream = consumer})
]])

right("the default stream waits for a non-blocking one, and blocking ones for it", [[
local x = lab.empty(4, 4)
x:fill_(7, producer)
null:wait_stream(producer)
lab.add(x, 1, {stream = two})
]])

right("the per-thread stream is a blocking stream", [[
local x, own = lab.empty(4, 4), lab.per_thread_stream()
x:fill_(7)
lab.mul(x, 2, {out = x, stream = own})
lab.add(x, 1)
]])

wrong("and not ordered with other blocking streams", [[
local x, own = lab.empty(4, 4), lab.per_thread_stream()     --X
lab.spin(2, {stream = own})
x:fill_(7, own)                             --A
lab.add(x, 1, {stream = one})               --B
]], {
    first = { "A", "write", "fill_f32", "per-thread" },
    second = { "B", "read", "add_scalar_f32", "one" }, stale = true,
    remedy = "one:wait_stream(lab.per_thread_stream())",
})

right("the host waits for the default stream, and so for what that came after", [[
local p = lab.empty(4, 4, {device = "cpu", pinned = true})
p:copy_(lab.empty(4, 4), {non_blocking = true, stream = one})
lab.spin(0)
null:synchronize()
p:get(1, 1)
]])

wrong("that waiting for the default stream waits for blocking ones is nowhere promised", [[
local p = lab.empty(4, 4, {device = "cpu", pinned = true})                  --X
lab.spin(2, {stream = one})
p:copy_(lab.empty(4, 4), {non_blocking = true, stream = one})               --A
null:synchronize()
p:totable()                                                                 --B
]], {
    kind = "accident", stale = false,
    first = { "A", "write", "Memcpy DtoH (Device -> Pinned)", "one" },
    second = { "B", "read", "read", "host" },
})

wrong("and it does not wait for non-blocking ones", [[
local p = lab.empty(4, 4, {device = "cpu", pinned = true})                  --X
lab.spin(2, {stream = producer})
p:copy_(lab.empty(4, 4), {non_blocking = true, stream = producer})          --A
null:synchronize()
p:totable()                                                                 --B
]], {
    first = { "A", "write", "Memcpy DtoH (Device -> Pinned)", "producer" },
    second = { "B", "read", "read", "host" }, stale = true,
})

right("a host function in the default stream comes after blocking streams' copies", [[
local p = lab.empty(4, 4, {device = "cpu", pinned = true})
p:copy_(lab.empty(4, 4), {non_blocking = true, stream = one})
null:launch_host_func(function() p:totable() end)
]])

right("cudaMemcpy is in the default stream", [[
local x, p = lab.empty(4, 4), lab.empty(4, 4, {device = "cpu", pinned = true})
x:fill_(7, one)
lab.cuda.memcpy(p, x)
assert(p:get(1, 1) == 7)
]])

-- Its remedy is for where the stream was still there.
local function nobody_waits_for_a_stream_that_has_closed()
    local races = C.run([[
local old, x = lab.stream{name = "old"}, lab.empty(4, 4)
lab.empty(4, 4):fill_(1, null)
x:fill_(7, old)
old = nil
lab.host_work(50) collectgarbage() collectgarbage()
lab.add(x, 1, {stream = one})
]])
    T.is(#races, 1, "nobody waits for a stream that has closed unless the default stream does")
    T.is(races[1] and races[1].first.stream, "old", "it has its name in the report")
end

nobody_waits_for_a_stream_that_has_closed()

right("and then who comes after that", [[
local old, x = lab.stream{name = "old"}, lab.empty(4, 4)
x:fill_(7, old)
old = nil
lab.host_work(50) collectgarbage() collectgarbage()
lab.spin(0, {stream = null})
lab.add(x, 1, {stream = one})
]])

T.done()
