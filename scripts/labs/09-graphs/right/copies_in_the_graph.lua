-- The copies of result and score are nodes as well: they land in pinned memory of the graph, and
-- the frame before has been taken from there before the next launch. So each frame of a call has a
-- graph of its own, captured by the plain calls; all of them share the memory on the GPU.

local main = lab.stream()

local function layer(x, l) return lab.relu(lab.add(lab.mul(x, l.scale), l.shift)) end

local function work(plan, i)
    local x = plan.pixels:float()
    for _, l in ipairs(plan.model.trunk) do x = layer(x, l) end
    local result, parts = x, {}
    for k, head in ipairs(plan.model.heads) do
        plan.sides[k]:wait_stream(main)
        lab.with(plan.sides[k], function()
            local y = x
            for _, l in ipairs(head) do y = layer(y, l) end
            parts[k] = y
        end)
    end
    for k, part in ipairs(parts) do
        main:wait_stream(plan.sides[k])
        result = k == 1 and part or lab.add(result, part)
    end
    plan.results[i]:copy_(result, { non_blocking = true })
    plan.scores[i]:copy_(lab.sum(result, { out = plan.score }), { non_blocking = true })
end

function prepare(model, n, most)
    local plan = { model = model, sides = {}, results = {}, scores = {}, graphs = {} }
    plan.pixels, plan.score = lab.empty(n, { dtype = lab.uint8 }), lab.empty(1)
    for k = 1, #model.heads do plan.sides[k] = lab.stream() end
    lab.synchronize()
    for i = 1, most do
        plan.results[i] = lab.empty(n, { device = "cpu", pinned = true })
        plan.scores[i] = lab.empty(1, { device = "cpu", pinned = true })
        main:begin_capture("thread_local")
        lab.with(main, work, plan, i)
        plan.graphs[i] = main:end_capture()
        lab.cuda.graph_instantiate(plan.graphs[i])
    end
    return plan
end

function serve(plan, frames)
    local results, scores = {}, {}
    main:wait_event(plan.model.loaded)
    for i, frame in ipairs(frames) do
        plan.pixels:copy_(frame, { non_blocking = true, stream = main })
        lab.cuda.graph_launch(plan.graphs[i], main)
    end
    main:synchronize()
    for i = 1, #frames do results[i], scores[i] = plan.results[i], plan.scores[i]:item() end
    return results, scores
end
