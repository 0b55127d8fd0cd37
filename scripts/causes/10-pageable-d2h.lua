-- Host blocked by a copy to pageable memory: why is the kernel late?
--
-- Without non_blocking = true the result goes to ordinary memory, and the call returns when the
-- last byte has arrived there. The kernel is not even issued before that.

local lab = require "streamlab"
local copies, work = lab.stream{ name = "copies" }, lab.stream{ name = "work" }
local results = lab.rand(4096, 4096)            -- 64 MiB

local function experiment()
    results:to("cpu", { non_blocking = false, stream = copies })
    lab.spin(4, { stream = work })
end

experiment()                                    -- warm-up: the first launches load kernels
lab.synchronize() collectgarbage()              -- and gets memory from the driver
local tl = lab.profile(experiment)
tl:show()
tl:explain()
