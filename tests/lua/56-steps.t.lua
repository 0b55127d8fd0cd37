-- 56-steps.t.lua - steps as a table, and what took longer in the slowest of them: in words, as JSON
-- and for scripts.

local T = require "tap"
local json = require "both.json"
require "streamlab"
local core = debug.getregistry()["streamlab.internals"]
local words = core.words

local function step(name, wall, ran, count, sum)
    return { name = name, wall = wall, ran = ran, count = count, sum = sum, busy = sum, covered = 0,
             part = sum }
end

local rows = {
    { name = "", count = 1, sum = 500000, busy = 500000, covered = 0, part = 500000 },
    step("ProfilerStep#6", 8200000, 5000000, 10, 6000000),
    step("ProfilerStep#7", 12300000, 5000000, 12, 7000000),
    step("ProfilerStep#8", 8000000, 8000000, 0, 0),
    slowest = {
        name = "ProfilerStep#7", wall = 12300000, ran = 5000000,
        median_name = "ProfilerStep#6", median = 8200000, median_ran = 5000000,
        changes = {
            { part = "call", name = "cudaMalloc", was = 0, is = 3800000, n_was = 0, n_is = 3 },
            { part = "gpu", name = "gemm", was = 1000000, is = 2000000, n_was = 2, n_is = 4 },
            { part = "gpu", name = "relu", was = 0, is = 500000, n_was = 0, n_is = 1 },
            { part = "range", name = "aten::mm", was = 1000, is = 301000, n_was = 2, n_is = 2 },
        },
    },
}

T.is(words.breakdown.text("step", rows, 80), [[
   took    busy    idle  idle %   count    work  by step
                                      1  500 us  (no step)
8.20 ms 5.00 ms 3.20 ms  39.0 %      10 6.00 ms  ProfilerStep#6
12.3 ms 5.00 ms 7.30 ms  59.3 %      12 7.00 ms  ProfilerStep#7
8.00 ms 8.00 ms    0 ns   0.0 %       0    0 ns  ProfilerStep#8
busy, idle: the GPU during the step; count, work: what was launched in it
ProfilerStep#7 took 12.3 ms, 4.10 ms more than the median (ProfilerStep#6):
3.80 ms of it the host was in cudaMalloc (3 times). On the GPU gemm took 1.00 ms
longer (4 times instead of twice), relu 500 us (once).
]], "a table has a line for each step, and says what took longer in the slowest")
T.like(words.breakdown.text("step", rows, 40), "\nProfilerStep#6\n8.20 ms ",
    "where it is narrow, a name stands above its values")
for line in words.breakdown.text("step", rows, 47):gmatch("[^\n]+") do
    T.ok(#line <= 47, "and lines fit: " .. line)
end

local sentence = words.steps.sentence
local function changed(changes, wall)
    return sentence{ name = "b", wall = wall or 2000, median_name = "a", median = 1000,
                     changes = changes }
end
T.is(changed({}, 1040),
    "The steps take about the same time: 1.00 us in the median, 1.04 us at most (b).",
    "a twentieth more is about the same")
T.is(changed{}, "b took 2.00 us, 1.00 us more than the median (a).", "there may be no reason")
local escape = "ProfilerStep#\27[31m" .. ("x"):rep(100)
local told = sentence{ name = escape, wall = 2000, median_name = escape, median = 1000,
                       changes = {} }
T.is(told:find("[%c]"), nil, "a name from a file does not reach the terminal as it is")
T.ok(#told < 180, "and a long one is cut", told)
T.is(changed{
    { part = "wait", name = "cudaStreamSynchronize", was = 0, is = 800, n_was = 1, n_is = 1 },
    { part = "host", name = "", was = 100, is = 250, n_was = 0, n_is = 0 },
},
    "b took 2.00 us, 1.00 us more than the median (a): 800 ns of it the host was waiting in "
    .. "cudaStreamSynchronize (once), 150 ns outside all ranges and calls.", "or several")

T.like(changed{ { part = "gpu", name = "k", was = 100, is = 900, n_was = 10, n_is = 12 } },
    "On the GPU k took 800 ns longer %(12 times instead of 10%)%.$", "counts may differ")

local list = words.breakdown.list("step", rows)
T.is(list[2].wall_us, 8200, "scripts get the length of a step")
T.is(list[2].idle_us, 3200, "and how long the GPU was idle in it")
T.is(list[1].wall_us, nil, "work of no step has none")
T.is(list[4].mean_us, 0, "nor has a step without work a mean")
T.is(list.slowest.changes[1].time_us, 3800, "and what took longer in the slowest")
T.like(list.slowest.sentence, "3.80 ms of it", "with its sentence")
local read = json.read(words.breakdown.json("step", rows))
T.is(read.rows[3].ran_us, 5000, "JSON has the same")
T.is(read.slowest.changes[2].median_count, 2, "also of the slowest")
T.is(read.slowest.median_name, "ProfilerStep#6", "and which one is the median")
T.done()
