-- 57-whatif.t.lua - lab.whatif: a recorded program with a change. What it predicts is compared with
-- the changed program itself, run on the simulated GPU.
local tap = require "tap"
local lab = require "streamlab"
local ideal = require "lua.ideal"
local changes = require "lua.changes"
local record, times = changes.record, changes.times
local changed, compare = changes.changed, changes.compare

ideal.textbook()
local s, side = lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true }
local n <const> = 4 << 20 -- 16 MiB: a copy of 0.31 ms from pinned memory, a kernel of 1 ms
local a = lab.zeros(n)
local pageable = lab.zeros(n, { device = "cpu" })
local pinned = lab.zeros(n, { device = "cpu", pinned = true })

local function spin(ms, stream) lab.with(stream or s, lab.spin, ms) end

local function copy(from, stream, non_blocking)
    lab.with(stream or s, a.copy_, a, from, { non_blocking = non_blocking ~= false })
end

-- ---- unchanged ---------------------------------------------------------------------------

local two = record(times(4, function()
    copy(pinned)
    spin(1)
    s:synchronize()
end))
local identity = lab.whatif(two):identity()
tap.ok(math.abs(identity.error) < 0.001, "played unchanged, a program takes as long as it took")
tap.is(identity.measured_us, two.makespan_us, "and that is what it is compared with")
tap.is(identity.problem, nil, "so that changes can be predicted")

-- 3000 kernels of 0.1 ms: more than the launch queue holds, so that the host waits for room. The
-- GPU never waits for the host.
local full = record(times(3000, function() spin(0.1) end))
tap.ok(math.abs(lab.whatif(full):identity().error) < 0.001, "so does one that fills the queue")
tap.near(changed(full, { "host_scale", 0.5 }):predict().after_us, full.makespan_us, 1,
    "which a faster host does not make shorter")

-- ---- each change -------------------------------------------------------------------------

local one_stream = times(4, function() copy(pinned) spin(1) end)

compare("scale", times(4, function() spin(1) end), times(4, function() spin(0.5) end),
    { { "scale", "*spin*", 0.5 } })
compare("remove", one_stream, times(4, function() spin(1) end), { { "remove", "*HtoD*" } })
compare("remove of calls", times(4, function()
    spin(1)
    lab.host_work(2)
    side:wait_stream(s)
    copy(pinned, side)
    s:synchronize()
end), times(4, function() spin(1) copy(pinned, side) end),
    { { "remove", "host_work" }, { "remove", "cudaStream*" } })
compare("pin", times(4, function() copy(pageable) spin(1) end), one_stream,
    { { "pin", "*HtoD*" }, { "non_blocking", "*HtoD*" } })
compare("non_blocking", times(4, function() copy(pinned, s, false) spin(1) end), one_stream,
    { { "non_blocking", "*HtoD*" } })
-- The kernel behind a moved copy still waits for it: it may read what is copied.
compare("move", one_stream, times(4, function()
    copy(pinned, side)
    s:wait_stream(side)
    spin(1)
end), { { "move", "*HtoD*", "copies" } })
compare("drop_sync", times(4, function() spin(1) s:synchronize() lab.host_work(1) end),
    times(4, function() spin(1) lab.host_work(1) end), { { "drop_sync", "*Synchronize*" } })
compare("drop_wait", times(4, function()
    spin(1)
    side:wait_stream(s)
    copy(pinned, side)
    s:wait_stream(side)
end), times(4, function() spin(1) copy(pinned, side) end), { { "drop_wait", "*" } })
compare("host_scale", times(4, function() lab.host_work(2) spin(1) end),
    times(4, function() lab.host_work(1) spin(1) end), { { "host_scale", 0.5 } })
compare("prefetch", times(4, function() copy(pinned) spin(1) s:synchronize() end), function()
    copy(pinned, side)
    for i = 1, 4 do
        s:wait_stream(side)
        if i < 4 then copy(pinned, side) end
        spin(1)
        s:synchronize()
    end
end, { { "prefetch", "*HtoD*", 1 } })
compare("fuse", times(4, function() spin(1) end), function() spin(4) end, { { "fuse", "*spin*" } })
-- 200 kernels of 2 us: what is left of launching them is one launch, and little between nodes.
compare("graph", times(200, function() spin(0.002) end), function() spin(0.4) end,
    { { "graph", "*" } }, 0.06)

-- Small kernels beside one of 65,536 blocks: as these end, what is more urgent takes their SMs.
local large, small = lab.zeros(1 << 26), lab.zeros(1 << 12)
local function requests(priority)
    local urgent = lab.stream{ name = "urgent", non_blocking = true, priority = priority }
    return times(4, function()
        lab.with(s, lab.add, large, 1, { out = large })
        lab.with(urgent, lab.add, small, 1, { out = small })
        urgent:synchronize()
        lab.host_work(0.2)
    end)
end
compare("priority", requests(0), requests(-1), { { "priority", "stream=urgent", -1 } }, 0.01)

-- A stream waits, needlessly, for kernels of 16 small blocks: its own leave room for these on their
-- SMs, or have four waves of blocks. What explain says that ending the wait gains is nearly that.
local function beside(waits, waves, threads, ms)
    local blocks <const> = waves * lab.device().sm_count * (waves > 1 and 2048 // threads or 1)
    return times(10, function()
        lab.spin(0.5, { blocks = 16, threads = 256, stream = side })
        if waits then s:wait_event(side:record_event()) end
        lab.spin(ms, { blocks = blocks, threads = threads, stream = s })
    end)
end
for _, of in ipairs{ { 1, 1024, 0.4 }, { 4, 512, 0.1 } } do
    compare("drop_wait", beside(true, table.unpack(of)), beside(false, table.unpack(of)),
        { { "drop_wait", "*" } }, 0.005)
end
local waited <const> = record(beside(true, 1, 1024, 0.4))
local gain <const> = waited.makespan_us - record(beside(false, 1, 1024, 0.4)).makespan_us
tap.near(waited:causes()[1].gain_us, gain, gain / 20, "and so explain says")

-- ---- several ------------------------------------------------------------------------------

local w = changed(two, { "prefetch", "*HtoD*", 1 }, { "scale", "*spin*", 0.5 })
local both = w:predict()
tap.ok(both.after_us < changed(two, { "prefetch", "*HtoD*", 1 }):predict().after_us
    and both.after_us < changed(two, { "scale", "*spin*", 0.5 }):predict().after_us,
    "changes follow each other")
tap.is(w:predict().after_us, both.after_us, "the same again is the same")
tap.is(w:changes()[2].changed, 4, "each says how many operations it has changed")
tap.is(changed(two, { "scale", "stream=*", 2 }):changes()[1].changed, 8,
    "a key chooses by what operations have")

local remedies = lab.whatif(two):rank()
tap.is(remedies[1] and remedies[1].edit, "prefetch", "single changes are ranked by what they gain")
local sorted = true
for i = 2, #remedies do sorted = sorted and remedies[i - 1].after_us <= remedies[i].after_us end
tap.ok(sorted, "the shortest first")
tap.like(lab.whatif(two):text(), "prefetch and non%-blocking 'Memcpy HtoD", "which is a table")
tap.like(lab.whatif(two):remove("*HtoD*"):text(), "\nWhat is removed may be needed: a copy of the "
    .. "same data each time can go, one of\nnew data cannot%.\n", "what is removed is doubted")
tap.is(lab.whatif(two):scale("*spin*", 0.5):text():find "may be needed", nil, "and nothing else")
tap.like(w:json(), '"after_us":', "and JSON has a prediction")

-- ---- wrong use ---------------------------------------------------------------------------

local function refused(f, pattern, name) tap.throws_like(f, pattern, name) end
w = lab.whatif(two)
refused(function() w:scale("*spin*") end, "scale: it needs a number, got nothing",
    "a factor that is missing")
refused(function() w:scale("no such", 2) end, "no operation matches 'no such'",
    "a selection of nothing")
refused(function() w:scale("*", -1) end, "scale: ", "a negative factor")
refused(function() w:scale("*", 0 / 0) end, "scale: ", "a factor that is no number")
refused(function() w:prefetch("*spin*", 1) end, "prefetch: no copy to the GPU matches '%*spin%*'",
    "kernels to be copied earlier")
refused(function() w:move("*HtoD*") end, "move: it needs the name of a stream", "no stream")
refused(function() w:pin("*HtoD*") end, "pin: ", "pinned copies to be pinned")
refused(function() w:scale("colour=*", 2) end, "colour", "a key that there is not")
refused(function() w:pim("*") end, "no field or method 'pim'.*pin", "a change that there is not")
refused(function() lab.whatif(3) end, "whatif: ", "what is no timeline")
refused(function() w:scale("*spin*", 0.5):rank() end, "before the first change",
    "a ranking after a change")
refused(function() w:scale("*", math.huge) end, "a factor from 0 to 1e%+06, got inf",
    "an infinite factor")
refused(function() w:prefetch("*HtoD*", 1.5) end, "how many copies, from 1 to .*, got 1.5",
    "half a copy")
refused(function() w:priority("*spin*", 1e6) end, "a whole number from %-100 to 100, got 1e%+06",
    "a priority that no GPU has")
tap.is(#w:changes(), 1, "what was refused has changed nothing")

-- Twice a million times 5 ms is 158 years.
w = lab.whatif(two)
local longer = w:scale("*", 1e6):predict().after_us
tap.ok(math.abs(longer / 1e6 / two.makespan_us - 1) < 0.01, "a million times as long is predicted")
refused(function() w:scale("*", 1e6) end, "scale: the program would take more than 36 years",
    "more than a timeline can hold")
refused(function() w:host_scale(1e6):host_scale(1e6):host_scale(1e6):host_scale(1e6) end,
    "host_scale: the program would take more than 36 years", "also of the host")
tap.ok(w:predict().after_us >= longer, "and what was before is still predicted")

local loaded = lab.whatif(lab.load "tests/timeline/data/planted/item_each_step.json.gz")
-- Measured: 16.294 ms without the item() (tests/timeline/data/README.md).
local mended = loaded:drop_sync("cudaStreamSynchronize"):predict()
tap.ok(math.abs(mended.after_us / 16294 - 1) < 0.02,
    "a recording of an H200: without the waits of item() as long as its mended twin")

s, side, a, pageable, pinned, large, small = nil, nil, nil, nil, nil, nil, nil
tap.done()
