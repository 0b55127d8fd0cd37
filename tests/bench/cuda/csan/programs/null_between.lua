-- A kernel in the NULL stream stands between two blocking streams.
local lab = require "streamlab"
local n = 1 << 20
local x, other = lab.zeros(n), lab.zeros(n)
local producer, consumer = lab.stream{ name = "producer" }, lab.stream{ name = "consumer" }
lab.synchronize()

lab.spin(10, { stream = producer })
x:fill_(7, { stream = producer })                       -- A
other:fill_(1)
local y = lab.mul(x, 2, { stream = consumer })          -- B
lab.synchronize()
print("result", y:get(1), "of 14")
