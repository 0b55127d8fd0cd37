-- 61-lab-results.t.lua - the results of a lab in the formats that others read, on tables made by
-- hand; read back by Python and prove, which know nothing of ours.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local environment = debug.getregistry()["streamlab.environment"]
local folder = shell.folder()

-- Everything that a submission could print: all bytes, ends of markup, what is no UTF-8 in more
-- than one way, characters that XML does not have, and a great deal of it.
local all = {}
for byte = 0, 255 do
    all[#all + 1] = string.char(byte)
end
local hostile = table.concat(all) .. "]]>]]&gt;</failure><!--\u{fffe}\u{ffff}\u{85}\u{9b}31m\r\n"
    .. "\27[31mred\27[0m \xed\xa0\x80 \xc0\xaf é漢😀\n\n\\u0000 \"quoted\" # TODO\n"
    .. "ok 1 - forged\n1..1\nBail out!\n" .. ("\xff"):rep(100000) .. ("long "):rep(50000) .. "end"
shell.write(folder .. "/raw", hostile)

local function test(number, name, points, passed, output, hidden)
    return { number = number, name = name, points = points, score = passed and points or 0,
             passed = passed, hidden = hidden or false, output = output, printed = "secret" }
end

-- Cells of tables are cut at 1000 bytes; results are not.
local words = environment.import "repl/labs/results/words.lua"
tap.is(words.line(("x"):rep(2000)), ("x"):rep(2000), "a long line of a result is written whole")
tap.is(words.name(("x"):rep(2000)), ("x"):rep(2000), "and so is a long name")

local names = {
    "copies overlap", "a <name> & \"quotes\" # TODO, \\# SKIP, one", "the host is free",
}
local bundle = {
    id = "03-pinned", title = "Pinned & pageable", points = 100,
    hidden_visibility = "after_published",
    tests = { { number = "1.1", name = names[1] }, { number = "1.2", name = names[2] },
              { number = "2.1", name = names[3] } },
}
local alice = { student = "alice", file = "/secret/alice.lua", score = 42.5, points = 100, tests = {
    test("1.1", names[1], 42.5, true, ""),
    test("1.2", names[2], 27.5, false, "seen 0 %\nasked 80 %"),
    test("2.1", names[3], 30, false, hostile, true) } }
local bob = { student = '=HYPERLINK("x"),\u{1}', file = "bob.lua", score = 100, points = 100,
    tests = {
    test("1.1", names[1], 42.5, true, "fine"), test("1.2", names[2], 27.5, true, ""),
    test("2.1", names[3], 30, true, "", true) } }
local carol = { student = "carol", file = "carol", score = 0, points = 100,
    problem = "the submission has no function 'upload'", tests = {
    test("1.1", names[1], 42.5, false, ""), test("1.2", names[2], 27.5, false, ""),
    test("2.1", names[3], 30, false, "", true) } }

-- What a format writes; also that it does so twice, and that nothing private is in it.
local function written(name, list)
    local format = environment.import("repl/labs/results/" .. name .. ".lua")
    local text = format.text(list, bundle)
    tap.ok(text == format.text(list, bundle), name .. ": the same results give the same bytes")
    tap.ok(not text:find("secret", 1, true),
        name .. ": neither what a script printed nor where its file lies is reported")
    return text, format
end

local has_python = shell.sh("command -v python3") ~= ""

-- What Python reads in it.
local function reads(kind, text, want, name)
    if not has_python then
        return tap.skip("no python3")
    end
    shell.write(folder .. "/results", text)
    local out, err = shell.sh("PYTHONIOENCODING=utf-8 python3 tests/repl/lab_results.py " .. kind
        .. " " .. folder .. "/results " .. folder .. "/raw")
    tap.is(err .. out, want, name)
end

-- ---- Gradescope ------------------------------------------------------------------------

local text, format = written("gradescope", { alice })
tap.is(format.suffix .. tostring(format.class), ".jsonfalse",
    "gradescope: a .json for one submission")
reads("json", text, [[
score|output|output_format|stdout_visibility|tests
score|max_score|status|name|number|output|output_format|tags|visibility
42.5|1 of 2 visible tests passed. 1 hidden test was run as well.|text|hidden
1.1|42.5|42.5|passed|visible|visible|copies overlap
1.2|0|27.5|failed|visible|visible|a <name> & "quotes" # TODO, \# SKIP, one
2.1|0|30|failed|after_published|hidden|the host is free
numbers are|float|int|int
output|True
]], "gradescope: JSON with these fields in this order, whatever the submission printed")
tap.is(text:find("[^\n\32-\126\128-\255]"), nil, "gradescope: without control characters")
tap.is(text:find("execution_time", 1, true), nil, "gradescope: without times")
local before = text:match("^(.-)\"tests\"")
alice.tests[3].passed, alice.tests[3].score = true, 30
tap.is(format.text({ alice }, bundle):match("^.-\"output\".-\n"):match("\"output\".*"),
    before:match("\"output\"[^\n]*\n"),
    "gradescope: the text at the top tells nothing of hidden tests")
alice.tests[3].passed, alice.tests[3].score = false, 0
tap.like(written("gradescope", { carol }),
    '"score": 0,\n  "output": "the submission has no function '
    .. "'upload'\",\n", "gradescope: a submission that could not be graded says why")
tap.like(format.text({ { score = 3.0, points = 3, tests = {} } }, bundle), '^{\n  "score": 3,\n',
    "gradescope: whole numbers have no point")

-- ---- TAP ---------------------------------------------------------------------------------

text, format = written("tap", { alice })
tap.is(format.suffix .. tostring(format.class), ".taptrue", "tap: a .tap, also for a class")
tap.like(text, "^TAP version 13\n1%.%.3\nok 1 %- 1%.1 copies overlap\n# 42%.5 of 42%.5 points\n"
    .. "not ok 2 %- 1%.2 a <name> & \"quotes\" \\# TODO, \\\\\\# SKIP, one\n# 0 of 27%.5 points\n"
    .. "# seen 0 %%\n# asked 80 %%\nnot ok 3 %- 2%.1 the host is free\n# 0 of 30 points\n# ",
    "tap: a line a test, with its points and its output below")
tap.like(text, "\n# 42%.5 of 100 points\n$", "tap: all points last")
local odd = {}
for line in text:gmatch("[^\n]*") do
    if not (line == "TAP version 13" or line == "1..3" or line:find("^ok ") or line:find("^not ok ")
        or line:find("^#") or line == "") or line:find("%c") or not utf8.len(line) then
        odd[#odd + 1] = line
    end
end
tap.is(table.concat(odd, "\n"), "",
    "tap: nothing that the submission printed is taken for a result")

-- prove's verdict on a text.
local function proved(kind)
    shell.write(folder .. "/x.tap", kind)
    return (shell.sh("cd " .. folder .. " && prove --exec cat x.tap 2>&1"))
end
tap.like(proved(text), "Failed 2/3 subtests.*Tests: 3 Failed: 2%)\n  Failed tests:  2%-3\n",
    "tap: prove counts what failed")
tap.like(proved(format.text({ bob }, bundle)), "All tests successful.\n.*Tests=3",
    "tap: and what passed")
text = written("tap", { alice, bob, carol })
tap.like(text, "^TAP version 13\n1%.%.3\n# Subtest: alice\n    1%.%.3\n    ok 1 %- ",
    "tap: a class has a subtest a student")
tap.like(text,
    "\nok 2 %- =HYPERLINK%(\"x\"%),\\\\x01\n# 100 of 100 points\n# Subtest: carol\n    1%.%.3\n"
    .. "    # the submission has no function 'upload'\n    not ok 1 ",
    "tap: and the points of each")
tap.like(proved(text), "Tests: 3 Failed: 2%)\n  Failed tests:  1, 3\n", "tap: prove reads a class")

-- ---- JUnit ---------------------------------------------------------------------------------

text, format = written("junit", { bob, carol, alice })
tap.is(format.suffix .. tostring(format.class), ".xmltrue", "junit: an .xml, also for a class")
reads("xml", text, [[
testsuites|03-pinned Pinned & pageable|9|5|0
testsuite|=HYPERLINK("x"),\x01|3|0|100|100
testcase|03-pinned.=HYPERLINK("x"),\x01|1.1 copies overlap|42.5|42.5|passed
testcase|03-pinned.=HYPERLINK("x"),\x01|1.2 a <name> & "quotes" # TODO, \# SKIP, one|27.5|27.5|passed
testcase|03-pinned.=HYPERLINK("x"),\x01|2.1 the host is free|30|30|passed
testsuite|carol|3|3|0|100
testcase|03-pinned.carol|1.1 copies overlap|0|42.5|failed
testcase|03-pinned.carol|1.2 a <name> & "quotes" # TODO, \# SKIP, one|0|27.5|failed
testcase|03-pinned.carol|2.1 the host is free|0|30|failed
testsuite|alice|3|2|42.5|100
testcase|03-pinned.alice|1.1 copies overlap|42.5|42.5|passed
testcase|03-pinned.alice|1.2 a <name> & "quotes" # TODO, \# SKIP, one|0|27.5|failed
testcase|03-pinned.alice|2.1 the host is free|0|30|failed
output|True
]], "junit: XML with a suite a student, whatever a submission printed")
tap.like(text, '<failure type="failed" message="the submission has no function &#39;upload&#39;">',
    "junit: a submission that could not be graded says why")
tap.like(text, '<failure type="failed" message="seen 0 %%">seen 0 %%\nasked 80 %%</failure>',
    "junit: a failure has its first line as the message")

-- ---- CSV -----------------------------------------------------------------------------------

carol.tests[3] = nil
text, format = written("csv", { alice, bob, carol })
tap.is(format.suffix .. tostring(format.class), ".csvtrue", "csv: a .csv for a class")
reads("csv", text, [[
student|score|points|1.1 copies overlap|1.2 a <name> & "quotes" # TODO, \# SKIP, one|2.1 the host is free|remark
alice|42.5|100|42.5|0|0|
'=HYPERLINK("x"),\x01|100|100|42.5|27.5|30|
carol|0|100|0|0||the submission has no function 'upload'
ends of lines|True
]], "csv: a header and a line a student; what would be a formula is none")
for _, name in ipairs { "=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "\u{ff1d}1",
    "\u{ff0b}1", "\u{ff0d}1", "\u{ff20}x" } do
    bob.student = name
    tap.like(format.text({ bob }, bundle), "\n['\\][^\n]*,100,100,",
        ("csv: %q is no formula"):format(name))
end
-- Some spreadsheets separate at semicolons, too; and some at these alone, which see a quote only at
-- the beginning of their cell.
bob.student, bob.problem = "x;100;100", "no; =1+1;-2;y"
tap.like(format.text({ bob }, bundle), "\n\"x;100;100\",100,100,[%d.,]*,\"no;' =1%+1;'%-2;y\"\r\n$",
    "csv: a semicolon begins neither a cell nor a formula")
bob.problem = nil
bob.student = "O'Neil-Smith, =x"
tap.like(format.text({ bob }, bundle), "\n\"O'Neil%-Smith, =x\",100,",
    "csv: other names stay as they are")

-- ---- names -------------------------------------------------------------------------------------

local mueller, moeller = { student = "M\xfcller", score = 1, points = 1, tests = {} },
    { student = "M\xf6ller", score = 0, points = 1, tests = {} }
for _, kind in ipairs { "csv", "junit", "tap" } do
    local all_names = environment.import("repl/labs/results/" .. kind .. ".lua")
        .text({ mueller, moeller }, bundle)
    tap.ok(all_names:find("M\\xfcller", 1, true) and all_names:find("M\\xf6ller", 1, true),
        kind .. ": names that are no UTF-8 are still two")
end

shell.remove(folder)
tap.done()
