-- runs.lua - what scripts do on the two sides (repl/run/alone.lua runs them).
--
-- A side is what a script did on one GPU: {runs, parts, makespan_us, runs_us, part_runs_us}. `runs`
-- are lists of timelines, `parts` is the median run's, makespan_us the median of runs_us, which are
-- the sums of a run's makespans; part_runs_us[part][run]. One run on a simulated GPU says all; on a
-- real one a first run warms up and several count.

local alone = import "repl/run/alone.lua"
local spread = import "repl/run/spread.lua"
local statistics = import "repl/run/statistics.lua"

local draws = internals.need("draws")

local runs = {}

-- Runs the entry once on what `open()` makes the current device. `whole`: one timeline of all
-- that it does, else those that it records. Gives a list; or nil and what went wrong.
local function run(entry, open, whole)
    local result, reason = alone.run(entry, { open = open, whole = whole, keeps_machine = true,
        unrecorded = entry.unrecorded })
    if not result then
        return nil, reason
    end
    return whole and result.wholes or result.parts
end

-- ---- a side ----------------------------------------------------------------------------------

local function side_of(list)
    local runs_us, part_runs_us = {}, {}
    for i, parts in ipairs(list) do
        runs_us[i] = 0
        for part, tl in ipairs(parts) do
            runs_us[i] = runs_us[i] + tl.makespan_us
            part_runs_us[part] = part_runs_us[part] or {}
            table.insert(part_runs_us[part], tl.makespan_us)
        end
    end
    return { runs = list, parts = list[statistics.median_index(runs_us)], runs_us = runs_us,
             makespan_us = statistics.median(runs_us), part_runs_us = part_runs_us }
end

-- On a simulated GPU. `whole`: whether the whole run counts, as for an entry that records nothing
-- by itself; nil: find out. Gives the side and `whole`; or nil and a reason.
function runs.simulated(entry, open, whole)
    local parts, reason = run(entry, open, whole or false)
    if parts and whole == nil and #parts == 0 then
        whole = true
        parts, reason = run(entry, open, whole)
    end
    if not parts then
        return nil, reason
    end
    return side_of { parts }, whole or false
end

-- The makespans of n draws from the profile's uncertain figures; or nil and a reason.
local function drawn(entry, open, whole, n)
    local list = {}
    for k = 1, n do
        local parts, reason = spread.draw(k, n, run, entry, open, whole)
        if not parts then
            return nil, reason
        end
        list[k] = parts
    end
    return side_of(list).runs_us
end

-- The range of n draws' makespans (bindings/draws.lua); or nil and a reason.
function runs.range(entry, open, whole, n)
    local makespans, reason = drawn(entry, open, whole, n)
    if not makespans then
        return nil, reason
    end
    return draws.range(makespans)
end

-- The timelines of n runs, after one that warms up; or nil and a reason.
local function warm(entry, open, whole, n)
    local list = {}
    for i = 0, n do
        local parts, reason = run(entry, open, whole)
        if not parts then
            return nil, reason
        end
        list[i] = i > 0 and parts or nil
    end
    return list
end

function runs.real(entry, open, whole, n)
    local list, reason = warm(entry, open, whole, n)
    return list and side_of(list), reason
end

-- Runs all entries on the GPU in rounds: each once, then each a second time, and so on. A machine
-- that others use is slower for seconds or minutes; in rounds that falls on one run of many
-- scripts, whose median leaves it out, and not on all runs of a few. Gives by entry {side =} or
-- {reason =}.
-- tell(text) is called with what is done.
function runs.in_rounds(entries, devices, tell)
    local gathered = {}
    for _, entry in ipairs(entries) do
        local parts, reason = run(entry, devices.sim, false)
        gathered[entry] = { whole = parts and #parts == 0, list = {},
                            reason = not parts and "on the simulator: " .. reason or nil }
    end
    for round = 1, devices.runs do
        tell(("round %d of %d"):format(round, devices.runs))
        for _, entry in ipairs(entries) do
            local has = gathered[entry]
            if not has.reason then
                local list, reason = warm(entry, devices.gpu, has.whole, 1)
                has.list[round] = list and list[1]
                has.reason = not list and "on the GPU: " .. reason or nil
            end
        end
    end
    for _, has in pairs(gathered) do
        has.side = not has.reason and side_of(has.list) or nil
    end
    return gathered
end

return runs
