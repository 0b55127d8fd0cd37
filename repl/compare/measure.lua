-- measure.lua - a script's runs on one side: on a simulated GPU, where one tells all, or on a
-- real one, where a first run warms up and several are counted.
--
-- A side: {runs, parts, makespan_us, runs_us, part_runs_us}. `runs` are lists of timelines, `parts`
-- is that of the median run and makespan_us is the median of runs_us, the sums of all parts'
-- makespans, by run; part_runs_us[part][run].

local runner = import "repl/compare/runner.lua"
local statistics = import "repl/compare/statistics.lua"

local measure = {}

local function makespans(parts)
    local list = {}
    for i, tl in ipairs(parts) do
        list[i] = tl.makespan_us
    end
    return list
end

local function sum(list)
    local total = 0
    for _, value in ipairs(list) do
        total = total + value
    end
    return total
end

-- The side of such runs.
function measure.side(runs)
    local runs_us, part_runs_us = {}, {}
    for i, parts in ipairs(runs) do
        local list = makespans(parts)
        runs_us[i] = sum(list)
        for part, us in ipairs(list) do
            part_runs_us[part] = part_runs_us[part] or {}
            table.insert(part_runs_us[part], us)
        end
    end
    return { runs = runs, parts = runs[statistics.median_index(runs_us)], runs_us = runs_us,
             makespan_us = statistics.median(runs_us), part_runs_us = part_runs_us }
end

-- Whether the entry records nothing by itself, so that the whole run is what counts; and its
-- timelines if that is known from them. Or nil and a reason.
local function decide(entry, open)
    local parts, reason = runner.run(entry, open, false)
    if not parts then
        return nil, reason
    end
    return #parts == 0, parts
end

-- On a simulated GPU. Gives the side, and whether the whole run is what counts; or nil and a
-- reason. `whole` if that is known already.
function measure.simulated(entry, open, whole)
    local parts, reason
    if whole == nil then
        whole, parts = decide(entry, open)
        if whole == nil then
            return nil, parts
        end
    end
    if whole or not parts then
        parts, reason = runner.run(entry, open, whole)
    end
    if not parts then
        return nil, reason
    end
    return measure.side { parts }, whole
end

-- Whether the whole run counts; or nil and a reason.
function measure.decide(entry, open)
    return decide(entry, open)
end

-- The timelines of one run behind one that warms up; or nil and a reason.
function measure.once(entry, open, whole)
    local parts, reason = runner.run(entry, open, whole)
    if parts then
        parts, reason = runner.run(entry, open, whole)
    end
    return parts, reason
end

function measure.real(entry, open, whole, n)
    local runs = {}
    for i = 0, n do
        local parts, reason = runner.run(entry, open, whole)
        if not parts then
            return nil, reason
        end
        runs[i] = parts             -- that of the warm-up is at 0, where nobody looks
    end
    runs[0] = nil
    return measure.side(runs)
end

return measure
