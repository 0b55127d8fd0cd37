-- agreement.lua - how well causes are inferred: a simulated timeline is explained with
-- what the simulator tells, and from its records alone.
--
-- Each engine's idle time is taken apart by both. Two explanations agree at a moment when
-- they name the same cause; what is compared is time.

local M = {}

-- By engine a list of {cause =, from =, to =}, in order of time.
local function idle_stretches(tl, inferred)
    local rows = {}
    for _, finding in ipairs(tl:causes{ waits = true, inferred = inferred }) do
        local row = finding.idle and (rows[finding.engine] or {})
        if row then rows[finding.engine] = row end
        for _, wait in ipairs(row and finding.waits or {}) do
            row[#row + 1] = { cause = finding.cause, from = wait.from_us, to = wait.to_us }
        end
    end
    for _, row in pairs(rows) do
        table.sort(row, function(a, b) return a.from < b.from end)
    end
    return rows
end

local function compare(told, inferred, count)
    local i, j = 1, 1
    while told[i] and inferred[j] do
        local a, b = told[i], inferred[j]
        local us = math.min(a.to, b.to) - math.max(a.from, b.from)
        if us > 0 then
            count.total = count.total + us
            local key = a.cause .. " taken for " .. b.cause
            if a.cause == b.cause then
                count.same = count.same + us
            else
                count.wrong[key] = (count.wrong[key] or 0) + us
            end
        end
        if a.to < b.to then i = i + 1 else j = j + 1 end
    end
end

-- `count` has total and same in us, and wrong by pair of causes.
function M.new() return { total = 0, same = 0, wrong = {} } end

function M.add(count, tl)
    local told, inferred = idle_stretches(tl, false), idle_stretches(tl, true)
    for engine, row in pairs(told) do compare(row, inferred[engine] or {}, count) end
end

-- In percent; with nothing to agree on, all of it.
function M.percent(count)
    return count.total > 0 and 100 * count.same / count.total or 100
end

-- The most frequent disagreements, a line each.
function M.worst(count, n)
    local keys, lines = {}, {}
    for key in pairs(count.wrong) do keys[#keys + 1] = key end
    table.sort(keys, function(a, b)
        if count.wrong[a] ~= count.wrong[b] then return count.wrong[a] > count.wrong[b] end
        return a < b
    end)
    for i = 1, math.min(n, #keys) do
        lines[i] = ("%10.1f us %s"):format(count.wrong[keys[i]], keys[i])
    end
    return lines
end

return M
