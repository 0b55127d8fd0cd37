-- 60-races-atomics.t.lua - the race checker and kernels of which the source shows that they touch a
-- tensor by atomic functions alone.
require "lua.quiet" ()
local T = require "tap"
local C = require "lua.race_cases"
T.open()

local right, wrong = C.right, C.wrong

local source <const> = [[
__global__ void count(float *bins) { atomicAdd(&bins[threadIdx.x % 16], 1.0f); }
__global__ void mixed(float *bins) { atomicAdd(&bins[0], 1.0f); if (bins[1] > 3) bins[1] = 0; }
]]
local function kernel(name)
    return lab.kernel { source = source, name = name, args = { "inout f32*" },
                        cost = { us = 1000 } }
end
_G.count, _G.mixed = kernel "count", kernel "mixed"

right("two kernels that only add atomically to one tensor", [[
local x = lab.zeros(4, 4)
lab.synchronize()
count(1, 32, {stream = producer}, x)
count(1, 32, {stream = consumer}, x)
count(1, 32, {stream = producer}, x)
]])

wrong("one of them also reads and writes it plainly", [[
local x = lab.zeros(4, 4)                                       --X
lab.synchronize()
count(1, 32, {stream = producer}, x)                            --A
mixed(1, 32, {stream = consumer}, x)                            --B
]], {
    first = { "A", "atomic", "count", "producer" }, second = { "B", "read", "mixed", "consumer" },
}, {
    first = { "A", "atomic", "count", "producer" }, second = { "B", "write", "mixed", "consumer" },
})

wrong("the sum is read before they are done", [[
local x = lab.zeros(4, 4)                                       --X
lab.synchronize()
count(1, 32, {stream = producer}, x)                            --A
lab.add(x, 1, {stream = consumer})                              --B
]], {
    first = { "A", "atomic", "count", "producer" },
    second = { "B", "read", "add_scalar_f32", "consumer" }, stale = true,
})

wrong("the reader waits for one of two", [[
local x = lab.zeros(4, 4)                                       --X
lab.synchronize()
count(1, 32, {stream = producer}, x)                            --A
count(1, 32, {stream = third}, x)
consumer:wait_stream(third)
lab.add(x, 1, {stream = consumer})                              --B
]], {
    first = { "A", "atomic", "count", "producer" },
    second = { "B", "read", "add_scalar_f32", "consumer" },
})

wrong("the bins are cleared beside them", [[
local x = lab.empty(4, 4)                                       --X
x:zero_(producer)                                               --A
count(1, 32, {stream = consumer}, x)                            --B
]], {
    first = { "A", "write", "Memset (Device)", "producer" },
    second = { "B", "atomic", "count", "consumer" },
})

wrong("a read does not stand for the atomic update that it comes after", [[
local x = lab.zeros(4, 4)                                       --X
lab.synchronize()
count(1, 32, {stream = producer}, x)                            --A
lab.add(x, 1, {stream = producer})                              --C
lab.add(x, 1, {stream = consumer})                              --B
]], {
    first = { "A", "atomic", "count", "producer" },
    second = { "B", "read", "add_scalar_f32", "consumer" },
})

wrong("nor an atomic update for the read", [[
local x = lab.zeros(4, 4)                                       --X
lab.synchronize()
lab.add(x, 1, {stream = producer})                              --A
count(1, 32, {stream = producer}, x)
count(1, 32, {stream = consumer}, x)                            --B
]], {
    first = { "A", "read", "add_scalar_f32", "producer" },
    second = { "B", "atomic", "count", "consumer" },
})

wrong("its memory is freed beside it", [[
local x = lab.zeros(4, 4)                                       --X
lab.synchronize()
count(1, 32, {stream = producer}, x)                            --A
lab.cuda.free_async(x, consumer)                                --B
]], {
    first = { "A", "atomic", "count", "producer" },
    second = { "B", "free", "cudaFreeAsync", "consumer" },
})

right("branches of a graph", [[
local x = lab.zeros(4, 4)
lab.synchronize()
local g = lab.graph(function()
    consumer:wait_stream(producer)
    count(1, 32, {stream = producer}, x)
    count(1, 32, {stream = consumer}, x)
    producer:wait_stream(consumer)
end, {stream = producer})
g:launch{stream = third}
count(1, 32, {stream = consumer}, x)
]])

local races = C.run([[
local x = lab.zeros(4, 4)
lab.synchronize()
count(1, 32, {stream = producer}, x)
lab.add(x, 1, {stream = consumer})
]])
T.like(races[1].message, "may still be updating", "the report says what it may still do")
T.like(races[1].message, "count updates", "and who")

_G.count, _G.mixed = nil, nil
T.done()
