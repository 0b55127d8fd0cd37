-- summary.lua - all scripts together as text: how far makespans are off, and which scripts are
-- furthest off; how far the GPU's own runs spread; whether pairs overlap on both sides.

local command = import "repl/run/command.lua"
local figures = import "repl/compare/figures.lua"
local times = import "repl/compare/times.lua"

local summary = {}

local most_named <const> = 10

-- "12 (85.7 %)": n of all.
local function share_text(n, all)
    return all > 0 and ("%d (%s)"):format(n, times.percent(n / all)) or tostring(n)
end

-- Calls add(name, results) with each kind of which there are some, if not all are of one, and with
-- all.
local function each_kind(results, add)
    for _, kind in ipairs(figures.kinds) do
        local list = figures.of_kind(results, kind)
        if #list > 0 and #list < #results then
            add("  " .. kind, list)
        end
    end
    add("  all", results)
end

-- ---- makespans -----------------------------------------------------------------------------

local row <const> = "%-20s %7s %9s %9s %9s"

local function row_of(name, shares, rest)
    return row:format(name, shares.n, times.percent(shares.median), times.percent(shares.p90),
        times.percent(shares.worst)) .. (rest or "")
end

local function add_errors(out, results)
    out[#out + 1] = row:format("makespan's error", "scripts", "median", "p90", "worst")
    each_kind(results, function(name, list)
        out[#out + 1] = row_of(name, figures.shares(list, figures.error_of))
    end)
end

local function add_spreads(out, results)
    out[#out + 1] = "\n" .. row:format("spread of GPU's runs", "scripts", "median", "p90", "worst")
        .. ("%20s"):format("simulated within")
    each_kind(results, function(name, list)
        out[#out + 1] = row_of(name, figures.shares(list, figures.spread_of),
            ("%20s"):format(share_text(figures.count_within(list), #list)))
    end)
end

-- ---- pairs ---------------------------------------------------------------------------------

local pair_row <const> = "%-20s %7s %15s %7s %15s %13s"

local function add_pairs(out, results, name, field)
    local p = figures.pairs(results, field)
    out[#out + 1] = pair_row:format(name, p.pairs, share_text(p.same, p.pairs), p.steady,
        share_text(p.steady_same, p.steady), ("%d of %d"):format(p.agreeing, p.scripts))
end

-- ---- all of it -----------------------------------------------------------------------------

local function add_worst(out, results)
    out[#out + 1] = ("\n%9s %10s %10s  furthest off"):format("ratio", "simulated", "measured")
    for i, result in ipairs(figures.worst_first(results)) do
        local r = result.record
        if i <= most_named then
            out[#out + 1] = ("%9.3f %10s %10s  %s"):format(r.sim_us / r.gpu_us,
                times.text(r.sim_us), times.text(r.gpu_us), command.clean(result.entry.name))
        end
    end
end

-- `failed`: how many scripts have no result. `repeated`: the GPU has run each more than once.
function summary.text(results, failed, repeated)
    local out = { ("%d scripts compared%s"):format(#results,
        failed > 0 and (", %d failed"):format(failed) or ""), "" }
    if #results == 0 then
        return out[1] .. "\n"
    end
    add_errors(out, results)
    if repeated then
        add_spreads(out, results)
    end
    out[#out + 1] = "\n" .. pair_row:format("pairs that overlap", "pairs", "same on both", "steady",
        "same on both", "all steady in")
    add_pairs(out, results, "  of lanes", "lane_pairs")
    add_pairs(out, results, "  of operations", "op_pairs")
    add_worst(out, results)
    return table.concat(out, "\n") .. "\n"
end

return summary
