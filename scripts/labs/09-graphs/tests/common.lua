-- What the tests of this lab have in common: models, frames, what must come out, and how quickly
-- it can come out.

local format = string.format
local common = {}

-- The values of layer i of a list: halves, so that float32 has the results exactly.
local function layer_values(i, seed)
    return ({ 0.5, 2, 1, 1 })[(i + seed) % 4 + 1], ({ 1, -1, 3, 0.5, -2 })[(i * seed) % 5 + 1]
end

local function each_layer(model, f)
    for i, l in ipairs(model.trunk) do f(l, i) end
    for h, head in ipairs(model.heads) do
        for i, l in ipairs(head) do f(l, i + 10 * h) end
    end
end

local function layers(n, count)
    local list = {}
    for i = 1, count do list[i] = { scale = lab.empty(n), shift = lab.empty(n) } end
    return list
end

-- A model of spec.trunk layers and heads of spec.heads[1], spec.heads[2], ... layers.
local function make_model(spec)
    local model = { trunk = layers(spec.n, spec.trunk), heads = {},
                    loaded = lab.event{ timing = false } }
    for h, count in ipairs(spec.heads) do model.heads[h] = layers(spec.n, count) end
    return model
end

-- Begins to give the model other values; model.loaded comes behind that. Copies in the stream
-- `loader`, behind a kernel of `ms`. No other stream waits for that one by itself.
local function load(loader, model, n, seed, ms)
    local host = { device = "cpu", pinned = true }
    if ms then lab.spin(ms, { stream = loader }) end
    each_layer(model, function(l, i)
        local scale, shift = layer_values(i, seed)
        l.scale:copy_(lab.full(scale, n, host), { non_blocking = true, stream = loader })
        l.shift:copy_(lab.full(shift, n, host), { non_blocking = true, stream = loader })
    end)
    model.loaded:record(loader)
end

-- What becomes of a pixel, by numbers. `shape` is a spec; layers are numbered as above.
local function expected(spec, seed, pixel)
    local function through(x, count, from)
        for i = 1, count do
            local scale, shift = layer_values(i + from, seed)
            x = math.max(x * scale + shift, 0)
        end
        return x
    end
    local x, sum = through(pixel, spec.trunk, 0), 0
    for h, count in ipairs(spec.heads) do sum = sum + through(x, count, 10 * h) end
    return #spec.heads > 0 and sum or x
end

local function pixel_of(i, seed) return (37 * i + 11 * seed) % 256 end

-- The first pixel of a frame differs from the others.
local function first_of(pixel) return (pixel + 101) % 256 end

local function fill(frames, seed)
    for i, frame in ipairs(frames) do
        frame:fill_(pixel_of(i, seed))
        frame:narrow(1, 1, 1):fill_(first_of(pixel_of(i, seed)))
    end
end

-- What becomes of the frame whose other pixels are `pixel`: a tensor on the CPU, and its sum.
local function expected_frame(spec, seed, pixel)
    local first, other = expected(spec, seed, first_of(pixel)), expected(spec, seed, pixel)
    local frame = lab.full(other, spec.n, { device = "cpu" })
    frame:narrow(1, 1, 1):fill_(first)
    return frame, first + (spec.n - 1) * other
end

local function simulated() return lab.device().backend == "sim" end

-- A real GPU loads a kernel when it is first launched, which should not be in a capture.
local function load_kernels()
    local x = lab.zeros(1, { dtype = lab.uint8 }):float()
    lab.sum(lab.relu(lab.add(lab.mul(x, x), x)))
end

-- Lets the student prepare, and serve frames twice, then with other frames and, but for
-- spec.same_model, another model. Gives the timeline of the second call, and what it returned; on a
-- real GPU the timeline of the quickest of three, and what the last one returned. With
-- spec.loading_ms the model is being loaded again when serve() is called: so long it takes until
-- that begins.
function common.profile(student, spec)
    local model, frames = make_model(spec), {}
    local loader = lab.stream{ name = "loader", non_blocking = true }
    for i = 1, spec.frames do
        frames[i] = lab.empty(spec.n, { device = "cpu", pinned = true, dtype = lab.uint8 })
    end
    load(loader, model, spec.n, 1)
    load_kernels()
    lab.synchronize()
    local plan = student.prepare(model, spec.n, spec.most or math.max(spec.frames, 1))
    lab.synchronize()
    fill(frames, 1)
    student.serve(plan, frames)
    lab.synchronize()
    local run = { seed = spec.same_model and 1 or 2 }
    run.pixels = run.seed
    fill(frames, run.pixels)
    if not spec.same_model then load(loader, model, spec.n, run.seed) end
    lab.synchronize()
    for _ = 1, simulated() and 1 or 3 do
        collectgarbage()
        local results, scores
        local tl = lab.profile(function()
            if spec.loading_ms then
                run.seed = run.seed + 1
                load(loader, model, spec.n, run.seed, spec.loading_ms)
            end
            results, scores = student.serve(plan, frames)
        end)
        if not run.tl or tl.makespan_us < run.tl.makespan_us then run.tl = tl end
        run.results, run.scores = results, scores       -- those before may be overwritten
        lab.synchronize()
    end
    return run
end

local function is_list(t, value, name, count)
    return t:is(type(value), "table", "serve() returns a list of " .. name)
        and t:is(#value, count, format("%s for each frame", name))
end

-- Says where a wrong result comes from, if it would be the right one of another frame or of the
-- model before.
local function say_stale(t, spec, run, i)
    local got = run.results[i]
    local function is(seed, pixels, k)
        return lab.allclose(got, (expected_frame(spec, seed, pixel_of(k, pixels))))
    end
    for k = 1, spec.frames do
        if k ~= i and is(run.seed, run.pixels, k) then
            return t:diag(format("That is the result of frame %d.", k))
        elseif is(1, 1, k) then
            return t:diag(format("That is the result of frame %d of the call before.", k))
        end
    end
    for seed = 1, run.seed - 1 do
        if is(seed, run.pixels, i) then
            return t:diag("That is what the model would give with its values before it was loaded "
                .. "again.")
        end
    end
end

-- That the results and scores are those of the frames and of the model as they are now. Ends with
-- the first that is wrong.
function common.right(t, spec, run)
    if not is_list(t, run.results, "results", spec.frames)
        or not is_list(t, run.scores, "scores", spec.frames) then return end
    for i = 1, spec.frames do
        local want, sum = expected_frame(spec, run.seed, pixel_of(i, run.pixels))
        if not t:close(run.results[i], want, format("the result of frame %d is right", i)) then
            return say_stale(t, spec, run, i)
        end
        if not t:is(run.results[i].device, "cpu", format("the result of frame %d is on the CPU", i))
            or not t:near(run.scores[i], sum, 1e-3 * math.max(sum, 1),
                          format("the score of frame %d is right", i)) then return end
    end
end

-- The kernels of a frame: all, and of the longest chain. A layer is three; then the conversion of
-- the pixels, an addition for each head but the first, the sum.
local function kernels(spec)
    local all, longest = 0, 0
    for _, count in ipairs(spec.heads) do
        all, longest = all + count, math.max(longest, count)
    end
    local others = 2 + math.max(#spec.heads - 1, 0)
    return 3 * (spec.trunk + all) + others, 3 * (spec.trunk + longest) + others
end

-- That the recorded call did the work of all frames.
function common.all_of_it(t, spec, run)
    local all = kernels(spec)
    t:span_count(run.tl, "kernel", { at_least = spec.frames * all },
        "all kernels of all frames run in serve()")
end

-- How long a kernel of n numbers and the copies of a frame keep the GPU busy.
local function alone_us(n)
    local a, b, c = lab.ones(n), lab.ones(n), lab.empty(n)
    local host = lab.empty(n, { device = "cpu", pinned = true })
    local function time(f)
        local function all() for _ = 1, 20 do f() end end
        all()
        lab.synchronize()
        return lab.profile(all):busy_us() / 20
    end
    return time(function() lab.add(a, b, { out = c }) end),
        time(function() host:copy_(c, { non_blocking = true }) end)
end

-- The bound: the longest chain of kernels with 0.5 us between two of them, and the copies of a
-- frame, with 1 us; one frame after the other.
function common.bound_us(spec)
    local _, chain = kernels(spec)
    local kernel_us, copy_us = alone_us(spec.n)
    return spec.frames * (chain * (kernel_us + 0.5) + 3 * (copy_us + 1))
end

-- Says what there is of graphs, if that is not what the task asks for.
local function say_launches(t, spec, tl)
    local launches, alone, sum_us = {}, 0, 0
    for _, span in ipairs(tl:spans()) do
        if span.kind == "kernel" then
            sum_us = sum_us + span.end_us - span.start_us
            if span.launch then launches[span.graph] = true else alone = alone + 1 end
        end
    end
    local graphs = 0
    for _ in pairs(launches) do graphs = graphs + 1 end
    if alone > spec.frames then
        t:diag(format("%d kernels were launched one by one, outside of graphs.", alone))
    elseif graphs >= spec.frames and graphs > 2 then
        t:diag(format("%d graphs ran, one for each frame. If serve() captures them: that, "
            .. "instantiating, and a first launch take longer than the kernels.", graphs))
    elseif #spec.heads > 1 and sum_us - tl:busy_us("kernel") < 0.01 * sum_us then
        t:diag("No two kernels ran at the same time: the graph is a chain, without branches.")
    end
end

-- That the host waits behind the last launch alone, and then once, or for each stream that it used.
function common.waits_at_the_end(t, run, name)
    local last, waits, early, look = 0, 0, 0, {}
    for _, call in ipairs(run.tl:calls()) do
        if call.name == "cudaGraphLaunch" then last = call.correlation end
    end
    for _, call in ipairs(run.tl:calls()) do
        if call.kind:find("_sync$") and not call.of_stop then
            waits = waits + 1
            early = early + (call.correlation < last and 1 or 0)
            if waits < 4 then look[waits] = format("%s: %s", call.where, call.name) end
        end
    end
    local fine = t:is(early, 0, name)
    fine = t:at_most(waits, math.max(1, run.tl.stream_count), "waits of the host behind it")
        and fine
    if not fine then t:diag(table.concat(look, "\n")) end
end

function common.quick(t, spec, run, within_percent)
    if not t:makespan(run.tl, { of_us = common.bound_us(spec), within_percent = within_percent,
        gpu_within_percent = 60 }, "the GPU hardly ever waits for the host") then
        say_launches(t, spec, run.tl)
    end
end

return common
