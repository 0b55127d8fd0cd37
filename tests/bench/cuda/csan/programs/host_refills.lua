-- The host refills a pinned buffer that is still being copied.
local lab = require "streamlab"
local n = 1 << 20
local x = lab.zeros(n)
local producer = lab.stream{ name = "producer", non_blocking = true }
lab.synchronize()

local p = lab.full(14, n, { device = "cpu", pinned = true })
lab.spin(10, { stream = producer })
x:copy_(p, { non_blocking = true, stream = producer })  -- A
p:fill_(7)                                              -- B
local y = x
lab.synchronize()
print("result", y:get(1), "of 14")
