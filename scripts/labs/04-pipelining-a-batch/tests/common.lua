-- What both files of tests share: the work, what it notes, and how long each engine takes alone.
-- All durations are measured in the run, so that they are right for any GPU.

local common = {}

common.mib = 1 << 18                             -- elements of four bytes in a MiB

function common.pinned(size)
    return lab.zeros(size, {device = "cpu", pinned = true})
end

-- A pinned batch with rows of two small whole numbers, as a tensor and as a table.
function common.batch(rows, seed)
    local values = {}
    for i = 1, rows do values[i] = {(i * seed) % 11 - 3, (i + seed) % 7 + 1} end
    return lab.tensor(values, {device = "cpu", pinned = true}), values
end

function common.times(values, factor)
    local out = {}
    for i, row in ipairs(values) do out[i] = {row[1] * factor, row[2] * factor} end
    return out
end

-- Keeps the whole GPU busy, so that two of these take turns.
local function fill_gpu(us)
    lab.spin(us / 1000, {blocks = 2 * lab.device().sm_count, threads = 1024})
end

-- Notes how much of the GPU's memory is in use when work is called, and what work was given.
local function watch(made)
    made.calls, made.elements, made.peak_bytes, made.on_gpu = 0, 0, 0, true
    function made.mib_beyond(before_bytes)
        return math.max(0, made.peak_bytes - before_bytes) >> 20
    end
    return function(x, y)
        made.calls = made.calls + 1
        made.elements = made.elements + x:numel()
        made.on_gpu = made.on_gpu and x.device == "cuda" and y.device == "cuda"
        made.peak_bytes = math.max(made.peak_bytes, lab.live().device_bytes)
    end
end

-- `work` for map: y = factor * x, in us_per_mib for each MiB, and fixed_us for each call.
function common.work(factor, us_per_mib, fixed_us)
    local made = {}
    local look = watch(made)
    function made.work(x, y)
        look(x, y)
        lab.mul(x, factor, {out = y})
        fill_gpu(us_per_mib * x:nbytes() / 2 ^ 20 + fixed_us)
    end
    return made
end

-- `step` for scan: state = 2 * state + x and y = state, for chunks of the given sizes.
function common.step(us_per_mib, fixed_us, ...)
    local made = {order = {}}
    local look = watch(made)
    local state = lab.zeros(...)
    lab.synchronize()
    function made.step(i, x, y)
        look(x, y)
        table.insert(made.order, i)
        lab.mul(state, 2, {out = state})
        lab.add(state, x, {out = state})
        lab.mul(state, 1, {out = y})
        fill_gpu(us_per_mib * x:nbytes() / 2 ^ 20 + fixed_us)
    end
    return made
end

-- What scan has to put into the output for such a batch.
function common.scanned(values, chunks)
    local rows, state, out = #values // chunks, {}, {}
    for k, row in ipairs(values) do
        local j = (k - 1) % rows + 1
        local before = state[j] or {0, 0}
        state[j] = {2 * before[1] + row[1], 2 * before[2] + row[2]}
        out[k] = state[j]
    end
    return out
end

-- How long copying up, the work and copying down take, each alone and with all of the batch.
function common.engines_us(input, output, work)
    local x, y = lab.empty(input:size()), lab.empty(input:size())
    local up_us, work_us, down_us
    for _ = 1, 2 do                             -- the first launch of a kernel is different
        up_us = lab.profile(x.copy_, x, input, {non_blocking = true}).makespan_us
        work_us = lab.profile(work, x, y).makespan_us
        down_us = lab.profile(output.copy_, output, y, {non_blocking = true}).makespan_us
    end
    x:free()
    y:free()
    return {up = up_us, work = work_us, down = down_us}
end

-- A pipeline's time: the slowest engine has all chunks, the other two are seen once.
function common.pipeline_us(engines, chunks)
    local slowest = math.max(engines.up, engines.work, engines.down)
    return slowest + (engines.up + engines.work + engines.down - slowest) / chunks
end

-- Whether the number that `choose` gives is as good as the best power of two for the student's
-- own map; and for a large batch, whether that map comes near the slowest engine with it.
function common.good_choice(t, student, case)
    local size = case.mib * common.mib
    local input, output = common.pinned(size), common.pinned(size)
    local work = common.work(3, case.us_per_mib, case.fixed_us).work
    local engines = common.engines_us(input, output, work)
    local chunks = student.choose(input, output, work)
    local of = ("%d MiB: "):format(case.mib)
    if not t:ok(math.type(chunks) == "integer" and chunks >= 1 and chunks <= 128,
        of .. "choose gives a whole number from 1 to 128") then return end
    local function run(number)
        return lab.profile(student.map, input, output, number, work)
    end
    local best_us
    for e = 0, 7 do
        local us = run(1 << e).makespan_us
        best_us = math.min(best_us or us, us)
    end
    if not t:ok(best_us > 0, of .. "map does its work") then return end
    local tl = run(chunks)
    t:makespan(tl, {of_us = best_us, within_percent = 10, gpu_within_percent = 40},
        ("%smap with %d chunks is about as quick as with the best number"):format(of, chunks))
    if case.slowest_within_percent then
        t:overlap(tl, "memcpy_h2d", "memcpy_d2h", {at_least_percent = 60,
            gpu_at_least_percent = 35}, of .. "with it, copies up run beside copies down")
        t:makespan(tl, {of_us = math.max(engines.up, engines.work, engines.down),
            within_percent = case.slowest_within_percent,
            gpu_within_percent = 2 * case.slowest_within_percent},
            of .. "it takes hardly longer than the slowest engine for the whole batch")
    end
end

return common
