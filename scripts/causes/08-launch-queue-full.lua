-- Launch queue full: the copies need none of these kernels. Why do they come so late?
--
-- A launch returns at once, but only about a thousand of them fit into the queue. Then each
-- launch waits for a kernel to end, and the host cannot issue the copies before it is through.

local lab = require "streamlab"
local work, copies = lab.stream{ name = "work" }, lab.stream{ name = "copies" }
local results = lab.rand(4096, 4096)            -- 64 MiB
local host = lab.zeros(4096, 4096, { device = "cpu", pinned = true })
local from, short = { non_blocking = true, stream = copies }, { stream = work }
local function kernels() for i = 1, 2000 do lab.spin(0.05, short) end end
local function copy() for i = 1, 48 do host:copy_(results, from) end end

local function experiment()
    kernels()
    copy()
end

experiment()                                    -- warm-up: the first launches load kernels
lab.synchronize() collectgarbage()              -- and gets memory from the driver
local tl = lab.profile(experiment)
tl:show()
tl:explain()
