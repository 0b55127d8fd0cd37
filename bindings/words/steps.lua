-- steps.lua - the steps of a program as a table, and a sentence on the slowest of them.
--
-- Rows are those of breakdown.lua, with wall =, how long the step took, and ran =, how much of that
-- the GPU worked, in ns; neither is there for work of no step. `slowest` is the longest one and
-- what took longer in it than in the median one.

local _, core = ...
local duration, percent = core.duration, core.words.units.percent

local steps = {}

local values <const> = 47               -- columns of a line but for its name
local least_name <const> = 18
local shown <const> = 3                 -- changes in the sentence
local name_columns <const> = 48

-- steps.are_known(rows): whether the timeline has steps
function steps.are_known(rows)
    for _, row in ipairs(rows) do
        if row.wall then return true end
    end
    return false
end

local function put_values(row)
    if not row.wall then
        return ("%7s %7s %7s %7s %7d %7s"):format("", "", "", "", row.count, duration(row.sum))
    end
    local idle = row.wall - row.ran
    return ("%7s %7s %7s %7s %7d %7s"):format(duration(row.wall), duration(row.ran), duration(idle),
        percent(idle, row.wall), row.count, duration(row.sum))
end

-- ---- the slowest ---------------------------------------------------------------------------

local function times(n)
    return n == 1 and "once" or n == 2 and "twice" or ("%d times"):format(n)
end

-- " (3 times)", " (12 times instead of once)", " (12 times instead of 10)"
local function how_often(c)
    if c.n_is == 0 then return "" end
    local was = c.n_is > 2 and c.n_was > 2 and c.n_was or times(c.n_was)
    local instead = c.n_was ~= c.n_is and c.n_was > 0 and " instead of " .. was or ""
    return (" (%s%s)"):format(times(c.n_is), instead)
end

local about <const> = {
    call = "in %s", wait = "waiting in %s", range = "in %s", host = "outside all ranges and calls",
}

local function where(c) return about[c.part]:format(core.clip(c.name, name_columns)) end

-- What took longer on the host, or on the GPU, by a tenth of the whole at least.
local function largest(slowest, is_gpu)
    local list, least = {}, (slowest.wall - slowest.median) / 10
    for _, c in ipairs(slowest.changes) do
        if (c.part == "gpu") == is_gpu and c.is - c.was >= least and #list < shown then
            list[#list + 1] = c
        end
    end
    return list
end

local function of_host(slowest)
    local list = {}
    for i, c in ipairs(largest(slowest, false)) do
        list[i] = ("%s%s %s%s"):format(duration(c.is - c.was),
            i == 1 and " of it the host was" or "", where(c), how_often(c))
    end
    return #list > 0 and ": " .. table.concat(list, ", ") or ""
end

local function of_gpu(slowest)
    local list = {}
    for i, c in ipairs(largest(slowest, true)) do
        list[i] = ("%s%s %s%s"):format(core.clip(c.name, name_columns), i == 1 and " took" or "",
            duration(c.is - c.was) .. (i == 1 and " longer" or ""), how_often(c))
    end
    return #list > 0 and (" On the GPU %s."):format(table.concat(list, ", ")) or ""
end

-- steps.sentence(slowest): "ProfilerStep#7 took 12.3 ms, 4.1 ms more than the median: ..."
function steps.sentence(slowest)
    local more, name = slowest.wall - slowest.median, core.clip(slowest.name, name_columns)
    if more * 20 < slowest.wall then
        return ("The steps take about the same time: %s in the median, %s at most (%s).")
            :format(duration(slowest.median), duration(slowest.wall), name)
    end
    return ("%s took %s, %s more than the median (%s)%s.%s"):format(name,
        duration(slowest.wall), duration(more), core.clip(slowest.median_name, name_columns),
        of_host(slowest), of_gpu(slowest))
end

-- ---- the whole -----------------------------------------------------------------------------

-- A line a step, or two where the terminal is narrow.
function steps.text(rows, columns, names)
    local lines, room = {}, columns - values
    local is_narrow = room < least_name
    local function put(text) lines[#lines + 1] = text end
    put(("%7s %7s %7s %7s %7s %7s%s"):format("took", "busy", "idle", "idle %", "count", "work",
        is_narrow and "" or "  by step"))
    for i, row in ipairs(rows) do
        local values_of_row = put_values(row)
        put(is_narrow and names[i] .. "\n" .. values_of_row or values_of_row .. "  " .. names[i])
    end
    put(core.fold("busy, idle: the GPU during the step; count, work: what was launched in it", 0,
        columns):sub(1, -2))
    if rows.slowest then put(core.fold(steps.sentence(rows.slowest), 0, columns):sub(1, -2)) end
    return table.concat(lines, "\n") .. "\n"
end

-- ---- for scripts and programs --------------------------------------------------------------

-- steps.list(slowest): as scripts get it
function steps.list(slowest)
    local changes = {}
    for i, c in ipairs(slowest.changes) do
        changes[i] = { part = c.part, name = c.name, time_us = c.is / 1000,
                       median_us = c.was / 1000, count = c.n_is, median_count = c.n_was }
    end
    return { name = slowest.name, wall_us = slowest.wall / 1000,
             median_name = slowest.median_name, median_us = slowest.median / 1000,
             sentence = steps.sentence(slowest), changes = changes }
end

-- steps.json(slowest): the same
function steps.json(slowest)
    local string, us = core.json_string, core.json_milli
    local changes = {}
    for i, c in ipairs(slowest.changes) do
        changes[i] = ('\n      {"part": %s, "name": %s, "time_us": %s, "median_us": %s, '
            .. '"count": %d, "median_count": %d}'):format(string(c.part), string(c.name),
            us(c.is), us(c.was), c.n_is, c.n_was)
    end
    return ('{"name": %s, "wall_us": %s, "median_name": %s, "median_us": %s,\n'
        .. '    "sentence": %s,\n    "changes": [%s]}'):format(string(slowest.name),
        us(slowest.wall), string(slowest.median_name), us(slowest.median),
        string(steps.sentence(slowest)),
        table.concat(changes, ",") .. (#changes > 0 and "\n    " or ""))
end

return steps
