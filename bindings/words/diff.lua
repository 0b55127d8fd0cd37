-- diff.lua - two timelines side by side, A and B, and in words what moved from A to B.

local _, core = ...
local ratio, units = core.ratio, core.words.units

local name_columns <const> = 20     -- of a stream in a sentence
local most_moves <const> = 6

local function time(ns) return ns == 0 and "0" or core.duration(ns) end

-- "-18.3 %"; from ten times on "x 12.3"; "new" where there was nothing.
local function change(was, is)
    local sign = is > was and "+" or is < was and "-" or ""
    local by = math.abs(is - was)
    if was == 0 then return is > 0 and "new" or "" end
    if by // 9 >= was then
        local tenths = ratio(is, was, 10)
        return tenths < 10000 and ("x %d.%d"):format(tenths // 10, tenths % 10) or "x 1000+"
    end
    return (ratio(by, was, 1000) > 0 and sign or "") .. units.percent(by, was)
end

-- ---- the table ----------------------------------------------------------------------------

local function put_head(put, title, more)
    put("%-24s %10s %10s %9s%s", title, "A", "B", "change", more or "")
end

-- `more` are further columns.
local function put_times(put, title, was, is, more)
    local by = change(was, is)
    put("%-24s %10s %10s%s", title, time(was), time(is),
        (by ~= "" or more) and (" %9s%s"):format(by, more or "") or "")
end

-- How many times as long as its bound a timeline is.
local function over_bound(f)
    local percent = f.bounds.lower > 0 and ratio(f.makespan, f.bounds.lower, 100) or 0
    return percent == 0 and "-" or ("%d.%02d"):format(percent // 100, percent % 100)
end

local function put_whole(put, a, b)
    put_head(put, "")
    put_times(put, "makespan", a.makespan, b.makespan)
    put_times(put, "lower bound", a.bounds.lower, b.bounds.lower)
    put("%-24s %10s %10s", "makespan / bound", over_bound(a), over_bound(b))
    put_times(put, "host wall time", a.wall, b.wall)
end

local function put_kinds(put, a, b)
    put("")
    put_head(put, "busy", "   spans A   spans B")
    for i, was in ipairs(a.kinds) do
        local is = b.kinds[i]
        if was.count > 0 or is.count > 0 then
            put_times(put, was.name, was.busy, is.busy, (" %9d %9d"):format(was.count, is.count))
        end
    end
end

local function put_overlaps(put, a, b)
    local any = false
    put("")
    for i, kind in ipairs(a.kinds) do
        for j = i + 1, #a.kinds do
            local was, is = kind.overlaps[j], b.kinds[i].overlaps[j]
            if was > 0 or is > 0 then
                if not any then put_head(put, "overlap") end
                put_times(put, kind.name .. " & " .. a.kinds[j].name, was, is)
                any = true
            end
        end
    end
    if not any then put("no two kinds of work overlap, neither in A nor in B") end
end

-- Of all GPUs together.
local function sum(list, field)
    local total = 0
    for _, c in ipairs(list or {}) do total = total + field(c) end
    return total
end

local function put_communication(put, a, b)
    if not (a.communication or b.communication) then return end
    local function put_sum(title, field)
        put_times(put, title, sum(a.communication, field), sum(b.communication, field))
    end
    put("")
    put_head(put, "communication")
    put_sum("covered by kernels", function(c) return c.covered_ns end)
    put_sum("not covered", function(c) return c.busy_ns - c.covered_ns end)
end

local function part_title(part)
    return part.kind and part.kind .. " running" or core.words.causes[part.cause].total
end

local function put_parts(put, a, b)
    put("")
    put_head(put, "the makespan's parts")
    for i, was in ipairs(a.parts) do
        local is = b.parts[i]
        if was.time > 0 or is.time > 0 then put_times(put, part_title(was), was.time, is.time) end
    end
end

-- ---- what moved -----------------------------------------------------------------------------

local function noun(kind, n) return n == 1 and kind.one or kind.several end

-- "stream 7", or "stream copies".
local function stream(label)
    return (label:find("^stream ") and "" or "stream ") .. core.label(label, name_columns)
end

local function idles(who, was, is)
    return ("%s now idles %s between operations (was %s)"):format(who, is, was)
end

local sentences = {}

function sentences.overlap(m, was, is, kinds)
    local a, b = kinds[m.a].several, kinds[m.b].several
    if m.is == 0 then return ("%s no longer overlap %s (was %s)"):format(b, a, was) end
    return ("%s now overlap %s for %s (%s)"):format(b, a, is,
        m.was == 0 and "not at all before" or "was " .. was)
end

function sentences.busy(m, was, is, kinds)
    local kind = kinds[m.a]
    if m.n_was == 0 or m.n_is == 0 then
        local n = m.n_was + m.n_is
        return ("%s: %d %s, %s"):format(m.n_was == 0 and "new" or "gone", n, noun(kind, n),
            m.n_was == 0 and is or was)
    elseif m.n_was == m.n_is then
        return ("%s now take %s (was %s)"):format(kind.several, is, was)
    end
    return ("%d %s now take%s %s (%d took %s)"):format(m.n_is, noun(kind, m.n_is),
        m.n_is == 1 and "s" or "", is, m.n_was, was)
end

function sentences.pause(m, was, is) return idles(("the %s engine"):format(m.engine), was, is) end

function sentences.part(m, was, is)
    return ("%s: now %s of the makespan (was %s)"):format(core.words.causes[m.cause].total,
        m.is == 0 and "nothing" or is, m.was == 0 and "nothing" or was)
end

function sentences.stream_busy(m, was, is)
    if m.n_was == 0 or m.n_is == 0 then
        return ("only in %s: %s, busy for %s"):format(m.n_was == 0 and "B" or "A", stream(m.stream),
            m.n_was == 0 and is or was)
    end
    return ("%s is now busy for %s (was %s)"):format(stream(m.stream), is, was)
end

function sentences.stream_pause(m, was, is) return idles(stream(m.stream), was, is) end

local function put_moves(put, a, b, moves, columns)
    put("")
    put("what moved")
    if a.makespan == b.makespan then
        put("  makespan %s, the same", time(b.makespan))
    else
        put("  makespan %s -> %s (%s)", time(a.makespan), time(b.makespan),
            change(a.makespan, b.makespan))
    end
    for i = 1, math.min(#moves, most_moves) do
        local m = moves[i]
        local sentence = sentences[m.what](m, time(m.was), time(m.is), a.kinds)
        put("  %s", core.fold(sentence, 4, columns):sub(1, -2))
    end
    if #moves == 0 then put("  nothing else by 1 %% of it or more") end
end

-- ---- the whole --------------------------------------------------------------------------------

-- "A  puzzler.json: NVIDIA H200 (simulated)".
local function put_name(put, letter, name, device, columns)
    local about = device.full_name .. (device.simulated and " (simulated)" or "")
    local room = columns - 5 - core.label_columns(about)
    put("%s  %s%s%s", letter, core.label(name, math.max(room, 16)), about ~= "" and ": " or "",
        core.label(about, math.max(columns - 21, 16)))
end

-- diff(a, b, moves, names, verdicts): the figures of both and what moved, as core.moves gives them;
-- names, of two timelines, may be nil; no line has more than so many columns, 80 if it is left out
return function(a, b, moves, names, verdicts, columns)
    columns = columns or 80
    local lines = {}
    local function put(form, ...) lines[#lines + 1] = form:format(...) end
    if names then
        put_name(put, "A", names[1], a.device, columns)
        put_name(put, "B", names[2], b.device, columns)
        put("")
    end
    put_whole(put, a, b)
    if a.span_count == 0 or b.span_count == 0 then
        put("")
        put("%s empty: nothing ran on the device.", a.span_count > 0 and "B is"
            or b.span_count > 0 and "A is" or "A and B are")
    else
        put_kinds(put, a, b)
        put_overlaps(put, a, b)
        put_communication(put, a, b)
        put_parts(put, a, b)
        put_moves(put, a, b, moves, columns)
        put("")
        put("what there is to gain")
        put("  A: %s", core.fold(verdicts[1], 5, columns):sub(1, -2))
        put("  B: %s", core.fold(verdicts[2], 5, columns):sub(1, -2))
    end
    lines[#lines + 1] = ""
    return core.words.narrow(table.concat(lines, "\n"), columns)
end
