-- Two graphs that take turns: while one of them runs, the next frame is copied for the other one,
-- and the result before is copied away. Each slot has a stream of its own.

local function chain(x, layers)
    for _, l in ipairs(layers) do x = x:mul(l.scale):add(l.shift):relu() end
    return x
end

local function make_slot(model, n)
    local slot = { stream = lab.stream{ non_blocking = true } }
    slot.pixels, slot.score = lab.zeros(n, { dtype = lab.uint8 }), lab.zeros(1)
    local sides = {}
    for i = 1, #model.heads do sides[i] = lab.stream{ non_blocking = true } end
    lab.synchronize()
    slot.graph = lab.graph(function()
        local x, sum = chain(slot.pixels:float(), model.trunk), nil
        local parts = {}
        local forked = slot.stream:record_event{ timing = false }
        for i, head in ipairs(model.heads) do
            sides[i]:wait_event(forked)
            lab.use(sides[i])
            parts[i] = chain(x, head)
            lab.use(slot.stream)
        end
        for i, part in ipairs(parts) do
            slot.stream:wait_stream(sides[i])
            sum = sum and sum:add(part) or part
        end
        slot.result = sum or x
        slot.result:sum{ out = slot.score }
    end, { stream = slot.stream })
    return slot
end

function prepare(model, n, most)
    local plan = { slots = { make_slot(model, n), make_slot(model, n) }, model = model }
    plan.results, plan.scores = {}, {}
    for i = 1, most do
        plan.results[i] = lab.zeros(n, { device = "cpu", pinned = true })
        plan.scores[i] = lab.zeros(1, { device = "cpu", pinned = true })
    end
    return plan
end

function serve(plan, frames)
    local results, scores = {}, {}
    for _, slot in ipairs(plan.slots) do slot.stream:wait_event(plan.model.loaded) end
    for i, frame in ipairs(frames) do
        local slot = plan.slots[i % 2 + 1]
        local opts = { non_blocking = true, stream = slot.stream }
        slot.pixels:copy_(frame, opts)
        slot.graph:launch(slot.stream)
        plan.results[i]:copy_(slot.result, opts)
        plan.scores[i]:copy_(slot.score, opts)
    end
    lab.synchronize()
    for i = 1, #frames do results[i], scores[i] = plan.results[i], plan.scores[i]:item() end
    return results, scores
end
