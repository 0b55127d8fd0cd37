-- The NULL stream writes what a blocking stream reads.
local lab = require "streamlab"
local n = 1 << 20
local x = lab.zeros(n)
local consumer = lab.stream{ name = "consumer" }
lab.synchronize()

lab.spin(10)
x:fill_(7)                                              -- A
local y = lab.mul(x, 2, { stream = consumer })          -- B
lab.synchronize()
print("result", y:get(1), "of 14")
