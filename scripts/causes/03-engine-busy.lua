-- Engine busy with another stream: two streams, two copies to the GPU. Do they overlap?
--
-- There is one engine for each direction, first in, first out. The small batch, for which a
-- kernel waits, was issued behind the large one, and the kernel starts 5 ms late.

local lab = require "streamlab"
local bulk, urgent = lab.stream{ name = "bulk" }, lab.stream{ name = "urgent" }
local large = lab.zeros(8192, 8192, { device = "cpu", pinned = true })  -- 256 MiB
local small = lab.zeros(512, 512, { device = "cpu", pinned = true })    -- 1 MiB
local large_on_gpu, small_on_gpu = lab.empty(8192, 8192), lab.empty(512, 512)

local function experiment()
    large_on_gpu:copy_(large, { non_blocking = true, stream = bulk })
    small_on_gpu:copy_(small, { non_blocking = true, stream = urgent })
    lab.spin(4, { stream = urgent })            -- works on the small batch
end

experiment()                                    -- warm-up: the first launches load kernels
lab.synchronize() collectgarbage()              -- and gets memory from the driver
local tl = lab.profile(experiment)
tl:show()
tl:explain()
