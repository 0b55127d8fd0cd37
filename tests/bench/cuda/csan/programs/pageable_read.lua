-- The host reads a pageable buffer right after a copy that need not block.
local lab = require "streamlab"
local n = 1 << 20
local x = lab.zeros(n)
local producer = lab.stream{ name = "producer", non_blocking = true }
lab.synchronize()

local q = lab.zeros(n, { device = "cpu" })
x:fill_(14)
lab.synchronize()
lab.spin(10, { stream = producer })
q:copy_(x, { non_blocking = true, stream = producer })  -- A
local y = q:get(1)                                      -- B
lab.synchronize()
print("result", y, "of 14")
