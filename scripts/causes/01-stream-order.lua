-- Same-stream order: does a copy run beside a kernel that has nothing to do with it?
--
-- `results` were there before. But both operations go to one stream, and a stream runs one
-- thing at a time: the copy engine stands still until the kernel has ended.

local lab = require "streamlab"
local work = lab.stream{ name = "work" }
local copies = work
local results = lab.rand(4096, 4096)            -- 64 MiB

local function experiment()
    lab.spin(4, { stream = work })
    results:to("cpu", { non_blocking = true, stream = copies })
end

experiment()                                    -- warm-up: the first launches load kernels
lab.synchronize() collectgarbage()              -- and gets memory from the driver
local tl = lab.profile(experiment)
tl:show()
tl:explain()
