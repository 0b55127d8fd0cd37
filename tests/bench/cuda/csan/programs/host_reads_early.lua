-- The host reads a pinned buffer before the copy has filled it.
local lab = require "streamlab"
local n = 1 << 20
local x = lab.zeros(n)
local producer = lab.stream{ name = "producer", non_blocking = true }
lab.synchronize()

local p = lab.zeros(n, { device = "cpu", pinned = true })
x:fill_(14)
lab.synchronize()
lab.spin(10, { stream = producer })
p:copy_(x, { non_blocking = true, stream = producer })  -- A
local y = p:get(1)                                      -- B
lab.synchronize()
print("result", y, "of 14")
