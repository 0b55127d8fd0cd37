-- overlaps.lua - which pairs of lanes, and which pairs of operations, run at the same time on the
-- simulator and on the GPU, in all of the GPU's runs: engines that find several commands ready take
-- them in an order of their own, so that the same script overlaps in one run and not in the next.
--
-- A lane is what one stream has of one kind. A pair's overlap is a share of its own run's makespan.
-- A pair counts if it is above 5 % on the simulator, or as the median of the GPU's runs. It
-- overlaps in a run if it is above 1 % there. It is steady if that is the same in all of the GPU's
-- runs, and the sides agree on it if the simulator says the same as the median.

local match = import "repl/compare/match.lua"
local statistics = import "repl/compare/statistics.lua"

local overlaps = {}

local counts_from <const>, overlaps_from <const> = 0.05, 0.01

local function new_counts()
    return { pairs = 0, same = 0, steady = 0, steady_same = 0 }
end

local function is_steady(shares)
    for _, share in ipairs(shares) do
        if (share > overlaps_from) ~= (shares[1] > overlaps_from) then
            return false
        end
    end
    return true
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

-- ---- lanes ---------------------------------------------------------------------------------

-- The operations' times as intervals that do not touch.
local function union(spans)
    table.sort(spans, function(a, b) return a.start_us < b.start_us end)
    local list, last = {}, nil
    for _, span in ipairs(spans) do
        if last and span.start_us <= last[2] then
            last[2] = math.max(last[2], span.end_us)
        else
            last = { span.start_us, span.end_us }
            list[#list + 1] = last
        end
    end
    return list
end

-- Intervals by lane, and appends names of lanes that are new to `names`, in order of first
-- issue.
local function lanes_of(spans, names, known)
    local lanes = {}
    for _, span in ipairs(spans) do
        local name = span.ordinal .. " " .. span.kind
        if not known[name] then
            known[name] = true
            names[#names + 1] = name
        end
        lanes[name] = lanes[name] or {}
        table.insert(lanes[name], span)
    end
    for name, list in pairs(lanes) do
        lanes[name] = union(list)
    end
    return lanes
end

-- How long two lists of intervals overlap; a lane that one side does not have is nil.
local function overlap_us(a, b)
    local i, j, total = 1, 1, 0
    while a and b and a[i] and b[j] do
        local from, to = math.max(a[i][1], b[j][1]), math.min(a[i][2], b[j][2])
        total = total + math.max(0, to - from)
        if a[i][2] < b[j][2] then
            i = i + 1
        else
            j = j + 1
        end
    end
    return total
end

local function lane_share(run, one, other)
    return overlap_us(run.lanes[one], run.lanes[other]) / run.makespan_us
end

local function compare_lanes(sim, runs)
    local counts, names, known = new_counts(), {}, {}
    sim.lanes = lanes_of(sim.spans, names, known)
    for _, run in ipairs(runs) do
        run.lanes = lanes_of(run.spans, names, known)
    end
    for i = 1, #names do
        for k = i + 1, #names do
            local shares = {}
            for n, run in ipairs(runs) do
                shares[n] = lane_share(run, names[i], names[k])
            end
            count_pair(counts, lane_share(sim, names[i], names[k]), shares)
        end
    end
    return counts
end

-- ---- operations ----------------------------------------------------------------------------

local function duration_share(run, span)
    return (span.end_us - span.start_us) / run.makespan_us
end

-- Those that are long enough to count in a pair, of which both must be.
local function long_ones(matched, sim, runs)
    local list = {}
    for _, operation in ipairs(matched) do
        local shares = {}
        for n, run in ipairs(runs) do
            shares[n] = duration_share(run, operation.partners[n])
        end
        if math.max(duration_share(sim, operation.span), statistics.median(shares))
            > counts_from then
            list[#list + 1] = operation
        end
    end
    return list
end

local function common_share(run, x, y)
    local common_us = math.min(x.end_us, y.end_us) - math.max(x.start_us, y.start_us)
    return math.max(0, common_us) / run.makespan_us
end

local function compare_operations(matched, sim, runs)
    local counts, list = new_counts(), long_ones(matched, sim, runs)
    for i, one in ipairs(list) do
        for k = i + 1, #list do
            local other, shares = list[k], {}
            for n, run in ipairs(runs) do
                shares[n] = common_share(run, one.partners[n], other.partners[n])
            end
            count_pair(counts, common_share(sim, one.span, other.span), shares)
        end
    end
    return counts
end

-- ---- a part --------------------------------------------------------------------------------

local function run_of(tl)
    return { spans = match.spans(tl), makespan_us = tl.makespan_us }
end

-- Of the simulator's timeline and those of the GPU's runs, none of which is empty:
-- {lanes = COUNTS, operations = COUNTS, matched}; COUNTS are {pairs, same, steady, steady_same},
-- and matched[n] is what match.pairs gives for the n-th run: {list, sim_alone, gpu_alone}.
function overlaps.compare(sim_tl, gpu_tls)
    local sim, runs, matched, lists = run_of(sim_tl), {}, {}, {}
    for n, tl in ipairs(gpu_tls) do
        runs[n] = run_of(tl)
        local list, sim_alone, gpu_alone = match.pairs(sim.spans, runs[n].spans)
        matched[n] = { list = list, sim_alone = sim_alone, gpu_alone = gpu_alone }
        lists[n] = list
    end
    return { operations = compare_operations(match.common(lists), sim, runs),
             lanes = compare_lanes(sim, runs), matched = matched }
end

return overlaps
