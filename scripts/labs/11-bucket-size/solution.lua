-- Lab 11: all gradients of a GPU are one piece of memory, into which the matmuls write. A bucket is
-- a part of it, and is summed as soon as it is full, in the communicator's own stream. How large
-- buckets are, prepare() measures.

local function numel(layer) return layer.input:size(1) * layer.weight:size(1) end

-- For the last layer of each bucket its parts, one on each GPU. From `enough` bytes on it is full.
local function cut(plan, enough)
    local layers, buckets, from, count = plan.model.gpus[1].layers, {}, 1, 0
    for i, layer in ipairs(layers) do
        count = count + numel(layer)
        if 2 * count >= enough or i == #layers then
            buckets[i] = {}
            for k, all in ipairs(plan.all) do buckets[i][k] = all:narrow(1, from, count) end
            from, count = from + count, 0
        end
    end
    return buckets
end

-- Memory for all gradients of a GPU, and each of them as a part of it.
local function make_grads(gpu)
    local total, from, grads = 0, 1, {}
    for _, layer in ipairs(gpu.layers) do total = total + numel(layer) end
    local all = lab.empty(total, { device = gpu.device, dtype = lab.bfloat16 })
    for i, layer in ipairs(gpu.layers) do
        grads[i] = all:narrow(1, from, numel(layer)):view(layer.input:size(1), layer.weight:size(1))
        from = from + numel(layer)
    end
    return all, grads
end

function prepare(model, comm)
    local plan, best, best_us = { model = model, comm = comm, all = {}, grads = {} }, nil, math.huge
    for k, gpu in ipairs(model.gpus) do plan.all[k], plan.grads[k] = make_grads(gpu) end
    for power = 20, 30 do                               -- 1 MiB to 1 GiB
        plan.buckets = cut(plan, 1 << power)
        backward(plan)                                  -- the first pass loads kernels
        lab.synchronize()
        local us = lab.profile(backward, plan).makespan_us
        if us < best_us then best, best_us = plan.buckets, us end
    end
    plan.buckets = best
    return plan
end

function backward(plan)
    local errors, works = {}, {}
    for k, gpu in ipairs(plan.model.gpus) do errors[k] = gpu.error end
    for i = 1, #plan.model.gpus[1].layers do
        for k, gpu in ipairs(plan.model.gpus) do
            lab.matmul(gpu.layers[i].input, errors[k], { out = plan.grads[k][i] })
            errors[k] = lab.matmul(errors[k], gpu.layers[i].weight)
        end
        local bucket = plan.buckets[i]
        if bucket then works[#works + 1] = plan.comm:all_reduce(bucket, { async = true }) end
    end
    for _, work in ipairs(works) do work:wait() end     -- streams wait, the host does not
    return plan.grads
end
