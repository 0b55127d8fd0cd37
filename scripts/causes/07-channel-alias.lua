-- Hardware-channel alias: nine streams, one small kernel at a time each. Do all nine overlap?
--
-- The GPU has eight channels for them (CUDA_DEVICE_MAX_CONNECTIONS), so that two streams share
-- one. A channel is first in, first out: the ninth stream waits until the last kernel of the one
-- that it shares with has started.

local lab = require "streamlab"
local streams, kernels = {}, 4
for i = 1, 9 do streams[i] = lab.stream{ name = "s" .. i } end
local function spin(i) lab.spin(1, { stream = streams[i] }) end

local function experiment()
    for i = 1, 9 do for k = 1, kernels do spin(i) end end
end

experiment()                                    -- warm-up: the first launches load kernels
lab.synchronize() collectgarbage()              -- and gets memory from the driver
local tl = lab.profile(experiment)
tl:show()
tl:explain()
