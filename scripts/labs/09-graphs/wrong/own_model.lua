-- fails: 1.2 1.3 1.4 2.1 2.2 2.3 2.4
-- The graph reads copies of the model's tensors, which stay as they are when another model is
-- loaded.

local main = lab.stream{ name = "main" }

local function own(t)
    return lab.empty(t:numel()):copy_(t)
end

local function own_layers(layers)
    local list = {}
    for i, l in ipairs(layers) do list[i] = { scale = own(l.scale), shift = own(l.shift) } end
    return list
end

local function own_model(model)
    local copy = { trunk = own_layers(model.trunk), heads = {}, loaded = model.loaded }
    for i, head in ipairs(model.heads) do copy.heads[i] = own_layers(head) end
    return copy
end

local function layer(x, l)
    return lab.relu(lab.add(lab.mul(x, l.scale), l.shift))
end

local function chain(x, layers)
    for _, l in ipairs(layers) do x = layer(x, l) end
    return x
end

-- What is captured: from plan.pixels to plan.result and plan.score.
local function frame_to_score(plan, sides)
    local heads = plan.model.heads
    local x, parts = chain(plan.pixels:float(), plan.model.trunk), {}
    for i = 2, #heads do
        sides[i]:wait_stream(main)                      -- the fork
        parts[i] = lab.with(sides[i], chain, x, heads[i])
    end
    plan.result = heads[1] and chain(x, heads[1]) or x
    for i = 2, #heads do
        main:wait_stream(sides[i])                      -- the join
        plan.result = lab.add(plan.result, parts[i])
    end
    lab.sum(plan.result, { out = plan.score })
end

function prepare(model, n, most)
    local plan, sides = { model = own_model(model), results = {}, scores = {} }, {}
    plan.pixels, plan.score = lab.empty(n, { dtype = lab.uint8 }), lab.empty(1)
    for i = 2, #model.heads do sides[i] = lab.stream{ name = "head " .. i } end
    lab.synchronize()
    plan.graph = lab.graph(function() frame_to_score(plan, sides) end, { stream = main })
    for i = 1, most do
        plan.results[i] = lab.empty(n, { device = "cpu", pinned = true })
        plan.scores[i] = lab.empty(1, { device = "cpu", pinned = true })
    end
    return plan
end

function serve(plan, frames)
    local results, scores, asynchronously = {}, {}, { non_blocking = true, stream = main }
    main:wait_event(plan.model.loaded)                  -- before the launches, not in the graph
    for i, frame in ipairs(frames) do
        plan.pixels:copy_(frame, asynchronously)
        plan.graph:launch{ stream = main }
        plan.results[i]:copy_(plan.result, asynchronously)
        plan.scores[i]:copy_(plan.score, asynchronously)
    end
    main:synchronize()                                  -- once, for all frames
    for i = 1, #frames do
        results[i], scores[i] = plan.results[i], plan.scores[i]:item()
    end
    return results, scores
end
