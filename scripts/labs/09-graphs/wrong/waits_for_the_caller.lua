-- fails: 1.2 1.3 1.4 2.1 2.2 2.3 2.4
-- Waits for the current stream, in which the model is not loaded.
local function layer(x, l)
    return lab.relu(lab.add(lab.mul(x, l.scale), l.shift))
end

local function through(x, layers)
    for _, l in ipairs(layers) do x = layer(x, l) end
    return x
end

function prepare(model, n, most)
    local plan = { model = model, main = lab.stream{ name = "main" }, results = {}, sums = {} }
    local cpu = { device = "cpu", pinned = true }
    for i = 1, most do
        plan.results[i], plan.sums[i] = lab.empty(n, cpu), lab.empty(1, cpu)
    end
    plan.pixels = lab.zeros(n, { dtype = lab.uint8 })
    local side = {}
    for h = 2, #model.heads do side[h] = lab.stream{ name = "head " .. h } end
    plan.score = lab.zeros(1)
    lab.synchronize()

    plan.graph = lab.graph(function()
        local x = through(plan.pixels:float(), model.trunk)
        local ys = {}
        for h = 2, #model.heads do
            side[h]:wait_stream(plan.main)
            ys[h] = lab.with(side[h], through, x, model.heads[h])
        end
        local result = x
        if model.heads[1] then result = through(x, model.heads[1]) end
        for h = 2, #model.heads do
            plan.main:wait_stream(side[h])
            result = lab.add(result, ys[h])
        end
        plan.result = result
        lab.sum(result, { out = plan.score })
    end, { stream = plan.main })
    return plan
end

function serve(plan, frames)
    local s = plan.main
    local nb = { non_blocking = true, stream = s }
    s:wait_stream(lab.current_stream())
    for i, frame in ipairs(frames) do
        plan.pixels:copy_(frame, nb)
        plan.graph:launch{ stream = s }
        plan.results[i]:copy_(plan.result, nb)
        plan.sums[i]:copy_(plan.score, nb)
    end
    s:synchronize()
    local results, scores = {}, {}
    for i = 1, #frames do
        results[i], scores[i] = plan.results[i], plan.sums[i]:item()
    end
    return results, scores
end
