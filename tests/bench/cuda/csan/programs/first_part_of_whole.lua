-- The same with the first half, which begins where the tensor does.
local lab = require "streamlab"
local n = 1 << 20
local x = lab.zeros(n)
local producer = lab.stream{ name = "producer", non_blocking = true }
local consumer = lab.stream{ name = "consumer", non_blocking = true }
lab.synchronize()

lab.spin(10, { stream = producer })
x:narrow(1, 1, n // 2):fill_(7, { stream = producer })  -- A
local y = lab.mul(x, 2, { stream = consumer })          -- B
lab.synchronize()
print("result", y:get(1), "of 14")
