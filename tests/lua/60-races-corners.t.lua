-- 60-races-corners.t.lua - the race checker: what goes wrong easily.
require "lua.quiet" ()
local T = require "tap"
local C = require "lua.race_cases"
T.open()

local right, wrong = C.right, C.wrong

wrong("pageable memory is read in the call, and not when its stream has waited", [[
local q = lab.zeros(4, 4, {device = "cpu"})                     --X
local x = lab.empty(4, 4)
lab.spin(2, {stream = producer})
producer:launch_host_func(function() q:set(1, 2, 7) end)        --A
consumer:wait_stream(producer)
x:copy_(q, {non_blocking = true, stream = consumer})            --B
]], {
    first = { "A", "write", "write", "host_func producer" }, second = { "B", "read", nil, "host" },
    bytes = { 4, 4 }, stale = true,
})

wrong("two that meet in bytes of different histories meet once, in all of them", [[
local x = lab.empty(4, 4)                                       --X
lab.cuda.memset_async(x, 0, 24, consumer)
lab.synchronize()
lab.spin(2, {stream = producer})
lab.add(x, 1, {stream = producer})                              --A
x:fill_(7, third)                                               --B
]], {
    first = { "A", "read", "add_scalar_f32", "producer" },
    second = { "B", "write", "fill_f32", "third" }, bytes = { 0, 64 }, count = 1,
})

right("the host waits for the device, and so for a stream that was closed when it was done", [[
local x, s = lab.empty(4, 4), lab.stream{name = "s", non_blocking = true}
x:fill_(7, s)
lab.host_work(50)
s:close()
s = nil
collectgarbage()
lab.synchronize()
lab.add(x, 1, {stream = consumer})
]])

wrong("what a host write has raced with does not depend on host functions elsewhere", [[
local p = lab.ones(4, 4, {device = "cpu", pinned = true})       --X
local x = lab.empty(4, 4)
lab.spin(2, {stream = producer})
x:copy_(p, {non_blocking = true, stream = producer})            --A
p:set(1, 1, 2)                                                  --B
p:set(1, 1, 3)                                                  --C
]], {
    first = { "A", "read", "Memcpy HtoD (Pinned -> Device)", "producer" },
    second = { "B", "write", "write", "host" }, bytes = { 0, 4 },
}, {
    first = { "A", "read", "Memcpy HtoD (Pinned -> Device)", "producer" },
    second = { "C", "write", "write", "host" }, bytes = { 0, 4 },
})

wrong("nor with one that waits to run", [[
local p = lab.ones(4, 4, {device = "cpu", pinned = true})       --X
local x = lab.empty(4, 4)
lab.spin(2, {stream = third})
third:launch_host_func(function() end)
lab.spin(2, {stream = producer})
x:copy_(p, {non_blocking = true, stream = producer})            --A
p:set(1, 1, 2)                                                  --B
p:set(1, 1, 3)                                                  --C
]], {
    first = { "A", "read", "Memcpy HtoD (Pinned -> Device)", "producer" },
    second = { "B", "write", "write", "host" }, bytes = { 0, 4 },
}, {
    first = { "A", "read", "Memcpy HtoD (Pinned -> Device)", "producer" },
    second = { "C", "write", "write", "host" }, bytes = { 0, 4 },
})

wrong("a host function races with each line of the host that touches what it reads", [[
local p = lab.ones(4, 4, {device = "cpu", pinned = true})       --X
lab.spin(2, {stream = producer})
producer:launch_host_func(function() p:totable() end)           --A
p:set(1, 1, 2)                                                  --B
p:set(1, 2, 3)                                                  --C
]], {
    first = { "A", "read", "read", "host_func producer" },
    second = { "B", "write", "write", "host" }, bytes = { 0, 4 },
}, {
    first = { "A", "read", "read", "host_func producer" },
    second = { "C", "write", "write", "host" }, bytes = { 4, 4 },
})

wrong("a host function that cudaMemcpy waits for by chance, before it reads", [[
local q, x = lab.ones(4, 4, {device = "cpu"}), lab.empty(4, 4)  --X
lab.spin(2, {stream = one})
one:launch_host_func(function() q:set(1, 1, 7) end)             --A
lab.cuda.memcpy(x, q)                                           --B
]], {
    kind = "accident", bytes = { 0, 4 },
    first = { "A", "write", "write", "host_func one" },
    second = { "B", "read", "Memcpy HtoD (Pageable -> Device)", "host" },
})

T.done()
