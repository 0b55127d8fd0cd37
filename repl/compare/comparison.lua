-- comparison.lua - one script on both sides: the record of it, and its parts one by one.
--
-- A comparison: entry, record (records.lua), sim and gpu (sides, runs.lua), and parts, a list of
-- {number, sim, gpu, ratio, lanes, operations, matched}: timelines, of the GPU that of its median
-- run, and what matches.lua says. With figures that were measured before, there is no gpu and
-- there are no parts.

local matches = import "repl/compare/matches.lua"
local runs = import "repl/compare/runs.lua"

local comparison = {}

-- A part's timelines in all runs in which it has operations, and which of them is `shown`.
local function runs_of(side, number, shown)
    local list, shown_at = {}, nil
    for _, parts in ipairs(side.runs) do
        local tl = parts[number]
        if tl and tl.span_count > 0 then
            list[#list + 1] = tl
            shown_at = tl == shown and #list or shown_at
        end
    end
    return list, shown_at
end

local function compare_part(number, sim_tl, gpu, gpu_tl)
    local tls, shown_at = runs_of(gpu, number, gpu_tl)
    local result = matches.compare(sim_tl, tls)
    return { number = number, sim = sim_tl, gpu = gpu_tl,
             ratio = sim_tl.makespan_us / gpu_tl.makespan_us, lanes = result.lanes,
             operations = result.operations, matched = result.matched[shown_at] }
end

local function compare_parts(sim, gpu)
    local parts = {}
    for i = 1, math.min(#sim.parts, #gpu.parts) do
        local sim_tl, gpu_tl = sim.parts[i], gpu.parts[i]
        if sim_tl.span_count > 0 and gpu_tl.span_count > 0 then
            parts[#parts + 1] = compare_part(i, sim_tl, gpu, gpu_tl)
        end
    end
    return parts
end

local function total(parts, what, count)
    local n = 0
    for _, part in ipairs(parts) do
        n = n + part[what][count]
    end
    return n
end

-- The makespans are those of the two sides, the pairs those of the parts.
local function record_of(entry, sim, gpu, parts)
    local record = { script = entry.script, seed = entry.seed, sim_us = sim.makespan_us,
                     gpu_us = gpu.makespan_us, gpu_min_us = math.min(table.unpack(gpu.runs_us)),
                     gpu_max_us = math.max(table.unpack(gpu.runs_us)) }
    for field, what in pairs { lane_pairs = "lanes", op_pairs = "operations" } do
        record[field] = total(parts, what, "pairs")
        for _, count in ipairs { "same", "steady", "steady_same" } do
            record[field .. "_" .. count] = total(parts, what, count)
        end
    end
    return record
end

local nothing <const> = "it enqueues nothing that could be compared"

-- The GPU's side of an entry, or nil and a reason.
local function gpu_side(entry, devices, whole)
    local known = devices.gathered and devices.gathered[entry]
    local side, reason
    if known then
        devices.gathered[entry] = nil
        return known.side, known.reason
    elseif devices.real then
        side, reason = runs.real(entry, devices.gpu, whole, devices.runs)
    else
        side, reason = runs.simulated(entry, devices.gpu, whole)
    end
    if side then
        return side
    end
    return nil, ("on %s: %s"):format(devices.real and "the GPU" or "the other simulator", reason)
end

-- Puts the simulated range into the record, where draws are asked for; what an earlier run said is
-- not so any more. Gives the result, or nil and a reason.
local function with_range(result, devices, whole)
    local stand_ins = result.record.recorded == false and result.sim.parts or nil
    local record = result.record
    record.sim_low_us, record.sim_high_us = false, false
    if not devices.spread then
        return result
    end
    local low_us, high_us = runs.range(result.entry, devices.sim, whole, devices.spread, stand_ins)
    if not low_us then
        return nil, "on the simulator, in a draw: " .. high_us
    end
    record.sim_low_us, record.sim_high_us = low_us, high_us
    return result
end

-- With figures of an earlier run in the GPU's place.
local function with_measured(entry, devices, sim, whole, measured)
    local side = sim
    if measured.recorded == false then
        local timed, reason = runs.simulated_unrecorded(entry, devices.sim, sim, whole)
        if not timed then
            return nil, "on the simulator: " .. reason
        end
        side = timed
    end
    local record = setmetatable({ sim_us = side.makespan_us }, { __index = measured })
    return with_range({ entry = entry, sim = sim, record = record }, devices, whole)
end

-- The record's makespans: without a recorder where the GPU's runs were timed so, else those of the
-- recordings. Gives the record and nil, or why it could not be timed.
local function makespans(entry, devices, sim, gpu, parts)
    local timed = devices.timed and devices.timed[entry]
    if not timed or not timed.side then
        local record = record_of(entry, sim, gpu, parts)
        record.recorded = devices.real or nil
        return record, timed and timed.reason
    end
    local record = record_of(entry, runs.simulated_unrecorded(entry, devices.sim, sim), timed.side,
        parts)
    record.recorded = false
    return record
end

-- devices: {sim = f, gpu = f, real = boolean, runs = n, spread = n or nil}; each f makes its device
-- the current one.
-- With `gathered` (runs.gather) the GPU has run already, with `timed` (the same) also without a
-- recorder. `measured` is a record of an earlier run: it takes the GPU's place. Gives nil and what
-- went wrong where there is nothing to compare.
function comparison.run(entry, devices, measured)
    local sim, whole = runs.simulated(entry, devices.sim)
    if not sim then
        return nil, "on the simulator: " .. whole
    elseif sim.makespan_us == 0 then
        return nil, nothing
    elseif measured then
        return with_measured(entry, devices, sim, whole, measured)
    end
    local gpu, reason = gpu_side(entry, devices, whole)
    if not gpu then
        return nil, reason
    elseif gpu.makespan_us == 0 then
        return nil, nothing
    end
    local parts = compare_parts(sim, gpu)
    local record, untimed = makespans(entry, devices, sim, gpu, parts)
    return with_range({ entry = entry, sim = sim, gpu = gpu, parts = parts, record = record,
                        untimed = untimed }, devices, whole)
end

return comparison
