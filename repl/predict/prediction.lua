-- prediction.lua - one script in draws: its makespan's range, that of each of its recordings, and
-- what the makespan depends on. The makespan of a script with several recordings is the sum of
-- theirs.

local influence = import "repl/predict/influence.lua"
local lists = import "repl/run/lists.lua"
local spread = import "repl/run/spread.lua"

local draws = internals.need("draws")

local prediction = {}

-- The timelines that count, and the samples of each: those that the script records, or all that it
-- does on each device.
local function counting(all)
    if #all.first.parts > 0 then
        return all.first.parts, all.parts
    end
    local timelines, samples = {}, {}
    for i, tl in ipairs(all.first.wholes) do
        if tl.span_count > 0 then
            timelines[#timelines + 1] = tl
            samples[#samples + 1] = all.wholes[i]
        end
    end
    return timelines, samples
end

local function figures_of(makespan_us, makespans)
    local low_us, high_us = draws.range(makespans)
    return { makespan_us = makespan_us, low_us = low_us, high_us = high_us }
end

local function makespans_of(samples)
    return lists.map(samples or {}, function(sample) return sample.makespan_us end)
end

-- Adds up the makespans of the parts, draw by draw.
local function sums_of(parts_makespans, n)
    local sums = {}
    for k = 1, n do
        sums[k] = 0
        for _, makespans in ipairs(parts_makespans) do
            sums[k] = sums[k] + (makespans[k] or 0)
        end
    end
    return sums
end

-- {entry, runs, whole = {makespan_us, low_us, high_us}, parts = a list of the same, rows =
-- influences}; or nil and what went wrong. `runs` is less than n after Ctrl-C, which ends the
-- draws.
function prediction.make(entry, n, tell)
    local all, reason = spread.run(entry, { whole = true, stops = true }, n, tell)
    if not all then
        return nil, reason
    end
    local runs = all.runs
    local timelines, samples = counting(all)
    if #timelines == 0 then
        return nil, "it enqueues nothing"
    end
    local makespans, parts, makespan_us = {}, {}, 0
    for i, tl in ipairs(timelines) do
        makespans[i] = makespans_of(samples[i])
        if #makespans[i] ~= runs then
            return nil, ("recording %d is not there in each draw"):format(i)
        end
        parts[i] = figures_of(tl.makespan_us, makespans[i])
        makespan_us = makespan_us + tl.makespan_us
    end
    local sums = sums_of(makespans, runs)
    return { entry = entry, runs = runs, whole = figures_of(makespan_us, sums), parts = parts,
             rows = influence.of(all.rows, sums, n) }
end

-- ---- as JSON -----------------------------------------------------------------------------------

local function times(figures)
    return ('"makespan_us": %.3f, "low_us": %.3f, "high_us": %.3f'):format(figures.makespan_us,
        figures.low_us, figures.high_us)
end

-- One line.
function prediction.json(result)
    local entry, string = result.entry, internals.json_string
    local parts = lists.join(result.parts, function(part) return "{" .. times(part) .. "}" end)
    local rows = lists.join(result.rows, function(row)
        local effect_us = math.floor(row.effect_us * 1000 + 0.5) / 1000        -- no -0.000
        return ('{"name": %s, "effect_us": %.3f}'):format(string(row.name), effect_us)
    end)
    return ('{"script": %s, "seed": %s, %s, "runs": %d, "recordings": [%s], "figures": [%s]}\n')
        :format(string(entry.script), entry.seed and ("%d"):format(entry.seed) or "null",
            times(result.whole), result.runs, parts, rows)
end

return prediction
