-- summary.lua - the figures of a timeline as a table of plain text.
--
-- Every duration has three significant figures and a unit, so that the columns line up.

local _, core = ...
local duration, ratio, units = core.duration, core.ratio, core.words.units

local listed <const> = 4        -- so many at once have a line each

local function sum(list, from, to)
    local total = 0
    for i = from, math.min(to, #list) do total = total + list[i] end
    return total
end

-- 0 is written in the unit of `scale`, which the column's other values have.
local function time(ns, scale)
    if ns ~= 0 or scale <= 0 then return duration(ns) end
    return (scale < 1000 and "0" or "0.00") .. duration(scale):match(" .*")
end

local function row(title, ns, scale) return ("%-26s %10s"):format(title, time(ns, scale)) end

-- "12.3 %", or "-" where there is nothing to compare with.
local function share(part, whole)
    if whole <= 0 then return (" %13s"):format("-") end
    local permille = ratio(part, whole, 1000)
    return (" %9d.%d %%"):format(permille // 10, permille % 10)
end

-- ---- engines -----------------------------------------------------------------------------

local function put_engines(put, f)
    put("")
    put("%-26s %10s %13s %9s", "engine", "busy", "of makespan", "spans")
    local function put_one(title, use)
        put("%s%s %9d", row(title, use.busy, f.makespan), share(use.busy, f.makespan), use.count)
    end
    for _, engine in ipairs(f.engines) do
        if engine.count > 0 then put_one(engine.name, engine) end
        for _, kind in ipairs(#engine.kinds > 1 and engine.kinds or {}) do
            put_one("  " .. kind.name, kind)
        end
    end
    for _, device in ipairs(f.devices or {}) do
        for _, engine in ipairs(device.engines) do
            if engine.count > 0 then put_one(device.prefix .. engine.name, engine) end
        end
    end
end

-- What computation does at the same time, and what it does not.
local function put_communication(put, f)
    if not f.communication then return end
    put("")
    put("%-26s %10s %13s %9s", "communication", "time", "of makespan", "of it")
    for _, c in ipairs(f.communication) do
        local function put_part(title, part)
            local permille = ratio(part, math.max(c.busy_ns, 1), 1000)
            put("%s%s %5d.%d %%", row(c.prefix .. title, part, f.makespan), share(part, f.makespan),
                permille // 10, permille % 10)
        end
        put_part("covered by kernels", c.covered_ns)
        put_part("not covered", c.busy_ns - c.covered_ns)
    end
end

-- What a recorded program allocated, by kind of memory.
local function put_memory(put, f)
    if not f.memory then return end
    put("")
    put("%-26s %10s %13s %9s", "memory", "in calls", "peak MiB", "calls")
    for _, use in ipairs(f.memory) do
        local ns = math.tointeger((use.calls_us * 1000 + 0.5) // 1)
        put("%s %13.1f %9d", row(use.kind, ns, f.makespan),
            use.peak_bytes / (1 << 20), use.allocations + use.frees)
    end
end

-- The most that PyTorch's allocator had, where its profiler noted that.
local function put_sampled(put, f)
    for i, of in ipairs(f.sampled) do
        if i == 1 then put("") end
        put("%s%s: at most %s, at %s", of.prefix, of.title, units.bytes(of.most_bytes),
            duration(math.tointeger((of.at_us * 1000 + 0.5) // 1)))
    end
end

-- What these engines had in common, against the one that was busy for the shortest time.
local function put_overlap(put, f, engines)
    local names, set, shortest = {}, 0, math.maxinteger
    for _, engine in ipairs(engines) do
        names[#names + 1] = engine.name
        set = set | engine.bit
        shortest = math.min(shortest, engine.busy)
    end
    local common = f.engine_sets[set]
    put("%s%s", row((f.prefix or "") .. table.concat(names, " & "), common, shortest),
        share(common, shortest))
end

local function busy_engines(f)
    local busy = {}
    for i, engine in ipairs(f.engines) do
        engine.bit = 1 << i - 1
        if engine.busy > 0 then busy[#busy + 1] = engine end
    end
    return busy
end

-- Every pair of engines that were busy, and all three if there are three: of each device, where
-- there are several.
local function put_overlaps(put, f)
    local busy = busy_engines(f)
    if #busy < 2 then return end
    put("")
    if not f.many_streams then return put("no overlap: all work was in one stream") end
    put("%-26s %10s %13s", "overlap", "time", #busy == 3 and "of shortest" or "of shorter")
    for _, device in ipairs(f.devices or { f }) do
        local own = busy_engines(device)
        for i = 1, #own do
            for j = i + 1, #own do put_overlap(put, device, { own[i], own[j] }) end
        end
        if #own == 3 then put_overlap(put, device, own) end
    end
    return #busy
end

-- ---- at once -----------------------------------------------------------------------------

-- The time with from to `to` busy, and its share.
local function at_once(profile, from, to, makespan)
    local ns = sum(profile, from + 1, to + 1)
    return " " .. ("%10s"):format(time(ns, makespan)) .. share(ns, makespan)
end

-- Kernels at once, over the whole makespan: without them nothing was at once.
local function all_kernels(f)
    local profile = table.move(f.kernels_at_once, 1, #f.kernels_at_once, 1, {})
    profile[1] = (profile[1] or 0) + f.makespan - sum(profile, 1, #profile)
    return profile
end

-- How long how many engines were busy at once, and how many kernels, where more than one ever
-- was. If these are many, they have lines of their own up to `listed`, then ranges of which each
-- ends at twice the one before.
local function put_at_once(put, f, has_overlaps)
    local engines = has_overlaps and f.engines_at_once or {}
    local kernels = f.many_streams and #f.kernels_at_once > 2 and all_kernels(f) or {}
    local most = math.max(#engines, #kernels) - 1
    if most < 0 then return end
    local head <const> = " %10s %13s"
    put("")
    put("%-26s%s%s", "busy at once", #engines > 0 and head:format("engines", "of makespan") or "",
        #kernels > 0 and head:format("kernels", "of makespan") or "")
    local from = 0
    while from <= most do
        local to = (most <= 2 * listed or from <= listed) and from or 2 * (from - 1)
        to = math.min(to, most)
        local title = from == 0 and "none" or from < to and from .. " to " .. to or from
        local line = ("%-26s"):format(title)
        if from < #engines then
            line = line .. at_once(engines, from, to, f.makespan)
        elseif #engines > 0 then
            line = line .. head:format("", "")
        end
        if from < #kernels then line = line .. at_once(kernels, from, to, f.makespan) end
        put("%s", line)
        from = to + 1
    end
end

-- ---- bounds -------------------------------------------------------------------------------

-- A bound, and how many times as long the makespan is.
local function put_lower(put, title, bound, makespan)
    local line = row(title, bound, makespan)
    if bound > 0 then
        local percent = ratio(makespan, bound, 100)
        line = line .. (" %15d.%02d"):format(percent // 100, percent % 100)
    end
    put("%s", line)
end

local function put_bounds(put, f)
    local bounds, makespan = f.bounds, f.makespan
    put("")
    put("%-26s %10s", "work", "time")
    put("%s", row("one after the other", bounds.serial, makespan))
    put("%s", row(("busiest engine (%s)"):format(bounds.busiest_title), bounds.busiest, makespan))
    put("%s", row("critical path", bounds.critical_path, makespan))
    put("")
    put("%-28s %8s %18s", "at best, in the same streams", "time", "makespan / best")
    put_lower(put, "with your host waits", bounds.lower, makespan)
    put_lower(put, "without any host wait", bounds.unblocked, makespan)
end

-- "launches of graphs                  2, which ran 10 operations"
local function put_graphs(put, f)
    if f.graph_spans == 0 then return end
    put("%-26s %10d, which ran %d operation%s", "launches of graphs", f.graph_launches,
        f.graph_spans, f.graph_spans == 1 and "" or "s")
end

local function put_sentences(put, f, verdict, columns)
    local guessed = f.guessed and core.fold(core.words.guessed.sentence(f.guessed), 0, columns)
    put("%s%s%s", core.words.doubts.text(f, columns), core.fold(verdict, 0, columns), guessed or "")
end

-- summary(figures, verdict, columns): figures as core.figures gives them; the verdict is a sentence
-- that opens it, or nil; no line has more than so many columns, 80 if it is left out
return function(f, verdict, columns)
    columns = columns or 80
    if f.span_count == 0 then
        return ("The timeline is empty: nothing ran on the device in %s.\n")
            :format(duration(f.wall))
    end
    local lines = {}
    local function put(form, ...) lines[#lines + 1] = form:format(...) end
    if verdict then put_sentences(put, f, verdict, columns) end
    put("%s%s", row("makespan", f.makespan, 0), f.range and f.range.makespan:match(" %(.*") or "")
    put("%s", row("host wall time", f.wall, 0))
    put_graphs(put, f)
    put_engines(put, f)
    put_communication(put, f)
    put_memory(put, f)
    put_sampled(put, f)
    local overlaps = put_overlaps(put, f)
    put_at_once(put, f, overlaps)
    put_bounds(put, f)
    lines[#lines + 1] = ""
    return core.words.narrow(table.concat(lines, "\n"), columns)
end
