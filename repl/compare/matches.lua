-- matches.lua - which operation of one timeline is which of another one of the same script; whether
-- they start in the same order; and which pairs of them, and of lanes, run at the same time on the
-- simulator and on the GPU.
--
-- Operations match by the order of issue, which both sides share. Where the numbers of operations
-- differ, or their kinds in that order, they match by stream, kind and number within these; streams
-- are numbered in the order in which they first get work.
--
-- A lane is what one stream has of one kind. A pair's overlap is a share of its own run's makespan.
-- A pair counts if it is above 5 % on the simulator, or in the median of the GPU's runs; it
-- overlaps in a run if it is above 1 % there. Engines that find several commands ready take them in
-- an order of their own, so that a script overlaps in one run and not in the next: a pair is steady
-- if it is the same in all of the GPU's runs. The sides agree on it if the simulator is as the
-- median.

local lists = import "repl/run/lists.lua"
local statistics = import "repl/run/statistics.lua"

local matches = {}

-- ---- matching --------------------------------------------------------------------------------

-- A timeline's operations, each with its lane, "2 kernel" of the second stream; the lanes in the
-- order of first issue; and what selects each in the timeline.
local function run_of(tl)
    local run = { tl = tl, spans = tl:spans(), makespan_us = tl.makespan_us,
                  lanes = {}, select = {} }
    local ordinals, n = {}, 0
    for _, span in ipairs(run.spans) do
        if not ordinals[span.stream_id] then
            n = n + 1
            ordinals[span.stream_id] = n
        end
        span.lane = ordinals[span.stream_id] .. " " .. span.kind
        if not run.select[span.lane] then
            run.select[span.lane] = { stream = span.stream_id, kind = span.kind }
            table.insert(run.lanes, span.lane)
        end
    end
    return run
end

local function same_lanes(a, b)
    if #a ~= #b then
        return false
    end
    for i, span in ipairs(a) do
        if span.lane ~= b[i].lane then
            return false
        end
    end
    return true
end

-- The operations by lane and number within it.
local function by_key(spans)
    local counts, keys = {}, {}
    for i, span in ipairs(spans) do
        counts[span.lane] = (counts[span.lane] or 0) + 1
        keys[span.lane .. " " .. counts[span.lane]] = i
    end
    return keys
end

-- {list, sim_alone, gpu_alone}: pairs {operation of a, operation of b} in a's order of issue, and
-- how many of a and of b have no partner.
local function match(a, b)
    local list = {}
    if same_lanes(a, b) then
        list = lists.map(a, function(span, i) return { span, b[i] } end)
    else
        local partners = by_key(b)
        for key, i in pairs(by_key(a)) do
            if partners[key] then
                list[#list + 1] = { a[i], b[partners[key]], i }
            end
        end
        table.sort(list, function(x, y) return x[3] < y[3] end)
    end
    return { list = list, sim_alone = #a - #list, gpu_alone = #b - #list }
end

-- The simulator's operations that have a partner in all runs, in the order of issue, as {span,
-- partners}; partners[n] is that of the n-th run.
local function common(matched)
    local partners, list = {}, {}
    for _, one in ipairs(matched) do
        for _, both in ipairs(one.list) do
            partners[both[1]] = partners[both[1]] or {}
            table.insert(partners[both[1]], both[2])
        end
    end
    for _, both in ipairs(matched[1].list) do
        local span = both[1]
        if #partners[span] == #matched then
            list[#list + 1] = { span = span, partners = partners[span] }
        end
    end
    return list
end

-- ---- the order of starts ---------------------------------------------------------------------

-- Of matched operations, a list as above: how many neighbours there are in the order in which the
-- GPU starts them, how many of these the simulator starts in the other order, and the first such
-- pair.
function matches.order(list)
    local issue, by_start = {}, table.move(list, 1, #list, 1, {})
    for i, both in ipairs(list) do
        issue[both] = i
    end
    table.sort(by_start, function(a, b)
        if a[2].start_us ~= b[2].start_us then
            return a[2].start_us < b[2].start_us
        end
        return issue[a] < issue[b]
    end)
    local swapped, first = 0, nil
    for i = 2, #by_start do
        local before, behind = by_start[i - 1], by_start[i]
        if before[2].start_us < behind[2].start_us and before[1].start_us > behind[1].start_us then
            swapped, first = swapped + 1, first or { before, behind }
        end
    end
    return { neighbours = math.max(0, #by_start - 1), swapped = swapped, first = first }
end

-- ---- overlaps --------------------------------------------------------------------------------

local counts_from <const>, overlaps_from <const> = 0.05, 0.01

local function is_steady(shares)
    return lists.all(shares, function(share)
        return (share > overlaps_from) == (shares[1] > overlaps_from)
    end)
end

-- Of one pair: its share on the simulator and those in the GPU's runs.
local function count_pair(counts, sim_share, shares)
    local median = statistics.median(shares)
    if math.max(sim_share, median) <= counts_from then
        return
    end
    local same = (sim_share > overlaps_from) == (median > overlaps_from) and 1 or 0
    counts.pairs, counts.same = counts.pairs + 1, counts.same + same
    if is_steady(shares) then
        counts.steady, counts.steady_same = counts.steady + 1, counts.steady_same + same
    end
end

-- Counts all pairs of a list; share(run, one, other, n) is how long two overlap in a run, n is 0 on
-- the simulator.
local function compare_pairs(list, share, sim, runs)
    local counts = { pairs = 0, same = 0, steady = 0, steady_same = 0 }
    for i, one in ipairs(list) do
        for k = i + 1, #list do
            local other = list[k]
            count_pair(counts, share(sim, one, other, 0), lists.map(runs, function(run, n)
                return share(run, one, other, n)
            end))
        end
    end
    return counts
end

-- A lane that a run does not have overlaps with none.
local function lane_share(run, one, other)
    local a, b = run.select[one], run.select[other]
    return a and b and run.tl:overlap_us(a, b) / run.makespan_us or 0
end

-- All lanes, in order of first issue on the simulator and then in the runs.
local function all_lanes(sim, runs)
    local lanes, known = {}, {}
    for i = 0, #runs do
        for _, lane in ipairs((runs[i] or sim).lanes) do
            if not known[lane] then
                lanes[#lanes + 1], known[lane] = lane, true
            end
        end
    end
    return lanes
end

-- What a matched operation is in the n-th run; on the simulator n is 0.
local function operation_in(operation, n)
    return n == 0 and operation.span or operation.partners[n]
end

local function operation_share(run, one, other, n)
    local x, y = operation_in(one, n), operation_in(other, n)
    local common_us = math.min(x.end_us, y.end_us) - math.max(x.start_us, y.start_us)
    return math.max(0, common_us) / run.makespan_us
end

-- Those that are long enough to count in a pair, of which both must be.
local function long_ones(operations, sim, runs)
    return lists.select(operations, function(one)
        local shares = lists.map(runs,
                                 function(run, n) return operation_share(run, one, one, n) end)
        return math.max(operation_share(sim, one, one, 0), statistics.median(shares)) > counts_from
    end)
end

-- Of the simulator's timeline and those of the GPU's runs, none of which is empty:
-- {lanes = COUNTS, operations = COUNTS, matched}; COUNTS are {pairs, same, steady, steady_same},
-- and matched[n] is {list, sim_alone, gpu_alone} of the n-th run.
function matches.compare(sim_tl, gpu_tls)
    local sim, runs = run_of(sim_tl), lists.map(gpu_tls, run_of)
    local matched = lists.map(runs, function(run) return match(sim.spans, run.spans) end)
    return { lanes = compare_pairs(all_lanes(sim, runs), lane_share, sim, runs), matched = matched,
             operations = compare_pairs(long_ones(common(matched), sim, runs), operation_share, sim,
                                        runs) }
end

return matches
