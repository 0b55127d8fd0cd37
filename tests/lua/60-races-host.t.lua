-- 60-races-host.t.lua - the race checker: the host against streams, and host functions.
require "lua.quiet" ()
local T = require "tap"
local C = require "lua.race_cases"
T.open()

local right, wrong = C.right, C.wrong

local h2d <const>, d2h <const> = "Memcpy HtoD (Pinned -> Device)", "Memcpy DtoH (Device -> Pinned)"
local staged <const> = "Memcpy HtoD (Pageable -> Device)"
local unstaged <const> = "Memcpy DtoH (Device -> Pageable)"

-- ---- to the device ----------------------------------------------------------------------

wrong("the host overwrites pinned memory that is being copied", [[
local p = lab.ones(4, 4, {device = "cpu", pinned = true})       --X
local x = lab.empty(4, 4)
lab.spin(2, {stream = producer})
x:copy_(p, {non_blocking = true, stream = producer})            --A
p:fill_(7)                                                      --B
]], {
    first = { "A", "read", h2d, "producer" }, second = { "B", "write", "write", "host" },
    stale = true,
})

right("the host waits for the copy before it overwrites its source", [[
local p, x = lab.ones(4, 4, {device = "cpu", pinned = true}), lab.empty(4, 4)
x:copy_(p, {non_blocking = true, stream = producer})
producer:synchronize()
p:fill_(7)
]])

right("the host waits for an event behind the copy", [[
local p, x = lab.ones(4, 4, {device = "cpu", pinned = true}), lab.empty(4, 4)
x:copy_(p, {non_blocking = true, stream = producer})
producer:record_event():synchronize()
p:zero_()
]])

wrong("the host waits for an event in front of the copy", [[
local p = lab.ones(4, 4, {device = "cpu", pinned = true})       --X
local x, e = lab.empty(4, 4), producer:record_event()
lab.spin(2, {stream = producer})
x:copy_(p, {non_blocking = true, stream = producer})            --A
e:synchronize()
p:zero_()                                                       --B
]], {
    first = { "A", "read", h2d, "producer" }, second = { "B", "write", "write", "host" },
    stale = true,
})

right("pageable memory may be overwritten at once", [[
local q, x = lab.ones(4, 4, {device = "cpu"}), lab.empty(4, 4)
lab.spin(2, {stream = producer})
x:copy_(q, {non_blocking = true, stream = producer})
q:fill_(7)
]])

right("the host writes before it enqueues the copy", [[
local p, x = lab.empty(4, 4, {device = "cpu", pinned = true}), lab.empty(4, 4)
p:fill_(7)
x:copy_(p, {non_blocking = true, stream = producer})
]])

right("the host reads what is being copied from", [[
local p, x = lab.ones(4, 4, {device = "cpu", pinned = true}), lab.empty(4, 4)
x:copy_(p, {non_blocking = true, stream = producer})
assert(p:get(1, 1) == 1)
]])

wrong("the host sets one element of what is being copied", [[
local p = lab.ones(4, 4, {device = "cpu", pinned = true})       --X
local x = lab.empty(4, 4)
lab.spin(2, {stream = producer})
x:copy_(p, {non_blocking = true, stream = producer})            --A
p:set(2, 3, 7)                                                  --B
]], {
    first = { "A", "read", h2d, "producer" }, second = { "B", "write", "write", "host" },
    bytes = { 24, 4 }, stale = true,
})

wrong("memory that was pinned later is pinned", [[
local p = lab.ones(4, 4, {device = "cpu"}):pin()                --X
local x = lab.empty(4, 4)
lab.spin(2, {stream = producer})
x:copy_(p, {non_blocking = true, stream = producer})            --A
p:fill_(7)                                                      --B
]], {
    first = { "A", "read", h2d, "producer" }, second = { "B", "write", "write", "host" },
    stale = true,
})

right("a blocking copy from pinned memory is over when it returns", [[
local p, x = lab.ones(4, 4, {device = "cpu", pinned = true}), lab.empty(4, 4)
x:copy_(p, {stream = producer})
p:fill_(7)
lab.add(x, 1, {stream = consumer})
]])

wrong("a blocking copy from pageable memory may only be staged when it returns", [[
local q = lab.ones(4, 4, {device = "cpu"})
local x = lab.empty(4, 4)                                       --X
x:copy_(q, {stream = producer})                                 --A
lab.add(x, 1, {stream = consumer})                              --B
]], {
    kind = "accident", stale = false,
    first = { "A", "write", staged, "producer" },
    second = { "B", "read", "add_scalar_f32", "consumer" },
})

wrong("nor has a tensor that was moved to the device arrived", [[
local q = lab.ones(4, 4, {device = "cpu"})
local x = q:to("cuda", {stream = producer})                     --A
lab.add(x, 1, {stream = consumer})                              --B
]], {
    kind = "accident", stale = false, made = "A",
    first = { "A", "write", staged, "producer" },
    second = { "B", "read", "add_scalar_f32", "consumer" },
})

right("the stream waits for the copy from pageable memory", [[
local q = lab.ones(4, 4, {device = "cpu"})
local x = q:to("cuda", {stream = producer})
consumer:wait_stream(producer)
lab.add(x, 1, {stream = consumer})
]])

right("a copy from pageable memory is used in its own stream", [[
local x = lab.ones(4, 4, {device = "cpu"}):to("cuda", {stream = producer})
lab.add(x, 1, {stream = producer})
]])

wrong("a copy from pageable memory, without a wait, is used in another stream", [[
local q = lab.ones(4, 4, {device = "cpu"})
local x = lab.empty(4, 4)                                       --X
lab.spin(2, {stream = producer})
x:copy_(q, {non_blocking = true, stream = producer})            --A
lab.add(x, 1, {stream = consumer})                              --B
]], {
    first = { "A", "write", staged, "producer" },
    second = { "B", "read", "add_scalar_f32", "consumer" }, stale = true,
})

right("cudaMemcpy from pinned memory is over when it returns", [[
local p, x = lab.ones(4, 4, {device = "cpu", pinned = true}), lab.empty(4, 4)
lab.cuda.memcpy(x, p)
p:fill_(7)
lab.add(x, 1, {stream = consumer})
]])

-- ---- to the host ------------------------------------------------------------------------

wrong("the host reads pinned memory before the copy has arrived", [[
local p = lab.empty(4, 4, {device = "cpu", pinned = true})      --X
local x = lab.empty(4, 4)
lab.spin(2, {stream = producer})
p:copy_(x, {non_blocking = true, stream = producer})            --A
p:get(1, 2)                                                     --B
]], {
    first = { "A", "write", d2h, "producer" }, second = { "B", "read", "read", "host" },
    bytes = { 4, 4 }, stale = true,
})

right("the host waits for the stream before it reads", [[
local p, x = lab.empty(4, 4, {device = "cpu", pinned = true}), lab.empty(4, 4)
p:copy_(x, {non_blocking = true, stream = producer})
producer:synchronize()
p:get(1, 2)
]])

right("the host waits for an event before it reads", [[
local p, x, e = lab.empty(4, 4, {device = "cpu", pinned = true}), lab.empty(4, 4), lab.event()
p:copy_(x, {non_blocking = true, stream = producer})
e:record(producer)
e:synchronize()
p:totable()
]])

wrong("the host waits for another stream before it reads", [[
local p = lab.empty(4, 4, {device = "cpu", pinned = true})      --X
local x = lab.empty(4, 4)
lab.spin(2, {stream = producer})
p:copy_(x, {non_blocking = true, stream = producer})            --A
consumer:synchronize()
p:totable()                                                     --B
]], {
    first = { "A", "write", d2h, "producer" }, second = { "B", "read", "read", "host" },
    stale = true,
})

right("a blocking copy to pageable memory has arrived when it returns", [[
local q, x = lab.empty(4, 4, {device = "cpu"}), lab.empty(4, 4)
q:copy_(x, {stream = producer})
q:get(1, 1)
x:fill_(7, consumer)
]])

wrong("one that need not block does so with pageable memory, but nobody promises it", [[
local q = lab.empty(4, 4, {device = "cpu"})                     --X
lab.spin(2, {stream = producer})
q:copy_(lab.empty(4, 4), {non_blocking = true, stream = producer})  --A
q:get(1, 1)                                                     --B
]], {
    kind = "accident", first = { "A", "write", unstaged, "producer" },
    second = { "B", "read", "read", "host" }, bytes = { 0, 4 }, stale = false,
})

right("the host waits for the copy to pageable memory", [[
local q = lab.empty(4, 4, {device = "cpu"})
q:copy_(lab.empty(4, 4), {non_blocking = true, stream = producer})
producer:synchronize()
q:get(1, 1)
]])

right("a blocking copy to pinned memory has arrived when it returns", [[
local p, x = lab.empty(4, 4, {device = "cpu", pinned = true}), lab.empty(4, 4)
p:copy_(x, {stream = producer})
p:get(1, 1)
]])

right("cudaMemcpy to the host has arrived when it returns", [[
local p, x = lab.empty(4, 4, {device = "cpu", pinned = true}), lab.ones(4, 4)
lab.cuda.memcpy(p, x)
p:get(1, 1)
]])

right("cudaMemcpy from pageable memory waits for the NULL stream before it begins", [[
local p, q = lab.empty(4, 4, {device = "cpu", pinned = true}), lab.ones(4, 4, {device = "cpu"})
local x, y = lab.ones(4, 4), lab.empty(4, 4)
p:copy_(x, {non_blocking = true, stream = lab.default_stream()})
lab.cuda.memcpy(y, q)
p:get(1, 1)
]])

wrong("and may be back before the bytes are there", [[
local q, x = lab.ones(4, 4, {device = "cpu"}), lab.empty(4, 4)  --X
lab.cuda.memcpy(x, q)                                           --A
lab.add(x, 1, {stream = producer})                              --B
]], {
    first = { "A", "write", "Memcpy HtoD (Pageable -> Device)", "default" },
    second = { "B", "read", "add_scalar_f32", "producer" },
})

wrong("t:cpu without blocking makes pinned memory that is not filled yet", [[
local x = lab.empty(4, 4)
lab.spin(2, {stream = producer})
local p = x:cpu{non_blocking = true, stream = producer}         --A
p:get(4, 4)                                                     --B
]], {
    first = { "A", "write", d2h, "producer" }, second = { "B", "read", "read", "host" },
    made = "A", bytes = { 60, 4 }, stale = true,
})

right("t:cpu waits", [[
lab.ones(4, 4, {stream = producer}):cpu{stream = producer}:get(4, 4)
]])

wrong("allclose reads, too", [[
local p = lab.empty(4, 4, {device = "cpu", pinned = true})      --X
local q = lab.zeros(4, 4, {device = "cpu"})
lab.spin(2, {stream = producer})
p:copy_(lab.empty(4, 4), {non_blocking = true, stream = producer})  --A
lab.allclose(q, p)                                              --B
]], {
    first = { "A", "write", d2h, "producer" }, second = { "B", "read", nil, "host" },
})

wrong("the host copies from memory that is still being filled", [[
local p = lab.empty(4, 4, {device = "cpu", pinned = true})      --X
local q = lab.empty(4, 4, {device = "cpu"})
lab.spin(2, {stream = producer})
p:copy_(lab.empty(4, 4), {non_blocking = true, stream = producer})  --A
q:copy_(p)                                                      --B
]], {
    first = { "A", "write", d2h, "producer" }, second = { "B", "read", nil, "host" },
})

wrong("the host overwrites what a copy will fill", [[
local p = lab.empty(4, 4, {device = "cpu", pinned = true})      --X
lab.spin(2, {stream = producer})
p:copy_(lab.empty(4, 4), {non_blocking = true, stream = producer})  --A
p:fill_(3)                                                      --B
]], {
    first = { "A", "write", d2h, "producer" }, second = { "B", "write", "write", "host" },
})

wrong("what one stream brings to the host another one takes back", [[
local p = lab.empty(4, 4, {device = "cpu", pinned = true})      --X
local x, y = lab.empty(4, 4), lab.empty(4, 4)
lab.spin(2, {stream = producer})
p:copy_(x, {non_blocking = true, stream = producer})            --A
y:copy_(p, {non_blocking = true, stream = consumer})            --B
]], {
    first = { "A", "write", d2h, "producer" }, second = { "B", "read", h2d, "consumer" },
    stale = true,
})

right("what one stream brings to the host another one that waits takes back", [[
local p, x, y = lab.empty(4, 4, {device = "cpu", pinned = true}), lab.empty(4, 4), lab.empty(4, 4)
p:copy_(x, {non_blocking = true, stream = producer})
consumer:wait_stream(producer)
y:copy_(p, {non_blocking = true, stream = consumer})
]])

wrong("two streams fill the same pinned memory", [[
local p = lab.empty(4, 4, {device = "cpu", pinned = true})      --X
local x, y = lab.empty(4, 4), lab.empty(4, 4)
lab.spin(2, {stream = producer})
p:copy_(x, {non_blocking = true, stream = producer})            --A
p:copy_(y, {non_blocking = true, stream = consumer})            --B
]], {
    first = { "A", "write", d2h, "producer" }, second = { "B", "write", d2h, "consumer" },
    stale = true,
})

-- ---- looking at the device --------------------------------------------------------------

wrong("an element is looked at in the current stream", [[
local x = lab.empty(4, 4)                       --X
lab.spin(2, {stream = producer})
x:fill_(7, producer)                            --A
x:get(1, 2)                                     --B
]], {
    first = { "A", "write", "fill_f32", "producer" }, second = { "B", "read", unstaged, "default" },
    bytes = { 4, 4 }, stale = true, remedy = "lab.default_stream():wait_stream(producer)",
})

right("an element is looked at in the stream that writes it", [[
local x = lab.empty(4, 4)
x:fill_(7, producer)
lab.with(producer, x.get, x, 1, 2)
]])

right("and a blocking stream's writes come before a look in the default stream", [[
local x = lab.empty(4, 4)
x:fill_(7, one)
x:get(1, 2)
]])

wrong("a sum is asked for in the current stream", [[
local x = lab.empty(4, 4)
lab.spin(2, {stream = producer})
local sum = lab.sum(x, {stream = producer})     --A
sum:item()                                      --B
]], {
    first = { "A", "write", "sum_f32", "producer" }, second = { "B", "read", unstaged, "default" },
    made = "A", bytes = { 0, 4 }, tensor = "^tensor %d+ %(",
    remedy = "lab.default_stream():wait_stream(producer)",
})

wrong("all of a tensor is moved to the host in the wrong stream", [[
local x = lab.empty(4, 4)                       --X
lab.spin(2, {stream = producer})
x:fill_(7, producer)                            --A
x:cpu{stream = consumer}                        --B
]], {
    first = { "A", "write", "fill_f32", "producer" },
    second = { "B", "read", unstaged, "consumer" },
    stale = true,
})

-- ---- host functions ---------------------------------------------------------------------

wrong("a host function writes what the host reads", [[
local q = lab.zeros(4, 4, {device = "cpu"})                     --X
lab.spin(2, {stream = producer})
producer:launch_host_func(function() q:set(1, 1, 7) end)        --A
q:get(1, 1)                                                     --B
]], {
    first = { "A", "write", "write", "host_func producer" },
    second = { "B", "read", "read", "host" },
    bytes = { 0, 4 }, stale = true,
})

right("the host waits for the stream of the host function", [[
local q = lab.zeros(4, 4, {device = "cpu"})
producer:launch_host_func(function() q:set(1, 1, 7) end)
producer:synchronize()
assert(q:get(1, 1) == 7)
]])

right("the host and a host function touch different elements", [[
local q = lab.zeros(4, 4, {device = "cpu"})
lab.spin(2, {stream = producer})
producer:launch_host_func(function() q:set(1, 1, 7) end)
q:get(1, 2)
]])

wrong("the host overwrites what a host function reads", [[
local q = lab.zeros(4, 4, {device = "cpu"})                     --X
lab.spin(2, {stream = producer})
producer:launch_host_func(function() q:get(1, 1) end)           --A
q:fill_(3)                                                      --B
]], {
    first = { "A", "read", "read", "host_func producer" },
    second = { "B", "write", "write", "host" },
    bytes = { 0, 4 }, stale = true,
})

right("the host writes before it launches the host function that reads", [[
local q = lab.zeros(4, 4, {device = "cpu"})
q:fill_(3)
producer:launch_host_func(function() q:get(1, 1) end)
]])

right("a host function reads what its stream has copied", [[
local p = lab.empty(4, 4, {device = "cpu", pinned = true})
p:copy_(lab.empty(4, 4), {non_blocking = true, stream = producer})
producer:launch_host_func(function() p:totable() end)
]])

wrong("a host function reads what another stream copies", [[
local p = lab.empty(4, 4, {device = "cpu", pinned = true})      --X
local x = lab.empty(4, 4)
lab.spin(2, {stream = producer})
p:copy_(x, {non_blocking = true, stream = producer})            --A
consumer:launch_host_func(function() p:totable() end)           --B
]], {
    first = { "A", "write", d2h, "producer" },
    second = { "B", "read", "read", "host_func consumer" },
    stale = true,
})

right("a host function reads what another stream copies, and its stream waits", [[
local p, x = lab.empty(4, 4, {device = "cpu", pinned = true}), lab.empty(4, 4)
p:copy_(x, {non_blocking = true, stream = producer})
consumer:wait_stream(producer)
consumer:launch_host_func(function() p:totable() end)
]])

wrong("a host function changes what another stream copies from", [[
local p = lab.zeros(4, 4, {device = "cpu", pinned = true})      --X
local x = lab.empty(4, 4)
lab.spin(2, {stream = producer})
producer:launch_host_func(function() p:set(1, 1, 7) end)        --A
x:copy_(p, {non_blocking = true, stream = consumer})            --B
]], {
    first = { "A", "write", "write", "host_func producer" },
    second = { "B", "read", h2d, "consumer" },
    bytes = { 0, 4 }, stale = true,
})

right("a host function changes what another stream that waits copies from", [[
local p, x = lab.zeros(4, 4, {device = "cpu", pinned = true}), lab.empty(4, 4)
producer:launch_host_func(function() p:set(1, 1, 7) end)
consumer:wait_event(producer:record_event())
x:copy_(p, {non_blocking = true, stream = consumer})
]])

wrong("two host functions write the same", [[
local q = lab.zeros(4, 4, {device = "cpu"})                     --X
lab.spin(2, {stream = producer})
producer:launch_host_func(function() q:set(2, 2, 7) end)        --A
consumer:launch_host_func(function() q:set(2, 2, 8) end)        --B
]], {
    first = { "A", "write", "write", "host_func producer" },
    second = { "B", "write", "write", "host_func consumer" }, bytes = { 20, 4 }, stale = true,
})

right("two host functions write the same, one after the other", [[
local q = lab.zeros(4, 4, {device = "cpu"})
producer:launch_host_func(function() q:set(2, 2, 7) end)
consumer:wait_stream(producer)
consumer:launch_host_func(function() q:set(2, 2, 8) end)
]])

right("the host waits before pageable memory is read", [[
local q, x = lab.zeros(4, 4, {device = "cpu"}), lab.empty(4, 4)
producer:launch_host_func(function() q:set(1, 2, 7) end)
producer:synchronize()
x:copy_(q, {non_blocking = true, stream = consumer})
]])

T.done()
