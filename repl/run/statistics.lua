-- statistics.lua - medians, percentiles and spreads. Plain Lua: tests/bench reads it as well.

local statistics = {}

local function sorted(list)
    local copy = table.move(list, 1, #list, 1, {})
    table.sort(copy)
    return copy
end

function statistics.median(list)
    local values, n = sorted(list), #list
    return (values[(n + 1) // 2] + values[n // 2 + 1]) / 2
end

-- The value below which a share of a list's values lies, from 0 to 1, with straight lines
-- between neighbours: of {1, 2, 3, 4} the half is 2.5, nine tenths are 3.7.
function statistics.percentile(list, share)
    local values = sorted(list)
    local at = 1 + share * (#values - 1)
    local below = math.floor(at)
    local above = math.min(below + 1, #values)
    return values[below] + (at - below) * (values[above] - values[below])
end

-- The index of the median; of an even number the lower of the two in the middle.
function statistics.median_index(list)
    local order = {}
    for i = 1, #list do
        order[i] = i
    end
    table.sort(order, function(a, b)
        if list[a] ~= list[b] then
            return list[a] < list[b]
        end
        return a < b
    end)
    return order[(#order + 1) // 2]
end

-- (max - min) / median of the middle half: one disturbed sample does not make a spread.
function statistics.spread(list)
    local values, n, median = sorted(list), #list, statistics.median(list)
    local low, high = values[n // 4 + 1], values[n - n // 4]
    return median ~= 0 and (high - low) / math.abs(median) or 0
end

return statistics
