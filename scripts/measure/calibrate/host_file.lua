-- host_file.lua - the file that `streamlab calibrate --host` writes: a base's host part, scaled,
-- with the days on which it was measured.
--
-- Each measurement counts as a day, and days are kept as factors of the base's figures. The factor
-- of a group is the median of the days' medians. What is printed as its range goes from the lowest
-- `low` to the highest `high` of fewer than five days; from five on, it is the 10th and the 90th
-- percentile of all days' low, median and high, and becomes the profile's spread. A few seconds do
-- not show how much days differ, so that of the base holds before.

local fit = import "scripts/measure/calibrate/fit.lua"
local flat = import "scripts/measure/calibrate/flat.lua"
local lists = import "repl/run/lists.lua"
local report = import "scripts/measure/calibrate/report.lua"
local statistics = import "repl/run/statistics.lua"

local host_file = {}

local many_days <const> = 5
local digits <const> = "%.4g"

-- ---- days -----------------------------------------------------------------------------------

-- The factors {low, median, high} of all days that have the group; nil if none has.
local function combined(days, id)
    local lows, medians, highs, all = {}, {}, {}, {}
    for _, day in ipairs(days) do
        local range = day[id]
        if range then
            lows[#lows + 1], medians[#medians + 1] = range.low, range.median
            highs[#highs + 1] = range.high
            lists.append(all, { range.low, range.median, range.high })
        end
    end
    if not medians[1] then
        return nil
    end
    local median = statistics.median(medians)
    if #medians < many_days then
        return { low = math.min(table.unpack(lows)), median = median,
                 high = math.max(table.unpack(highs)) }
    end
    local low, high = statistics.tenths(all)
    return { low = math.min(median, low), median = median, high = math.max(median, high) }
end

-- By group's id the factors {low, median, high} of all days.
function host_file.ranges(days)
    local ranges = {}
    for _, group in ipairs(fit.groups) do
        ranges[group.id] = combined(days, group.id)
    end
    return ranges
end

-- A day of what fit.run has found.
function host_file.day(found, date)
    local day = { date = date, rounds = found.rounds }
    for id, range in pairs(found.ranges) do
        day[id] = range
    end
    return day
end

-- ---- the file -------------------------------------------------------------------------------

-- A table of names in one line, in their order.
local function record_text(record, names)
    local list = {}
    for _, name in ipairs(names) do
        local value = record[name]
        if value ~= nil then
            list[#list + 1] = ("%s = %s"):format(report.key_text(name), type(value) == "table"
                and record_text(value, { "low", "median", "high" })
                or math.type(value) == "float" and digits:format(value)
                or report.value_text(value))
        end
    end
    return "{ " .. table.concat(list, ", ") .. " }"
end

local function add_days(out, days)
    local names = { "date", "rounds" }
    lists.append(names, lists.map(fit.groups, function(group) return group.id end))
    out[#out + 1] = "    days = {"
    for _, day in ipairs(days) do
        report.add_wrapped(out, "        ", record_text(day, names) .. ",")
    end
    out[#out + 1] = "    },"
end

-- The scaled figures, tables in tables.
local function nested(figures)
    local whole = {}
    for _, key in ipairs(flat.names(figures)) do
        local outer, rest = key:match("^([^.]+)%.(.*)$")
        if not outer then
            whole[key] = figures[key]
        else
            whole[outer] = whole[outer] or {}
            local call = outer == "calls" and rest:match("^(.*)%.us$")
            whole[outer][call or rest] = call and { us = figures[key] } or figures[key]
        end
    end
    return whole
end

local function value_text(value)
    if type(value) ~= "table" or #value > 0 then
        return report.value_text(value, true)
    end
    return lists.in_braces(flat.names(value), function(name)
        return report.key_text(name) .. " = " .. value_text(value[name])
    end)
end

local function add_figures(out, figures)
    local whole = nested(figures)
    for _, key in ipairs(flat.names(whole)) do
        local value = whole[key]
        if #value > 0 then
            report.add_wrapped(out, "    ", ("%s = %s,"):format(key, value_text(value)))
        else
            out[#out + 1] = ("    %s = {"):format(key)
            for _, name in ipairs(flat.names(value)) do
                out[#out + 1] = ("        %s = %s,"):format(report.key_text(name),
                                                            value_text(value[name]))
            end
            out[#out + 1] = "    },"
        end
    end
end

-- The file's text. `base` is a profile's table, called base_name; `machine` says where the last day
-- was measured, and `details` what was found in its programs.
function host_file.text(base, base_name, days, machine, details)
    local figures, ranges = flat.of(base), host_file.ranges(days)
    local factors = {}
    for id, range in pairs(ranges) do
        factors[id] = range.median
    end
    local out = {}
    report.add_comment(out, "", ("The host's part of a profile, measured by streamlab calibrate "
        .. "--host: %s."):format(machine))
    report.add_comment(out, "", "A day's factors are those of the base's figures with which the "
        .. "simulated host takes as long in the same programs. The figures here are the base's "
        .. "times the median of the days' medians; docs/design/calibration.md says more.")
    out[#out + 1] = "return {"
    out[#out + 1] = ("    base = %q,"):format(base_name)
    report.add_string(out, "note", ("streamlab calibrate --host, %s, %s"):format(
        days[#days].date, machine))
    add_days(out, days)
    if #days >= many_days then
        report.add_spread(out, fit.spread_rows(figures, ranges))
    end
    add_figures(out, fit.scaled(figures, factors))
    out[#out + 1] = "}"
    report.add_findings(out, lists.map(details, function(text)
        return { key = "the last day", text = text }
    end))
    return table.concat(out, "\n") .. "\n"
end

-- ---- for people -----------------------------------------------------------------------------

-- How the host compares with the base's.
function host_file.summary(ranges, base_name)
    local lines = {}
    for _, group in ipairs(fit.groups) do
        local range = ranges[group.id]
        if range then
            lines[#lines + 1] = ("%-26s %5.2f x %s  (%.2f to %.2f)%s"):format(group.name,
                range.median, base_name, range.low, range.high,
                group.is_rate and "  GB/s" or "  us")
        end
    end
    return table.concat(lines, "\n") .. "\n"
end

return host_file
