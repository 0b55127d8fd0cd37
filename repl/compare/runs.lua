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
-- that it does, else those that it records; with `stand_ins` (alone.lua) their times without a
-- recorder. Gives a list; or nil and what went wrong.
local function run(entry, open, whole, stand_ins)
    local result, reason = alone.run(entry, { open = open, whole = whole, keeps_machine = true,
        unrecorded = entry.unrecorded or stand_ins ~= nil, stand_ins = stand_ins })
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
-- by itself; nil: find out. `stand_ins`: nil, or the timelines of such a run, of whose repetition
-- the time on the host's clock counts. Gives the side and `whole`; or nil and a reason.
function runs.simulated(entry, open, whole, stand_ins)
    local parts, reason = run(entry, open, whole or false, stand_ins)
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
local function drawn(entry, open, whole, n, stand_ins)
    local list = {}
    for k = 1, n do
        local parts, reason = spread.draw(k, n, run, entry, open, whole, stand_ins)
        if not parts then
            return nil, reason
        end
        list[k] = parts
    end
    return side_of(list).runs_us
end

-- The range of n draws' makespans (bindings/draws.lua), of times with stand_ins; or nil and a
-- reason.
function runs.range(entry, open, whole, n, stand_ins)
    local makespans, reason = drawn(entry, open, whole, n, stand_ins)
    if not makespans then
        return nil, reason
    end
    return draws.range(makespans)
end

-- The timelines of n runs, after one that warms up; or nil and a reason.
local function warm(entry, open, whole, n, stand_ins)
    local list = {}
    for i = 0, n do
        local parts, reason = run(entry, open, whole, stand_ins)
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

-- ---- without a recorder ----------------------------------------------------------------------

-- The times on the host's clock of what the entry records on the simulated GPU: that of a side of
-- recordings; or nil and why it cannot be timed.
function runs.simulated_unrecorded(entry, open, side, whole)
    if whole then
        return nil, "it records nothing with lab.profile"
    end
    return runs.simulated(entry, open, false, side.parts)
end

-- What the simulator says of an entry before the GPU runs it: {whole, list = {}, stand_ins = nil
-- unless it is to be timed}, or {reason =}.
local function begin(entry, devices, timed)
    local side, whole = runs.simulated(entry, devices.sim)
    local reason = not side and whole or nil
    if side and timed then
        reason = select(2, runs.simulated_unrecorded(entry, devices.sim, side, whole)) or nil
    end
    return { whole = whole, list = {}, stand_ins = timed and side and side.parts or nil,
             reason = reason and "on the simulator: " .. reason }
end

-- ---- all entries one after the other ---------------------------------------------------------

-- Runs an entry n times, after one run that warms up, and appends what these gave to has.list.
local function gather(entry, has, devices, n)
    local list, reason = warm(entry, devices.gpu, has.whole, n, has.stand_ins)
    table.move(list or {}, 1, n, #has.list + 1, has.list)
    has.reason = not list and "on the GPU: " .. reason or nil
end

-- Runs all entries on the GPU, whose recordings count, or with `timed` their times without a
-- recorder. With devices.rounds in rounds: each once, then each a second time, and so on. A machine
-- that others use is slower for seconds or minutes; in rounds that falls on one run of many
-- scripts, whose median leaves it out, and not on all runs of a few. Gives by entry {side =} or
-- {reason =}.
-- tell(text) is called with what is done.
function runs.gather(entries, devices, tell, timed)
    local gathered, rounds = {}, devices.rounds and devices.runs or 1
    for _, entry in ipairs(entries) do
        gathered[entry] = begin(entry, devices, timed)
    end
    for round = 1, rounds do
        tell(("%s%s"):format(rounds > 1 and ("round %d of %d"):format(round, rounds)
            or "all scripts", timed and ", without a recorder" or ""))
        for _, entry in ipairs(entries) do
            local has = gathered[entry]
            if not has.reason then
                gather(entry, has, devices, devices.runs // rounds)
            end
        end
    end
    for entry, has in pairs(gathered) do
        local side = not has.reason and side_of(has.list) or nil
        gathered[entry] = { reason = has.reason, side = side }
    end
    return gathered
end

return runs
