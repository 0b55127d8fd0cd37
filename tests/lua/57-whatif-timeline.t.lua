-- 57-whatif-timeline.t.lua - w:timeline(): a program with its changes as a timeline. Its operations
-- are compared with those of the changed program itself, run on the simulated GPU.
local tap = require "tap"
local lab = require "streamlab"
local ideal = require "lua.ideal"

ideal.textbook()
local s = lab.stream{ non_blocking = true, name = "work" }
local side = lab.stream{ non_blocking = true, name = "copies" }
local n <const> = 4 << 20 -- 16 MiB
local a = lab.zeros(n)
local pageable = lab.zeros(n, { device = "cpu" })
local pinned = lab.zeros(n, { device = "cpu", pinned = true })

local function record(program)
    lab.synchronize()
    return lab.profile(program)
end

local function spin(ms) lab.with(s, lab.spin, ms) end

local function copy(from, stream)
    lab.with(stream or s, a.copy_, a, from, { non_blocking = true })
end

local function times(count, f)
    return function()
        for _ = 1, count do f() end
    end
end

local function played(tl, ...)
    local w = lab.whatif(tl)
    for _, edit in ipairs { ... } do w[edit[1]](w, table.unpack(edit, 2)) end
    return w:timeline(), w
end

-- Name, stream, and from when to when each operation ran since the first one started.
local function ran(tl)
    local rows, spans = {}, tl:spans()
    local first = math.huge
    for _, span in ipairs(spans) do first = math.min(first, span.start_us) end
    for i, span in ipairs(spans) do
        rows[i] = ("%s %s %.0f-%.0f"):format(span.name, span.stream, span.start_us - first,
            span.end_us - first)
    end
    return table.concat(rows, "\n")
end

-- The times within 2 % of the makespan.
local function is_near(found, truth)
    local a, b = found:spans(), truth:spans()
    local near = #a == #b
    for i = 1, near and #a or 0 do
        local start_us = a[i].start_us - a[1].start_us - (b[i].start_us - b[1].start_us)
        local end_us = a[i].end_us - a[1].start_us - (b[i].end_us - b[1].start_us)
        near = near and a[i].name == b[i].name and a[i].stream == b[i].stream
            and math.abs(start_us) < 0.02 * truth.makespan_us
            and math.abs(end_us) < 0.02 * truth.makespan_us
    end
    return near
end

local function compare(before, after, name, ...)
    local found, w = played(record(before), ...)
    local truth = record(after)
    if not tap.ok(is_near(found, truth), name) then tap.diag(ran(found) .. "\n" .. ran(truth)) end
    tap.is(found.makespan_us, w:predict().after_us, "and as long as is predicted")
    return found
end

-- ---- unchanged ---------------------------------------------------------------------------

local plain = times(3, function() copy(pageable) spin(1) s:synchronize() end)
local tl = record(plain)
local same = played(tl)
tap.is(ran(same), ran(tl), "without changes each operation runs when it ran")
tap.is(same.wall_us, tl.wall_us, "and the host takes as long")
tap.is(#same:calls(), #tl:calls(), "in the same calls")
tap.is(same:verdict().sentence, tl:verdict().sentence, "with the same verdict")
tap.is(same.doubts[1].kind, "played", "which says that nobody measured it")
tap.is(lab.whatif(same):identity().error, 0.0, "it can be played again")

-- ---- with changes ------------------------------------------------------------------------

local faster = compare(plain, times(3, function() copy(pinned) spin(1) s:synchronize() end),
    "pinned copies have the times, and the name, of such ones", { "pin", "*HtoD*" },
    { "non_blocking", "*HtoD*" })
compare(times(2, function() copy(pinned) spin(1) end), times(2, function()
    copy(pinned, side)
    s:wait_stream(side)
    spin(1)
end), "moved copies are in a stream of that name, and kernels wait for them",
    { "move", "*HtoD*", "copies" })
compare(plain, times(3, function() spin(1) s:synchronize() end), "removed copies are not there",
    { "remove", "*HtoD*" })
local fused = compare(times(3, function() spin(1) end), function() spin(3) end,
    "fused kernels are one", { "fuse", "*spin*" })
tap.is(fused.span_count, 1, "operation")
local free = compare(times(3, function() spin(1) s:synchronize() end), times(3, function()
    spin(1)
end), "without its waits the host is ahead", { "drop_sync", "*Synchronize*" })
local kinds = {}
for _, call in ipairs(free:calls()) do kinds[call.kind] = true end
tap.ok(not kinds.stream_sync, "and the waits are not there")

local early = played(record(plain), { "pin", "*HtoD*" }, { "prefetch", "*HtoD*", 1 })
tap.is(early:spans()[3].stream, "prefetch", "prefetched copies have a stream")
tap.ok(early:spans()[3].start_us < early:spans()[2].end_us,
    "and begin while the kernel before them runs")

-- Why an operation waited is that of the changed program: the copy in the other stream.
local moved = played(record(times(2, function() copy(pinned) spin(1) end)),
    { "move", "*HtoD*", "copies" })
local cause
for _, found in ipairs(moved:causes()) do
    if found.cause == "event_wait" then cause = found end
end
tap.like(cause and cause.sentence, "waited for an event .* in stream \"copies\"",
    "what waits for a moved copy, waits for an event")

-- w:before() is the program without its changes.
local w = lab.whatif(tl):scale("*spin*", 0.5)
tap.is(ran(w:before()), ran(tl), "and the program as it was is there beside it")
tap.is(w:before().makespan_us, w:predict().before_us, "with the time that is compared")
tap.ok(w:timeline().makespan_us < tl.makespan_us, "whatever was asked first")

-- ---- files -------------------------------------------------------------------------------

local path = os.tmpname() .. ".json.gz"
faster:save(path)
local loaded = lab.load(path)
tap.is(ran(loaded), ran(faster), "it can be saved and read again")
tap.is(loaded.doubts[1].kind, "played", "and the file says what it is")
tap.is(loaded:verdict().sentence, faster:verdict().sentence, "with the same verdict")
os.remove(path)

-- Steps, operators and lines are found by the time of a call.
local training = lab.load "tests/timeline/data/training_steps.json.gz"
local half = lab.whatif(training):host_scale(0.5):timeline()
for _, key in ipairs { "step", "operator", "phase", "line" } do
    local function counts(of)
        local rows = {}
        for i, row in ipairs(of:by(key)) do rows[i] = ("%s %d"):format(row.name, row.count) end
        table.sort(rows)
        return table.concat(rows, "\n")
    end
    tap.is(counts(half), counts(training), "operations keep their " .. key)
end
tap.ok(half.makespan_us < training.makespan_us, "though the host is faster")

-- ---- pages -------------------------------------------------------------------------------

-- A page lists what single changes gain, with the timelines of the best three.
local page = path:gsub("%.json%.gz$", ".html")
local function changes_of(timeline)
    timeline:save(page)
    local file <close> = assert(io.open(page))
    local text = file:read "a"
    local list, shown = text:match '"changes%-data">\n(.-)\n</script>', {}
    for data in text:gmatch '"data%-%d+">\n(.-)\n</script>' do
        shown[#shown + 1] = data:match '"makespan":(%d+)'
    end
    return list, shown
end

for _, name in ipairs { "copies_in_compute_stream", "item_each_step", "pageable_copies" } do
    local timeline = lab.load("tests/timeline/data/planted/" .. name .. ".json.gz")
    local list, shown = changes_of(timeline)
    local after, rows = {}, lab.whatif(timeline):rank()
    for ns in list:gmatch '"after":(%d+)' do after[#after + 1] = ns end
    tap.is(#after, math.min(#rows, 8), name .. ": the page has what single changes gain")
    tap.is(table.concat(shown, " "), table.concat(after, " ", 1, math.min(#after, 3)),
        "and of three their timelines, which last as long")
end
local list = changes_of(loaded)
tap.like(list, '"list":%[%]', "what was played is not changed again")
list = changes_of(lab.load "tests/timeline/data/planted/item_each_step.json.gz")
tap.like(list, "streamlab whatif %-%-drop%-sync '.-' FILE", "a command tries each")
os.remove(page)

-- The one copy is six, and comes behind those that went, each of which waited for its own call.
local six <const> = record(function()
    for _ = 1, 6 do copy(pageable) end
    s:synchronize()
    spin(1)
end)
local together <const>, six_w <const> = played(six, { "batch", "*HtoD*" })
tap.is(#together:spans(), 2, "copies that became one are one")
tap.ok(math.abs(together.makespan_us - six_w:predict().after_us) < 0.01, "as long as predicted")

-- ---- wrong use ---------------------------------------------------------------------------

tap.throws_like(function() lab.whatif(tl):timeline(1) end, "timeline: ", "an argument too many")
tap.throws_like(function() tl:save(path:gsub("%.json%.gz$", ".svg"), { beside = 3 }) end,
    "option 'beside' must be a timeline that is complete, got number", "a picture beside a number")

s, side, a, pageable, pinned = nil, nil, nil, nil, nil
tap.done()
