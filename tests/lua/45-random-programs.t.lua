-- Random programs on the simulator: whatever a script does, the timeline must obey the
-- rules that need no knowledge of it, and so must its trace. Each program is run twice, the second time with
-- much garbage between its calls, and must give the same spans.

local T = require "tap"
local ideal = require "lua.ideal"
local kineto_check = require "kineto_check"

local programs <const> = 60
local calls <const> = 80

local function generator(seed)
    local state = seed
    return function(n)      -- 1..n
        state = (state * 1103515245 + 12345) % 2147483648
        return (state >> 8) % n + 1
    end
end

local function objects(random)
    local o = {streams = {lab.default_stream()}, events = {}, device = {}, host = {}}
    for i = 1, random(5) do
        o.streams[#o.streams + 1] = lab.stream{
            priority = 1 - random(4), non_blocking = random(3) == 1, name = "s" .. i}
    end
    for i = 1, 3 do
        o.events[i] = lab.event{timing = random(2) == 1}
        local n = 64 << random(5)
        o.device[i] = lab.rand(n, n)
        o.host[i] = lab.empty(n, n, {device = "cpu", pinned = random(2) == 1})
    end
    return o
end

local function one_call(random, o)
    local s = o.streams[random(#o.streams)]
    local i, kind = random(3), random(12)
    local device, host, event = o.device[i], o.host[i], o.events[random(3)]
    if kind <= 2 then lab.matmul(device, device, {stream = s})
    elseif kind == 3 then lab.pow(device, random(2) == 1 and 3 or 2.5, {out = device, stream = s})
    elseif kind <= 5 then lab.spin(random(40) / 100, {blocks = random(600), threads = 256, stream = s})
    elseif kind == 6 then host:copy_(device, {non_blocking = random(2) == 1, stream = s})
    elseif kind == 7 then device:copy_(host, {non_blocking = random(2) == 1, stream = s})
    elseif kind == 8 then event:record(s)
    elseif kind == 9 then s:wait_event(event)
    elseif kind == 10 then lab.host_work(random(20) / 100)
    elseif kind == 11 then s:launch_host_func(function() lab.host_work(0.01) end)
    elseif random(3) == 1 then s:synchronize()
    else device:zero_() end
end

local function run(seed, garbage)
    lab.open{backend = "sim", profile = seed % 2 == 0 and "h200" or "rtx4060_laptop"}
    local random = generator(seed)
    local o = objects(random)
    lab.synchronize()
    return lab.profile(function()
        for _ = 1, calls do
            one_call(random, o)
            if garbage then
                for _ = 1, 20 do local _ = {lab.empty(3), {}} end
                collectgarbage("step")
            end
        end
    end)
end

local function describe(spans)
    local lines = {}
    for i, s in ipairs(spans) do
        lines[i] = ("%s %s %d %.3f %.3f"):format(s.name, s.engine, s.stream_id, s.start_us, s.end_us)
    end
    return table.concat(lines, "\n")
end

-- Spans of one key (a stream, a copy engine) that begin before the one before has ended.
local function overlaps_within(spans, key)
    local sorted, last, count = {table.unpack(spans)}, {}, 0
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

local wrong = {stream = 0, engine = 0, bound = 0, before_call = 0, empty = 0, twice = 0, busy = 0, trace = 0}
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
T.done()
