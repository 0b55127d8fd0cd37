-- A stream writes the second half of what another one reads as a whole.
local lab = require "streamlab"
local n = 1 << 20
local x = lab.zeros(n)
local producer = lab.stream{ name = "producer", non_blocking = true }
local consumer = lab.stream{ name = "consumer", non_blocking = true }
lab.synchronize()

local first, second = table.unpack(x:chunk(2))
lab.spin(10, { stream = producer })
second:fill_(7, { stream = producer })                  -- A
local y = lab.mul(x, 2, { stream = consumer })          -- B
y = y:narrow(1, n // 2 + 1, 1)
lab.synchronize()
print("result", y:get(1), "of 14")
