-- A copy to the host that blocks has read its source when it returns.
local lab = require "streamlab"
local n = 1 << 20
local x = lab.zeros(n)
local producer = lab.stream{ name = "producer", non_blocking = true }
local consumer = lab.stream{ name = "consumer", non_blocking = true }
lab.synchronize()

local p = lab.empty(n, { device = "cpu", pinned = true })
p:copy_(x, { stream = producer })                       -- A
x:fill_(7, { stream = consumer })                       -- B
local y = lab.mul(x, 2, { stream = consumer })
lab.synchronize()
print("result", y:get(1), "of 14")
