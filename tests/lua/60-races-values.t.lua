-- 60-races-values.t.lua - the race checker: values that streams write and wait for.
require "lua.quiet" ()
local T = require "tap"
local C = require "lua.race_cases"
T.open()

local right, wrong = C.right, C.wrong

-- ---- a wait comes after the write that it sees -----------------------------------------------

right("a stream waits for a value that is written behind the data", [[
local x, flag = lab.empty(4, 4), lab.zeros(1, {dtype = "int32"})
lab.synchronize()
x:fill_(7, producer)
producer:write_value(flag, 1, 1)
consumer:wait_value(flag, 1, 1)
lab.add(x, 1, {stream = consumer})
]])

right("so does one that waits before the write", [[
local x, flag = lab.zeros(4, 4), lab.zeros(1, {dtype = "int32"})
lab.synchronize()
consumer:wait_value(flag, 1, 1)
lab.add(x, 1, {stream = consumer})
x:fill_(7, producer)
producer:write_value(flag, 1, 1)
lab.synchronize()
]])

wrong("the value is written before the data", [[
local x, flag = lab.empty(4, 4), lab.zeros(1, {dtype = "int32"})    --X
lab.synchronize()
producer:write_value(flag, 1, 1)
lab.spin(2, {stream = producer})
x:fill_(7, producer)                        --A
consumer:wait_value(flag, 1, 1)
lab.add(x, 1, {stream = consumer})          --B
]], {
    first = { "A", "write", "fill_f32", "producer" },
    second = { "B", "read", "add_scalar_f32", "consumer" },
    stale = true,
})

wrong("a wait for an earlier value does not wait for the later one", [[
local x, flag = lab.empty(4, 4), lab.zeros(2, {dtype = "int32"})    --X
lab.synchronize()
producer:write_value(flag, 1, 1)
lab.spin(2, {stream = producer})
x:fill_(7, producer)                        --A
producer:write_value(flag, 2, 1)            -- another element
consumer:wait_value(flag, 1, 1)
lab.add(x, 1, {stream = consumer})          --B
]], {
    first = { "A", "write", "fill_f32", "producer" },
    second = { "B", "read", "add_scalar_f32", "consumer" },
    stale = true,
})

wrong("what comes after the write is not waited for", [[
local x, flag = lab.empty(4, 4), lab.zeros(1, {dtype = "int32"})    --X
lab.synchronize()
producer:write_value(flag, 1, 1)
consumer:wait_value(flag, 1, 1)
lab.add(x, 1, {stream = consumer})          --A
x:fill_(7, producer)                        --B
]], {
    first = { "A", "read", "add_scalar_f32", "consumer" },
    second = { "B", "write", "fill_f32", "producer" },
})

-- ---- behind a wait that comes before its write -------------------------------------------------

wrong("what comes behind the write is not waited for, also by a wait that came before", [[
local x, flag = lab.empty(4, 4), lab.zeros(2, { dtype = "int32" })    --X
lab.synchronize()
consumer:wait_value(flag, 2, 1)
lab.spin(2, { stream = consumer })
producer:write_value(flag, 2, 1)
lab.spin(4, { stream = producer })
x:fill_(7, producer)                        --A
lab.add(x, 1, { stream = consumer })        --B
]], {
    first = { "A", "write", "fill_f32", "producer" },
    second = { "B", "read", "add_scalar_f32", "consumer" },
    stale = true,
})

right("what comes before that write is", [[
local x, flag = lab.empty(4, 4), lab.zeros(2, { dtype = "int32" })
lab.synchronize()
consumer:wait_value(flag, 2, 1)
x:fill_(7, producer)
producer:write_value(flag, 2, 1)
lab.add(x, 1, { stream = consumer })
]])

right("another element, and a value that does not do, end no wait", [[
local x, flag = lab.empty(4, 4), lab.zeros(2, { dtype = "int32" })
lab.synchronize()
consumer:wait_value(flag, 2, 2)
producer:write_value(flag, 1, 2)
producer:write_value(flag, 2, 1)
x:fill_(7, producer)
lab.add(x, 1, { stream = consumer })
producer:write_value(flag, 2, 2)
lab.synchronize()
]])

right("two waits are ended by two writes", [[
local x, flag = lab.empty(4, 4), lab.zeros(2, { dtype = "int32" })
lab.synchronize()
consumer:wait_value(flag, 1, 1)
consumer:wait_value(flag, 2, 1)
producer:write_value(flag, 2, 1)
x:fill_(7, producer)
lab.add(x, 1, { stream = consumer })
producer:write_value(flag, 1, 1)
lab.synchronize()
]])

-- ---- the word itself --------------------------------------------------------------------------

right("a wait and the write that it waits for are no race", [[
local flag = lab.zeros(1, {dtype = "int32"})
lab.synchronize()
consumer:wait_value(flag, 1, 1)
producer:write_value(flag, 1, 1)
lab.synchronize()
]])

wrong("two streams write one value", [[
local flag = lab.zeros(1, {dtype = "int32"})    --X
lab.synchronize()
producer:write_value(flag, 1, 1)            --A
consumer:write_value(flag, 1, 2)            --B
]], {
    first = { "A", "write", "write_value", "producer" },
    second = { "B", "write", "write_value", "consumer" },
    tensor = "1 int32",
    bytes = { 0, 4 },
})

right("they write two elements", [[
local flag = lab.zeros(2, {dtype = "int32"})
lab.synchronize()
producer:write_value(flag, 1, 1)
consumer:write_value(flag, 2, 2)
]])

wrong("a kernel reads the value without a wait", [[
local flag = lab.zeros(4, {dtype = "int32"})    --X
lab.synchronize()
lab.spin(2, {stream = producer})
producer:write_value(flag, 1, 1)            --A
lab.add(flag, 1, {stream = consumer})       --B
]], {
    first = { "A", "write", "write_value", "producer" },
    second = { "B", "read", "add_scalar_i32", "consumer" },
    tensor = "4 int32",
    bytes = { 0, 4 },
    stale = true,
})

T.done()
