-- Host blocked by cudaFree: memory that nobody uses is given back. What can that hold up?
--
-- cudaFree may wait for all work on the device, and here it does. The copy, which could run
-- beside the kernel, is issued only when the kernel has ended.

local lab = require "streamlab"
local work, copies = lab.stream{ name = "work" }, lab.stream{ name = "copies" }
local results = lab.rand(4096, 4096)            -- 64 MiB

local function experiment()
    local scratch = lab.cuda.malloc(2^20)
    lab.spin(4, { stream = work })
    lab.cuda.free(scratch)
    results:to("cpu", { non_blocking = true, stream = copies })
end

experiment()                                    -- warm-up: the first launches load kernels
lab.synchronize() collectgarbage()              -- and gets memory from the driver
local tl = lab.profile(experiment)
tl:show()
tl:explain()
