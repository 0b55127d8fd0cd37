-- 57-whatif-edits.t.lua - changes of lab.whatif that make other operations of what was recorded:
-- compared with the changed program, run on the simulated GPU, or worked out by hand.
local tap = require "tap"
local lab = require "streamlab"
local ideal = require "lua.ideal"
local changes = require "lua.changes"
local record, times = changes.record, changes.times
local changed, compare = changes.changed, changes.compare

ideal.textbook()
local s, side = lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true }
local n <const> = 4 << 20
local a = lab.zeros(n)
local pinned = lab.zeros(n, { device = "cpu", pinned = true })

local function spin(ms, stream) lab.with(stream or s, lab.spin, ms) end

local function copy(to, from) lab.with(s, to.copy_, to, from, { non_blocking = true }) end

-- ---- batch ------------------------------------------------------------------------------

local small_of, small_to = pinned:chunk(64), a:chunk(64)
compare("batch of copies", times(3, function()
    for i = 1, 64 do copy(small_to[i], small_of[i]) end
    spin(1)
end), times(3, function() copy(a, pinned) spin(1) end), { { "batch", "*HtoD*" } })

-- 132 SMs have room for 8 blocks of 256 threads each: 1056 blocks are a wave.
local k = lab.kernel{ name = "k", args = {}, cpu = function() end, cost = { us = 50 } }
local function run(blocks) lab.with(s, function() k(blocks, 256) end) end
local function kernels(blocks) return times(4, function() run(blocks) end) end

compare("batch of small kernels", kernels(100), function() run(400) end,
    { { "batch", "k" } })
local batched = changed(record(kernels(600)), { "batch", "k" })
tap.is(batched:changes()[1].changed, 3, "batch: of four launches three are gone")
-- 2400 blocks are three waves of what a launch of less than one took.
tap.ok(math.abs(batched:predict().after_us - 150) < 5, "batch: blocks run in waves")

local function between(f)
    return changed(record(function() kernels(100)() f() kernels(100)() end),
        { "batch", "k" }):changes()[1].changed
end
tap.is(between(function() end), 7, "batch: neighbours are one")
tap.is(between(function() spin(0.01) end), 6, "batch: not over what lies between in the stream")
tap.is(between(function() spin(0.01, side) end), 7, "batch: other streams do not lie between")
tap.is(between(function() s:synchronize() end), 6, "batch: not over a wait of the host")
tap.is(between(function() s:wait_event(side:record_event()) end), 6,
    "batch: not over a wait for an event")
local one = record(function() k(100, 256) end)
tap.is(changed(one, { "batch", "k" }):changes()[1].changed, 0, "batch: one alone stays")
tap.throws_like(function() lab.whatif(one):batch("*HtoD*") end,
    "batch: no operation matches '%*HtoD%*'", "batch of nothing")
tap.throws_like(function() lab.whatif(one):batch() end, "batch: it needs a selection",
    "batch without a selection")

-- ---- threads ----------------------------------------------------------------------------

-- In each step the host works, copies (314 us), runs a kernel and waits for it. A thread that does
-- the work and the copy's call is two steps ahead, at most.
local function loads(work_ms, kernel_ms)
    return record(times(4, function()
        lab.host_work(work_ms)
        copy(a, pinned)
        spin(kernel_ms)
        s:synchronize()
    end))
end

local function after_threads(work_ms, kernel_ms)
    return changed(loads(work_ms, kernel_ms), { "threads", "*HtoD*" }):predict().after_us
end

local copy_us = record(function() copy(a, pinned) end).makespan_us
local function is_about(found, expected, name)
    tap.ok(math.abs(found / expected - 1) < 0.01, name)
    if math.abs(found / expected - 1) >= 0.01 then
        tap.diag(("%.1f us, and not %.1f"):format(found, expected))
    end
end
is_about(after_threads(3, 1), 3 * 3000 + copy_us + 1000,
    "threads: the thread's work follows each other where it takes longer than the GPU's")
is_about(after_threads(1, 3), 4 * (copy_us + 3000),
    "threads: the GPU is never idle where its work takes longer")
local function with_slow(which, ms)
    local slow = record(function()
        for i = 1, 4 do
            lab.host_work(i == which and ms or 1)
            copy(a, pinned)
            spin(3)
            s:synchronize()
        end
    end)
    return changed(slow, { "threads", "*HtoD*" }):predict().after_us
end
-- The first item is there after 1 ms, when the first copy begins, the second after 11.
is_about(with_slow(2, 10), 10000 + 3 * (copy_us + 3000),
    "threads: what is not there is waited for")
-- The fourth is begun when the first step has ended.
is_about(with_slow(4, 7), (copy_us + 3000) + 7000 + (copy_us + 3000),
    "threads: no more than two items ahead")
tap.is(changed(loads(1, 1), { "threads", "*HtoD*" }):changes()[1].changed, 4,
    "threads: the number of calls that were chosen")
tap.throws_like(function() lab.whatif(one):threads("*HtoD*") end,
    "threads: no operation or call matches '%*HtoD%*'", "threads of nothing")
tap.throws_like(function() lab.whatif(one):threads("*", 2) end, "threads: ",
    "threads with a number")

-- ---- profile ----------------------------------------------------------------------------

-- The recorded GPU with copies to it at half the rate, and memory half as fast.
local temporary <const> = os.tmpname()
local slower <const> = temporary .. ".lua"
local profile <close> = assert(io.open(slower, "w"))
profile:write [[return { base = "textbook", h2d_gb_per_s = 27.5, hbm_gb_per_s = 2125 }]]
profile:close()

local copies = times(4, function() copy(a, pinned) end)
local found = changed(record(copies), { "profile", slower }):predict()
tap.ok(math.abs(found.after_us / (2 * 4 * copy_us) - 1) < 0.02, "profile: copies by its links")
local spun = record(function() spin(1) end)
found = changed(spun, { "profile", slower }):predict()
is_about(found.after_us, 1000 * 2 ^ 0.5,
    "profile: a kernel of which its name says nothing between its arithmetic and its memory")
tap.ok(found.range_us.low <= 1010 and found.range_us.low > 900,
    "profile: at best about as fast as its arithmetic")
tap.ok(found.range_us.high >= 1990 and found.range_us.high < 2200,
    "profile: at worst about as slow as its memory")
found = changed(spun, { "profile", "textbook" }):predict()
is_about(found.after_us, found.before_us, "profile: the same GPU")
tap.throws_like(function() lab.whatif(spun):profile("h1000") end, "there is no profile \"h1000\"",
    "profile: one that there is not")
tap.throws_like(function() lab.whatif(spun):profile(100) end,
    "profile: it needs the name of a GPU, got number", "profile: a number")
tap.is(#lab.whatif(spun):changes(), 0, "profile: what was refused has changed nothing")
os.remove(slower)
os.remove(temporary)

s, side, a, pinned, small_of, small_to = nil, nil, nil, nil, nil, nil
tap.done()
