-- What all tests of this lab need: batches with weights, the right results, and a recording.
-- Values are small whole numbers, so that they are exact on the simulator and on a GPU.

local common = {}

-- values[i] fills batch i; the weights are `scale` times the unit matrix. more(i, k), if it is
-- given, is added to element k of the batch's first row.
function common.problem(n, values, scale, more)
    local p = { n = n, values = values, scale = scale, rows = {}, batches = {}, gradients = {} }
    for i, value in ipairs(values) do
        p.rows[i] = {}
        p.batches[i] = lab.full(value, n, n, { device = "cpu", pinned = true })
        for k = 1, n do         -- so that not all elements are the same
            p.rows[i][k] = value + (k == i % n + 1 and 1 or 0) + (more and more(i, k) or 0)
            p.batches[i]:set(1, k, p.rows[i][k])
        end
        p.gradients[i] = lab.full(-1, n, n, { device = "cpu", pinned = true })
    end
    local unit = lab.zeros(n, n, { device = "cpu" })
    for k = 1, n do unit:set(k, k, scale) end
    p.weights = unit:to("cuda")
    lab.synchronize()           -- also for streams that are exempt from the NULL stream's rules
    return p
end

-- A gradient is batch x weights x weights.
function common.gradients(t, p)
    for i, value in ipairs(p.values) do
        local want = {}
        for r = 1, p.n do
            want[r] = {}
            for c = 1, p.n do want[r][c] = p.scale ^ 2 * value end
        end
        for c, element in ipairs(p.rows[i]) do want[1][c] = p.scale ^ 2 * element end
        t:close(p.gradients[i], want, "gradient " .. i)
    end
end

-- A loss is the sum of the batch's first row.
function common.losses(t, p, losses)
    local want = {}
    for i, row in ipairs(p.rows) do
        want[i] = 0
        for _, element in ipairs(row) do want[i] = want[i] + element end
    end
    t:is(losses, want, "the losses, a number for each batch")
end

local function simulated() return lab.device().backend == "sim" end

-- Batches of a size where time can be seen; nobody looks at their gradients, only at the losses.
-- A real host issues more slowly than the simulated one, so the GPU gets more to do there.
function common.large(n, count, first)
    if not simulated() then n = 2 * n end
    return common.filled(n, count, first)
end

function common.filled(n, count, first)
    local p = { n = n, batches = {}, gradients = {}, weights = lab.ones(n, n) }
    for i = 1, count do
        p.batches[i] = lab.full((first + i) % 5 + 1, n, n, { device = "cpu", pinned = true })
        p.gradients[i] = lab.empty(n, n, { device = "cpu", pinned = true })
    end
    lab.synchronize()
    return p
end

-- Runs train once to warm up, with two batches and gradients of its own, and then records it. The
-- lists that it gets are copies: what the tests ask for stays out of its hands. A real host is not
-- always as quick as it can be: there it is the quickest of three.
function common.record(train, p)
    local spare = common.filled(p.n, 2, 7)
    train(spare.batches, p.weights, spare.gradients)
    local best, best_losses
    for _ = 1, simulated() and 1 or 3 do
        local tl, losses = lab.profile(train, { table.unpack(p.batches) }, p.weights,
            { table.unpack(p.gradients) })
        if not best or tl.makespan_us < best.makespan_us then best, best_losses = tl, losses end
    end
    return best, best_losses
end

-- All the work was done on the GPU, in the recording, batch by batch.
function common.complete(t, tl, p)
    local count = #p.batches
    t:span_count(tl, "memcpy_h2d", { exactly = count }, "one upload for each batch")
    t:span_count(tl, { name = "matmul_f32" }, { exactly = 2 * count },
        "two products for each batch, on the GPU")
    t:span_count(tl, { name = "sum_f32" }, { exactly = count }, "a loss for each batch, on the GPU")
    local gradients, bytes = 0, p.n * p.n * 4
    for _, span in ipairs(tl:spans()) do
        if span.kind == "memcpy_d2h" and span.bytes == bytes then gradients = gradients + 1 end
    end
    t:is(gradients, count, "one download of a gradient for each batch")
end

return common
