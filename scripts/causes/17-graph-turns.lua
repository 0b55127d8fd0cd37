-- One graph, two streams: do two launches of a graph run at the same time?
--
-- The kernel leaves most of the GPU empty, and no stream waits for the other. But it is one
-- executable graph that is launched twice: the second launch waits until the first one has ended.

local lab = require "streamlab"
local first, second = lab.stream{ name = "first" }, lab.stream{ name = "second" }
local function step() lab.spin(2, { blocks = 4 }) end
local a = lab.graph(step, { name = "step" })
local b = a

local function experiment()
    a:launch{ stream = first }
    b:launch{ stream = second }
end

experiment()                                    -- warm-up: the first launches load kernels
lab.synchronize() collectgarbage()              -- and gets memory from the driver
local tl = lab.profile(experiment)
tl:show()
tl:explain()
