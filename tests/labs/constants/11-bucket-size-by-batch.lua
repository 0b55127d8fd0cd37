-- Lab 11: a bucket size for each size of batch, typed in.
local function numel(layer) return layer.input:size(1) * layer.weight:size(1) end

local function build(model, comm, bytes)
    local plan = { model = model, comm = comm, grads = {}, last = {}, bucket = {} }
    local layers = model.gpus[1].layers
    local from, first, sum = {}, 1, 0
    local total = 0
    for i, layer in ipairs(layers) do
        from[i] = total + 1
        total = total + numel(layer)
    end
    plan.ends = {}          -- ends[i] = {from, count}: behind layer i a bucket is full
    for i, layer in ipairs(layers) do
        sum = sum + numel(layer)
        if sum * 2 >= bytes or i == #layers then
            plan.ends[i] = { from[first], sum }
            first, sum = i + 1, 0
        end
    end
    for k, gpu in ipairs(model.gpus) do
        local memory = lab.empty(total, { device = gpu.device, dtype = lab.bfloat16 })
        plan.grads[k], plan.bucket[k] = {}, memory
        for i, layer in ipairs(gpu.layers) do
            plan.grads[k][i] = memory:narrow(1, from[i], numel(layer))
                :view(layer.input:size(1), layer.weight:size(1))
        end
    end
    return plan
end

function prepare(model, comm)
    local batch = model.gpus[1].error:size(1)
    local mib = batch >= 8192 and 16 or batch >= 1024 and 32 or 256
    return build(model, comm, mib << 20)
end

function backward(plan)
    local gpus, works, errors = plan.model.gpus, {}, {}
    for k, gpu in ipairs(gpus) do errors[k] = gpu.error end
    for i = 1, #gpus[1].layers do
        for k, gpu in ipairs(gpus) do
            local layer = gpu.layers[i]
            lab.matmul(layer.input, errors[k], { out = plan.grads[k][i] })
            errors[k] = lab.matmul(errors[k], layer.weight)
        end
        local full = plan.ends[i]
        if full then
            local parts = {}
            for k in ipairs(gpus) do parts[k] = plan.bucket[k]:narrow(1, full[1], full[2]) end
            works[#works + 1] = plan.comm:all_reduce(parts, { async = true })
        end
    end
    for _, work in ipairs(works) do work:wait() end
    return plan.grads
end
