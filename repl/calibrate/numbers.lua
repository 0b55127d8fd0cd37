-- numbers.lua - medians and spreads.

local numbers = {}

local function sorted_copy(list)
    local sorted = table.move(list, 1, #list, 1, {})
    table.sort(sorted)
    return sorted
end

function numbers.median(list)
    local sorted, n = sorted_copy(list), #list
    return (sorted[(n + 1) // 2] + sorted[n // 2 + 1]) / 2
end

-- (max - min) / median of the middle half: one sample that a neighbour spoilt is no spread.
function numbers.spread(list)
    local sorted, n, median = sorted_copy(list), #list, numbers.median(list)
    local low, high = sorted[n // 4 + 1], sorted[n - n // 4]
    return median ~= 0 and (high - low) / math.abs(median) or 0
end

-- The mean of the lowest `part` of them.
function numbers.trimmed(list, part)
    local sorted, n = sorted_copy(list), math.max(1, math.floor(#list * part))
    local sum = 0
    for i = 1, n do
        sum = sum + sorted[i]
    end
    return sum / n
end

return numbers
