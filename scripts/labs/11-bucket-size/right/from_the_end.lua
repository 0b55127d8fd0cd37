-- Buckets are cut from the end of the pass on, so that the last one is never larger than the others;
-- one piece of memory on each GPU has all of them, and each GPU calls its part, in a group.

local most <const> = 24 << 20           -- bytes of a bucket, if a layer has not more

local function numel(layer) return layer.input:size(1) * layer.weight:size(1) end

-- For the last layer of each bucket the elements before it, and how many it has.
local function cut(layers)
    local buckets, before, total = {}, {}, 0
    for i, layer in ipairs(layers) do
        before[i] = total
        total = total + numel(layer)
    end
    local last, count = #layers, 0
    for i = #layers, 1, -1 do
        if count > 0 and 2 * (count + numel(layers[i])) > most then
            buckets[last] = {before = before[i + 1], count = count}
            last, count = i, 0
        end
        count = count + numel(layers[i])
    end
    buckets[last] = {before = 0, count = count}
    return buckets, before, total
end

function prepare(model, comm)
    local plan = {model = model, comm = comm, all = {}, grads = {}}
    local before, total
    plan.buckets, before, total = cut(model.gpus[1].layers)
    for k, gpu in ipairs(model.gpus) do
        plan.all[k] = lab.empty(total, {device = gpu.device, dtype = lab.bfloat16})
        plan.grads[k] = {}
        for i, layer in ipairs(gpu.layers) do
            plan.grads[k][i] = plan.all[k]:narrow(1, before[i] + 1, numel(layer))
                :view(layer.input:size(1), layer.weight:size(1))
        end
    end
    return plan
end

local function sum(plan, bucket, works)
    plan.comm:group(function()
        for _, all in ipairs(plan.all) do
            works[#works + 1] = plan.comm:all_reduce(all:narrow(1, bucket.before + 1, bucket.count),
                                                     {async = true})
        end
    end)
end

function backward(plan)
    local errors, works = {}, {}
    for k, gpu in ipairs(plan.model.gpus) do errors[k] = gpu.error end
    for i = 1, #plan.model.gpus[1].layers do
        for k, gpu in ipairs(plan.model.gpus) do
            lab.matmul(gpu.layers[i].input, errors[k], {out = plan.grads[k][i]})
            errors[k] = lab.matmul(errors[k], gpu.layers[i].weight)
        end
        if plan.buckets[i] then sum(plan, plan.buckets[i], works) end
    end
    for _, work in ipairs(works) do work:wait() end
    return plan.grads
end
