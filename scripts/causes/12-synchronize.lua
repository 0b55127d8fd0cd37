-- Host blocked by a synchronisation: the next batch does not need the kernel. Why is it late?
--
-- s:synchronize() holds the host, not a stream: until the kernel has ended nothing is issued, not
-- even what has nothing to do with it.

local lab = require "streamlab"
local work, copies = lab.stream{ name = "work" }, lab.stream{ name = "copies" }
local batch = lab.zeros(4096, 4096, { device = "cpu", pinned = true })  -- 64 MiB

local function experiment()
    lab.spin(4, { stream = work })
    work:synchronize()
    batch:to("cuda", { non_blocking = true, stream = copies })
end

experiment()                                    -- warm-up: the first launches load kernels
lab.synchronize() collectgarbage()              -- and gets memory from the driver
local tl = lab.profile(experiment)
tl:show()
tl:explain()
