-- influence.lua - how strongly a makespan follows each row of a profile's spread over the draws.
--
-- Makespans are nearly linear in the factors of the rows: least squares tell what each row
-- contributes, though in few draws the factors of two rows are high together by chance. A row's
-- influence is {name =, effect_us =}: how much longer the makespan is with the row's high factor
-- than with its low one.

local lists = import "repl/run/lists.lua"

local draws = internals.need("draws")

local influence = {}

local most_named <const> = 3
local least_share <const> = 0.002       -- of the makespan: less is not named

-- A list less its mean.
local function centred(values)
    local sum = 0
    for _, value in ipairs(values) do
        sum = sum + value
    end
    return lists.map(values, function(value) return value - sum / #values end)
end

local function product(a, b)
    local sum = 0
    for i = 1, #a do
        sum = sum + a[i] * b[i]
    end
    return sum
end

-- The coefficients c with which the sum of c[i] columns[i] is nearest to y: of the normal
-- equations by Gauss and Jordan. A column that others explain gets 0.
local function least_squares(columns, y)
    local n, m, rows = #columns, {}, {}
    for i = 1, n do
        m[i] = lists.map(columns, function(column) return product(columns[i], column) end)
        m[i][n + 1] = product(columns[i], y)
    end
    for i = 1, n do
        local size = product(columns[i], columns[i])
        if m[i][i] > 1e-9 * size then
            rows[i] = true
            for j = 1, n do
                local times = j ~= i and m[j][i] / m[i][i] or 0
                for k = 1, times ~= 0 and n + 1 or 0 do
                    m[j][k] = m[j][k] - times * m[i][k]
                end
            end
        end
    end
    return lists.map(columns, function(_, i) return rows[i] and m[i][n + 1] / m[i][i] or 0 end)
end

-- Of all rows (by name), the strongest first; makespans of the first of n draws. What a row does
-- that is drawn with another counts as that one's.
function influence.of(rows, makespans, n)
    local columns, list = {}, {}
    for _, row in pairs(rows) do
        list[#list + 1] = not rows[row.with or false] and row or nil
    end
    table.sort(list, function(a, b) return a.name < b.name end)
    for i, row in ipairs(list) do
        local factors = {}
        for k = 1, #makespans do
            factors[k] = draws.factor(row, k, n)
        end
        columns[i] = centred(factors)
    end
    local coefficients = least_squares(columns, centred(makespans))
    list = lists.map(list, function(row, i)
        return { name = row.name, effect_us = coefficients[i] * (row.high - row.low) }
    end)
    return lists.sorted(list, function(row) return { -math.abs(row.effect_us), row.name } end)
end

-- "what calls cost (37.0 us)"
local function row_text(row)
    return ("%s (%s)"):format(internals.safe(row.name),
        internals.duration(math.abs(row.effect_us) * 1000))
end

-- A sentence for people; `n`: how many draws there were.
function influence.sentence(list, makespan_us, n)
    if #list == 0 then
        return "the profile says nothing about the uncertainty of its figures"
    elseif n < #list + 2 then
        return ("%d draws are too few to tell on which of %d figures it depends"):format(n, #list)
    end
    local large = lists.select(list, function(row)
        return math.abs(row.effect_us) >= least_share * makespan_us
    end)
    if #large == 0 then
        return "no uncertain figure of the profile matters"
    end
    return "it depends most on " .. lists.join(table.move(large, 1, most_named, 1, {}), row_text)
end

return influence
