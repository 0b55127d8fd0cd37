-- Priority in a graph: does a node that was captured in an urgent stream go first?
--
-- `urgent` has the higher priority, and its kernel is captured in it. But a graph does not keep
-- that: all of its nodes have the priority of the stream that launches it, unless it is
-- instantiated with the priorities of its nodes.

local lab = require "streamlab"
local busy, work = lab.stream{ name = "busy" }, lab.stream{ name = "work" }
local urgent = lab.stream{ name = "urgent", priority = "high" }
local many = 20 * lab.device().sm_count         -- ten times what fits on the GPU
local function step() lab.spin(0.5, { blocks = 4, threads = 1024, stream = urgent }) end
local options = { stream = urgent, name = "step" }
local g = lab.graph(step, options)

local function experiment()
    lab.spin(0.2, { blocks = many, threads = 1024, stream = busy })
    g:launch{ stream = work }
end

experiment()                                    -- warm-up: the first launches load kernels
lab.synchronize() collectgarbage()              -- and gets memory from the driver
local tl = lab.profile(experiment)
tl:show()
tl:explain()
