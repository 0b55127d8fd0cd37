-- comparison.lua - one script on both sides: the record of it, and its parts one by one.
--
-- A comparison: entry, record (records.lua), sim and gpu (sides, measure.lua), and parts, a list of
-- {number, sim, gpu, ratio, overlaps}. With figures that were measured before, there is no gpu and
-- there are no parts.

local measure = import "repl/compare/measure.lua"
local overlaps = import "repl/compare/overlaps.lua"

local comparison = {}

local function compare_parts(sim, gpu)
    local parts = {}
    for i = 1, math.min(#sim.parts, #gpu.parts) do
        local a, b = sim.parts[i], gpu.parts[i]
        if a.span_count > 0 and b.span_count > 0 then
            parts[#parts + 1] = { number = i, sim = a, gpu = b,
                                  ratio = a.makespan_us / b.makespan_us,
                                  overlaps = overlaps.compare(a, b) }
        end
    end
    return parts
end

local function count(parts, what)
    local pairs, same = 0, 0
    for _, part in ipairs(parts) do
        pairs = pairs + part.overlaps[what].pairs
        same = same + part.overlaps[what].same
    end
    return pairs, same
end

local function record_of(entry, sim, gpu, parts)
    local record = { script = entry.script, seed = entry.seed, sim_us = sim.makespan_us,
                     gpu_us = gpu.makespan_us, gpu_min_us = math.min(table.unpack(gpu.runs_us)),
                     gpu_max_us = math.max(table.unpack(gpu.runs_us)) }
    record.lane_pairs, record.lane_pairs_same = count(parts, "lanes")
    record.op_pairs, record.op_pairs_same = count(parts, "operations")
    return record
end

local nothing <const> = "it enqueues nothing that could be compared"

-- devices: {sim = f, gpu = f, real = boolean, runs = n}; each f makes its device the current one.
-- Gives nil and what went wrong where there is nothing to compare.
function comparison.run(entry, devices)
    local sim, whole = measure.simulated(entry, devices.sim)
    if not sim then
        return nil, "on the simulator: " .. whole
    elseif sim.makespan_us == 0 then
        return nil, nothing
    end
    local gpu, reason
    if devices.real then
        gpu, reason = measure.real(entry, devices.gpu, whole, devices.runs)
    else
        gpu, reason = measure.simulated(entry, devices.gpu, whole)
    end
    if not gpu then
        return nil, "on " .. (devices.real and "the GPU" or "the other simulator") .. ": " .. reason
    elseif gpu.makespan_us == 0 then
        return nil, nothing
    end
    local parts = compare_parts(sim, gpu)
    return { entry = entry, sim = sim, gpu = gpu, parts = parts,
             record = record_of(entry, sim, gpu, parts) }
end

-- Beside what a record says was measured before.
function comparison.with_record(entry, devices, measured)
    local sim, reason = measure.simulated(entry, devices.sim)
    if not sim then
        return nil, "on the simulator: " .. reason
    elseif sim.makespan_us == 0 then
        return nil, nothing
    end
    local record = {}
    for key, value in pairs(measured) do
        record[key] = value
    end
    record.sim_us = sim.makespan_us
    return { entry = entry, sim = sim, record = record }
end

return comparison
