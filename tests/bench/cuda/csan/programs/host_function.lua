-- A host function fills a pinned buffer that another stream copies.
local lab = require "streamlab"
local n = 1 << 20
local x = lab.zeros(n)
local producer = lab.stream{ name = "producer", non_blocking = true }
local consumer = lab.stream{ name = "consumer", non_blocking = true }
lab.synchronize()

local p = lab.zeros(n, { device = "cpu", pinned = true })
lab.spin(10, { stream = producer })
producer:launch_host_func(function() p:set(1, 12) end)  -- A
x:copy_(p, { non_blocking = true, stream = consumer })  -- B
lab.synchronize()
print("result", x:get(1), "of 12")
