-- figures.lua - what a list of results says as numbers: how far makespans are off, how far the
-- GPU's own runs spread, and which pairs overlap on both sides; and times and shares as text. A
-- result has entry and record. Plain Lua: tests/bench reads this file outside of the program.

local lists = import "repl/run/lists.lua"
local statistics = import "repl/run/statistics.lua"

local figures = { kinds = { "experiments", "puzzler", "random", "others" } }

-- ---- as text ---------------------------------------------------------------------------------

-- "12.3 us", "1.23 ms"
function figures.time(us)
    local units, unit = { "us", "ms", "s" }, 1
    while us >= 1000 and unit < #units do
        us, unit = us / 1000, unit + 1
    end
    local digits = us < 10 and 2 or us < 100 and 1 or 0
    return ("%." .. digits .. "f %s"):format(us, units[unit])
end

-- 0.0123 is "1.2 %".
function figures.percent(share)
    return ("%.1f %%"):format(share * 100)
end

-- ---- of one script ---------------------------------------------------------------------------

-- |simulated / measured - 1|
function figures.error_of(record)
    return math.abs(record.sim_us / record.gpu_us - 1)
end

function figures.spread_of(record)
    return (record.gpu_max_us - record.gpu_min_us) / record.gpu_us
end

-- ---- of many ---------------------------------------------------------------------------------

function figures.of_kind(results, kind)
    return lists.select(results, function(result) return result.entry.kind == kind end)
end

-- {number, median, p90, worst} of f of all records.
function figures.shares(results, f)
    return statistics.shares(lists.map(results, function(result) return f(result.record) end))
end

function figures.count_within(results)
    return #lists.select(results, function(result)
        local r = result.record
        return r.gpu_min_us <= r.sim_us and r.sim_us <= r.gpu_max_us
    end)
end

-- Those whose simulated makespan has a range.
function figures.with_range(results)
    return lists.select(results, function(result) return result.record.sim_low_us end)
end

-- How wide the simulated range is.
function figures.width_of(record)
    return (record.sim_high_us - record.sim_low_us) / record.sim_us
end

-- For how many the measured median lies in the simulated range.
function figures.count_in_range(results)
    return #lists.select(results, function(result)
        local r = result.record
        return r.sim_low_us <= r.gpu_us and r.gpu_us <= r.sim_high_us
    end)
end

-- The sums over all results of a field, "lane_pairs" or "op_pairs": {pairs, same, steady,
-- steady_same, scripts, agreeing}. The last two count scripts, since one with many streams has most
-- of all pairs: those that have steady pairs, and those of them in which all of these are the same.
function figures.pairs(results, field)
    local sums = { pairs = 0, same = 0, steady = 0, steady_same = 0, scripts = 0, agreeing = 0 }
    for _, result in ipairs(results) do
        local function add(name, ending)
            local n = result.record[field .. ending] or 0
            sums[name] = sums[name] + n
            return n
        end
        add("pairs", "")
        add("same", "_same")
        local steady, steady_same = add("steady", "_steady"), add("steady_same", "_steady_same")
        sums.scripts = sums.scripts + (steady > 0 and 1 or 0)
        sums.agreeing = sums.agreeing + (steady > 0 and steady == steady_same and 1 or 0)
    end
    return sums
end

function figures.worst_first(results)
    return lists.sorted(results, function(result)
        return { -figures.error_of(result.record), result.entry.name }
    end)
end

return figures
