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

-- The 10th and the 90th percentile: eight tenths of the values lie between them.
function statistics.tenths(list)
    return statistics.percentile(list, 0.1), statistics.percentile(list, 0.9)
end

-- How a list of shares lies: {number, median, p90, worst}.
function statistics.shares(list)
    return { number = #list, median = statistics.median(list),
             p90 = statistics.percentile(list, 0.9), worst = statistics.percentile(list, 1) }
end

-- The mean of the middle half. It is finer than a median of a clock's ticks, and outliers
-- affect it as little.
function statistics.middle(list)
    local values = sorted(list)
    local first, last, sum = #values // 4 + 1, #values - #values // 4, 0
    for i = first, last do
        sum = sum + values[i]
    end
    return sum / (last - first + 1)
end

-- The line y = level + slope x through points {x, y, weight} with the least squares; a weight that
-- is missing is 1. Gives {level, slope, mean = of y, through = the slope of the line through 0}.
function statistics.line(points)
    local w, wx, wxx, wy, wxy = 0, 0, 0, 0, 0
    for _, point in ipairs(points) do
        local x, y, weight = point[1], point[2], point[3] or 1
        w, wx, wxx = w + weight, wx + weight * x, wxx + weight * x ^ 2
        wy, wxy = wy + weight * y, wxy + weight * x * y
    end
    local slope = (w * wxy - wx * wy) / (w * wxx - wx ^ 2)
    return { level = (wy - slope * wx) / w, slope = slope, mean = wy / w, through = wxy / wxx }
end

-- (max - min) / median of the middle half: one disturbed sample does not make a spread.
function statistics.spread(list)
    local values, n, median = sorted(list), #list, statistics.median(list)
    local low, high = values[n // 4 + 1], values[n - n // 4]
    return median ~= 0 and (high - low) / math.abs(median) or 0
end

return statistics
