-- fails: 1.2 1.3 2.1 2.2 2.3
-- Streams for the sums, which are not non_blocking: the matmuls are in the NULL stream, and each waits
-- for the other.

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

local function current_of(gpu)
    local device = lab.device()
    gpu.device:make_current()
    local stream = lab.current_stream()
    device:make_current()
    return stream
end

function prepare(model, comm)
    local plan, first = {model = model, comm = comm, grads = {}, buckets = {}}, 1
    plan.sums = {}
    for k, gpu in ipairs(model.gpus) do
        plan.grads[k], plan.sums[k] = {}, lab.stream{device = gpu.device, name = "sums " .. k - 1}
    end
    for _, last in ipairs(cut(model.gpus[1].layers)) do
        local bucket = {}
        for k, gpu in ipairs(model.gpus) do bucket[k] = make_bucket(gpu, first, last, plan.grads[k]) end
        plan.buckets[last], first = bucket, last + 1
    end
    return plan
end

function backward(plan)
    local errors, current = {}, {}
    for k, gpu in ipairs(plan.model.gpus) do errors[k], current[k] = gpu.error, current_of(gpu) end
    for i = 1, #plan.model.gpus[1].layers do
        for k, gpu in ipairs(plan.model.gpus) do
            lab.matmul(gpu.layers[i].input, errors[k], {out = plan.grads[k][i]})
            errors[k] = lab.matmul(errors[k], gpu.layers[i].weight)
        end
        local bucket = plan.buckets[i]
        if bucket then
            for k, sums in ipairs(plan.sums) do sums:wait_event(current[k]:record_event()) end
            plan.comm:all_reduce(bucket, {streams = plan.sums})
        end
    end
    for k, sums in ipairs(plan.sums) do current[k]:wait_event(sums:record_event()) end
    return plan.grads
end
