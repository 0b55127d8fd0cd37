-- Buckets are cut from the end of the pass on, so that the last one is never larger than the
-- others; one piece of memory on each GPU has all of them, and each GPU calls its part, in a group.

local function numel(layer) return layer.input:size(1) * layer.weight:size(1) end

-- For the last layer of each bucket the elements before it, and how many it has: `most` bytes, if a
-- layer has not more.
local function cut(layers, most)
    local buckets, before, total = {}, {}, 0
    for i, layer in ipairs(layers) do
        before[i] = total
        total = total + numel(layer)
    end
    local last, count = #layers, 0
    for i = #layers, 1, -1 do
        if count > 0 and 2 * (count + numel(layers[i])) > most then
            buckets[last] = { before = before[i + 1], count = count }
            last, count = i, 0
        end
        count = count + numel(layers[i])
    end
    buckets[last] = { before = 0, count = count }
    return buckets, before, total
end

local function sum(plan, bucket, works)
    plan.comm:group(function()
        for _, all in ipairs(plan.all) do
            works[#works + 1] = plan.comm:all_reduce(all:narrow(1, bucket.before + 1, bucket.count),
                                                     { async = true })
        end
    end)
end

local function make(model, comm)
    local plan = { model = model, comm = comm, all = {}, grads = {} }
    local _, before, total = cut(model.gpus[1].layers, math.huge)
    for k, gpu in ipairs(model.gpus) do
        plan.all[k] = lab.empty(total, { device = gpu.device, dtype = lab.bfloat16 })
        plan.grads[k] = {}
        for i, layer in ipairs(gpu.layers) do
            plan.grads[k][i] = plan.all[k]:narrow(1, before[i] + 1, numel(layer))
                :view(layer.input:size(1), layer.weight:size(1))
        end
    end
    return plan
end

-- How long a pass takes with buckets of that size.
local function measure(plan, mib)
    plan.buckets = cut(plan.model.gpus[1].layers, mib << 20)
    backward(plan)
    return lab.profile(backward, plan).makespan_us
end

function prepare(model, comm)
    local plan, best, best_us = make(model, comm), nil, math.huge
    for _, mib in ipairs{ 0, 2, 4, 8, 16, 24, 32, 48, 64, 128, 256, 1024 } do
        local us = measure(plan, mib)
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
        if plan.buckets[i] then sum(plan, plan.buckets[i], works) end
    end
    for _, work in ipairs(works) do work:wait() end
    return plan.grads
end
