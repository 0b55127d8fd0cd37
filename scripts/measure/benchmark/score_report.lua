-- score_report.lua - the scores of predictions as tables for people, or as one JSON object a row.
--
-- A result: file, source (what predicts, in words), list (the measurements that are scored),
-- guesses and others (lists of guesses, scores.lua), programs, missing (programs without a
-- prediction), unused.

local benchmark_files = import "scripts/measure/benchmark/benchmark_files.lua"
local command = import "repl/run/command.lua"
local figures = import "repl/compare/figures.lua"
local json = import "repl/run/json.lua"
local lists = import "repl/run/lists.lua"
local scores = import "scripts/measure/benchmark/scores.lua"

local json_text = json.string

local score_report = {}

local most_named <const> = 10

local function measured_of(item)
    return item.measured or item
end

-- The rows that each table has: {name, programs, items}. Items are guesses or measurements.
local function by_memory(items)
    local function of(pageable)
        return lists.select(items, function(item)
            return measured_of(item).pageable == pageable
        end)
    end
    return { { "pinned memory only", "pinned", of(false) },
             { "with pageable copies", "pageable", of(true) }, { "all", "all", items } }
end

-- What results are grouped by, beside memory: the name of the table and of the field, and
-- key(measurement).
local groupings <const> = {
    { name = "family", key = function(m) return m.family end },
    { name = "occasion", key = benchmark_files.occasion },
}

-- Calls add(key, name, programs, items) for each group and each of its rows.
local function each_group(guesses, grouping, add)
    local groups = lists.group(guesses, function(guess) return grouping.key(guess.measured) end)
    table.sort(groups, function(a, b) return a.key < b.key end)
    for _, group in ipairs(groups) do
        for _, row in ipairs(by_memory(group)) do
            add(group.key, row[1], row[2], row[3])
        end
    end
end

local function worst_first(guesses)
    return lists.sorted(guesses, function(guess)
        local m = guess.measured
        return { -figures.error_of(guess.record), m.seed, m.family,
                 benchmark_files.occasion(m) }
    end)
end

-- ---- for people ------------------------------------------------------------------------------

local share_form <const> = "%-36s %7s %9s %9s %9s"

local function share_head(title)
    return "\n" .. share_form:format(title, "number", "median", "p90", "worst")
end

local function share_row(name, s)
    return share_form:format(name, s.number, figures.percent(s.median), figures.percent(s.p90),
        figures.percent(s.worst))
end

local function error_head(title)
    return share_head(title) .. "   ratio"
end

local function error_row(name, s)
    return ("%s %7.3f"):format(share_row(name, s), s.ratio)
end

local function add_errors(out, title, guesses)
    if #guesses == 0 then
        return
    end
    out[#out + 1] = error_head(title)
    for _, row in ipairs(by_memory(guesses)) do
        local s = scores.errors(row[3])
        out[#out + 1] = s and error_row("  " .. row[1], s)
    end
end

local function add_groups(out, guesses, grouping)
    out[#out + 1] = error_head("error by " .. grouping.name)
    local shown
    each_group(guesses, grouping, function(key, name, _, items)
        local s = scores.errors(items)
        if s and key ~= shown then
            shown = key
            out[#out + 1] = "  " .. command.clean(key)
        end
        out[#out + 1] = s and error_row("    " .. name, s)
    end)
end

local range_form <const> = "%-36s %7s %19s %9s"

local function add_ranges(out, title, guesses)
    if not scores.ranges(guesses) then
        return
    end
    out[#out + 1] = "\n" .. range_form:format(title, "number", "measured inside", "width")
    for _, row in ipairs(by_memory(guesses)) do
        local s = scores.ranges(row[3])
        out[#out + 1] = s and range_form:format("  " .. row[1], s.number, ("%d (%s)"):format(
            s.inside, figures.percent(s.inside / s.number)), figures.percent(s.width))
    end
end

local function add_spreads(out, measurements)
    out[#out + 1] = share_head "spread of the GPU's own runs"
    for _, row in ipairs(by_memory(measurements)) do
        local s = scores.spreads(row[3])
        out[#out + 1] = s and share_row("  " .. row[1], s)
    end
end

local function add_worst(out, guesses)
    out[#out + 1] = ("\n%9s %10s %10s  furthest off"):format("ratio", "predicted", "measured")
    for i, guess in ipairs(worst_first(guesses)) do
        local m, us = guess.measured, guess.record.sim_us
        if i <= most_named then
            out[#out + 1] = ("%9.3f %10s %10s  %s%s, %s"):format(us / m.us,
                figures.time(us), figures.time(m.us), benchmark_files.program(m),
                m.pageable and " with pageable copies" or "",
                command.clean(benchmark_files.occasion(m)))
        end
    end
end

-- "mixed 1, mixed 2 and 17 more"
local function some_of(names)
    local shown = table.concat(table.move(names, 1, math.min(#names, most_named), 1, {}), ", ")
    return #names <= most_named and shown or ("%s and %d more"):format(shown, #names - most_named)
end

local function heads(result)
    local out = { ("%d programs, %d measurements of %s"):format(result.programs, #result.list,
        command.clean(result.file)), "predicted by " .. command.clean(result.source) }
    if #result.missing > 0 then
        out[#out + 1] = ("without a prediction: %d programs, %s"):format(#result.missing,
            some_of(result.missing))
    end
    if result.unused > 0 then
        out[#out + 1] = ("predictions of other programs, which are not used: %d"):format(
            result.unused)
    end
    return out
end

function score_report.text(result)
    local out = heads(result)
    if #result.guesses > 0 then
        add_errors(out, "error", result.guesses)
        add_ranges(out, "stated range", result.guesses)
        for _, grouping in ipairs(groupings) do
            add_groups(out, result.guesses, grouping)
        end
    end
    add_spreads(out, result.list)
    if #result.others > 0 then
        add_errors(out, "error of another occasion's time", result.others)
        add_ranges(out, "another occasion's runs as a range", result.others)
    else
        out[#out + 1] = "\nno program was measured on two occasions"
    end
    if #result.guesses > 0 then
        add_worst(out, result.guesses)
    end
    return table.concat(out, "\n") .. "\n"
end

-- ---- as JSON ---------------------------------------------------------------------------------

-- Numbers that a score may have, in this order.
local numbers <const> = { "number", "median", "p90", "worst", "ratio", "inside", "width" }

-- `of`: the group of the row, {family =} or {occasion =}.
local function json_row(table_name, programs, of, s)
    local fields = { ('"table": "%s"'):format(table_name), ('"programs": "%s"'):format(programs) }
    for _, grouping in ipairs(groupings) do
        local key = of[grouping.name]
        fields[#fields + 1] = ('"%s": %s'):format(grouping.name, key and json_text(key) or "null")
    end
    for _, name in ipairs(numbers) do
        local value = s[name]
        fields[#fields + 1] = value and ('"%s": %s'):format(name,
            math.type(value) == "integer" and tostring(value) or ("%.6f"):format(value))
    end
    return "{" .. table.concat(fields, ", ") .. "}\n"
end

-- One object for each row of the tables, after one that counts.
function score_report.json(result)
    local out = { ('{"table": "counts", "programs": %d, "measurements": %d, "missing": [%s], '
        .. '"unused": %d}\n'):format(result.programs, #result.list,
        lists.join(result.missing, json_text, ", "), result.unused) }
    local function add(table_name, items, score)
        for _, row in ipairs(by_memory(items)) do
            local s = score(row[3])
            out[#out + 1] = s and json_row(table_name, row[2], {}, s)
        end
    end
    add("error", result.guesses, scores.errors)
    add("range", result.guesses, scores.ranges)
    for _, grouping in ipairs(groupings) do
        each_group(result.guesses, grouping, function(key, _, programs, items)
            local s = scores.errors(items)
            out[#out + 1] = s and json_row("error", programs, { [grouping.name] = key }, s)
        end)
    end
    add("spread", result.list, scores.spreads)
    add("other occasion", result.others, scores.errors)
    add("other occasion's range", result.others, scores.ranges)
    return table.concat(out)
end

return score_report
