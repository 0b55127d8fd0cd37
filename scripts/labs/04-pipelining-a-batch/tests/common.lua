-- What both files of tests share: the work, what it notes, and how long each engine takes alone.
-- All durations are measured in the run, so that they are right for any GPU.

local common = {}

common.mib = 1 << 18                             -- elements of four bytes in a MiB

function common.pinned(size)
    return lab.zeros(size, { device = "cpu", pinned = true })
end

-- A pinned batch with rows of two small whole numbers, as a tensor and as a table.
function common.batch(rows, seed)
    local values = {}
    for i = 1, rows do values[i] = { (i * seed) % 11 - 3, (i + seed) % 7 + 1 } end
    return lab.tensor(values, { device = "cpu", pinned = true }), values
end

function common.times(values, factor)
    local out = {}
    for i, row in ipairs(values) do out[i] = { row[1] * factor, row[2] * factor } end
    return out
end

-- Keeps the whole GPU busy, so that two of these take turns.
local function fill_gpu(us)
    lab.spin(us / 1000, { blocks = 2 * lab.device().sm_count, threads = 1024 })
end

-- What the student's code hands to a test's function has to be a tensor: a table could say of
-- itself whatever is asked.
local function check_tensor(value, name)
    if type(value) == "userdata" then return end
    error(("work(x, y), step(i, x, y): %s must be a tensor, got %s"):format(name,
        value == nil and "nothing" or "a " .. type(value)), 0)
end

-- Notes how much of the GPU's memory is in use when work is called, and what work was given.
local function watch(made)
    made.calls, made.elements, made.peak_bytes, made.device = 0, 0, 0, "cuda"
    function made.mib_beyond(before_bytes)
        return math.max(0, made.peak_bytes - before_bytes) >> 20
    end
    return function(x, y)
        check_tensor(x, "x")
        check_tensor(y, "y")
        made.calls = made.calls + 1
        made.elements = made.elements + x:numel()
        for _, each in ipairs{ x, y } do
            if made.device == "cuda" then made.device = each.device end
        end
        made.peak_bytes = math.max(made.peak_bytes, lab.live().device_bytes)
    end
end

-- `work` for map: y = factor * x, in us_per_mib for each MiB, and fixed_us for each call.
function common.work(factor, us_per_mib, fixed_us)
    local made = {}
    local look = watch(made)
    function made.work(x, y)
        look(x, y)
        lab.mul(x, factor, { out = y })
        fill_gpu(us_per_mib * x:nbytes() / 2 ^ 20 + fixed_us)
    end
    return made
end

-- `step` for scan: state = 2 * state + x and y = state, for chunks of the given sizes.
function common.step(us_per_mib, fixed_us, ...)
    local made = { order = {} }
    local look = watch(made)
    local state = lab.zeros(...)
    lab.synchronize()
    function made.step(i, x, y)
        look(x, y)
        table.insert(made.order, i)
        lab.mul(state, 2, { out = state })
        lab.add(state, x, { out = state })
        lab.mul(state, 1, { out = y })
        fill_gpu(us_per_mib * x:nbytes() / 2 ^ 20 + fixed_us)
    end
    return made
end

-- What scan has to put into the output for such a batch.
function common.scanned(values, chunks)
    local rows, state, out = #values // chunks, {}, {}
    for k, row in ipairs(values) do
        local j = (k - 1) % rows + 1
        local before = state[j] or { 0, 0 }
        state[j] = { 2 * before[1] + row[1], 2 * before[2] + row[2] }
        out[k] = state[j]
    end
    return out
end

-- The median makespan of five runs of f(...): the first launch loads the kernel, and a real
-- host is interrupted now and then.
local function median_us(f, ...)
    local us = {}
    for i = 1, 5 do us[i] = lab.profile(f, ...).makespan_us end
    table.sort(us)
    return us[3]
end

-- How long copying up, the work and copying down take, each alone and with all of the batch.
function common.engines_us(input, output, work)
    local x, y = lab.empty(input:size()), lab.empty(input:size())
    local engines = {
        up = median_us(x.copy_, x, input, { non_blocking = true }),
        work = median_us(work, x, y),
        down = median_us(output.copy_, output, y, { non_blocking = true }),
    }
    x:free()
    y:free()
    return engines
end

-- The timeline that run() gives; on a real GPU the shortest of three.
function common.quickest(run)
    local best = run()
    for _ = 2, best.simulated and 1 or 3 do
        collectgarbage()                        -- the run before shall hold no memory
        local tl = run()
        if tl.makespan_us < best.makespan_us then best = tl end
    end
    return best
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
    local usable = t:at_least(chunks, 1, of .. "what choose gives")
        and t:at_most(chunks, 128, of .. "what choose gives")
        and t:is(chunks, math.floor(chunks), of .. "what choose gives, a whole number")
    if not usable then return end
    chunks = math.floor(chunks)                 -- of 2 ^ 3, which is 8.0
    local function run(number)
        return common.quickest(function()
            return lab.profile(student.map, input, output, number, work)
        end)
    end
    local best_us
    for e = 0, 7 do
        local us = run(1 << e).makespan_us
        best_us = math.min(best_us or us, us)
    end
    local tl = run(chunks)
    if not t:span_count(tl, "memcpy_d2h", { at_least = 1 }, of .. "map copies results down") then
        return
    end
    t:makespan(tl, { of_us = best_us, within_percent = 10, gpu_within_percent = 40 },
        ("%smap with %d chunks is about as quick as with the best number"):format(of, chunks))
    if case.slowest_within_percent then
        t:overlap(tl, "memcpy_h2d", "memcpy_d2h", { at_least_percent = 60,
            gpu_at_least_percent = 35 }, of .. "with it, copies up run beside copies down")
        t:makespan(tl, { of_us = math.max(engines.up, engines.work, engines.down),
            within_percent = case.slowest_within_percent,
            gpu_within_percent = 2 * case.slowest_within_percent },
            of .. "it takes hardly longer than the slowest engine for the whole batch")
    end
end

return common
