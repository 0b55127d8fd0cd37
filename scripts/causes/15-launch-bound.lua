-- Launch-bound: a thousand kernels of 1 us. How long does that take?
--
-- Not one millisecond: each launch costs the host several microseconds, and the GPU is done with
-- a kernel before the host has issued the next.

local lab = require "streamlab"
local work = lab.stream{ name = "work" }
local pieces = 1000
local piece = { stream = work }

local function experiment()
    for i = 1, pieces do lab.spin(1 / pieces, piece) end
end

experiment()                                    -- warm-up: the first launches load kernels
lab.synchronize() collectgarbage()              -- and gets memory from the driver
local tl = lab.profile(experiment)
tl:show()
tl:explain()
