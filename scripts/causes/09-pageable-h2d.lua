-- Host blocked by a copy from pageable memory: it is "non-blocking", so why is the kernel late?
--
-- The GPU cannot reach ordinary memory by itself. The driver copies it piece by piece into
-- pinned memory, and the host takes part nearly to the end: the next launch has to wait.

local lab = require "streamlab"
local copies, work = lab.stream{ name = "copies" }, lab.stream{ name = "work" }
local batch = lab.zeros(4096, 4096, { device = "cpu" })                 -- 64 MiB

local function experiment()
    batch:to("cuda", { non_blocking = true, stream = copies })
    lab.spin(4, { stream = work })
end

experiment()                                    -- warm-up: the first launches load kernels
lab.synchronize() collectgarbage()              -- and gets memory from the driver
local tl = lab.profile(experiment)
tl:show()
tl:explain()
