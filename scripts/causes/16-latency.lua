-- Latency: the same small kernels, but the host is ahead. Do they now run without gaps?
--
-- While the first kernel runs, all the others are issued. Between two kernels of a stream there
-- is still a microsecond in which the GPU ends the one and starts the other.

local lab = require "streamlab"
local work = lab.stream{ name = "work" }
local pieces = 800
local piece = { stream = work }

local function experiment()
    lab.spin(6, piece)
    for i = 1, pieces do lab.spin(0.8 / pieces, piece) end
end

experiment()                                    -- warm-up: the first launches load kernels
lab.synchronize() collectgarbage()              -- and gets memory from the driver
local tl = lab.profile(experiment)
tl:show()
tl:explain()
