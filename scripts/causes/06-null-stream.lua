-- NULL-stream barrier: the kernel has no stream, the copy has one of its own. Do they overlap?
--
-- What is given no stream goes to the default one, CUDA's legacy NULL stream, and that waits for
-- all streams that were made without non_blocking = true, and they wait for it.

local lab = require "streamlab"
local copies = lab.stream{ name = "copies" }
local results = lab.rand(4096, 4096)            -- 64 MiB

local function experiment()
    lab.spin(4)
    results:to("cpu", { non_blocking = true, stream = copies })
end

experiment()                                    -- warm-up: the first launches load kernels
lab.synchronize() collectgarbage()              -- and gets memory from the driver
local tl = lab.profile(experiment)
tl:show()
tl:explain()
