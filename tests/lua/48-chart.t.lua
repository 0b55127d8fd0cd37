-- 48-chart.t.lua - the Gantt chart in characters, cell by cell.
--
-- At 30 columns a label of one column leaves 30 - 1 - 3 - 5 = 21 cells, one of two columns 20; the
-- timelines are 210 or 200 ns long, so a cell is 10 ns.
local T = require "tap"
package.path = "tests/lua/?.lua;" .. package.path
local ideal = require "ideal"
local made = require "made"

-- from and to in ns.
local function chart(tl, columns, unicode, more)
    local options = { columns = columns, unicode = unicode, colour = false }
    for key, value in pairs(more or {}) do options[key] = value end
    return tl:text(options)
end

local function part(tl, columns, from_ns, to_ns, more)
    local options = { from_us = from_ns / 1000, to_us = to_ns / 1000 }
    for key, value in pairs(more or {}) do options[key] = value end
    return chart(tl, columns, options.unicode, options)
end

local function has(text, what, name) T.ok(text:find(what, 1, true), name) end

local function first_line(text) return text:match("^[^\n]*") end

local function two_streams()
    return made {
        { "kernel", 1, 0, 104 }, { "memcpy_h2d", 2, 100, 150 }, { "memcpy_d2h", 2, 153, 156 },
        { "memset", 2, 190, 200 }, streams = { "a", "bb" },
    }
end

-- a:  ten full cells, then 4 of 10 ns: 3 eighths. Busy 104 of 200.
-- bb: five cells of H2D, 3 of 10 ns of D2H is hollow, one memset. Busy 63 of 200.
local function streams()
    local tl = two_streams()
    T.is(chart(tl, 30, true), [[
a  │██████████▍·········│  52%
bb │··········▲▲▲▲▲▽···●│  32%
   └┬─────────┬─────────┘ busy
    0        100 ns
█ kernel  ▲ copy H2D
▼ copy D2H  ● memset  · idle
lighter, hollow: partly busy
]], "two streams, four kinds")
    T.is(chart(tl, 30, false), [[
a  |##########:.........|  52%
bb |..........>>>>>(...*|  32%
   ++---------+---------+ busy
    0        100 ns
# kernel  > copy H2D
< copy D2H  * memset  . idle
: ( partly busy
]], "the same without Unicode")
    T.is(part(tl, 30, 100, 200, { unicode = true }), [[
a  │▊···················│   4%
bb │▲▲▲▲▲▲▲▲▲▲▽▽······●●│  63%
   └┬─────────┬─────────┘ busy
   100       150 ns
█ kernel  ▲ copy H2D
▼ copy D2H  ● memset  · idle
lighter, hollow: partly busy
]], "the second half alone, 5 ns a cell")
    has(chart(tl, 30, true, { colour = true }),
        "a  │\27[32m██████████▍\27[0m\27[2m·········\27[0m│  52%\n",
        "colours change with the kind and end with the row")
end

-- Cell by cell, 10 ns each:
--   0  full                       1  0-3: one stretch from the left, 2 eighths
--   2  6-8 inside: 2 eighths      3  6-10 to the right: half
--   4  full                       5  0-4: 3 eighths
--   6  0-3 and 6-8: half, light   7  0-5 and 7-9: 7 of 10, dark
--   8  idle                       9  two single ns: lightest
--  20  the last ns: a thin mark at the right          busy 49 of 210
local function fill_levels()
    local spans = { streams = { "k" } }
    for _, at in ipairs { { 0, 13 }, { 26, 28 }, { 36, 54 }, { 60, 63 }, { 66, 68 }, { 70, 75 },
                          { 77, 79 }, { 92, 93 }, { 98, 99 }, { 209, 210 } } do
        spans[#spans + 1] = { "kernel", 1, at[1], at[2] }
    end
    T.is(first_line(chart(made(spans), 30, true)), "k │█▎▎▐█▍▒▓·░··········▕│  23%",
        "bars have edges, stretches with gaps have shades")
end

-- 1 us of copy in 100 ms, and spans of no length at all.
local function short_spans()
    local tl = made {
        { "kernel", 1, 0, 100000000 }, { "memcpy_h2d", 2, 50000000, 50001000 },
        { "kernel", 3, 99999999, 100000000 }, { "memset", 3, 0, 0 }, streams = { "a", "b", "c" },
    }
    local text = chart(tl, 80, true)
    has(text, "▵", "a copy of 1 us in 100 ms leaves a mark")
    has(text, "▕│  <1%", "so does a kernel of 1 ns at the very end")
    has(text, "◦", "and a memset of no length")
    T.like(text, "b │[^\n]*│  <1%%", "less than 1 % is not 0 %")
    text = chart(tl, 80, false)
    T.ok(text:find(".).", 1, true) and text:find("|+.", 1, true), "without Unicode, too")
    has(chart(made { { "kernel", 1, 500, 500 } }, 40, true), "│▏··",
        "a timeline of no length is drawn")
end

local function empty_and_refused()
    ideal.open()
    local tl = lab.profile(function() end)
    T.is(tl:text(), "The timeline is empty: nothing ran on the device.\n",
        "an empty timeline says so")
    tl = two_streams()
    local function refused(options, pattern, name)
        ideal.refuses(T, function() tl:text(options) end, "SL_EINVAL", pattern, name)
    end
    refused({ columns = 19 }, "a chart can be 20 to 4096 columns wide, not 19",
        "19 columns are too few")
    refused({ columns = 4097 }, "not 4097", "4097 are too many")
    refused({ from_us = 0.05, to_us = 0.05 }, "the range is empty", "an empty range is refused")
    refused({ from_us = 0.201 },
        "the range 0.201 to 0.2 us is empty: the timeline lasts from 0 to 0.2 us",
        "so is one behind the end, in us")
    refused({ from_us = 5000 }, "the range 5000 to 0.2 us is empty", "whole us have no point")
    refused({ to_us = 8e15 }, "the range 0 to 8000000000000000 us is too long: ",
        "an endless one is, too")
    refused({ from_us = -1.5, to_us = 1 }, "'from_us' must be from 0 to 9e15, got %-1.5",
        "a negative time is refused")
end

-- 10 ns a cell. a: five kernels of 40 ns back to back. b: 3 of 40 ns with a visible gap (20 ns) and
-- an invisible one (2 ns), in whose cell the mark stands. c: a change of kind, which needs no mark;
-- then operations of 20 ns, too short for one.
local function next_begins()
    local spans = { streams = { "a", "b", "c" } }
    local function add(...) spans[#spans + 1] = { ... } end
    for i = 0, 4 do add("kernel", 1, i * 40, i * 40 + 40) end
    add("memcpy_h2d", 2, 0, 40)
    add("memcpy_h2d", 2, 60, 100)
    add("memcpy_h2d", 2, 102, 142)
    add("kernel", 3, 0, 40)
    add("memset", 3, 40, 80)
    for i = 0, 3 do add("kernel", 3, 80 + i * 20, 100 + i * 20) end
    add("memset", 3, 209, 210)
    local tl = made(spans)
    T.is(chart(tl, 30, true), [[
a │████│███│███│███│███·│  95%
b │▲▲▲▲··▲▲▲▲│▲▲▲△······│  57%
c │████●●●●████████····○│  77%
  └┬─────────┬─────────┬┘ busy
   0        100       200 ns
█ kernel  ▲ copy H2D  ● memset
· idle  │ next begins
lighter, hollow: partly busy
]], "a line where an operation follows its like")
    T.is(chart(tl, 30, false), [[
a |####|###|###|###|###.|  95%
b |>>>>..>>>>|>>>)......|  57%
c |####****########....+|  77%
  ++---------+---------++ busy
   0        100       200 ns
# kernel  > copy H2D  * memset
. idle  | next begins
) + partly busy
]], "the same without Unicode")
    T.is(first_line(part(tl, 30, 40, 145)):sub(1, 25), "a |########|#######|####|",
        "the first cell shown needs no mark")
end

-- Odd streams are ten times as busy.
local function many_streams()
    local spans = {}
    for i = 0, 199 do spans[i + 1] = { "kernel", i, 0, (i % 2 == 1 and 1000 or 100) + i } end
    local text = chart(made(spans), 80, false)
    local _, rows = text:gsub("%%\n", "")
    T.is(rows, 32, "32 streams are drawn")
    has(text, "\n... 168 more streams\n", "the others are counted")
    T.ok(text:find("stream 137 |", 1, true) and text:find("stream 199 |", 1, true)
        and not text:find("stream 135 |", 1, true) and not text:find("stream 136 |", 1, true),
        "the busiest are drawn")
    T.ok(text:find("stream 137 |", 1, true) < text:find("stream 199 |", 1, true),
        "in order of their ids")
end

local function labels()
    local spans = { streams = { "a name that is far too long", "grün\27[31m", "\u{202e}\u{85}bad",
                                "日本語の名前です", [6] = "prefix of ae\u{301}e\u{301}nd 30" } }
    for i = 1, 6 do spans[i] = { "kernel", i, 0, 100 } end
    local tl = made(spans)
    local text = chart(tl, 80, true)
    has(text, "a name …o long │", "a long name is cut in the middle")
    has(text, "grün?[31m      │", "an escape sequence does not reach the terminal")
    has(text, "??bad          │", "nor do marks for the direction of writing")
    has(text, "日本語…前です  │", "wide characters count as two columns")
    has(text, "prefix …e\u{301}nd 30 │", "an accent goes with its letter")
    has(text, "stream 5       │", "a stream without a name has its number")
    has(chart(tl, 28, true), "s 5     │", "which stays where there is no room for the word")
    has(chart(made{ { "kernel", 1, 0, 100 }, { "kernel", 2, 0, 100 },
                    streams = { "1095 stream 84", "downstream 84 of b" } }, 40, true),
        "1095 s 84  │", "also behind the number of a process")
    has(chart(made{ { "kernel", 1, 0, 100 }, streams = { "downstream 84" } }, 40, true),
        "downs…m 84 │", "a word that only ends so is none")
    T.ok(not chart(tl, 80, false):find("[^\n -~]"), "without Unicode every byte is ASCII")
end

-- 10 ns a cell. Two streams share the compute engine: b's long kernel begins at 40, and a's at 100
-- while it runs, of which the line tells; a's first one is issued last. Of the 200 ns compute works
-- 30 and 130, d2h 130.
local function engine_rows()
    local tl = made {
        { "kernel", 1, 100, 170 }, { "kernel", 2, 40, 120 }, { "memcpy_d2h", 2, 70, 200 },
        { "kernel", 1, 0, 30 }, streams = { "a", "b" },
    }
    T.is(chart(tl, 35, false, { rows = "engines" }), [[
compute |###.######|######...|  80%
d2h     |.......<<<<<<<<<<<<<|  65%
        ++---------+---------+ busy
         0        100 ns
# kernel  < copy D2H  . idle
| next begins
]], "engines as rows: kernels of two streams are in one")
    T.is(part(tl, 35, 100, 200, { rows = "engines" }), [[
compute ||#############......|  70%
d2h     |<<<<<<<<<<<<<<<<<<<<| 100%
        ++---------+---------+ busy
        100       150 ns
# kernel  < copy D2H  . idle
| next begins
showing 100 to 200 ns of 200 ns
]], "and the second half of it")
    T.is(first_line(chart(tl, 29, false)), "a |###.......#######...|  50%",
        "spans of a stream that were not issued in order of time are drawn as they ran")
end

-- The other one is twice as long and has a label of four columns: 18 cells of 20 ns.
local function beside()
    local tl = made { { "kernel", 1, 0, 180 }, streams = { "a" } }
    local other = made { { "kernel", 1, 0, 360 }, streams = { "long" } }
    T.is(chart(tl, 30, false, { beside = other }), [[
a    |#########.........|  50%
     ++---------+-------+ busy
      0        200 ns
# kernel  . idle
]], "a chart beside a longer one has its scale and columns")
    T.is(first_line(chart(other, 30, false, { beside = tl })), "long |##################| 100%",
        "the longer one has them too")
    T.is(first_line(chart(tl, 30, false, { beside = other, from_us = 0.2 })),
        "a    |..................|   0%",
        "and a part in which only the other one has work is drawn")
end

local function parts()
    local tl = made { { "kernel", 1, 0, 69400000 } }
    for _, one in ipairs {
        { 12000000, 18000000, "  showing 12 to 18 ms of 69.4 ms\n" },
        { 12345678, 18000000, "  showing 12.346 to 18 ms of 69.4 ms\n" },
        { 12345678, 12345978, "  showing 12.345678 to 12.345978 ms of 69.4 ms\n" },
        { 0, 300000, "  showing 0 to 300 us of 69.4 ms\n" },
        { 0, 69399999, "  showing 0 to 69.4 ms of 69.4 ms\n" },
        { 60000000, 80000000, "  showing 60 to 80 ms of 69.4 ms\n" },
        { 0, 69400000 },
        { 0, 100000000 },
    } do
        local from_ns, to_ns, says = table.unpack(one)
        local text = part(tl, 80, from_ns, to_ns)
        T.ok(not says and not text:find("showing") or says and text:find(says, 1, true),
            ("%d to %d ns %s"):format(from_ns, to_ns,
                says and "says which part it is" or "is all of it"))
    end
    T.ok(not part(tl, 30, 12345678, 12345978):find("showing"), "a narrow chart leaves it out")
    T.is(part(tl, 20, 12100000, 12900000), [[
s 1 |#########| 100%
    ++--------+ busy
   12.1 ms
# kernel
]], "and an axis between two ticks has a label at its beginning")
end

-- A cell is at least 1 ns, so that a chart of 10 ns on 21 cells shows 21.
local function shorter_than_its_cells()
    local tl = made { { "kernel", 1, 0, 1000 }, streams = { "a" } }
    T.is(first_line(part(tl, 30, 500, 510)), "a |#####################| 100%",
        "what is shown of a busy row is busy all the time, however short the range is")
    T.is(first_line(chart(made { { "kernel", 1, 0, 5 }, streams = { "a" } }, 30)),
        "a |#####................| 100%", "and a whole timeline is busy as long as it takes")
    T.is(first_line(part(tl, 30, 995, 1000)), "a |#####................| 100%",
        "as is its end")
end

-- Columns of the widest line, of characters that take one column each.
local function widest(text)
    local most = 0
    for line in text:gmatch("[^\n]+") do most = math.max(most, utf8.len(line)) end
    return most
end

-- Whether the labels under the axis, the line behind "busy", end in a unit.
local function has_unit(text) return text:find(" busy\n[^\n]*[ num]s\n") ~= nil end

-- Many widths and ranges: no line is wider than asked for, and the axis always has a unit.
local function widths()
    local kinds = { "kernel", "memcpy_h2d", "memcpy_d2h", "memcpy_d2d", "memcpy_p2p", "memset",
                    "host_func" }
    local too_wide, not_full, no_unit, silent, length = 0, 0, 0, 0, 1
    local function note(tl, columns, unicode)
        local text = chart(tl, columns, unicode)
        if widest(text) > columns then too_wide = too_wide + 1 end
        if widest(text) < columns then not_full = not_full + 1 end
        if not has_unit(text) then no_unit = no_unit + 1 end
        if text:find(unicode and "△" or ")", 1, true) and not text:find("partly busy\n", 1, true)
        then silent = silent + 1 end
        if length < 100 then return end
        text = part(tl, columns, length // 3, length // 3 + length // 50, { unicode = unicode })
        if widest(text) > columns then too_wide = too_wide + 1 end
        if not has_unit(text) then no_unit = no_unit + 1 end
    end
    while length < 4000000000000 do
        local spans = { streams = { "a stream with a name" } }
        for i, kind in ipairs(kinds) do
            spans[i] = { kind, i % 2 + 1, length * (i - 1) // 7, length * i // 7 }
        end
        local tl, columns = made(spans), 20
        while columns <= 200 do
            note(tl, columns, false)
            note(tl, columns, true)
            columns = columns + 1 + columns // 40 + T.sized(3, 0)
        end
        length = length * 7 + 3
    end
    T.is(too_wide, 0, "no chart is wider than asked for")
    T.is(not_full, 0, "every chart uses its columns")
    T.is(no_unit, 0, "every axis has a unit")
    T.is(silent, 0, "every legend explains the lighter signs")
end

for _, test in ipairs { streams, fill_levels, short_spans, empty_and_refused, next_begins,
                        many_streams, labels, engine_rows, beside, parts,
                        shorter_than_its_cells, widths } do
    test()
end
T.done()
