-- Memory that nobody has used yet is first written in a side stream.
local lab = require "streamlab"
local n = 1 << 20
local consumer = lab.stream{ name = "consumer", non_blocking = true }
lab.synchronize()

local x = lab.empty(n)                                  -- A
x:fill_(7, { stream = consumer })                       -- B
local y = lab.mul(x, 2, { stream = consumer })
lab.synchronize()
print("result", y:get(1), "of 14")
