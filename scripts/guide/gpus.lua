local gpus = { lab.open{ index = 0 }, lab.open{ index = 1 } }  -- the last one is current
local a = lab.full(3, 4096, 4096, { device = gpus[1] })
local b = lab.empty(4096, 4096, { device = gpus[2] })

local function step()
    b:copy_(a)                                  -- from GPU to GPU
    return lab.matmul(b, b)                     -- runs where its tensors are
end
step()                                          -- warm-up
lab.profile(step):show()
lab.cuda.device_enable_peer_access(gpus[1])     -- to the current GPU
gpus[1]:make_current()
lab.cuda.device_enable_peer_access(gpus[2])
lab.profile(step):show()
