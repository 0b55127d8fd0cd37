-- rank_shares.lua - operations of several ranks by kernel, step, ...: a column for each rank, and
-- how far they are apart.
--
-- Shares come as {key =, ranks = the ranks' numbers, {rows of timeline:by}, ...}: a list of rows
-- for each rank.

local _, core = ...
local duration = core.duration

local shares = {}

local least_name <const> = 18
local name_of_extremes <const> = "%7s %7s %7s %5s %7s"

-- Steps have a time of their own; all else that of its operations.
local function time_of(row) return row.wall_us or row.time_us end

-- One row for what the ranks call the same: {name =, full_name =, times = and counts = by place, of
-- ranks that have it; fastest and slowest = places, mean_us = of all ranks}.
local function add(rows, by_name, place, row)
    local name = row.full_name or row.name
    local found = by_name[name]
    if not found then
        found = { name = row.name, full_name = row.full_name, times = {}, counts = {} }
        by_name[name], rows[#rows + 1] = found, found
    end
    found.times[place] = (found.times[place] or 0) + time_of(row)
    found.counts[place] = (found.counts[place] or 0) + row.count
end

local function settle(row, n)
    local sum = 0
    for place = 1, n do
        local time = row.times[place]
        if time then
            sum = sum + time
            if not row.slowest or time > row.times[row.slowest] then row.slowest = place end
            if not row.fastest or time < row.times[row.fastest] then row.fastest = place end
        end
    end
    local fastest = row.times[row.fastest]
    row.mean_us = sum / n
    row.spread = fastest > 0 and row.times[row.slowest] / fastest or nil
end

-- Steps in their order, all else with the longest first.
local function compare(of)
    local rows, by_name = {}, {}
    for place in ipairs(of.ranks) do
        for _, row in ipairs(of[place]) do
            if of.key ~= "step" or row.wall_us then add(rows, by_name, place, row) end
        end
    end
    for i, row in ipairs(rows) do
        row.order = i
        settle(row, #of.ranks)
    end
    if of.key ~= "step" then
        table.sort(rows, function(a, b)
            if a.mean_us ~= b.mean_us then return a.mean_us > b.mean_us end
            return a.order < b.order
        end)
    end
    return rows
end

-- ---- for scripts ---------------------------------------------------------------------------

-- {name =, full_name =, times_us = and counts = by rank's number, spread =, slowest =, fastest =}
function shares.list(of)
    local list = {}
    for i, row in ipairs(compare(of)) do
        local times, counts = {}, {}
        for place, rank in ipairs(of.ranks) do
            times[rank], counts[rank] = row.times[place], row.counts[place]
        end
        list[i] = { name = row.name, full_name = row.full_name, times_us = times, counts = counts,
                    spread = row.spread, slowest = of.ranks[row.slowest],
                    fastest = of.ranks[row.fastest] }
    end
    return list
end

-- ---- for people ----------------------------------------------------------------------------

local function time(us) return us and duration(math.floor(us * 1000 + 0.5)) or "-" end
local function ratio(value) return value and ("%.2f"):format(value) or "-" end

-- A column for each rank.
local function all_columns(of)
    local head = {}
    for i, rank in ipairs(of.ranks) do head[i] = ("%8s"):format("rank " .. rank) end
    return table.concat(head, " ") .. "  spread", function(row)
        local cells = {}
        for place in ipairs(of.ranks) do cells[place] = ("%8s"):format(time(row.times[place])) end
        return table.concat(cells, " ") .. ("  %6s"):format(ratio(row.spread))
    end
end

-- Of many ranks the two that are furthest apart.
local function extremes(of)
    return name_of_extremes:format("fastest", "mean", "slowest", "rank", "spread"), function(row)
        return name_of_extremes:format(time(row.times[row.fastest]), time(row.mean_us),
            time(row.times[row.slowest]), of.ranks[row.slowest], ratio(row.spread))
    end
end

function shares.text(of, columns)
    local rows, lines = compare(of), {}
    local head, line_of = all_columns(of)
    if #rows == 0 then return "There is nothing of it on any rank.\n" end
    if columns - #head - 2 < least_name then head, line_of = extremes(of) end
    local room = columns - #head - 2
    local is_narrow = room < least_name
    lines[1] = head .. (is_narrow and "" or "  by " .. of.key)
    for _, row in ipairs(rows) do
        local name = core.clip(row.name, is_narrow and columns or room)
        lines[#lines + 1] = is_narrow and name .. "\n" .. line_of(row) or line_of(row) .. "  "
            .. name
    end
    lines[#lines + 1] = core.fold(of.key == "step"
        and "how long each step took; spread: the slowest rank's by the fastest one's"
        or "added durations; spread: the slowest rank's by the fastest one's", 0, columns)
    return table.concat(lines, "\n")
end

-- ---- for programs --------------------------------------------------------------------------

local function list_json(values, n, form)
    local texts = {}
    for place = 1, n do texts[place] = values[place] and form(values[place]) or "null" end
    return "[" .. table.concat(texts, ", ") .. "]"
end

local function us_json(us) return core.json_milli(math.floor(us * 1000 + 0.5)) end
local function count_json(value) return ("%d"):format(value) end

function shares.json(of)
    local n, texts = #of.ranks, {}
    for i, row in ipairs(compare(of)) do
        texts[i] = ('    {"name": %s, %s"time_us": %s, "count": %s, "spread": %s, "slowest": %d}')
            :format(core.json_string(row.name),
                row.full_name and ('"full_name": %s, '):format(core.json_string(row.full_name))
                    or "",
                list_json(row.times, n, us_json), list_json(row.counts, n, count_json),
                row.spread and ("%.6g"):format(row.spread) or "null", of.ranks[row.slowest])
    end
    return ('{\n  "by": %s,\n  "ranks": %s,\n  "rows": [%s]\n}\n'):format(core.json_string(of.key),
        list_json(of.ranks, n, count_json),
        #texts > 0 and "\n" .. table.concat(texts, ",\n") .. "\n  " or "")
end

return shares
