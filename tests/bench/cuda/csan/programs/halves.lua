-- Two streams work on the two halves of one tensor.
local lab = require "streamlab"
local n = 1 << 20
local x = lab.zeros(n)
local producer = lab.stream{ name = "producer", non_blocking = true }
local consumer = lab.stream{ name = "consumer", non_blocking = true }
lab.synchronize()

local first, second = table.unpack(x:chunk(2))
lab.spin(10, { stream = producer })
first:fill_(7, { stream = producer })                   -- A
second:fill_(14, { stream = consumer })                 -- B
local y = second
lab.synchronize()
print("result", y:get(1), "of 14")
