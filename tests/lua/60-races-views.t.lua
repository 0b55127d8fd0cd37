-- 60-races-views.t.lua - the race checker: views of one tensor, which race where they overlap.
require "lua.quiet" ()
local T = require "tap"
local C = require "lua.race_cases"
T.open()
if not pcall(function() return lab.empty(4):narrow(1, 1, 2) end) then
    T.skip_all("there are no views")
end

local right, wrong = C.right, C.wrong

right("two streams write views that do not overlap", [[
local x = lab.empty(4, 4)
lab.spin(2, {stream = producer})
x:narrow(1, 1, 2):fill_(1, producer)
x:narrow(1, 3, 2):fill_(2, consumer)
]])

wrong("two streams write views that overlap", [[
local x = lab.empty(4, 4)                               --X
lab.spin(2, {stream = producer})
x:narrow(1, 1, 3):fill_(1, producer)                    --A
x:narrow(1, 3, 2):fill_(2, consumer)                    --B
]], {
    first = { "A", "write", "fill_f32", "producer" },
    second = { "B", "write", "fill_f32", "consumer" }, bytes = { 32, 16 }, stale = true,
    tensor = "^tensor %d+ %(",
})

wrong("a bias is written while a product reads it", [[
local a, bias = lab.ones(2, 2), lab.empty(4)                        --X
lab.synchronize()
lab.spin(2, {stream = producer})
bias:narrow(1, 2, 2):fill_(1, producer)                             --A
lab.matmul(a, a, {bias = bias:narrow(1, 3, 2), stream = consumer})  --B
]], {
    first = { "A", "write", "fill_f32", "producer" },
    second = { "B", "read", "matmul_bias_f32", "consumer" }, bytes = { 8, 4 }, stale = true,
    tensor = "^tensor %d+ %(",
})

right("what a bias lies beside is written while a product reads it", [[
local a, bias = lab.ones(2, 2), lab.ones(4)
lab.synchronize()
lab.spin(2, {stream = producer})
bias:narrow(1, 1, 2):fill_(1, producer)
lab.matmul(a, a, {bias = bias:narrow(1, 3, 2), stream = consumer})
]])

wrong("the last matrix of a stack is written while products read it", [[
local a = lab.ones(3, 2, 2)              --X
lab.synchronize()
lab.spin(2, {stream = producer})
a:narrow(1, 3, 1):fill_(1, producer)     --A
lab.matmul(a, a, {stream = consumer})    --B
]], {
    first = { "A", "write", "fill_f32", "producer" },
    second = { "B", "read", "matmul_f32", "consumer" }, bytes = { 32, 16 }, stale = true,
    tensor = "^tensor %d+ %(",
})

right("two streams write views that overlap, one after the other", [[
local x = lab.empty(4, 4)
x:narrow(1, 1, 3):fill_(1, producer)
consumer:wait_stream(producer)
x:narrow(1, 3, 2):fill_(2, consumer)
]])

wrong("a view is written and the whole is read", [[
local x = lab.empty(4, 4)                               --X
lab.spin(2, {stream = producer})
x:narrow(1, 2, 1):fill_(1, producer)                    --A
lab.add(x, 1, {stream = consumer})                      --B
]], {
    first = { "A", "write", "fill_f32", "producer" },
    second = { "B", "read", "add_scalar_f32", "consumer" }, bytes = { 16, 16 }, stale = true,
    tensor = "^tensor %d+ %(",
})

wrong("another shape of the same tensor is the same memory", [[
local x = lab.empty(4, 4)                               --X
lab.spin(2, {stream = producer})
x:fill_(1, producer)                                    --A
lab.add(x:view(2, 8), 1, {stream = consumer})           --B
]], {
    first = { "A", "write", "fill_f32", "producer" },
    second = { "B", "read", "add_scalar_f32", "consumer" }, stale = true,
    tensor = "^tensor %d+ %(",
})

right("chunks are copied in a stream each", [[
local p, x = lab.ones(4, 4, {device = "cpu", pinned = true}), lab.empty(4, 4)
local from, to = p:chunk(2), x:chunk(2)
for i, s in ipairs{producer, consumer} do
    to[i]:copy_(from[i], {non_blocking = true, stream = s})
    lab.mul(to[i], 2, {out = to[i], stream = s})
end
]])

wrong("chunks are copied in a stream each, and another one is used", [[
local p = lab.ones(4, 4, {device = "cpu", pinned = true})
local x = lab.empty(4, 4)                               --X
local from, to = p:chunk(2), x:chunk(2)
lab.spin(2, {stream = producer})
to[2]:copy_(from[2], {non_blocking = true, stream = producer})      --A
to[1]:copy_(from[1], {non_blocking = true, stream = consumer})
lab.mul(to[2], 2, {stream = consumer})                  --B
]], {
    first = { "A", "write", "Memcpy HtoD (Pinned -> Device)", "producer" },
    second = { "B", "read", "mul_scalar_f32", "consumer" }, bytes = { 32, 32 }, stale = true,
    tensor = "^tensor %d+ %(",
})

right("the host writes one chunk while another one is copied", [[
local p, x = lab.ones(4, 4, {device = "cpu", pinned = true}), lab.empty(4, 4)
local halves = p:chunk(2)
lab.spin(2, {stream = producer})
x:chunk(2)[1]:copy_(halves[1], {non_blocking = true, stream = producer})
halves[2]:fill_(7)
]])

wrong("the host sets an element of a chunk that is being copied", [[
local p = lab.ones(4, 4, {device = "cpu", pinned = true})           --X
local x, half = lab.empty(4, 4), p:chunk(2)[2]
lab.spin(2, {stream = producer})
x:chunk(2)[2]:copy_(half, {non_blocking = true, stream = producer}) --A
half:set(1, 2, 7)                                                   --B
]], {
    first = { "A", "read", "Memcpy HtoD (Pinned -> Device)", "producer" },
    second = { "B", "write", "write", "host" }, bytes = { 36, 4 }, stale = true,
    tensor = "^tensor %d+ %(",
})

wrong("the host fills one chunk, and reads the whole of which a stream fills another one", [[
local p = lab.zeros(4, 4, {device = "cpu", pinned = true})          --X
local x, halves = lab.empty(4, 4), p:chunk(2)
lab.spin(2, {stream = producer})
halves[2]:copy_(x:chunk(2)[1], {non_blocking = true, stream = producer})    --A
halves[1]:fill_(7)
p:totable()                                                         --B
]], {
    first = { "A", "write", "Memcpy DtoH (Device -> Pinned)", "producer" },
    second = { "B", "read", "read", "host" }, bytes = { 32, 32 }, stale = true,
    tensor = "^tensor %d+ %(",
})

-- ---- what an operation reads in two parts ------------------------------------------------

-- Rows 1 and 2, and 2 and 3: it reads bytes 0 to 47. What a report says of it does not depend on
-- what is remembered of the bytes, which is more while a host function waits to run.
for _, before in ipairs { "", "third:launch_host_func(function() end)" } do
    local races = C.run(([[
local x, y = lab.ones(4, 4), lab.empty(2, 4)
lab.synchronize()
lab.spin(1, {stream = third}) %s
lab.add(x:narrow(1, 3, 1), 1, {stream = producer})
lab.add(x:narrow(1, 1, 2), x:narrow(1, 2, 2), {stream = producer, out = y})
x:narrow(1, 3, 2):fill_(7, consumer)
]]):format(before))
    local first = #races == 1 and races[1].first or {}
    T.is(("%s %s"):format(first.first_byte, first.bytes), "0 48",
         "two parts that overlap are read as one"
             .. (before ~= "" and ", while a host function waits" or ""))
    T.is(#races == 1 and ("%d %d"):format(races[1].first_byte, races[1].bytes), "32 16",
         "of which the last row races")
end

T.done()
