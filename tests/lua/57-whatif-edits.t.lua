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

s, side, a, pinned, small_of, small_to = nil, nil, nil, nil, nil, nil
tap.done()
