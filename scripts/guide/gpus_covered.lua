local gpus = { lab.open{ index = 0 }, lab.open{ index = 1 } }
local comm, train, grads = lab.comm{ devices = gpus }, {}, {}
for k = 1, 2 do
    train[k] = lab.stream{ device = gpus[k], name = "train" }
    grads[k] = lab.ones(1 << 23, { device = gpus[k] })
end

local function backward(async)
    local works = {}
    for _ = 1, 4 do                             -- layers, whose kernels leave SMs to others
        for k = 1, 2 do lab.spin(0.3, { stream = train[k], blocks = 96 }) end
        works[#works + 1] = comm:all_reduce(grads, { streams = train, async = async })
    end
    for k = 1, 2 do
        for _, work in ipairs(async and works or {}) do lab.with(train[k], work.wait, work) end
        lab.spin(0.1, { stream = train[k], blocks = 96 })                       -- the optimizer
    end
end
backward(false)                                 -- warm-up

local tl = lab.profile(backward, arg[1] == "async")
tl:show()
print(("makespan %.0f us, %.0f us to gain"):format(tl.makespan_us, tl:verdict().gain_us))
local sums, kernels = { device = 0, kind = "collective" }, { device = 0, kind = "kernel" }
print(("communication of GPU 0: %.0f us, covered by kernels: %.0f us"):format(tl:busy_us(sums),
    tl:overlap_us(sums, kernels)))
