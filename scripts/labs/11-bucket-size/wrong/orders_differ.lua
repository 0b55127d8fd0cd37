-- fails: 1.1 1.2 1.3 2.1 2.2 2.3 2.4
-- Each GPU sums its buckets by itself, GPU 1 in another order: the first of its all-reduces meets
-- another one of GPU 0.

local enough <const> = 16 << 20         -- bytes: from here on a bucket is full

local function numel(layer) return layer.input:size(1) * layer.weight:size(1) end

-- The last layer of each bucket: {3, 6, 8}.
local function cut(layers)
    local ends, bytes = {}, 0
    for i, layer in ipairs(layers) do
        bytes = bytes + 2 * numel(layer)
        if bytes >= enough or i == #layers then
            ends[#ends + 1], bytes = i, 0
        end
    end
    return ends
end

-- Memory for the layers from `first` to `last`, whose gradients become parts of it.
local function make_bucket(gpu, first, last, grads)
    local count = 0
    for i = first, last do count = count + numel(gpu.layers[i]) end
    local bucket, from = lab.empty(count, {device = gpu.device, dtype = lab.bfloat16}), 1
    for i = first, last do
        local layer = gpu.layers[i]
        grads[i] = bucket:narrow(1, from, numel(layer)):view(layer.input:size(1), layer.weight:size(1))
        from = from + numel(layer)
    end
    return bucket
end

function prepare(model, comm)
    local plan, first = {model = model, comm = comm, grads = {}, buckets = {}}, 1
    for k in ipairs(model.gpus) do plan.grads[k] = {} end
    for _, last in ipairs(cut(model.gpus[1].layers)) do
        local bucket = {}
        for k, gpu in ipairs(model.gpus) do bucket[k] = make_bucket(gpu, first, last, plan.grads[k]) end
        plan.buckets[last], first = bucket, last + 1
    end
    return plan
end

function backward(plan)
    local errors, works, full = {}, {}, {}
    for k, gpu in ipairs(plan.model.gpus) do errors[k] = gpu.error end
    for i = 1, #plan.model.gpus[1].layers do
        for k, gpu in ipairs(plan.model.gpus) do
            lab.matmul(gpu.layers[i].input, errors[k], {out = plan.grads[k][i]})
            errors[k] = lab.matmul(errors[k], gpu.layers[i].weight)
        end
        if plan.buckets[i] then full[#full + 1] = plan.buckets[i] end
    end
    for b = 1, #full do
        works[#works + 1] = plan.comm:all_reduce(full[b][1], {async = true})
        works[#works + 1] = plan.comm:all_reduce(full[#full + 1 - b][2], {async = true})
    end
    for _, work in ipairs(works) do work:wait() end     -- streams wait, the host does not
    return plan.grads
end
