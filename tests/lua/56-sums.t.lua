-- Recordings that keep only a summary: their sums are those of the same program's spans, they take
-- bounded memory, and what needs single spans is refused.

local T = require "tap"
local ideal = require "lua.ideal"

-- ---- worked out by hand -------------------------------------------------------------------

-- Two kernels of 10 us and a copy of 4 us from 3 on, of which the kernels leave nothing alone.
ideal.open{ sm_count = 4, h2d_gb_per_s = 1 }
local work, copies = lab.stream{ name = "work" }, lab.stream{ name = "copies" }
local host = lab.empty(1000, { device = "cpu", pinned = true })
local there = lab.empty(1000)
lab.synchronize()
local tl = lab.profile(function()
    lab.spin(0.010, { stream = work })
    lab.spin(0.010, { stream = work })
    lab.host_work(0.003)
    there:copy_(host, { stream = copies, non_blocking = true })
end, { keep = "summary" })
T.is(tl.span_count, 3, "three spans are counted")
T.is(tl.makespan_us, 20, "from the first start to the last end")
T.is(tl.stream_count, 2, "in two streams")
T.is(tl:busy_us("kernel"), 20, "kernels one after the other")
T.is(tl:busy_us{ engine = "h2d" }, 4, "a copy of 4000 bytes at 1 GB/s")
T.is(tl:busy_us(work), 20, "a stream by its object")
T.is(tl:busy_us{ stream = "copies" }, 4, "and by its name")
T.is(tl:busy_us{ name = "spin" }, 20, "a name")
T.is(tl:busy_us{ name = "nothing" }, 0, "a name that no span has")
T.is(tl:overlap_us("compute", "h2d"), 4, "the copy runs beside the kernels")
T.is(tl:overlap_us(work, copies), 4, "and its stream beside theirs")
T.is(tl:overlap_us("h2d", "d2h"), 0, "nothing ran in the other direction")
local totals = tl:totals()
T.is(#totals, 2, "there are two names")
T.is(totals[1].name .. " " .. totals[1].count .. " " .. totals[1].sum_us, "spin 2 20.0",
     "the one with the largest sum comes first")
T.is(totals[2].busy_us, 4, "then the copy")
T.is(tl:totals("streams")[1].name, "work", "streams are in the order of their creation")

-- ---- beside the spans of the same program ---------------------------------------------------

local function rounded(us) return ("%.3f"):format(us) end

-- All that a summary answers, of either kind of timeline.
local function answers(t, streams)
    local list = { t.span_count, t.stream_count, rounded(t.makespan_us), rounded(t.wall_us),
                   rounded(t:busy_us()) }
    local function add(text) list[#list + 1] = text end
    local parts = { "compute", "h2d", "d2h", "host" }
    for i, a in ipairs(parts) do
        add(a .. " " .. rounded(t:busy_us{ engine = a }))
        for j = i + 1, #parts do
            add(parts[j] .. " " .. rounded(t:overlap_us({ engine = a }, { engine = parts[j] })))
        end
    end
    for i, a in ipairs(streams) do
        for j = i + 1, #streams do add(rounded(t:overlap_us(a, streams[j]))) end
    end
    add(rounded(t:overlap_us("compute", "h2d", "d2h")))
    for _, of in ipairs{ "names", "streams" } do
        for _, total in ipairs(t:totals(of)) do
            add(table.concat({ total.name, total.count, rounded(total.busy_us),
                               rounded(total.sum_us) }, " "))
            add(rounded(t:busy_us(of == "names" and { name = total.name }
                                  or { stream = total.stream_id })))
        end
    end
    return table.concat(list, "\n")
end

-- The same program twice on devices that are alike.
local function same(name, make)
    local found = {}
    for i, keep in ipairs{ "spans", "summary" } do
        lab.open{ backend = "sim", profile = "textbook" }
        local f, streams = make()
        lab.synchronize()
        found[i] = answers(lab.profile(f, { keep = keep }), streams)
    end
    T.is(found[2], found[1], name)
end

-- A program of random operations in five streams, the NULL stream among them.
local function random_program(seed, n)
    math.randomseed(seed)
    local streams, events, on_host, on_device = { lab.default_stream() }, {}, {}, {}
    for i = 2, 5 do streams[i] = lab.stream{ non_blocking = i > 3 } end
    for i = 1, 3 do events[i] = lab.event() end
    for i = 1, 3 do
        on_device[i] = lab.empty(64 * i, 64)
        on_host[i] = lab.empty(64 * i, 64, { device = "cpu", pinned = i > 1 })
    end
    local function step()
        local s, k = streams[math.random(5)], math.random(3)
        local how = { stream = s, non_blocking = true }
        local what = math.random(8)
        if what == 1 then on_device[k]:copy_(on_host[k], how)
        elseif what == 2 then on_host[k]:copy_(on_device[k], how)
        elseif what == 3 then s:record_event(events[k])
        elseif what == 4 then s:wait_event(events[k])
        elseif what == 5 then
            lab.add(on_device[k], on_device[k], { out = on_device[k], stream = s })
        elseif what == 6 then on_device[k]:zero_{ stream = s }
        elseif what == 7 and math.random(20) == 1 then s:launch_host_func(function() end)
        else lab.spin(math.random(30) / 1000, { stream = s, blocks = math.random(200) })
        end
    end
    return function() for _ = 1, n do step() end end, streams
end
for seed = 1, 6 do
    same(("random program %d has the same sums"):format(seed),
         function() return random_program(seed, 12000) end)
end

-- While one kernel runs, 20,000 others begin and end.
same("a kernel that runs beside all others", function()
    local a, b = lab.stream(), lab.stream()
    return function()
        lab.spin(100, { stream = a })
        for _ = 1, 20000 do lab.spin(0.001, { stream = b }) end
    end, { a, b }
end)

same("nodes of graphs", function()
    local a, b = lab.stream(), lab.stream()
    local g = lab.graph(function()
        for _ = 1, 50 do
            lab.spin(0.002, { stream = a })
            b:wait_event(a:record_event())
            lab.spin(0.003, { stream = b })
            lab.spin(0.004, { stream = a })
            a:wait_event(b:record_event())
        end
    end, { stream = a })
    return function() for _ = 1, 100 do g:launch{ stream = a } end end, { a }
end)

-- Two GPUs that exchange something between their own kernels.
do
    local found = {}
    for i, keep in ipairs{ "spans", "summary" } do
        local first = lab.open{ backend = "sim", profile = "textbook", index = 0 }
        local from, x = lab.stream(), lab.empty(256, 256)
        lab.open{ backend = "sim", profile = "textbook", index = 1 }
        local to, y = lab.stream(), lab.empty(256, 256)
        lab.synchronize()
        first:make_current()
        lab.synchronize()
        local both = lab.profile(function()
            for _ = 1, 3000 do
                lab.spin(0.001, { stream = from })
                y:copy_(x, { stream = from, non_blocking = true })
                to:wait_event(from:record_event())
                lab.spin(0.002, { stream = to })
            end
        end, { keep = keep })
        found[i] = answers(both, {}) .. " " .. both:busy_us{ device = 1, kind = "kernel" } .. " "
            .. both:overlap_us({ device = 0 }, { device = 1 })
    end
    T.is(found[2], found[1], "two GPUs")
end

-- Four GPUs in one process, whose collectives meet in one kernel or one after the other.
do
    local found = {}
    for i, keep in ipairs{ "spans", "summary" } do
        local gpus, streams = {}, {}
        for k = 1, 4 do
            gpus[k] = lab.open{ backend = "sim", profile = "textbook", index = k - 1 }
            streams[k] = lab.stream{ device = gpus[k], non_blocking = true }
        end
        local comm = lab.comm{ devices = { 0, 1, 2, 3 } }
        local x, y = {}, {}
        for k = 1, 4 do
            x[k] = lab.empty(3000, { device = "cuda:" .. k - 1 })
            y[k] = lab.empty(70000, { device = "cuda:" .. k - 1 })
        end
        for k = 4, 1, -1 do
            gpus[k]:make_current()
            lab.synchronize()
        end
        local t = lab.profile(function()
            for round = 1, 300 do
                for k = 1, 4 do lab.spin(0.001 * ((round + k) % 5 + 1), { stream = streams[k] }) end
                comm:group(function()
                    comm:all_reduce(x, { streams = streams })
                    comm:all_reduce(y, { streams = streams })
                end)
            end
        end, { keep = keep })
        found[i] = answers(t, {})
        comm:free()
    end
    T.is(found[2], found[1], "collectives of four GPUs")
end

-- ---- memory ---------------------------------------------------------------------------------

local function peak_kb()
    for line in io.lines("/proc/self/status") do
        local kb = line:match("VmHWM:%s+(%d+)")
        if kb then return tonumber(kb) end
    end
end

-- The address sanitizer keeps what was freed for a while.
local sanitized <const> = (os.getenv("STREAMLAB_SANITIZE") or "") ~= ""
local probe = io.open("/proc/self/status")
if probe and not sanitized then
    probe:close()
    lab.open{ backend = "sim", profile = "textbook" }
    local s, e = { lab.stream(), lab.stream() }, lab.event()
    local function run(n)
        return lab.profile(function()
            for _ = 1, n // 4 do
                lab.spin(0.001, { stream = s[1] })
                s[1]:record_event(e)
                s[2]:wait_event(e)
                lab.spin(0.001, { stream = s[2] })
            end
        end, { keep = "summary" })
    end
    run(50000)
    local before = peak_kb()
    T.is(run(400000).span_count, 200000, "200,000 spans are counted")
    local grown = peak_kb() - before
    T.ok(grown < 4096, ("and 400,000 operations take no memory: %d kB"):format(grown))
else
    T.skip(sanitized and "a sanitizer's memory" or "no /proc here", 2)
end

-- ---- what a summary does not have -------------------------------------------------------------

local function refused(f, code, text, name)
    local fine, err = pcall(f)
    T.ok(not fine and err.code == code and tostring(err):find(text, 1, true), name)
    if fine or err.code ~= code then T.diag(tostring(not fine and err)) end
end

local needs = "the timeline keeps only a summary, as its recording was asked to; this needs all "
    .. "spans and calls: record it without keep = \"summary\""
for _, name in ipairs{ "spans", "calls", "bounds", "gaps", "concurrency", "causes",
                       "explain", "show", "text", "json", "verdict", "makespan_parts" } do
    refused(function() return tl[name](tl) end, "SL_ESTATE", needs, "tl:" .. name .. " is refused")
end
refused(function() tl:save("/nonexistent/t.json") end, "SL_ESTATE", needs, "so is tl:save")
local full = lab.profile(function() lab.spin(0.001) end)
refused(function() full:diff(tl) end, "SL_ESTATE", "the other timeline keeps only a summary",
         "and a comparison with one")
refused(function() full:text{ beside = tl } end, "SL_EINVAL",
         "option 'beside' must be a timeline that is complete", "and a chart beside one")
refused(function() tl:busy_us{ stream = work, kind = "kernel" } end, "SL_EUNSUPPORTED",
         "not several of these", "a stream's kernels alone are not known")
refused(function() tl:overlap_us(work, "h2d") end, "SL_EUNSUPPORTED",
         "the overlaps of streams, and those of engines", "nor what a stream and an engine share")
refused(function() tl:overlap_us("kernel", "compute") end, "SL_EUNSUPPORTED",
         "have work in common", "nor how often two of one kind ran at once")
refused(function() tl:totals("colours") end, "SL_EINVAL",
         'there are no totals of "colours"', "nor totals of other things")
refused(function() lab.profile(function() end, { keep = "nothing" }) end, "SL_EINVAL",
         'option \'keep\' must be "spans" or "summary", got "nothing"',
         "a misspelt option is refused")
T.is(select(2, lab.profile(function(o) return o.keep end, { keep = "x", other = 1 })), "x",
     "a table with other fields is an argument of the function")

-- 64 streams can be kept apart at a time; more have their own sums all the same.
do
    lab.open{ backend = "sim", profile = "textbook" }
    local many = {}
    for i = 1, 70 do many[i] = lab.stream() end
    lab.synchronize()
    local t = lab.profile(function()
        for i = 1, 70 do lab.spin(0.01 * i, { stream = many[i] }) end
    end, { keep = "summary" })
    T.is(t:busy_us(many[70]), t:totals("streams")[70].busy_us, "the 70th stream has its sums")
    refused(function() t:overlap_us(many[1], many[2]) end, "SL_EUNSUPPORTED",
             "more than 64 streams", "overlaps of more than 64 streams are refused")
    T.ok(t:overlap_us("kernel", "h2d") == 0, "those of engines are not")
end

-- A recording inside another one, each with what it was asked to keep.
do
    lab.open{ backend = "sim", profile = "textbook" }
    local outer <close> = lab.record{ keep = "summary" }
    lab.spin(0.01)
    local inner = lab.profile(function() lab.spin(0.02) end)
    outer:stop()
    T.is(#inner:spans(), 1, "a recording in a summary keeps its spans")
    T.is(outer.span_count, 2, "and the summary counts those as well")
end
work, copies, host, there = nil, nil, nil, nil
T.done()
