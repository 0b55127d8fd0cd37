-- The event is recorded before the work that it should stand for.
local lab = require "streamlab"
local n = 1 << 20
local x = lab.zeros(n)
local producer = lab.stream{ name = "producer", non_blocking = true }
local consumer = lab.stream{ name = "consumer", non_blocking = true }
lab.synchronize()

local event = producer:record_event()
lab.spin(10, { stream = producer })
x:fill_(7, { stream = producer })                       -- A
consumer:wait_event(event)
local y = lab.mul(x, 2, { stream = consumer })          -- B
lab.synchronize()
print("result", y:get(1), "of 14")
