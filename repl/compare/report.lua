-- report.lua - what people read: one script in full, its makespans, then its parts, those that are
-- furthest off first; or all scripts together, how far makespans are off, how far the GPU's own
-- runs spread, whether pairs overlap on both sides, and which scripts are furthest off.

local command = import "repl/run/command.lua"
local figures = import "repl/compare/figures.lua"
local lists = import "repl/run/lists.lua"
local matches = import "repl/compare/matches.lua"

local report = {}

local most_parts <const>, most_named <const> = 3, 10

-- ---- one script ------------------------------------------------------------------------------

-- A line, which may begin with an empty one.
local function say(form, ...)
    local text = form:format(...)
    print((text:match("^\n") or "") .. command.clean((text:gsub("^\n", ""))))
end

local function name_of(span)
    return ("%s in %s (operation %d)"):format(span.name, span.stream, span.correlation)
end

local function say_order(part, other)
    local result = matches.order(part.matched.list)
    if result.neighbours == 0 then
        return
    end
    say("order of starts: %d of %d neighbours start in the other order", result.swapped,
        result.neighbours)
    if result.first then
        say("  first: %s starts before %s on %s, behind it on the simulator",
            name_of(result.first[1][2]), name_of(result.first[2][2]), other)
    end
end

-- "2 of 3 of lanes"; of pairs that are not the same in all runs it tells.
local function pairs_text(counts, name)
    local text = ("%d of %d of %s"):format(counts.same, counts.pairs, name)
    if counts.steady < counts.pairs then
        text = ("%s (%d of %d steady ones)"):format(text, counts.steady_same, counts.steady)
    end
    return text
end

local function say_overlaps(part, other)
    say("pairs that overlap, the same on both: %s, %s", pairs_text(part.lanes, "lanes"),
        pairs_text(part.operations, "operations"))
    local sim_alone, gpu_alone = part.matched.sim_alone, part.matched.gpu_alone
    if sim_alone + gpu_alone > 0 then
        say("operations without a partner: %d on the simulator, %d on %s", sim_alone, gpu_alone,
            other)
    end
end

local function say_part(part, n_parts, other)
    local try = command.try
    say("\n== part %d of %d: %s simulated, %s measured, ratio %.3f", part.number, n_parts,
        figures.time(part.sim.makespan_us), figures.time(part.gpu.makespan_us), part.ratio)
    say_order(part, other)
    say_overlaps(part, other)
    say("\n%s, and below it the simulator, on one scale of time:", other)
    try(part.gpu.show, part.gpu, { beside = part.sim })
    try(part.sim.show, part.sim, { beside = part.gpu })
    print()
    try(part.gpu.diff, part.gpu, part.sim, { names = { other, "the simulator" } })
    say("\n%s explained:", other)
    try(part.gpu.explain, part.gpu)
    print("the simulator explained:")
    try(part.sim.explain, part.sim)
end

local function worst_first(parts)
    return lists.sorted(parts, function(part) return { -math.abs(part.ratio - 1), part.number } end)
end

-- `other`: what the simulator is compared with, "the GPU".
function report.print(result, other)
    local r = result.record
    local simulated = r.sim_low_us and internals.range_text(r.sim_us, r.sim_low_us, r.sim_high_us)
    say("%s: %s simulated, %s measured (%s to %s), ratio %.3f", result.entry.name,
        simulated or figures.time(r.sim_us), figures.time(r.gpu_us), figures.time(r.gpu_min_us),
        figures.time(r.gpu_max_us), r.sim_us / r.gpu_us)
    if r.recorded then
        say("these are times of recordings, and recording takes part of them%s",
            result.untimed and "; without it: " .. result.untimed or "")
    end
    if not result.gpu then
        return
    elseif r.recorded == false then
        say("timed without a recorder; with one, as below, %s simulated, %s measured",
            figures.time(result.sim.makespan_us), figures.time(result.gpu.makespan_us))
    end
    if #result.sim.parts ~= #result.gpu.parts then
        say("it records %d timelines on the simulator and %d on %s", #result.sim.parts,
            #result.gpu.parts, other)
    end
    for i, part in ipairs(worst_first(result.parts)) do
        if i <= most_parts then
            say_part(part, #result.sim.parts, other)
        end
    end
    if #result.parts > most_parts then
        say("\n%d parts that are nearer are not shown", #result.parts - most_parts)
    end
    print()
end

-- ---- all scripts -----------------------------------------------------------------------------

-- "12 (85.7 %)": n of all.
local function share_text(n, all)
    return all > 0 and ("%d (%s)"):format(n, figures.percent(n / all)) or tostring(n)
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

local row <const> = "%-20s %7s %9s %9s %9s"

local function row_of(name, shares, rest)
    return row:format(name, shares.number, figures.percent(shares.median),
        figures.percent(shares.p90), figures.percent(shares.worst)) .. (rest or "")
end

local function add_errors(out, results)
    out[#out + 1] = row:format("makespan's error", "scripts", "median", "p90", "worst")
    each_kind(results, function(name, list)
        out[#out + 1] = row_of(name, figures.shares(list, figures.error_of))
    end)
end

-- Of some scripts the times may be of recordings.
local function add_recorded(out, results)
    local n = #lists.select(results, function(result) return result.record.recorded end)
    if n > 0 then
        out[#out + 1] = ("\n%d of %d by their recordings, and recording takes part of the time")
            :format(n, #results)
    end
end

local function add_spreads(out, results)
    out[#out + 1] = "\n" .. row:format("spread of GPU's runs", "scripts", "median", "p90", "worst")
        .. ("%20s"):format("simulated within")
    each_kind(results, function(name, list)
        out[#out + 1] = row_of(name, figures.shares(list, figures.spread_of),
            ("%20s"):format(share_text(figures.count_within(list), #list)))
    end)
end

local function add_ranges(out, results)
    out[#out + 1] = "\n" .. row:format("simulated range", "scripts", "median", "p90", "widest")
        .. ("%20s"):format("measured within")
    each_kind(results, function(name, list)
        out[#out + 1] = row_of(name, figures.shares(list, figures.width_of),
            ("%20s"):format(share_text(figures.count_in_range(list), #list)))
    end)
end

local pair_row <const> = "%-20s %7s %15s %7s %15s %13s"

local function add_pairs(out, results, name, field)
    local p = figures.pairs(results, field)
    out[#out + 1] = pair_row:format(name, p.pairs, share_text(p.same, p.pairs), p.steady,
        share_text(p.steady_same, p.steady), ("%d of %d"):format(p.agreeing, p.scripts))
end

local function add_worst(out, results)
    out[#out + 1] = ("\n%9s %10s %10s  furthest off"):format("ratio", "simulated", "measured")
    for i, result in ipairs(figures.worst_first(results)) do
        local r = result.record
        if i <= most_named then
            out[#out + 1] = ("%9.3f %10s %10s  %s"):format(r.sim_us / r.gpu_us,
                figures.time(r.sim_us), figures.time(r.gpu_us), command.clean(result.entry.name))
        end
    end
end

-- `failed`: how many scripts have no result. `repeated`: the GPU has run each more than once.
function report.summary(results, failed, repeated)
    local out = { ("%d scripts compared%s"):format(#results,
        failed > 0 and (", %d failed"):format(failed) or ""), "" }
    if #results == 0 then
        return out[1] .. "\n"
    end
    add_errors(out, results)
    add_recorded(out, results)
    if repeated then
        add_spreads(out, results)
    end
    local ranged = figures.with_range(results)
    if #ranged > 0 then
        add_ranges(out, ranged)
    end
    out[#out + 1] = "\n" .. pair_row:format("pairs that overlap", "pairs", "same on both", "steady",
        "same on both", "all steady in")
    add_pairs(out, results, "  of lanes", "lane_pairs")
    add_pairs(out, results, "  of operations", "op_pairs")
    add_worst(out, results)
    return table.concat(out, "\n") .. "\n"
end

return report
