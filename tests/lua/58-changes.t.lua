-- 58-changes.t.lua - two timelines by kernel, operator or step: what was added, removed, slower or
-- faster, and where the change of the makespan comes from; worked out by hand.
local tap = require "tap"
require "streamlab"
local made = require "lua.made"
local json = require "both.json"
local core = debug.getregistry()["streamlab.internals"]
local words = core.words.changes
local ms <const> = 1000000

-- `time` in ms, of which `part` is its part of the makespan.
local function row(name, count, time, part)
    return { name = name, full_name = name .. "(float*)", count = count, sum = time * ms,
             busy = time * ms, covered = 0, part = (part or time) * ms }
end

local function compare(a, b, key) return words.compare(key or "kernel", a, b) end

-- A: gemm 4, relu 2, add 1, 1 idle. B: gemm 12, half of it beside relu; norm 1, 3 idle.
local a <const> = { makespan = 8 * ms, rows = { row("gemm", 2, 4), row("relu", 4, 2),
                                               row("add", 1, 1) } }
local b <const> = { makespan = 16 * ms, rows = { row("gemm", 3, 12, 10), row("relu", 4, 2, 2),
                                                row("norm", 1, 1) } }

tap.is(words.text(compare(a, b), 80), [[
  change    share       A       B    n A    n B  mean A  mean B
slower  gemm
+8.00 ms   75.0 % 4.00 ms 12.0 ms      2      3 2.00 ms 4.00 ms
removed add
-1.00 ms  -12.5 % 1.00 ms    0 ns      1      0 1.00 ms
added   norm
+1.00 ms   12.5 %    0 ns 1.00 ms      0      1         1.00 ms
1 other: no change in all.
Nothing ran for 1.00 ms in A, and for 3.00 ms in B.
share: of the change of the makespan
B takes 8.00 ms longer (+100.0 %): 6.00 ms of the 8.00 ms come from gemm (3
times 4.00 ms instead of 2 times 2.00 ms), 2.00 ms from time in which nothing
ran, 1.00 ms from norm (new, once 1.00 ms); B takes less: 1.00 ms in add (gone).
]], "rows that changed, the largest change first, and where the makespan's change comes from")
tap.like(words.text(compare(a, b), 120), "\n%+8%.00 ms   75%.0 %% 4%.00 ms 12%.0 ms      2      3 "
    .. "2%.00 ms 4%.00 ms  slower  gemm\n", "where there is room a row has one line")
for _, columns in ipairs { 24, 40, 63, 80, 93, 120 } do
    local fits = true
    for line in words.text(compare(a, b), columns):gmatch("[^\n]+") do
        fits = fits and #line <= columns
    end
    tap.ok(fits, ("lines have at most %d columns"):format(columns))
end

tap.like(words.sentence(compare(b, a)), "^B takes 8%.00 ms less %(%-50%.0 %%%): 6%.00 ms of the "
    .. "8%.00 ms come from gemm .*; B takes more: 1%.00 ms in add %(new, once 1%.00 ms%)%.$",
    "the other way round")
local hour <const> = { makespan = 3600 * 1000 * ms, rows = { row("k", 1, 3600 * 1000) } }
tap.like(words.text(compare(hour, b), 120),
    "\n %-3600 s  100%.0 %%.*B takes 3600 s less %(%-100%.0 %%%)",
    "and of hours, which as a product are more than 64 bits")
tap.is(words.sentence(compare(a, a)), "The makespans are the same.", "nothing changed")
tap.is(words.text(compare(a, a), 80), "3 others: no change in all.\nThe makespans are the same.\n",
    "then no row is listed")
local list = words.list(compare(a, b))
tap.is(list[1].change .. list[2].change .. list[3].change .. list[4].change,
    "slowerremovedaddedsame", "scripts get all rows")
tap.is(list[1].share, 0.75, "with their shares")
tap.is(list[3].mean_a_us, nil, "an operation that is not there has no mean")
tap.is(list.idle_b_us, 3000, "and the time in which nothing ran")
local sum_a, sum_b = list.idle_a_us, list.idle_b_us
for _, r in ipairs(list) do sum_a, sum_b = sum_a + r.part_a_us, sum_b + r.part_b_us end
tap.is(sum_a, 8000, "with which the parts add up to the makespan")
tap.is(sum_b, 16000, "of both")
tap.is(words.list(compare({ makespan = 8 * ms, rows = { row("k", 1, 1000) } },
    { makespan = 8 * ms, rows = { row("k", 1, 1009) } }))[1].change, "same",
    "less than a hundredth is the same")

local covered = words.sentence(compare({ makespan = 9 * ms, rows = { row("gemm", 2, 4), row("copy",
    1, 5) } }, { makespan = 5 * ms, rows = { row("gemm", 2, 4, 2), row("copy", 1, 5, 3) } }))
tap.is(covered, "B takes 4.00 ms less (-44.4 %): 2.00 ms of the 4.00 ms come from copy (longer "
    .. "beside other work), 2.00 ms from gemm (longer beside other work).",
    "an operation that takes as long, but now beside another, is said to be so")

local nameless <const> = { makespan = 4 * ms, rows = { row("", 2, 4), writer = "recorder" } }
nameless.rows[1].full_name = ""
tap.like(words.text(compare(a, nameless, "operator"), 120), "\nB has no operators%. Operators are "
    .. "recorded where the program runs under torch%.autograd%.profiler%.emit_nvtx%(%)%.\n",
    "which of the two has no operators, and what records them")
tap.like(words.text(compare(nameless, a, "operator"), 120), "\nA has no operators%.",
    "either of the two")
tap.ok(not words.text(compare(nameless, nameless, "operator"), 120):find("has no", 1, true),
    "not where both are alike")

-- ---- names -------------------------------------------------------------------------------------

-- The same short name: the whole names are matched.
local function full(name, time)
    return { name = "Memcpy", full_name = name, count = 1, sum = time * ms, busy = time * ms,
             covered = 0, part = time * ms }
end
local named = words.list(compare({ makespan = ms, rows = { full("Memcpy (Pageable)", 1) } },
    { makespan = ms, rows = { full("Memcpy (Pinned)", 2) } }))
tap.is(#named, 2, "rows are the same if their whole names are")
tap.is(named[1].name, "Memcpy (Pinned)", "which are shown where short ones do not tell rows apart")
tap.like(words.text(compare({ makespan = 2 * ms, rows = { row("k", 1, 1) } },
    { makespan = 5 * ms, rows = { row("k", 1, 1) } }), 120), "\nNothing ran for 1%.00 ms in A, "
    .. "and for 4%.00 ms in B: the same comparison without a key says what the GPU waited for%.\n",
    "where it is most of the change, a line says where its reasons are")
local hostile = words.compare("kernel", { makespan = ms, rows = {} },
    { makespan = 2 * ms, rows = { row("a|b`c\27[31m", 1, 1) } })
tap.ok(not words.text(hostile, 80):find("\27", 1, true), "names cannot reach the terminal")
tap.like(words.markdown(hostile), "| `a\\|b'c%?%[31m` | added | %+1%.00 ms |",
    "nor end a cell of Markdown")
tap.like(words.markdown(compare(a, b)), "^%*%*makespan 8%.00 ms %-> 16%.0 ms%*%*\n\nB takes .*"
    .. "\n| kernel | | change | .*\n| `gemm` | slower | %+8%.00 ms | 75%.0 %% | 4%.00 ms | 12%.0 ms"
    .. " | 2 | 3 | 2%.00 ms | 4%.00 ms |\n", "Markdown has a sentence and a table")
local read = json.read(words.json(compare(a, b)))
tap.is_deeply(read.makespan_us, { 8000, 16000 }, "JSON has both")
tap.is_deeply(read.rows[1].count, { 2, 3 }, "for each row")
local empty <const> = { makespan = 0, rows = {} }
tap.is(#json.read(words.json(compare(empty, empty))).rows, 0, "of which there may be none")
tap.like(words.sentence(compare(empty, b)), "^B takes 16%.0 ms longer: ",
    "of an empty timeline there are no per cent")

-- ---- steps -------------------------------------------------------------------------------------

local function step(name, wall)
    local s = row(name, 5, 1)
    s.wall, s.ran, s.full_name = wall * ms, ms, nil
    return s
end
local steps = words.list(compare({ makespan = 20 * ms, rows = { row("", 1, 1), step("s#1", 8),
    step("s#2", 9) } }, { makespan = 26 * ms, rows = { step("s#1", 8), step("s#2", 14) } }, "step"))
tap.is(steps[1].name, "s#2", "steps are compared by name")
tap.is(steps[1].time_b_us, 14000, "by how long they took")
tap.is(steps.idle_a_us, nil, "and idle time is in them")
local ordered = compare({ makespan = 20 * ms, rows = { step("s#1", 8), step("s#2", 9) } },
    { makespan = 26 * ms, rows = { step("s#11", 8), step("s#12", 14), step("s#13", 1) } }, "step")
tap.like(words.text(ordered, 120), "slower  s#12\n.*added   s#13\n.*\nNo step has the same name in "
    .. "both: they are compared in their order%.\n", "or in their order where none has the name")
local without <const> = { makespan = ms, rows = { row("", 1, 1) } }
tap.is(words.text(compare(without, without, "step"), 120), "Neither has steps. PyTorch's profiler "
    .. "marks steps where its step() is called.\n1 other: no change in all.\n"
    .. "The makespans are the same.\n", "or there are none")
tap.like(words.sentence(ordered), "from s#12 %(14%.0 ms instead of 9%.00 ms%)", "with both times")

-- ---- timelines ---------------------------------------------------------------------------------

local before = made { { "kernel", 1, 0, 4 * ms } }
local after = made { { "kernel", 1, 0, 4 * ms }, { "kernel", 1, 5 * ms, 7 * ms } }
local found = before:changes(after, "kernel")
tap.is(found[1].change, "slower", "timelines are compared")
tap.is(found[1].count_b, 2, "by their operations")
tap.is(found.idle_b_us, 1000, "and the time between them")
tap.throws_like(function() before:changes(after, "stream") end, '"line" or "step", not by "stream"',
    "streams have no names to compare by")
tap.throws_like(function() before:changes(after, "phase") end, 'not by "phase"',
    "phases are too few to compare")
tap.throws_like(function() before:diff(after, { by = "phase" }) end, 'not by "phase"',
    "as a table, too")
tap.throws_like(function() before:changes(after) end, "argument 3 %(key%)", "a key is needed")
tap.throws_like(function() before:changes(1, "kernel") end,
    "argument 2 %(other%) must be a timeline", "and a timeline")
tap.throws_like(function() before:diff(after, { form = "json" }) end,
    "option 'form' goes with 'by'", "a form is one of a table")
tap.throws_like(function() before:diff(after, { by = "kernel", form = "xml" }) end,
    'option \'form\' must be "text", "markdown" or "json", got "xml"', "and one of three")
tap.done()
