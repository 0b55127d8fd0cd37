-- Two streams write views of one tensor that share a part.
local lab = require "streamlab"
local n = 1 << 20
local x = lab.zeros(n)
local producer = lab.stream{ name = "producer", non_blocking = true }
local consumer = lab.stream{ name = "consumer", non_blocking = true }
lab.synchronize()

lab.spin(10, { stream = producer })
x:narrow(1, 1, 3 * n // 4):fill_(7, { stream = producer })              -- A
x:narrow(1, n // 4 + 1, 3 * n // 4):fill_(14, { stream = consumer })    -- B
local y = x:narrow(1, n // 4 + 1, 1)
lab.synchronize()
print("result", y:get(1), "of 14")
