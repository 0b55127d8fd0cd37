-- order.lua - whether operations start in the same order on both sides.

local order = {}

-- Of matched operations (match.pairs, the simulator's first): how many neighbours there are in the
-- order in which the GPU starts them, how many of these the simulator starts in the other order,
-- and the first such pair.
function order.compare(matched)
    local by_start = {}
    for i, both in ipairs(matched) do
        by_start[i] = { both = both, issue = i }
    end
    table.sort(by_start, function(a, b)
        local a_us, b_us = a.both[2].start_us, b.both[2].start_us
        if a_us ~= b_us then
            return a_us < b_us
        end
        return a.issue < b.issue
    end)
    local swapped, first = 0, nil
    for i = 2, #by_start do
        local before, behind = by_start[i - 1].both, by_start[i].both
        if before[2].start_us < behind[2].start_us and before[1].start_us > behind[1].start_us then
            swapped, first = swapped + 1, first or { before, behind }
        end
    end
    return { neighbours = math.max(0, #by_start - 1), swapped = swapped, first = first }
end

return order
