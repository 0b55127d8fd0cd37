-- Random programs on the simulator: whatever a script does, the timeline must obey the
-- rules that need no knowledge of it, and so must its trace. Each program is run twice, the second
-- time with much garbage between its calls, and must give the same spans.

local T = require "tap"
local ideal = require "lua.ideal"
local kineto_check = require "kineto_check"

local run = require("lua.programs").run

local programs <const> = 60

local function describe(spans)
    local lines = {}
    for i, s in ipairs(spans) do
        lines[i] = ("%s %s %d %.3f %.3f"):format(s.name, s.engine, s.stream_id,
                                                 s.start_us, s.end_us)
    end
    return table.concat(lines, "\n")
end

-- Spans of one key (a stream, a copy engine) that begin before the one before has ended.
local function overlaps_within(spans, key)
    local sorted, last, count = { table.unpack(spans) }, {}, 0
    table.sort(sorted, function(a, b)
        return a.start_us < b.start_us or (a.start_us == b.start_us and a.end_us < b.end_us)
    end)
    for _, s in ipairs(sorted) do
        local k = key(s)
        if k then
            if last[k] and s.start_us < last[k] then count = count + 1 end
            last[k] = math.max(last[k] or 0, s.end_us)
        end
    end
    return count
end

local function is_pinned_copy(s)
    return (s.engine == "h2d" or s.engine == "d2h") and not s.name:find("Pageable") and s.engine
end

local wrong = { stream = 0, engine = 0, bound = 0, before_call = 0, empty = 0, twice = 0,
                busy = 0, trace = 0 }
local path = ideal.temporary(".json")
for seed = 1, programs do
    local tl = run(seed)
    local spans = tl:spans()
    if #spans == 0 then wrong.empty = wrong.empty + 1 end
    wrong.stream = wrong.stream + overlaps_within(spans, function(s) return s.stream_id end)
    wrong.engine = wrong.engine + overlaps_within(spans, is_pinned_copy)
    for _, s in ipairs(spans) do
        if s.start_us < s.host_start_us then wrong.before_call = wrong.before_call + 1 end
    end
    local bounds = tl:bounds()
    if bounds.lower_us > tl.makespan_us + 1e-3 then
        wrong.bound = wrong.bound + 1
        T.diag(("seed %d: lower bound %.3f us, makespan %.3f us"):format(seed, bounds.lower_us,
               tl.makespan_us))
    end
    if tl:busy_us{} > tl.makespan_us + 1e-3 then wrong.busy = wrong.busy + 1 end
    if describe(spans) ~= describe(run(seed):spans()) then wrong.twice = wrong.twice + 1 end
    if seed % 3 == 0 then       -- the validator takes longer than all the rest
        tl:save(path)
        for _, complaint in ipairs(kineto_check.complaints(ideal.read(path))) do
            wrong.trace = wrong.trace + 1
            T.diag(("seed %d: %s"):format(seed, complaint))
        end
    end
end

T.is(wrong.empty, 0, "every random program puts something on the device")
T.is(wrong.stream, 0, "two operations of one stream never overlap")
T.is(wrong.engine, 0, "two pinned copies in one direction never overlap")
T.is(wrong.before_call, 0, "nothing starts before the call that enqueued it")
T.is(wrong.bound, 0, "no makespan is shorter than its lower bound")
T.is(wrong.busy, 0, "the device is not busy for longer than the makespan")
os.remove(path)
T.is(wrong.trace, 0, "and the trace of each keeps to what its readers need")
T.is(wrong.twice, 0, "the same program gives the same spans again")

-- Tensor creation costs host time, so garbage is compared with garbage.
local differs = 0
for seed = 1, 10 do
    collectgarbage("generational")
    local a = describe(run(seed, true):spans())
    collectgarbage("incremental", 1000, 400)
    local b = describe(run(seed, true):spans())
    if a ~= b then differs = differs + 1 end
end
T.is(differs, 0, "nor does it matter when the collector runs")

-- With fewer engines. Between two pieces of a pageable copy others may run.
local function is_copy(s) return s.kind == "memcpy_h2d" or s.kind == "memcpy_d2h" end
local function is_whole_copy(s) return is_copy(s) and not s.name:find("Pageable") end

local function copies_beside_kernels(spans)
    local count = 0
    for _, a in ipairs(spans) do
        for _, b in ipairs(is_whole_copy(a) and spans or {}) do
            if b.engine == "compute" and not is_copy(b) and a.start_us < b.end_us
                and b.start_us < a.end_us then
                count = count + 1
            end
        end
    end
    return count
end

for engines = 0, 1 do
    local at_once, beside, above, n = 0, 0, 0, 0
    for seed = 1, 30 do
        local tl = run(seed, false, { async_engine_count = engines })
        local spans = tl:spans()
        n = n + #spans
        at_once = at_once + overlaps_within(spans, is_whole_copy)
        beside = beside + copies_beside_kernels(spans)
        if tl:bounds().lower_us > tl.makespan_us + 1e-3 then above = above + 1 end
    end
    T.ok(n > 600, ("programs end on a GPU with %d copy engines"):format(engines))
    T.is(at_once, 0, "where no two pinned copies overlap")
    if engines == 0 then T.is(beside, 0, "nor a copy and a kernel")
    else T.ok(beside > 0, "while copies and kernels do") end
    T.is(above, 0, "and no lower bound is above the makespan")
end
T.done()
