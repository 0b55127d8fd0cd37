-- 56-summary.t.lua - the table of figures, on timelines worked out by hand.
local tap = require "tap"
local lab = require "streamlab"
local made = require "lua.made"

local core = debug.getregistry()["streamlab.internals"]
local words = core.words

local function summary(t, with_verdict)
    local tl = made(t)
    return words.summary(core.figures(tl), with_verdict and words.verdict(core.explanation(tl)))
end

local function has(text, part, name)
    local found = text:find(part, 1, true) ~= nil
    tap.ok(found, name)
    if not found then tap.diag(part .. "\nis not in\n" .. text) end
end

local function lacks(text, part, name) tap.ok(not text:find(part, 1, true), name) end

-- In ms:  compute  0 .. 40          h2d  30 .. 45.2          d2h  44 .. 56.7
-- makespan 56.7; overlaps 10 of 15.2 (65.8 %), 0, 1.2 of 12.7 (9.4 %), all three 0;
-- two at once 10 + 1.2 = 11.2, so one for 56.7 - 11.2 = 45.5;
-- serial 40 + 15.2 + 12.7 = 67.9; streams are independent, so the path is 40;
-- 56.7 / 40 = 1.4175.
tap.is(summary {
    { "kernel", 1, 0, 40000000 }, { "memcpy_h2d", 2, 30000000, 45200000 },
    { "memcpy_d2h", 3, 44000000, 56700000 }, wall = { -1000, 57100000 },
}, [[
makespan                      56.7 ms
host wall time                57.1 ms

engine                           busy   of makespan     spans
compute                       40.0 ms        70.5 %         1
h2d                           15.2 ms        26.8 %         1
d2h                           12.7 ms        22.4 %         1

overlap                          time   of shortest
compute & h2d                 10.0 ms        65.8 %
compute & d2h                 0.00 ms         0.0 %
h2d & d2h                     1.20 ms         9.4 %
compute & h2d & d2h           0.00 ms         0.0 %

busy at once                  engines   of makespan
none                          0.00 ms         0.0 %
1                             45.5 ms        80.2 %
2                             11.2 ms        19.8 %

work                             time
one after the other           67.9 ms
busiest engine (compute)      40.0 ms
critical path                 40.0 ms

at best, in the same streams     time    makespan / best
with your host waits          40.0 ms               1.42
without any host wait         40.0 ms               1.42
]], "three engines")

local text = summary({ { "kernel", 1, 0, 40000000 } }, true)
tap.is(text:sub(1, 66), "Nothing to gain: no wait made the makespan of 40.0 ms longer.\n\nmak",
    "the verdict comes first")

-- 300 us of kernel and, side by side, 2 us of copy.
text = summary { { "kernel", 1, 0, 300000 }, { "memcpy_p2p", 2, 1000, 3000 },
                 wall = { 0, 1500000000 } }
has(text, "host wall time                 1.50 s\n", "units keep the right edge")
has(text, "compute & p2p                 2.00 us       100.0 %\n", "one pair, of the shorter one")
has(text, "of shorter\n", "and says so")
has(text, "with your host waits           300 us               1.00\n",
    "at its bound the ratio is 1.00")

text = summary { { "kernel", 1, 0, 0 } }
lacks(text, "overlap", "one engine has no overlaps")
has(text, "compute                          0 ns             -         1\n",
    "nothing is divided by a makespan of 0")
has(text, "without any host wait            0 ns\n", "nor by a bound of 0")
tap.is(summary { wall = { 0, 56743 } },
    "The timeline is empty: nothing ran on the device in 56.7 us.\n",
    "an empty timeline is one sentence")

-- A copy of 100 us that the host waited for, then a kernel of 50 us on another stream and, between
-- them, a host function of no length.
text = summary {
    { "memcpy_d2h", 1, 0, 100000, waited = true }, { "host_func", 3, 100000, 100000 },
    { "kernel", 2, 110000, 160000 },
}
has(text, "with your host waits           150 us               1.07\n"
    .. "without any host wait          100 us               1.60\n",
    "the makespan is held against both bounds")
has(text, "compute & d2h                 0.00 us         0.0 %\n\n",
    "zero has the unit of its column")
lacks(text, "& host", "an engine that was busy for no time has no overlaps")

text = summary { { "memcpy_h2d", 7, 0, 100 }, { "kernel", 7, 100, 200 } }
has(text, "\nno overlap: all work was in one stream\n\nwork",
    "that all work was in one stream is said")
lacks(text, "compute &", "in place of a table of overlaps")

-- All three engines run from 70 to 100 us; the first two spans are of one stream.
text = summary {
    { "kernel", 1, 0, 50000 }, { "kernel", 1, 50000, 100000 }, { "memcpy_h2d", 2, 20000, 100000 },
    { "memcpy_d2h", 3, 70000, 120000 },
}
has(text, "compute & h2d                 80.0 us       100.0 %\n"
    .. "compute & d2h                 30.0 us        60.0 %\n"
    .. "h2d & d2h                     30.0 us        60.0 %\n"
    .. "compute & h2d & d2h           30.0 us        60.0 %\n",
    "what three engines have in common is held against the shortest, here 50 us")
lacks(text, "one stream", "a second stream is found behind several spans of one")

--   stream 1   0 ...... 60             (kernel)
--   stream 2       40 ...... 100       (kernel)
--   stream 2                     100 .. 110 us (memset, on the same engine)
text = summary { { "kernel", 1, 0, 60000 }, { "kernel", 2, 40000, 100000 },
                 { "memset", 2, 100000, 110000 } }
has(text, "compute                        110 us       100.0 %         3\n"
    .. "  kernel                       100 us        90.9 %         2\n"
    .. "  memset                      10.0 us         9.1 %         1\n\n",
    "kinds that share an engine have lines of their own")
has(text, "busy at once                  kernels   of makespan\n"
    .. "none                          10.0 us         9.1 %\n"
    .. "1                             80.0 us        72.7 %\n"
    .. "2                             20.0 us        18.2 %\n\n",
    "one engine has no column of its own, kernels at once have")

-- Kernel i of 12 runs from i to 20 us, each in its own stream; a copy from 5 to 10 and one of no
-- length at 30 us. Kernels: none 20-30, one 0-1, two 1-2, ..., twelve 11-20. Engines: two 5-10,
-- one 0-5 and 10-20.
local many = {}
for i = 0, 11 do many[i + 1] = { "kernel", i + 1, i * 1000, 20000 } end
many[13], many[14] = { "memcpy_h2d", 20, 5000, 10000 }, { "memcpy_h2d", 20, 30000, 30000 }
text = summary(many)
has(text, [[
busy at once                  engines   of makespan    kernels   of makespan
none                          10.0 us        33.3 %    10.0 us        33.3 %
1                             15.0 us        50.0 %    1.00 us         3.3 %
2                             5.00 us        16.7 %    1.00 us         3.3 %
3                                                      1.00 us         3.3 %
4                                                      1.00 us         3.3 %
5 to 8                                                 4.00 us        13.3 %
9 to 12                                                12.0 us        40.0 %

]], "many kernels at once are counted in ranges")
local widest, blank = 0, false
for line in text:gmatch("[^\n]+") do
    widest, blank = math.max(widest, #line), blank or line:sub(-1) == " "
end
tap.ok(widest <= 80 and not blank, "no line is wider than 80 columns or ends with a blank")

-- Three engines side by side, the kernels two at most.
has(summary {
    { "kernel", 1, 0, 10000 }, { "kernel", 2, 0, 10000 }, { "memcpy_h2d", 3, 0, 10000 },
    { "memcpy_d2h", 4, 0, 5000 },
}, "2                             5.00 us        50.0 %    10.0 us       100.0 %\n"
    .. "3                             5.00 us        50.0 %\n\n",
    "a column ends at the most that there ever were")

-- Rounding to three figures, also across units.
for _, case in ipairs {
    { 999, "999 ns" }, { 1000, "1.00 us" }, { 9994, "9.99 us" }, { 9995, "10.0 us" },
    { 99949, "99.9 us" },
    { 999499, "999 us" }, { 999500, "1.00 ms" }, { 56743210, "56.7 ms" }, { 999500000, "1.00 s" },
    { 999499999999, "999 s" }, { 999500000000, "1000 s" }, { 1234567890123, "1230 s" },
    { 1235000000000, "1240 s" },
} do
    local first = ("makespan                   %10s\n"):format(case[2])
    tap.is(summary({ { "kernel", 1, 0, case[1] } }):sub(1, #first), first,
        ("%d ns are %s"):format(case[1], case[2]))
end

-- ---- few columns -------------------------------------------------------------------------------

-- As above, two engines alone: the widest line of a table is its title and its values, with two
-- blanks between: "compute  40.0 ms        72.7 %      1".
local two = made {
    { "kernel", 1, 0, 40000000 }, { "memcpy_h2d", 2, 30000000, 55000000 }, wall = { 0, 55000000 },
}
local narrow = words.summary(core.figures(two), nil, 40)
has(narrow, [[
makespan                      55.0 ms
host wall time                55.0 ms

engine      busy  of makespan  spans
compute  40.0 ms       72.7 %      1
h2d      25.0 ms       45.5 %      1

overlap           time  of shorter
compute & h2d  10.0 ms      40.0 %

]], "in 40 columns the columns of a table move together")
has(narrow, [[
at best, in the same streams
  time, makespan / best
with your host waits
  40.0 ms, 1.38
]], "where that is not enough, values go below their title")
for _, columns in ipairs { 24, 30, 40, 60, 80 } do
    local most = 0
    for line in words.summary(core.figures(two), ("word "):rep(40), columns):gmatch("[^\n]+") do
        most = math.max(most, utf8.len(line))
    end
    tap.ok(most <= columns, ("no line is wider than %d columns"):format(columns))
end
tap.is(words.summary(core.figures(two), nil, 80), words.summary(core.figures(two)),
       "80 columns are enough for all")

-- Samples: 24, 40 and 44 MiB allocated at 32, 87 and 142 us, later no more, of 64 reserved.
has(words.summary(core.figures(lab.load("tests/timeline/data/modules.json"))), [[
allocated by PyTorch: at most 44 MiB, at 142 us
reserved by PyTorch: at most 64 MiB, at 32.0 us
]], "of samples of memory the largest is said, and when it first was")

tap.done()
