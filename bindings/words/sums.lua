-- sums.lua - what a timeline that keeps only a summary knows, as a table of plain text.

local _, core = ...
local duration, percent = core.duration, core.words.units.percent

local listed <const> = 20                            -- names

local engines <const> = { "compute", "comm", "h2d", "d2h", "p2p", "copy", "host" }

-- "12.3 %", or "-" where there is nothing to compare with.
local function share(part, whole)
    return whole > 0 and percent(part, whole) or "-"
end

local function ns(us) return math.floor(us * 1000 + 0.5) end

local function put_busy(put, tl, title, list)
    put("")
    put("%-26s %10s %13s %13s", title, "busy", "of makespan", "spans")
    for _, entry in ipairs(list) do
        put("%-26s %10s %13s %13d", entry.name:sub(1, 26), duration(ns(entry.busy_us)),
            share(ns(entry.busy_us), ns(tl.makespan_us)), entry.count)
    end
end

local function busy_engines(tl)
    local list = {}
    for _, name in ipairs(engines) do
        local count = core.count_spans(tl, { engine = name })
        if count > 0 then
            list[#list + 1] = { name = name, count = count, busy_us = tl:busy_us{ engine = name } }
        end
    end
    return list
end

local function put_overlaps(put, tl, list)
    for i, a in ipairs(list) do
        for j = i + 1, #list do
            local b = list[j]
            local both_us = tl:overlap_us({ engine = a.name }, { engine = b.name })
            if i == 1 and j == 2 then
                put("")
                put("%-26s %10s %13s", "overlap", "time", "of shorter")
            end
            put("%-26s %10s %13s", a.name .. " + " .. b.name, duration(ns(both_us)),
                share(ns(both_us), ns(math.min(a.busy_us, b.busy_us))))
        end
    end
end

local function put_names(put, list)
    put("")
    put("%-40s %10s %13s", "operation", "sum", "spans")
    for i = 1, math.min(#list, listed) do
        put("%-40s %10s %13d", list[i].name:sub(1, 40), duration(ns(list[i].sum_us)), list[i].count)
    end
    if #list > listed then put("and %d more: tl:totals()", #list - listed) end
end

return function(tl, columns)
    local lines = {}
    local function put(form, ...) lines[#lines + 1] = form:format(...) end
    put("%-26s %10s", "makespan", duration(ns(tl.makespan_us)))
    put("%-26s %10s", "host wall time", duration(ns(tl.wall_us)))
    if tl.span_count == 0 then
        put("Nothing ran on the device.")
    else
        local busy = busy_engines(tl)
        put_busy(put, tl, "engine", busy)
        put_overlaps(put, tl, busy)
        put_busy(put, tl, "stream", tl:totals("streams"))
        put_names(put, tl:totals("names"))
    end
    return core.words.narrow(table.concat(lines, "\n") .. "\n", columns)
end
