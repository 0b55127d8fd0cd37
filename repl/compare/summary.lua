-- summary.lua - all scripts together: how far makespans are off, whether pairs overlap on both
-- sides, and which scripts are furthest off.

local command = import "repl/commands/command.lua"
local statistics = import "repl/compare/statistics.lua"
local times = import "repl/compare/times.lua"

local summary = {}

local most_named <const> = 10
local kinds <const> = { "experiments", "puzzler", "random", "others" }

-- |simulated / measured - 1|
local function error_of(record)
    return math.abs(record.sim_us / record.gpu_us - 1)
end

local function spread_of(record)
    return (record.gpu_max_us - record.gpu_min_us) / record.gpu_us
end

-- ---- figures -------------------------------------------------------------------------------

local function each(results, f)
    local list = {}
    for i, result in ipairs(results) do
        list[i] = f(result.record)
    end
    return list
end

-- {n, median, p90, worst} of a list of shares.
local function figures(list)
    return { n = #list, median = statistics.median(list),
             p90 = statistics.percentile(list, 0.9), worst = statistics.percentile(list, 1) }
end

local function of_kind(results, kind)
    local list = {}
    for _, result in ipairs(results) do
        if result.entry.kind == kind then
            list[#list + 1] = result
        end
    end
    return list
end

local function total(results, field)
    local n = 0
    for _, result in ipairs(results) do
        n = n + (result.record[field] or 0)
    end
    return n
end

-- ---- text ----------------------------------------------------------------------------------

local row <const> = "%-20s %7s %9s %9s %9s"

local function row_of(name, list)
    local f = figures(list)
    return row:format(name, f.n, times.percent(f.median), times.percent(f.p90),
        times.percent(f.worst))
end

local function add_errors(out, results)
    out[#out + 1] = row:format("makespan's error", "scripts", "median", "p90", "worst")
    for _, kind in ipairs(kinds) do
        local list = of_kind(results, kind)
        if #list > 0 and #list < #results then
            out[#out + 1] = row_of("  " .. kind, each(list, error_of))
        end
    end
    out[#out + 1] = row_of("  all", each(results, error_of))
end

-- `repeated`: the GPU has run each script more than once.
local function add_spreads(out, results, repeated)
    if repeated then
        out[#out + 1] = row_of("spread of GPU's runs", each(results, spread_of))
    end
end

-- In how many scripts all pairs are the same; one with many streams has most of all pairs.
local function count_agreeing(results, field)
    local n = 0
    for _, result in ipairs(results) do
        if result.record[field] == result.record[field .. "_same"] then
            n = n + 1
        end
    end
    return n
end

local function add_pairs(out, results, name, field)
    local n, same = total(results, field), total(results, field .. "_same")
    out[#out + 1] = ("  %-18s %7d of %d%s; all in %d of %d scripts"):format(name, same, n,
        n > 0 and " (" .. times.percent(same / n) .. ")" or "", count_agreeing(results, field),
        #results)
end

local function worst_first(results)
    local list = table.move(results, 1, #results, 1, {})
    table.sort(list, function(a, b)
        local a_error, b_error = error_of(a.record), error_of(b.record)
        if a_error ~= b_error then
            return a_error > b_error
        end
        return a.entry.name < b.entry.name
    end)
    return list
end

local function add_worst(out, results)
    out[#out + 1] = ("%9s %10s %10s  furthest off"):format("ratio", "simulated", "measured")
    for i, result in ipairs(worst_first(results)) do
        local r = result.record
        if i <= most_named then
            out[#out + 1] = ("%9.3f %10s %10s  %s"):format(r.sim_us / r.gpu_us,
                times.text(r.sim_us), times.text(r.gpu_us), command.clean(result.entry.name))
        end
    end
end

-- `failed`: how many scripts have no result.
function summary.text(results, failed, repeated)
    local out = { ("%d scripts compared%s"):format(#results,
        failed > 0 and (", %d failed"):format(failed) or ""), "" }
    if #results == 0 then
        return out[1] .. "\n"
    end
    add_errors(out, results)
    add_spreads(out, results, repeated)
    out[#out + 1] = "\npairs that overlap, the same on both"
    add_pairs(out, results, "of lanes", "lane_pairs")
    add_pairs(out, results, "of operations", "op_pairs")
    out[#out + 1] = ""
    add_worst(out, results)
    return table.concat(out, "\n") .. "\n"
end

return summary
