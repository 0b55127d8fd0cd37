-- fails: 1.1 1.2 1.3 2.1 2.2 2.3 2.4
-- The all-reduces are in streams of their own, and nothing says that they come behind the matmuls.

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

-- The stream that is current on the GPU.
local function current_of(gpu)
    local device = lab.device()
    gpu.device:make_current()
    local stream = lab.current_stream()
    device:make_current()
    return stream
end

function prepare(model, comm)
    local plan, best, best_us = { model = model, comm = comm, all = {}, grads = {} }, nil, math.huge
    plan.sums = {}
    for k, gpu in ipairs(model.gpus) do
        plan.all[k], plan.grads[k] = make_grads(gpu)
        plan.sums[k] = lab.stream{ device = gpu.device, non_blocking = true }
    end
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
    local errors, current = {}, {}
    for k, gpu in ipairs(plan.model.gpus) do errors[k], current[k] = gpu.error, current_of(gpu) end
    for i = 1, #plan.model.gpus[1].layers do
        for k, gpu in ipairs(plan.model.gpus) do
            lab.matmul(gpu.layers[i].input, errors[k], { out = plan.grads[k][i] })
            errors[k] = lab.matmul(errors[k], gpu.layers[i].weight)
        end
        local bucket = plan.buckets[i]
        if bucket then plan.comm:all_reduce(bucket, { streams = plan.sums }) end
    end
    for k, sums in ipairs(plan.sums) do current[k]:wait_event(sums:record_event()) end
    return plan.grads
end
