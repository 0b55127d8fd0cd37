-- 56-counters.t.lua - tl:counters: kernels at once, queues and copies over time.

local T = require "tap"
local json = require "both.json"

local ideal = require "lua.ideal"
ideal.open{}

local function counter_of(tl, name, options)
    for _, counter in ipairs(tl:counters(options)) do
        if counter.name == name then return counter end
    end
end

-- ms   a |spin 0 ........ 2|
--      b |spin 0 .. 1|spin 1 .. 2|, |spin 2 .. 3|
local a, b = lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true }
local tl = lab.profile(function()
    lab.spin(2, { stream = a })
    for _ = 1, 3 do lab.spin(1, { stream = b }) end
end)
local kernels = counter_of(tl, "kernels")
T.is(kernels.title, "kernels at once", "a counter has a title")
T.is(kernels.unit, "count", "and a unit")
T.is(kernels.device, 0, "and is of a GPU")
T.is(kernels.max, 2, "two kernels at once")
T.is(#kernels.at_us, #kernels.values, "each time has a value")
T.is(kernels.values[#kernels.values], 0, "at the end nothing runs")
local area_us = 0
for i = 1, #kernels.at_us - 1 do
    area_us = area_us + kernels.values[i] * (kernels.at_us[i + 1] - kernels.at_us[i])
end
T.near(area_us, 5000, 1, "their sum over time is the time of all kernels")
T.is(counter_of(tl, "queue").max, 2, "the last two wait")
T.ok(not counter_of(tl, "memcpy_h2d"), "what there is nothing of is left out")

-- 16 MiB
local source = lab.zeros(4 * 1024 * 1024, { device = "cpu", pinned = true })
local target = lab.zeros(4 * 1024 * 1024)
lab.synchronize()
local copies = lab.profile(function() target:copy_(source, { non_blocking = true }) end)
local span = copies:spans()[1]
local rate = counter_of(copies, "memcpy_h2d")
T.is(rate.unit, "bytes/s", "copies have bytes a second")
T.near(rate.max, span.bytes / (span.end_us - span.start_us) * 1e6, rate.max * 1e-6,
    "as many as the copy has")
T.is(rate.max_us, span.start_us, "from its start on")

-- ---- many ------------------------------------------------------------------------------------

local many = lab.profile(function()
    for _ = 1, 100 do
        lab.spin(0.01, { stream = a })
        lab.host_work(0.02)
    end
end)
T.ok(#counter_of(many, "kernels", { points = 0 }).values > 100, "all points can be asked for")
T.ok(#counter_of(many, "kernels", { points = 20 }).values <= 22, "or few of them")
T.is(counter_of(many, "kernels", { points = 20 }).max, counter_of(many, "kernels").max,
    "the largest value stays")
local few = counter_of(many, "kernels", { points = 20 }).values
T.is(math.max(table.unpack(few)), counter_of(many, "kernels").max, "as a point, too")

-- ---- files ------------------------------------------------------------------------------------

local path = os.tmpname()
os.remove(path)
path = path .. ".json"
local function tracks_of(options)
    many:save(path, options)
    local file <close> = assert(io.open(path))
    local tracks = {}
    for _, event in ipairs(json.read(file:read("a")).traceEvents) do
        if event.ph == "C" then
            tracks[event.name] = math.max(tracks[event.name] or 0, event.args.value)
        end
    end
    os.remove(path)
    return tracks
end
T.is(#many:counters() > 0, true, "there are some")
T.is(tracks_of { counters = true }["kernels at once"], 1, "a trace has counter tracks if asked")
T.is(next(tracks_of()), nil, "and else none")
T.throws_like(function() many:save(path, { rows = "engines" }) end, "rows",
    "it has no other options")

-- ---- wrong use --------------------------------------------------------------------------------

T.throws_like(function() tl:counters{ points = -1 } end,
    "'points' must be a whole number from 0 on", "less than none are refused")
local sums = lab.profile(function() lab.spin(1) end, { keep = "summary" })
T.throws_like(function() sums:counters() end, "keeps only a summary", "a summary has none")

a, b, source, target = nil, nil, nil, nil
T.done()
