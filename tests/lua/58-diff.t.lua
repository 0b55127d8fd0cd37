-- 58-diff.t.lua - two timelines side by side, on timelines worked out by hand.
local tap = require "tap"
require "streamlab"
local made = require "lua.made"

local core = debug.getregistry()["streamlab.internals"]
local words = core.words
local ms <const> = 1000000

local function diff(a, b, names)
    a, b = made(a), made(b)
    local fa, fb, moves = core.moves(a, b)
    local verdicts = { words.verdict(core.explanation(a)), words.verdict(core.explanation(b)) }
    return words.diff(fa, fb, moves, names, verdicts)
end

local function has(text, part, name)
    local found = text:find(part, 1, true) ~= nil
    tap.ok(found, name)
    if not found then tap.diag(part .. "\nis not in\n" .. text) end
end

local function lacks(text, part, name) tap.ok(not text:find(part, 1, true), name) end

-- One kernel of that length in stream 1.
local function one_kernel(ns) return { { "kernel", 1, 0, ns } } end
local empty <const> = { wall = { 0, 390 } }

-- ---- all of it ------------------------------------------------------------------------------

-- A, in ms:  math    kernel 0..10            kernel 20..40
--            copies            D2H 10..20                   D2H 40..50
-- each waits for an event of the one before: makespan and bound 50, nothing overlaps.
-- B:         math    kernel 0..10, 10..30                memset 38..39
--            copies               D2H 10..20       D2H 30..40
-- only the copies wait, each for the kernel before it: makespan and bound 40, through both kernels
-- and the second copy; 10 of the first copy, and the memset, overlap.
-- Pauses: compute 10 and 8, d2h 20 and 10; math the same as compute, copies as d2h.
local a <const> = {
    { "kernel", 1, 0, 10 * ms }, { record = 1 }, { wait = 2, target = 2, of = 1 },
    { "memcpy_d2h", 2, 10 * ms, 20 * ms }, { record = 2 }, { wait = 1, target = 5, of = 2 },
    { "kernel", 1, 20 * ms, 40 * ms }, { record = 1 }, { wait = 2, target = 8, of = 1 },
    { "memcpy_d2h", 2, 40 * ms, 50 * ms },
    streams = { "math", "copies" }, wall = { -ms, 51 * ms },
}
local b <const> = {
    { "kernel", 9, 0, 10 * ms }, { record = 9 }, { wait = 7, target = 2, of = 9 },
    { "memcpy_d2h", 7, 10 * ms, 20 * ms }, { "kernel", 9, 10 * ms, 30 * ms }, { record = 9 },
    { wait = 7, target = 6, of = 9 }, { "memset", 9, 38 * ms, 39 * ms },
    { "memcpy_d2h", 7, 30 * ms, 40 * ms },
    streams = { [7] = "copies", [9] = "math" }, wall = { -ms, 41 * ms },
}
local text = diff(a, b, { "first.json", "second.json" })
local gains = text:find("\nwhat there is to gain\n", 1, true)
local first_gain = gains and text:find("\n  A: To gain by this cause alone: ", gains, true)
tap.ok(first_gain and text:find("\n  B: Gain not known: 20.0 ms of 40.0 ms", first_gain, true),
    "each has its verdict: B's copies waited for half of it, which the replay does not explain")
tap.is(text:sub(1, gains and gains - 1), [[
A  first.json
B  second.json

                                  A          B    change
makespan                    50.0 ms    40.0 ms   -20.0 %
lower bound                 50.0 ms    40.0 ms   -20.0 %
makespan / bound               1.00       1.00
host wall time              52.0 ms    42.0 ms   -19.2 %

busy                              A          B    change   spans A   spans B
kernel                      30.0 ms    30.0 ms     0.0 %         2         2
memcpy_d2h                  20.0 ms    20.0 ms     0.0 %         2         2
memset                            0    1.00 ms       new         0         1

overlap                           A          B    change
kernel & memcpy_d2h               0    10.0 ms       new
memcpy_d2h & memset               0    1.00 ms       new

the makespan's parts              A          B    change
kernel running              30.0 ms    30.0 ms     0.0 %
memcpy_d2h running          20.0 ms    10.0 ms   -50.0 %

what moved
  makespan 50.0 ms -> 40.0 ms (-20.0 %)
  D2H copies now overlap kernels for 10.0 ms (not at all before)
  the d2h engine now idles 10.0 ms between operations (was 20.0 ms)
  the compute engine now idles 8.00 ms between operations (was 10.0 ms)
  memsets now overlap D2H copies for 1.00 ms (not at all before)
  new: 1 memset, 1.00 ms
  stream math is now busy for 31.0 ms (was 30.0 ms)
]], "two timelines by hand")

text = diff(b, a)
has(text, "makespan                    40.0 ms    50.0 ms   +25.0 %\n",
    "the other way round the changes have the other sign")
has(text, "memset                      1.00 ms          0  -100.0 %         1         0\n",
    "what is gone is -100 %")
has(text, "  D2H copies no longer overlap kernels (was 10.0 ms)\n",
    "what overlapped no longer does")
has(text, "  gone: 1 memset, 1.00 ms\n", "and what was new is gone")
tap.is(text:sub(1, 6), "      ", "without names nothing says what A and B are")

-- ---- nothing moved ------------------------------------------------------------------------------

text = diff(one_kernel(5 * ms), one_kernel(5 * ms))
has(text, "\nwhat moved\n  makespan 5.00 ms, the same\n  nothing else by 1 % of it or more\n",
    "equal ones are said to be so")
has(text, "\nno two kinds of work overlap, neither in A nor in B\n",
    "where nothing overlaps one line says so")
has(diff(one_kernel(1000 * ms), one_kernel(1009 * ms)),
    "  makespan 1.00 s -> 1.01 s (+0.9 %)\n  nothing else by 1 % of it or more\n",
    "less than a hundredth is left out")

-- ---- streams ------------------------------------------------------------------------------------

-- The same 12 ms in streams of other names; the kernels are 3 instead of 2.
has(diff({
    { "kernel", 1, 0, 4 * ms }, { "kernel", 1, 4 * ms, 8 * ms }, { "memcpy_h2d", 5, 0, 4 * ms },
    streams = { "old" },
}, {
    { "kernel", 1, 0, 2 * ms }, { "kernel", 1, 2 * ms, 4 * ms }, { "kernel", 6, 4 * ms, 7 * ms },
    { "memcpy_h2d", 5, 3 * ms, 4 * ms }, streams = { "new" },
}), [[

what moved
  makespan 8.00 ms -> 7.00 ms (-12.5 %)
  only in A: stream old, busy for 8.00 ms
  only in B: stream new, busy for 4.00 ms
  waits of unknown cause: now 4.00 ms of the makespan (was nothing)
  H2D copies now overlap kernels for 1.00 ms (was 4.00 ms)
  H2D copies now take 1.00 ms (was 4.00 ms)
  only in B: stream 6, busy for 3.00 ms

]], "the six largest moves are listed; streams go by their names, or numbers")

text = diff({ { "kernel", 1, 0, 4 * ms }, { "kernel", 2, 3 * ms, 5 * ms } },
    { { "kernel", 1, 0, 4 * ms }, { "kernel", 1, 4 * ms, 8 * ms }, { "kernel", 2, 0, 2 * ms } })
has(text, "  3 kernels now take 8.00 ms (2 took 5.00 ms)\n", "counts that changed are given")
has(text, "  stream 1 is now busy for 8.00 ms (was 4.00 ms)\n", "so is the stream that moved")
lacks(text, "stream 2 is", "of the streams only that one")

-- One kernel after the other, 4 ms in all, in streams 1 and 2 plus `offset`.
local function two_streams(offset)
    return { { "kernel", offset + 1, 0, 3 * ms }, { "kernel", offset + 2, 3 * ms, 4 * ms } }
end

has(diff(two_streams(0), two_streams(10)), [[

what moved
  makespan 4.00 ms, the same
  only in A: stream 1, busy for 3.00 ms
  only in B: stream 11, busy for 3.00 ms
  only in B: stream 12, busy for 1.00 ms
  only in A: stream 2, busy for 1.00 ms

]], "where nothing but the streams' names differs, they are listed")
has(diff(two_streams(0), one_kernel(8 * ms)), "  only in A: stream 2, busy for 1.00 ms\n",
    "and where they have a stream in common")
text = diff(two_streams(0), { { "kernel", 11, 0, 8 * ms } })
has(text, "  1 kernel now takes 8.00 ms (2 took 4.00 ms)\n", "else what moved is listed")
lacks(text, "only in", "without the streams")

-- ---- pauses -------------------------------------------------------------------------------------

-- Two kernels that begin in the other order than they were issued, of one stream: 4 and 2 ms with
-- 1 ms between them.
text = diff({
    { "kernel", 1, 5 * ms, 7 * ms }, { "kernel", 1, 0, 4 * ms }, { "kernel", 2, 0, 20 * ms },
}, {
    { "kernel", 1, 9 * ms, 11 * ms }, { "kernel", 1, 0, 4 * ms }, { "kernel", 1, 2 * ms, 3 * ms },
    { "kernel", 2, 0, 20 * ms },
})
has(text, "  stream 1 now idles 5.00 ms between operations (was 1.00 ms)\n",
    "a stream's pauses are those between its operations in order of time")
lacks(text, "busy for", "and no instant of it is counted twice")

-- Two copies 8 ms apart, and none.
text = diff({
    { "kernel", 1, 0, 10 * ms }, { "memcpy_d2h", 2, 0, ms }, { "memcpy_d2h", 2, 9 * ms, 10 * ms },
}, one_kernel(10 * ms))
has(text, "  gone: 2 D2H copies, 2.00 ms\n", "copies that are gone")
lacks(text, "idles", "an engine that has nothing to do does not pause")

-- ---- changes ------------------------------------------------------------------------------------

for _, case in ipairs {
    { 1000, 1001, "makespan                    1.00 us    1.00 us    +0.1 %\n" },
    { 100000, 100001, "makespan                     100 us     100 us     0.0 %\n" },
    { 3, 2, "makespan                       3 ns       2 ns   -33.3 %\n" },
    { 1000, 9999, "makespan                    1.00 us    10.0 us  +899.9 %\n" },
    { 1000, 10000, "makespan                    1.00 us    10.0 us    x 10.0\n" },
    { 1000, 999900, "makespan                    1.00 us    1.00 ms   x 999.9\n" },
    { 1, 1000 * ms, "makespan                       1 ns     1.00 s   x 1000+\n" },
    { 1000, 0, "makespan                    1.00 us          0  -100.0 %\n" },
    { 0, 1000, "makespan                          0    1.00 us       new\n" },
    { 0, 0, "makespan                          0          0\n" },
} do
    has(diff(one_kernel(case[1]), one_kernel(case[2])), case[3],
        ("%d to %d ns"):format(case[1], case[2]))
end

-- ---- empty ones ---------------------------------------------------------------------------------

tap.is(diff(empty, one_kernel(ms)), [[
                                  A          B    change
makespan                          0    1.00 ms       new
lower bound                       0    1.00 ms       new
makespan / bound                  -       1.00
host wall time               390 ns      20 ns   -94.9 %

A is empty: nothing ran on the device.
]], "an empty timeline is said to be so")
has(diff(one_kernel(ms), empty), "\nB is empty: nothing ran on the device.\n",
    "as the second one, too")
has(diff(empty, empty), "\nA and B are empty: nothing ran on the device.\n", "and both")

-- ---- long and hostile names ---------------------------------------------------------------------

local function widest(shown)
    local most = 0
    for line in shown:gmatch("[^\n]+") do most = math.max(most, utf8.len(line)) end
    return most
end

local path <const> = ("0"):rep(299) .. "1.json"
local streams <const> = { "a stream with a name that is too long\27[31m" }
local long <const> = {
    { "kernel", 1, 0, 3 * ms }, { "kernel", 1, 123 * ms, 900 * ms }, { "kernel", 2, 0, 900 * ms },
    streams = streams, device = { name = "NVIDIA H200", simulated = true },
}
text = diff({ { "kernel", 2, 0, ms } }, long, { path, "bb.json\n\27[31m" })
has(text, "A  0000", "a long name is cut in the middle")
has(text, "01.json\n", "and keeps its end")
has(text, "\nB  bb.json??[31m: NVIDIA H200 (simulated)\n",
    "control characters do not reach a terminal; the device is named")
has(text, "only in B: stream a stream w…long?[31m, busy for 780 ms\n",
    "streams' names are cut, too")
tap.is(widest(text), 80, "no line is wider than 80 columns")

text = diff({
    { "kernel", 1, 0, 100 * ms }, { "kernel", 1, 101 * ms, 900 * ms }, { "kernel", 2, 0, 900 * ms },
    streams = streams, device = { name = ("x"):rep(127), simulated = true },
}, long, { path, path })
tap.is(widest(text), 80, "nor with the longest names and sentences")
has(text, "  stream a stream w…long?[31m now idles 120 ms between",
    "nor a sentence about such a stream")


local function in_columns(columns)
    local a, b = made { { "kernel", 1, 0, ms } },
        made { { "kernel", 1, 0, 2 * ms }, { "memset", 1, 3 * ms, 4 * ms } }
    local fa, fb, moves = core.moves(a, b)
    return words.diff(fa, fb, moves, nil, { ("word "):rep(30), "one" }, columns)
end
for _, columns in ipairs { 24, 40, 60 } do
    tap.ok(widest(in_columns(columns)) <= columns,
           ("no line is wider than %d columns"):format(columns))
end
has(in_columns(40), "  A, B, change\nmakespan\n  1.00 ms, 4.00 ms, +300.0 %\n",
    "values go below their title there")

tap.done()
