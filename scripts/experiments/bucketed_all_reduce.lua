-- How large should the buckets be in which a backward pass gives its gradients to all-reduces?
--
-- It is often said that "few large all-reduces are faster", and that "the all-reduce is hidden
-- behind the backward pass". 24 layers have two matmuls each. Behind the last layer of a bucket its
-- gradients are summed over all GPUs (arg[1] of them, or 2), beside the next layers. Expected: an
-- all-reduce has a latency and takes SMs from the matmuls, so many small ones slow these down; the
-- last bucket has nothing to hide behind, so all of a large one is exposed.
local lab = require "streamlab"
local gpus, count <const>, layers <const> = {}, tonumber(arg[1] or 2), 24
for i = 1, count do gpus[i] = lab.open{ index = i - 1 } end
local comm = lab.comm{ devices = gpus }
local function models(batch, n)         -- powers of two; weights of 1/n pass on an error of ones
    local list = {}
    for i, gpu in ipairs(gpus) do
        local opts = { device = gpu, dtype = "bfloat16" }
        list[i] = { weight = lab.full(1 / n, n, n, opts),
            input = lab.full(1 << i - 1, n, batch, opts),
            errors = { [0] = lab.ones(batch, n, opts), lab.ones(batch, n, opts) },
            grads = lab.zeros(layers * n, n, opts), n = n }
    end
    return list
end
local function piece(m, first, size) return m.grads:narrow(1, (first - 1) * m.n + 1, size * m.n) end
-- so many layers are a bucket; if too many nothing is summed
local function backward(list, size)
    local works, bucket = {}, {}
    for i = 1, layers do
        for k, m in ipairs(list) do
            lab.matmul(m.input, m.errors[1 - i % 2], { out = piece(m, i, 1) })
            lab.matmul(m.errors[1 - i % 2], m.weight, { out = m.errors[i % 2] })
            if i % size == 0 then bucket[k] = piece(m, i - size + 1, size) end
        end
        if i % size == 0 then works[#works + 1] = comm:all_reduce(bucket, { async = true }) end
    end
    for _, work in ipairs(works) do work:wait() end
end
local n <const> = count > 4 and 4096 or 2048          -- long matmuls: one host issues all of them
local small, large, last = models(16, 32), models(8192, n), 0
local function row(size)
    backward(large, size)               -- the first launches load the kernels
    local tl, right = lab.profile(backward, large, size), true
    for _, s in ipairs(tl:spans()) do last = s.name:find("nccl") and last or s.end_us end
    backward(small, size)
    local sums = lab.full(16 * ((1 << count) - 1), layers * 32, 32,
                          { device = "cpu", dtype = "bfloat16" })
    for _, m in ipairs(small) do right = right and lab.allclose(m.grads:cpu(), sums) end
    last = last - tl:spans()[1].start_us
    return { mib = size * n * n * 2 / (1 << 20), matmuls_us = last,
        exposed_us = tl.makespan_us - last,
        makespan_us = tl.makespan_us, right = right }
end
local result = lab.sweep({ { "layers", { 1, 2, 3, 4, 6, 8, 12, 24 } } },
    function(p) return row(p.layers) end,
    { columns = { "mib", "matmuls_us", "exposed_us", "makespan_us", "right" } })
result:show()
local rows, best, one <const> = result.rows, result.rows[1], result.rows[8]
for _, r in ipairs(rows) do best = r.makespan_us < best.makespan_us and r or best end
local gain <const> = one.makespan_us - best.makespan_us
print(("Verdict: %s: few large all-reduces are fastest: %.0f us with 24 of them, %.0f with %d, "
    .. "%.0f with 1"):format(best == one and "holds" or best == rows[1] and "no longer holds"
    or "depends",
    rows[1].makespan_us, best.makespan_us, layers // best.layers, one.makespan_us))
print(("Verdict: %s: the all-reduce is hidden behind the backward pass: of %.0f us behind it %.0f "
    .. "are gained; the matmuls take %.2f times as "
    .. "long"):format(gain > 0.95 * one.exposed_us and "holds"
    or "depends", one.exposed_us, gain, best.matmuls_us / row(layers + 1).matmuls_us))
