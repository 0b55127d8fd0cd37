-- 60-races-streams.t.lua - the race checker: one stream against another.
require "lua.quiet" ()
local T = require "tap"
local C = require "lua.race_cases"
T.open()

local right, wrong = C.right, C.wrong

local written_then_added <const> = {
    first = { "A", "write", "fill_f32", "producer" },
    second = { "B", "read", "add_scalar_f32", "consumer" },
}
local function late(more)
    local race = { stale = true }
    for key, item in pairs(written_then_added) do race[key] = item end
    for key, item in pairs(more or {}) do race[key] = item end
    return race
end

-- ---- write, then read -------------------------------------------------------------------

wrong("a stream reads what another one writes", [[
local x = lab.empty(4, 4)                   --X
lab.spin(2, {stream = producer})
x:fill_(7, producer)                        --A
lab.add(x, 1, {stream = consumer})          --B
]], late())

right("a stream reads what it has written itself", [[
local x = lab.empty(4, 4)
x:fill_(7, producer)
lab.add(x, 1, {stream = producer})
]])

right("a stream waits for the stream that writes", [[
local x = lab.empty(4, 4)
x:fill_(7, producer)
consumer:wait_stream(producer)
lab.add(x, 1, {stream = consumer})
]])

right("a stream waits for an event behind the write", [[
local x, e = lab.empty(4, 4), lab.event()
x:fill_(7, producer)
e:record(producer)
consumer:wait_event(e)
lab.add(x, 1, {stream = consumer})
]])

right("an event without a time orders as well", [[
local x, e = lab.empty(4, 4), lab.event{timing = false}
x:fill_(7, producer)
producer:record_event(e)
consumer:wait_event(e)
lab.add(x, 1, {stream = consumer})
]])

wrong("the wait comes before the write", [[
local x = lab.empty(4, 4)                   --X
lab.spin(2, {stream = producer})
consumer:wait_stream(producer)
lab.spin(2, {stream = producer})
x:fill_(7, producer)                        --A
lab.add(x, 1, {stream = consumer})          --B
]], late())

wrong("the wait comes behind the read", [[
local x = lab.empty(4, 4)                   --X
lab.spin(2, {stream = producer})
x:fill_(7, producer)                        --A
lab.add(x, 1, {stream = consumer})          --B
consumer:wait_stream(producer)
lab.add(x, 2, {stream = consumer})
]], late())

wrong("the order held this time", [[
local x = lab.empty(4, 4)                   --X
x:fill_(7, producer)                        --A
lab.host_work(50)
lab.add(x, 1, {stream = consumer})          --B
]], late { stale = false })

-- ---- events -----------------------------------------------------------------------------

wrong("the event is recorded too early", [[
local x, e = lab.empty(4, 4), lab.event()   --X
e:record(producer)
lab.spin(2, {stream = producer})
x:fill_(7, producer)                        --A
consumer:wait_event(e)
lab.add(x, 1, {stream = consumer})          --B
]], late())

wrong("the event is waited for before it is recorded", [[
local x, e = lab.empty(4, 4), lab.event()   --X
consumer:wait_event(e)
lab.spin(2, {stream = producer})
x:fill_(7, producer)                        --A
e:record(producer)
lab.add(x, 1, {stream = consumer})          --B
]], late())

right("recording an event again does not alter a wait that is there", [[
local x, e = lab.empty(4, 4), lab.event()
x:fill_(7, producer)
e:record(producer)
consumer:wait_event(e)
e:record(third)
lab.add(x, 1, {stream = consumer})
]])

wrong("a wait means the record that there was, not the one behind the write", [[
local x, e = lab.empty(4, 4), lab.event()   --X
e:record(producer)
consumer:wait_event(e)
lab.spin(2, {stream = producer})
x:fill_(7, producer)                        --A
e:record(producer)
lab.add(x, 1, {stream = consumer})          --B
]], late())

wrong("the event was recorded again, elsewhere, before the wait", [[
local x, e = lab.empty(4, 4), lab.event()   --X
lab.spin(2, {stream = producer})
x:fill_(7, producer)                        --A
e:record(producer)
e:record(third)
consumer:wait_event(e)
lab.add(x, 1, {stream = consumer})          --B
]], late())

right("an event that was closed is still waited for", [[
local x, e = lab.empty(4, 4), lab.event()
x:fill_(7, producer)
e:record(producer)
consumer:wait_event(e)
e:close()
lab.add(x, 1, {stream = consumer})
]])

right("an event of a stream that was closed orders", [[
local x, s = lab.empty(4, 4), lab.stream{name = "s", non_blocking = true}
x:fill_(7, s)
local e = s:record_event()
s:close()
consumer:wait_event(e)
lab.add(x, 1, {stream = consumer})
]])

-- ---- three streams ----------------------------------------------------------------------

wrong("another stream waits in place of the one that reads", [[
local x = lab.empty(4, 4)                   --X
lab.spin(2, {stream = producer})
x:fill_(7, producer)                        --A
third:wait_stream(producer)
lab.add(x, 1, {stream = consumer})          --B
]], late())

wrong("the stream waits for a third one in place of the one that writes", [[
local x = lab.empty(4, 4)                   --X
lab.spin(2, {stream = producer})
x:fill_(7, producer)                        --A
consumer:wait_stream(third)
lab.add(x, 1, {stream = consumer})          --B
]], late())

right("order passes through a third stream", [[
local x = lab.empty(4, 4)
x:fill_(7, producer)
third:wait_stream(producer)
consumer:wait_stream(third)
lab.add(x, 1, {stream = consumer})
]])

wrong("the chain over a third stream is in the wrong order", [[
local x = lab.empty(4, 4)                   --X
lab.spin(2, {stream = producer})
x:fill_(7, producer)                        --A
consumer:wait_stream(third)
third:wait_stream(producer)
lab.add(x, 1, {stream = consumer})          --B
]], late())

wrong("a product of two tensors, of which one is waited for", [[
local x, y = lab.empty(4, 4), lab.empty(4, 4)   --X
x:fill_(2, producer)
lab.spin(2, {stream = third})
y:fill_(3, third)                               --A
consumer:wait_stream(producer)
lab.matmul(x, y, {stream = consumer})           --B
]], {
    first = { "A", "write", "fill_f32", "third" },
    second = { "B", "read", "matmul_f32", "consumer" }, stale = true,
})

right("a product of two tensors, of which both are waited for", [[
local x, y = lab.empty(4, 4), lab.empty(4, 4)
x:fill_(2, producer)
y:fill_(3, third)
consumer:wait_stream(producer)
consumer:wait_stream(third)
lab.matmul(x, y, {stream = consumer})
]])

wrong("a product of two tensors, of which none is waited for", [[
local x = lab.empty(4, 4)                       --X
local y = lab.empty(4, 4)                       --Y
x:fill_(2, producer)                            --A
y:fill_(3, third)                               --C
lab.matmul(x, y, {stream = consumer})           --B
]], {
    first = { "A", "write", "fill_f32", "producer" },
    second = { "B", "read", "matmul_f32", "consumer" },
}, {
    first = { "C", "write", "fill_f32", "third" }, made = "Y",
    second = { "B", "read", "matmul_f32", "consumer" },
})

-- ---- read, then write; write, then write ------------------------------------------------

wrong("a stream overwrites what another one still reads", [[
local x = lab.empty(4, 4)                   --X
lab.spin(2, {stream = producer})
lab.add(x, 1, {stream = producer})          --A
x:fill_(7, consumer)                        --B
]], {
    first = { "A", "read", "add_scalar_f32", "producer" },
    second = { "B", "write", "fill_f32", "consumer" }, stale = true,
})

right("a stream overwrites what another one has read", [[
local x = lab.empty(4, 4)
lab.add(x, 1, {stream = producer})
consumer:wait_stream(producer)
x:fill_(7, consumer)
]])

wrong("a writer waits for one of two readers", [[
local x = lab.empty(4, 4)                   --X
lab.add(x, 1, {stream = producer})
lab.spin(2, {stream = third})
lab.sum(x, {stream = third})                --A
consumer:wait_stream(producer)
x:fill_(7, consumer)                        --B
]], {
    first = { "A", "read", "sum_f32", "third" },
    second = { "B", "write", "fill_f32", "consumer" }, stale = true,
})

wrong("two streams write the same", [[
local x = lab.empty(4, 4)                   --X
lab.spin(2, {stream = producer})
x:zero_(producer)                           --A
x:fill_(7, consumer)                        --B
]], {
    first = { "A", "write", "Memset (Device)", "producer" },
    second = { "B", "write", "fill_f32", "consumer" }, stale = true,
})

right("two streams write the same, one after the other", [[
local x = lab.empty(4, 4)
x:zero_(producer)
consumer:wait_stream(producer)
x:fill_(7, consumer)
]])

right("two streams read the same", [[
local x = lab.empty(4, 4)
lab.add(x, 1, {stream = producer})
lab.add(x, 1, {stream = consumer})
lab.softmax(x, {stream = third})
]])

-- ---- in place ---------------------------------------------------------------------------

C.wrong_somehow("two streams work in place", [[
local x = lab.empty(4, 4)                           --X
lab.add(x, 1, {out = x, stream = producer})         --A
lab.mul(x, 2, {out = x, stream = consumer})         --B
]], {
    first = { "A", "read", "add_scalar_f32", "producer" },
    second = { "B", "write", "mul_scalar_f32", "consumer" },
}, {
    first = { "A", "write", "add_scalar_f32", "producer" },
    second = { "B", "read", "mul_scalar_f32", "consumer" },
}, {
    first = { "A", "write", "add_scalar_f32", "producer" },
    second = { "B", "write", "mul_scalar_f32", "consumer" },
})

right("one stream works in place", [[
local x = lab.empty(4, 4)
lab.add(x, x, {out = x, stream = producer})
lab.pow(x, 2, {out = x, stream = producer})
]])

right("two streams pass a tensor to and fro", [[
local x = lab.empty(4, 4)
for i = 1, 3 do
    lab.add(x, 1, {out = x, stream = producer})
    consumer:wait_stream(producer)
    lab.mul(x, 2, {out = x, stream = consumer})
    producer:wait_stream(consumer)
end
]])

wrong("two streams pass a tensor to and fro, but nobody waits for its return", [[
local x = lab.empty(4, 4)                           --X
for i = 1, 2 do
    x:fill_(i, producer)                            --B
    consumer:wait_stream(producer)
    lab.spin(2, {stream = consumer})
    lab.mul(x, 2, {stream = consumer})              --A
end
]], {
    first = { "A", "read", "mul_scalar_f32", "consumer" },
    second = { "B", "write", "fill_f32", "producer" }, stale = true,
})

-- ---- through the host -------------------------------------------------------------------

right("the host waits for the stream", [[
local x = lab.empty(4, 4)
x:fill_(7, producer)
producer:synchronize()
lab.add(x, 1, {stream = consumer})
]])

right("the host waits for an event", [[
local x = lab.empty(4, 4)
x:fill_(7, producer)
producer:record_event():synchronize()
lab.add(x, 1, {stream = consumer})
]])

right("the host waits for the device", [[
local x = lab.empty(4, 4)
x:fill_(7, producer)
lab.synchronize()
lab.add(x, 1, {stream = consumer})
]])

wrong("the host waits for another stream", [[
local x = lab.empty(4, 4)                   --X
lab.spin(2, {stream = producer})
x:fill_(7, producer)                        --A
third:synchronize()
lab.add(x, 1, {stream = consumer})          --B
]], late())

wrong("the host waits for an event in front of the write", [[
local x, e = lab.empty(4, 4), lab.event()   --X
e:record(producer)
lab.spin(2, {stream = producer})
x:fill_(7, producer)                        --A
e:synchronize()
lab.add(x, 1, {stream = consumer})          --B
]], late())

right("the host asks the stream until it is done", [[
local x = lab.empty(4, 4)
x:fill_(7, producer)
while not producer:query() do lab.host_work(0.1) end
lab.add(x, 1, {stream = consumer})
]])

right("the host asks an event until it has happened", [[
local x = lab.empty(4, 4)
x:fill_(7, producer)
local e = producer:record_event()
while not e:query() do lab.host_work(0.1) end
lab.add(x, 1, {stream = consumer})
]])

wrong("the host asks, and the answer is no", [[
local x = lab.empty(4, 4)                   --X
lab.spin(20, {stream = producer})
x:fill_(7, producer)                        --A
assert(not producer:query())
lab.add(x, 1, {stream = consumer})          --B
]], late())

wrong("the host asks an event, and the answer is no", [[
local x = lab.empty(4, 4)                   --X
lab.spin(20, {stream = producer})
x:fill_(7, producer)                        --A
assert(not producer:record_event():query())
lab.add(x, 1, {stream = consumer})          --B
]], late())

wrong("time alone orders nothing", [[
local x = lab.empty(4, 4)                   --X
x:fill_(7, producer)                        --A
lab.host_work(30)
lab.host_work(30)
lab.add(x, 1, {stream = consumer})          --B
]], late { stale = false })

-- ---- where tensors come from ------------------------------------------------------------

wrong("a tensor of random numbers is used in another stream", [[
lab.spin(2, {stream = producer})
local x = lab.rand(4, 4, {stream = producer})       --A
lab.add(x, 1, {stream = consumer})                  --B
]], {
    first = { "A", "write", "rand_f32", "producer" }, made = "A",
    second = { "B", "read", "add_scalar_f32", "consumer" }, stale = true,
})

right("a tensor of random numbers is used in another stream that waits", [[
local x = lab.randn(4, 4, {stream = producer})
consumer:wait_stream(producer)
lab.add(x, 1, {stream = consumer})
]])

wrong("a tensor of zeros is used in another stream", [[
lab.spin(2, {stream = producer})
local x = lab.zeros(4, 4, {stream = producer})      --A
lab.matmul(x, x, {stream = consumer})               --B
]], {
    first = { "A", "write", "Memset (Device)", "producer" }, made = "A",
    second = { "B", "read", "matmul_f32", "consumer" }, stale = true,
})

wrong("a result is used in another stream", [[
local x = lab.empty(4, 4)
lab.spin(2, {stream = producer})
local y = lab.matmul(x, x, {stream = producer})     --A
lab.softmax(y, {stream = consumer})                 --B
]], {
    first = { "A", "write", "matmul_f32", "producer" }, made = "A",
    second = { "B", "read", "softmax_f32", "consumer" }, stale = true,
})

right("a tensor that nobody has written", [[
local x = lab.empty(4, 4, {stream = producer})
lab.add(x, 1, {stream = consumer})
]])

wrong("the current streams count, where calls name none", [[
local x = lab.empty(4, 4)                           --X
lab.with(producer, function()
    lab.spin(2)
    x:fill_(7)                                      --A
end)
lab.with(consumer, function() return x + 1 end)     --B
]], late())

wrong("a copy within the device", [[
local x, y = lab.empty(4, 4), lab.empty(4, 4)       --X
lab.spin(2, {stream = producer})
x:fill_(7, producer)                                --A
y:copy_(x, {stream = consumer})                     --B
]], {
    first = { "A", "write", "fill_f32", "producer" },
    second = { "B", "read", "Memcpy DtoD (Device -> Device)", "consumer" }, stale = true,
})

right("a recording waits for the device, at both ends, busy or idle", [[
local p, x = lab.empty(4, 4, {device = "cpu", pinned = true}), lab.empty(4, 4)
lab.profile(function() p:copy_(x, {non_blocking = true, stream = producer}) end)
p:set(1, 1, 3)
x:copy_(p, {non_blocking = true, stream = producer})
lab.host_work(5)
lab.record():stop()
p:set(1, 1, 4)
]])

T.done()
