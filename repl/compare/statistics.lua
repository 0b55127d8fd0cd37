-- statistics.lua - medians and percentiles.

local statistics = {}

local function sorted(list)
    local copy = table.move(list, 1, #list, 1, {})
    table.sort(copy)
    return copy
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

function statistics.median(list)
    return statistics.percentile(list, 0.5)
end

-- Where in the list its median stands; of an even number the lower of the two in the middle.
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

return statistics
