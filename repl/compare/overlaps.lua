-- overlaps.lua - which pairs of lanes, and which pairs of operations, run at the same time, and
-- whether they do so on both sides.
--
-- A lane is what one stream has of one kind. A pair counts if it overlaps for more than 5 % of
-- the part's makespan on either side, each side's own; the sides agree on it if it overlaps for
-- more than 1 % on the other one as well.

local match = import "repl/compare/match.lua"

local overlaps = {}

local counts_from <const>, agrees_from <const> = 0.05, 0.01

local function add_verdict(result, a_share, b_share)
    if math.max(a_share, b_share) > counts_from then
        result.pairs = result.pairs + 1
        if math.min(a_share, b_share) > agrees_from then
            result.same = result.same + 1
        end
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

local function compare_lanes(a, b)
    local result, names, known = { pairs = 0, same = 0 }, {}, {}
    local a_lanes, b_lanes = lanes_of(a.spans, names, known), lanes_of(b.spans, names, known)
    for i = 1, #names do
        for k = i + 1, #names do
            local one, other = names[i], names[k]
            add_verdict(result, overlap_us(a_lanes[one], a_lanes[other]) / a.makespan_us,
                overlap_us(b_lanes[one], b_lanes[other]) / b.makespan_us)
        end
    end
    return result
end

-- ---- operations ----------------------------------------------------------------------------

-- Those that are long enough to count in a pair, of which both must be.
local function long_ones(matched, a, b)
    local list = {}
    for _, both in ipairs(matched) do
        if (both[1].end_us - both[1].start_us) / a.makespan_us > counts_from
            or (both[2].end_us - both[2].start_us) / b.makespan_us > counts_from then
            list[#list + 1] = both
        end
    end
    return list
end

local function common_us(x, y)
    return math.max(0, math.min(x.end_us, y.end_us) - math.max(x.start_us, y.start_us))
end

local function compare_operations(matched, a, b)
    local result, list = { pairs = 0, same = 0 }, long_ones(matched, a, b)
    for i = 1, #list do
        for k = i + 1, #list do
            add_verdict(result, common_us(list[i][1], list[k][1]) / a.makespan_us,
                common_us(list[i][2], list[k][2]) / b.makespan_us)
        end
    end
    return result
end

-- ---- a part --------------------------------------------------------------------------------

-- Of two timelines: {lanes = {pairs, same}, operations = {pairs, same}, matched, a_alone,
-- b_alone}, of which the last three are as of match.pairs.
function overlaps.compare(a_tl, b_tl)
    local a = { spans = match.spans(a_tl), makespan_us = a_tl.makespan_us }
    local b = { spans = match.spans(b_tl), makespan_us = b_tl.makespan_us }
    local matched, a_alone, b_alone = match.pairs(a.spans, b.spans)
    local operations = compare_operations(matched, a, b)
    return { matched = matched, a_alone = a_alone, b_alone = b_alone, operations = operations,
             lanes = compare_lanes(a, b) }
end

return overlaps
