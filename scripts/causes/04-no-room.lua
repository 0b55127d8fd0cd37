-- No room on the SMs: two kernels in two streams. Why does the second one wait?
--
-- The first one's grid has four times as many blocks as the GPU holds. While some of them are
-- still waiting for their turn, no other kernel places a block, not even a single one.

local lab = require "streamlab"
local first, second = lab.stream{ name = "first" }, lab.stream{ name = "second" }
local full = 2 * lab.device().sm_count          -- two blocks of 1024 threads fit on an SM
local grid = { blocks = 4 * full, threads = 1024, stream = first }

local function experiment()
    lab.spin(1, grid)                           -- four waves of 1 ms
    lab.spin(2, { blocks = 1, stream = second })
end

experiment()                                    -- warm-up: the first launches load kernels
lab.synchronize() collectgarbage()              -- and gets memory from the driver
local tl = lab.profile(experiment)
tl:show()
tl:explain()
