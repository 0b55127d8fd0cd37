-- Late rank: when does an all-reduce begin?
--
-- When all ranks have come to it. Rank 1 has four times as much to do before it as rank 0, whose
-- part is on its SMs meanwhile and waits. The script needs two GPUs.

local lab = require "streamlab"
local gpu = { lab.device(), lab.open{ backend = lab.device().backend, index = 1 } }
local comm, train, gradients = lab.comm{ devices = gpu }, {}, {} gpu[1]:make_current()
for rank = 1, 2 do
    train[rank] = lab.stream{ name = "train", device = gpu[rank] }
    gradients[rank] = lab.ones(1024, 1024, { device = gpu[rank] })
end
local before, after = { 1, 4 }, { 4, 1 }        -- ms of work of each rank

local function experiment()
    for rank = 1, 2 do lab.spin(before[rank], { stream = train[rank] }) end
    comm:all_reduce(gradients, { streams = train })
    for rank = 1, 2 do lab.spin(after[rank], { stream = train[rank] }) end
end

experiment()                                    -- warm-up: the first launches load kernels
lab.synchronize() collectgarbage()              -- and gets memory from the driver
local tl = lab.profile(experiment)
tl:show()
tl:explain()
