local gpus = { lab.open{ index = 0 }, lab.open{ index = 1 } }
local a, grads = {}, {}
for k, gpu in ipairs(gpus) do
    a[k] = lab.ones(8192, 8192, { device = gpu, dtype = "bfloat16" })
    grads[k] = lab.ones(1 << 27, { device = gpu, dtype = "bfloat16" })      -- 256 MiB
end

local function multiply()
    for k = 1, 2 do lab.matmul(a[k], a[k]) end
end

local function us(...)
    local functions = { ... }
    local function all()
        for _, f in ipairs(functions) do f() end
    end
    all()                                       -- warm-up
    return lab.profile(all).makespan_us
end

print(("the matmul alone: %.0f us"):format(us(multiply)))
for _, channels in ipairs{ 1, 4, 24 } do
    local comm = lab.comm{ devices = gpus, channels = channels }
    local function sum() comm:all_reduce(grads, { async = true }) end
    print(("channels: %d, the all-reduce alone: %.0f us, both: %.0f us"):format(channels,
        us(sum), us(sum, multiply)))
end
