-- figures.lua - what a list of results says as numbers: how far makespans are off, how far the
-- GPU's own runs spread, and which pairs overlap on both sides. A result has entry and record.

local statistics = import "repl/compare/statistics.lua"

local figures = { kinds = { "experiments", "puzzler", "random", "others" } }

-- ---- of one script ---------------------------------------------------------------------------

-- |simulated / measured - 1|
function figures.error_of(record)
    return math.abs(record.sim_us / record.gpu_us - 1)
end

function figures.spread_of(record)
    return (record.gpu_max_us - record.gpu_min_us) / record.gpu_us
end

function figures.is_within(record)
    return record.gpu_min_us <= record.sim_us and record.sim_us <= record.gpu_max_us
end

-- ---- of many ---------------------------------------------------------------------------------

function figures.of_kind(results, kind)
    local list = {}
    for _, result in ipairs(results) do
        if result.entry.kind == kind then
            list[#list + 1] = result
        end
    end
    return list
end

-- {n, median, p90, worst} of f of all records.
function figures.shares(results, f)
    local list = {}
    for i, result in ipairs(results) do
        list[i] = f(result.record)
    end
    return { n = #list, median = statistics.median(list),
             p90 = statistics.percentile(list, 0.9), worst = statistics.percentile(list, 1) }
end

function figures.count_within(results)
    local n = 0
    for _, result in ipairs(results) do
        n = n + (figures.is_within(result.record) and 1 or 0)
    end
    return n
end

-- What all results have of "lane_pairs" or "op_pairs": {pairs, same, steady, steady_same, scripts,
-- agreeing}, of which the last two are how many scripts have steady pairs, and in how many of these
-- all are the same; one with many streams has most of all pairs.
function figures.pairs(results, field)
    local sums = { pairs = 0, same = 0, steady = 0, steady_same = 0, scripts = 0, agreeing = 0 }
    for _, result in ipairs(results) do
        local record = result.record
        local steady, steady_same = record[field .. "_steady"] or 0,
            record[field .. "_steady_same"] or 0
        sums.pairs = sums.pairs + (record[field] or 0)
        sums.same = sums.same + (record[field .. "_same"] or 0)
        sums.steady, sums.steady_same = sums.steady + steady, sums.steady_same + steady_same
        sums.scripts = sums.scripts + (steady > 0 and 1 or 0)
        sums.agreeing = sums.agreeing + (steady > 0 and steady == steady_same and 1 or 0)
    end
    return sums
end

function figures.worst_first(results)
    local list = table.move(results, 1, #results, 1, {})
    table.sort(list, function(a, b)
        local a_error, b_error = figures.error_of(a.record), figures.error_of(b.record)
        if a_error ~= b_error then
            return a_error > b_error
        end
        return a.entry.name < b.entry.name
    end)
    return list
end

return figures
