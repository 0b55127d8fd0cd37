-- passes.lua - the passes of parts that measure several times over a calibration, and how their
-- results are combined.
--
-- A machine that others use is slow for seconds at a time, which no repetition within a part
-- evens out. So a part with `passes = n` runs up to n times on a real GPU, with the other parts in
-- between: 7 times where the device's figures need it, 15 times for the host's, which differ
-- more; and each value is the median over the passes of what each has found. The host's times
-- take the median as well, although noise only adds to them: the simulator should resemble a
-- usual moment and not the best one.
--
-- Parts that are `unrecorded` have all their passes before the others: after the first recording of
-- a process CUPTI stays in it, and makes launches dearer.

local lists = import "repl/run/lists.lua"
local statistics = import "repl/run/statistics.lua"

local passes = {}

-- ---- when parts run -------------------------------------------------------------------------

-- The pass of a part of n passes that is in a round, or none: the first one is in the first.
local function pass_in(round, rounds, n)
    local pass = 1 + (round - 1) * n // rounds
    return (round == 1 or pass > 1 + (round - 2) * n // rounds) and pass or nil
end

-- By place how many passes a part has, n or its own number, or false; and the most.
local function counts_of(parts, n)
    local counts, most = {}, 0
    for i, part in ipairs(parts) do
        counts[i] = part.passes and (n or part.passes) or false
        most = math.max(most, counts[i] or 0)
    end
    return counts, most
end

-- Steps {part =, i =, pass =, of =} in order, i the part's place in the list, `of` how many passes
-- it has: n, or each its own number. All parts of a kind come once before any comes again, so that
-- those of too little time are the later passes.
function passes.steps(parts, n)
    local counts, most = counts_of(parts, n)
    local rounds, steps = math.max(1, most), {}
    for at = 1, 2 * rounds do           -- first those that are unrecorded, in as many rounds
        local round, unrecorded = (at - 1) % rounds + 1, at <= rounds
        for i, part in ipairs(parts) do
            local of = counts[i] or 1
            local pass = counts[i] and pass_in(round, rounds, of) or round == 1 and 1
            if pass and unrecorded == (part.unrecorded or false) then
                steps[#steps + 1] = { part = part, i = i, pass = pass, of = of }
            end
        end
    end
    return steps
end

-- ---- what they say together -----------------------------------------------------------------

-- The types of the values in it; only results of the same types can be combined.
local function shape(value)
    if type(value) ~= "table" then
        return type(value)
    end
    return "{" .. lists.join(value, shape, " ") .. "}"
end

-- The most frequent one of what key(item) gives, of several such the first.
local function majority(list, key)
    local count, best = {}, nil
    for _, item in ipairs(list) do
        local name = key(item)
        count[name] = (count[name] or 0) + 1
    end
    for _, item in ipairs(list) do
        local name = key(item)
        if best == nil or count[name] > count[best] then
            best = name
        end
    end
    return best
end

-- Gives the middle number. Where all are whole it is one of them: the mean of two is no count.
local function middle_number(list)
    local sorted, whole = table.move(list, 1, #list, 1, {}), true
    for _, value in ipairs(list) do
        whole = whole and math.type(value) == "integer"
    end
    table.sort(sorted)
    return whole and sorted[(#sorted + 1) // 2] or statistics.median(list)
end

local function same(value) return value end

local combine

-- What `combine` gives of each of several lists, and the largest spread.
local function combine_each(several)
    local values, most = {}, 0
    for i, list in ipairs(several) do
        local spread
        values[i], spread = combine(list)
        most = math.max(most, spread)
    end
    return values, most
end

-- Of values of one shape: the one in the middle and the largest spread in it.
function combine(list)
    if type(list[1]) == "number" then
        return middle_number(list), statistics.spread(list)
    elseif type(list[1]) ~= "table" then
        return majority(list, same), 0
    end
    return combine_each(lists.map(list[1], function(_, i)
        return lists.map(list, function(item) return item[i] end)
    end))
end

-- A point of a table is all numbers of its row but the last.
local function point_of(rows) return table.move(rows[1], 1, #rows[1] - 1, 1, {}) end

-- Each point by the tables that have it: large ones may not be in all.
local function combine_rows(tables)
    local all = {}
    for _, rows in ipairs(tables) do
        lists.append(all, rows)
    end
    local points = lists.group(all, function(row) return table.concat(row, " ", 1, #row - 1) end)
    return combine_each(lists.sorted(points, point_of))
end

-- Tables are combined point by point, strings and booleans by majority. The value and the spread.
function passes.combine(samples)
    local first = samples[1]
    if type(first) == "boolean" then
        return majority(samples, tostring) == "true", 0
    elseif type(first) == "table" and type(first[1]) == "table" then
        return combine_rows(samples)
    end
    local wanted = majority(samples, shape)
    return combine(lists.select(samples, function(value) return shape(value) == wanted end))
end

return passes
