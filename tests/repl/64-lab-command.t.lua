-- 64-lab-command.t.lua - the command line of `streamlab lab`: what it refuses, where it looks for
-- files, classes, formats, and what it says of a lab that is none.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder = shell.folder()
if not shell.program:find("^/") then
    shell.program = io.popen("pwd"):read("l") .. "/" .. shell.program
end

local function at(name) return folder .. "/" .. name end

local function write(name, text)
    local parent = name:match("^(.*)/")
    os.execute("mkdir -p " .. shell.quote(at(parent or "")))
    return shell.write(at(name), text)
end

-- Runs `streamlab lab ...` in the test's folder; gives stdout, stderr and the status.
local function run(words)
    return shell.sh("cd " .. folder .. " && \"$P\" lab " .. words)
end

local lab_file <const> = [[
return { id = "small", title = "Small", points = 10, functions = { "double" } }
]]
local visible <const> = [[
test("twice one is two", { points = 6, hint = "think" }, function(t, student)
    t:is(student.double(1), 2, "two")
end)
]]
local hidden <const> = [[
test("twice two is four", { points = 4 }, function(t, student)
    t:is(student.double(2), 4, "four")
end)
]]
local right <const> = "function double(x) return 2 * x end\n"
local half <const> = "function double(x) print('got', x) return 2 end\n"

local function write_lab(name)
    write(name .. "/lab.lua", lab_file)
    write(name .. "/tests/visible.lua", visible)
    write(name .. "/tests/hidden.lua", hidden)
end
write_lab "small"
write("small/starter.lua", "function double() end\n")
write("right.lua", right)
write("half.lua", half)

-- ---- wrong usage ---------------------------------------------------------------------------

local out, err, code

-- Refused before anything runs: the sentence is on stderr, and nothing on stdout.
local function refused(words, want, status, name)
    out, err, code = run(words)
    tap.is(out .. code .. " " .. err:match("[^\n]*"), status .. " streamlab: lab: " .. want, name)
end

refused("", "check, grade, new, pack or print is missing", 2, "lab alone")
tap.like(err, "\nusage: streamlab lab check|grade|new|pack|print ", "which says how it is used")
refused("mark", "'mark' is none of check, grade, new, pack and print", 2,
    "a word that there is not")
refused("--mark", "unrecognized option '--mark'", 2, "an option that there is not")
refused("check a b c", "check takes a lab and a file, got 'c' as well", 2, "check, too many files")
refused("check -j 2", "unrecognized option '-j'", 2, "an option of grade given to check")
for _, words in ipairs { "", "small", "small right.lua half.lua" } do
    refused("grade " .. words, "grade takes a lab's folder and a submission or a folder of them",
        2, "grade with the words '" .. words .. "'")
end
for _, n in ipairs { "0", "-1", "1.5", "1025", "x" } do
    refused("grade small right.lua -j " .. n, ("-j needs a whole number from 1 to 1024, got '%s'")
        :format(n), 2, "no number of tests at a time: " .. n)
end
refused("grade small right.lua --jobs", "--jobs needs a value", 2, "an option without its value")
refused("grade small right.lua --format xml",
    "--format needs gradescope, tap, junit or csv, got 'xml'", 2, "an unknown format")
refused("grade small right.lua -o ''", "-o needs a name or a file, got ''", 2,
        "a file without a name")
refused("grade small right.lua -o x.txt", "-o needs a file that ends in .json, .tap, .xml or .csv, "
    .. "or --format besides; got 'x.txt'", 2, "a suffix that says nothing")
refused("grade small right.lua -o small", "-o needs a file, 'small' is a folder", 2,
    "a folder for one submission")
refused("grade small right.lua -o none/x.csv",
    "cannot write none/x.csv as csv: there is no folder none", 1, "a folder that is not there")
for _, words in ipairs { "new", "new a b" } do
    refused(words, "new takes the folder of the lab to write", 2, "the words '" .. words .. "'")
end
for _, words in ipairs { "pack", "pack a b" } do
    refused(words, "pack takes a lab's folder", 2, "the words '" .. words .. "'")
end
out, err, code = shell.sh("cd " .. folder .. " && \"$P\" --profile t4 lab check small right.lua")
tap.like(err, "^streamlab: lab: a lab is graded on the profile that its lab.lua names; ",
    "--profile is refused")
tap.is(out .. code, "2", "as wrong usage")
for _, word in ipairs { "", "check ", "grade ", "new ", "pack " } do
    out, err, code = run(word .. "--help")
    tap.ok(out:find("usage: streamlab lab ", 1, true) == 1 and err == "" and code == 0,
        "lab " .. word .. "--help explains")
end
for line in out:gmatch("[^\n]+") do
    tap.ok(#line <= 80, "in 80 columns: " .. line)
end

-- ---- check ---------------------------------------------------------------------------------

local passes <const> = [[
TAP version 13
1..1
ok 1 - 1.1 twice one is two
# 6 of 6 points
# 6 of 6 points; hidden tests have the other 4
]]
out, err, code = run "check small right.lua"
tap.is(out, passes, "check runs the visible tests alone")
tap.is(err .. code, "0", "and ends with 0 if they pass")
out, err, code = run "check small"
tap.is(out, [[
TAP version 13
1..1
not ok 1 - 1.1 twice one is two
# 0 of 6 points
# failed: two
#   seen   nil
#   asked  2
# hint: think
# 0 of 6 points; hidden tests have the other 4
]], "without a file the starter, and what is wrong with it")
tap.is(err .. code, "1", "and ends with 1 if one does not")
write("python.lua", "function double(x) return x == None and 0 or 2 * x, True end\n")
tap.like(run "check small python.lua", "there is no variable 'None'; did you mean 'nil'%?",
    "for Python's names of values the hint says what they are here")
tap.is(run "check small half.lua",
    (passes:gsub("# 6 of 6 points\n", "%0# printed:\n#   got    1\n", 1)),
    "what the submission printed is shown")
write("small/submission.lua", right)
tap.is(run "check small", passes, "submission.lua comes before the starter")
tap.is(run "check small/", passes, "a slash behind the folder does not matter")
tap.is(run "check small/submission.lua", passes, "a file alone is checked by the lab beside it")
local function inside(words)
    return (shell.sh("cd " .. at "small" .. " && \"$P\" lab " .. words))
end
tap.is(inside "check", passes, "in the lab's folder nothing need be named")
tap.is(inside "check submission.lua", passes, "or the file alone")
tap.is(inside "check . ../right.lua", passes, "or both")
tap.is((shell.sh("cd " .. folder .. " && STREAMLAB_BACKEND=cuda STREAMLAB_PROFILE=none \"$P\" lab "
    .. "check small")), passes, "the environment's backend and profile do not matter")

refused("check small none.lua", "there is no none.lua", 1, "a file that is not there")
refused("check none", "there is no none", 1, "a name of nothing")
refused("check right.lua", "there is no lab in .: a lab is a folder with a file lab.lua", 1,
    "a file without a lab beside it")
write("bare/lab.lua", lab_file)
write("bare/tests/visible.lua", visible)
refused("check bare", "there is no submission.lua in bare; name the file that you work on", 1,
    "a lab without a file to check")
tap.is(run "check bare right.lua", passes, "students have no hidden tests")
refused("grade bare right.lua",
    "bare has no tests/hidden.lua; to run the tests that there are: streamlab lab check", 1,
    "without which nothing is graded")

-- ---- one submission --------------------------------------------------------------------------

out, err, code = run "grade small half.lua"
tap.is(out .. err .. code, "half       6/10  failed 2.1\n0",
    "grade prints a line, and ends with 0 whatever the points are")
tap.like(run "grade small half.lua --format gradescope", '^{\n  "score": 6,\n',
    "or Gradescope's JSON")
for suffix, begins in pairs { json = "{\n", tap = "TAP version 13\n1..2\n", xml = "<?xml ",
    csv = "student,score,points,1.1 twice one is two,2.1 twice two is four,remark\r\n"
        .. "half,6,10,6,0,\r\n" } do
    out, err, code = run("grade small half.lua -o result." .. suffix)
    tap.is(out .. err .. code, "half       6/10  failed 2.1\n0", "with -o it prints a line, too")
    local text = shell.read(at("result." .. suffix))
    tap.is(text:sub(1, #begins), begins, "and the file is what its name says: ." .. suffix)
end
run "grade small half.lua -o result.txt --format csv"
tap.is(shell.read(at "result.txt"), shell.read(at "result.csv"), "--format goes before the name")
tap.is(run "grade small half.lua --format csv", shell.read(at "result.csv"),
    "and says what is printed")
for _, file in ipairs { "json", "tap", "xml" } do
    tap.ok(not shell.read(at("result." .. file)):find("got +2"),
        "what is printed in a hidden test is not in ." .. file)
end
refused("grade small none.lua -o result.csv", "there is no none.lua", 1, "a file that is missing")

-- ---- a class -----------------------------------------------------------------------------------

write("class/ada.lua", right)
write("class/bob/whatever.lua", half)
write("class/bob/notes.txt", "")
write("class/Zoë Müller/my work.lua", right)
write("class/two/a.lua", right)
write("class/two/b.lua", right)
write("class/none/a.txt", right)
write("class/syntax.lua", "function double(\n")
write("class/binary.lua", "\27Lua\0")
write("class/large.lua", ("-"):rep(1024 * 1024 + 1))
write("class/.hidden.lua", right)
write("class/read me.txt", "")
local lines <const> = [[
Zoë Müller      10/10  all passed
ada             10/10  all passed
binary           0/10  binary.lua is compiled code, and no text
bob              6/10  failed 2.1
large            0/10  cannot read large.lua: it has 1048577 bytes, more than 1048576
none             0/10  there is no .lua file in the folder
syntax           0/10  syntax.lua:2: <name> or '...' expected near <eof>
two              0/10  there is more than one .lua file in the folder
]]
out, err, code = run "grade small class"
tap.is(out, lines, "a class has files and folders, a line each, sorted")
tap.is(err .. code, "streamlab: lab: read me.txt is no submission: it is neither a .lua file nor a "
    .. "folder\n0", "and what is no submission is named")
out = run "grade small/ class/ -o one.csv -j 1"
tap.is(out, lines, "one after the other as well")
run "grade small class -o all.csv --jobs=7"
tap.is(shell.read(at "all.csv"), shell.read(at "one.csv"), "the same bytes")
tap.is(shell.read(at "one.csv"):match("\n(.-)\nada"), "Zoë Müller,10,10,6,4,\r",
       "names as they are")
for _, suffix in ipairs { "tap", "xml" } do
    run("grade small class -o class." .. suffix)
    tap.ok(shell.read(at("class." .. suffix)):find("Zoë Müller", 1, true), "all in one ." .. suffix)
end
tap.like(shell.read(at "class.xml"), "syntax%.lua:2: ", "an error has the file's name and line")
refused("grade small class --format csv", "--format needs -o FILE for a class", 2,
    "a class has lines and nothing else on stdout")
for _, name in ipairs { "one.csv --format gradescope", "results.json", "results.CSV",
                        "marks.xlsx" } do
    refused("grade small class -o " .. name, "-o needs a folder, for one file a student; or a file "
        .. "that ends in .csv, .xml or .tap; got '" .. name:match("%S+") .. "'", 2,
        "Gradescope's results of a class as " .. name)
end
os.remove(at "class/read me.txt")
refused("grade small class -o none/results", "cannot make the folder none/results: No such file or "
    .. "directory", 1, "a folder for which there is no place")
for _, there in ipairs { "a folder that is made", "a folder that is there" } do
    out, err, code = run "grade small class -o results/"
    tap.is(out .. code, lines .. "0", "a line a student, too")
    local _, n = shell.sh("ls " .. at "results"):gsub("%.json\n", "")
    tap.is(n, 8, "a file a student in " .. there)
end
tap.like(shell.read(at "results/Zoë Müller.json"), '^{\n  "score": 10,\n', "which has the results")
tap.like(shell.read(at "results/two.json"), "more than one .lua file in the folder", "or why not")


-- The line of teaching.md that makes two columns of a name as Moodle has it.
local command = shell.read "docs/teaching.md"
    :match("\nsed (%-E '1s/%^/id,/.-) class%.csv > moodle%.csv\n")
write("moodle/Ada Lovelace_12_assignsubmission_file_/x.lua", right)
write("moodle/Lovelace, Ada \"L\"_3_assignsubmission_file_/x.lua", right)
write("moodle/bob.lua", "error('_4_assignsubmission_file_\",5', 0)")
run "grade small moodle -o moodle.csv"
tap.is(shell.sh(("sed %s %s | tr -d '\\r' | tail -n +2"):format(command, at "moodle.csv")), [[
12,Ada Lovelace,10,10,6,4,
3,"Lovelace, Ada ""L""",10,10,6,4,
bob,0,10,0,0,"_4_assignsubmission_file_"",5"
]], "a class of Moodle's has numbers and names, whatever is in these")

os.execute("mkdir " .. at "empty")
refused("grade small empty", "there are no submissions in empty", 1, "a folder with nothing in it")

-- As course systems leave it.
write("export/ada.lua", right)
write("export/ada/x.lua", half)
write("export/bob/src/deep/submission.LUA", right)
write("export/bob/._submission.lua", half)
write("export/bob/__MACOSX/submission.lua", half)
write("export/bob/.git/hooks.lua", half)
write("export/__MACOSX/x.lua", half)
write("export/cy.LUA", right)
out, err, code = run "grade small export"
tap.is(out .. err .. code, [[
ada       10/10  all passed
ada/       6/10  failed 2.1
bob       10/10  all passed
cy        10/10  all passed
0]], "files in folders, leftovers of systems, and two of one name")
tap.is(run "grade small export/cy.LUA", "cy      10/10  all passed\n",
       "one that ends in .LUA by itself")
write("Bad.LUA", "x x")
tap.is(run "grade small Bad.LUA", "Bad       0/10  Bad.lua:1: syntax error near 'x'\n",
       "and a mistake in one")

-- ---- what passed, too ----------------------------------------------------------------------

out = run "check small right.lua --verbose"
tap.like(out, "\nok 1 .-\n# passed: two\n", "check --verbose")
tap.is(run "check small right.lua -v", out, "or -v")
out = run "grade small right.lua -v --format tap"
tap.is(select(2, out:gsub("\n# passed: ", "")), 2, "grade -v")

-- ---- labs that are none ------------------------------------------------------------------------

-- What is said of a lab in which `file` has that text.
local function broken(file, text, want, name)
    write_lab "bad"
    write("bad/" .. file, text)
    refused("check bad right.lua", want, 1, name)
end

-- A lab.lua with some fields changed; "nil" takes one away.
local function lab_with(changes)
    local fields = { id = '"x"', title = '"X"', points = "10", functions = '{ "double" }' }
    for name, value in pairs(changes) do
        fields[name] = value
    end
    local parts = {}
    for name, value in pairs(fields) do
        parts[#parts + 1] = name .. " = " .. value
    end
    return "return { " .. table.concat(parts, ", ") .. " }\n"
end

broken("lab.lua", "return {", "bad/lab.lua:1: unexpected symbol near <eof>", "no Lua")
broken("lab.lua", "return 5", "bad/lab.lua must return a table, it returns number", "no table")
broken("lab.lua", "x = nil + 1",
    "bad: lab.lua fails: lab.lua:1: attempt to perform arithmetic on a nil value", "an error in it")
broken("lab.lua", "print(1)",
    "bad: lab.lua fails: lab.lua:1: attempt to call a nil value (global 'print')", "it is data")
for field, wanted in pairs { id = "a name of letters, digits, '-' and '_'",
    title = "a line of text", points = "a positive number up to 1000000",
    functions = "a list of names" } do
    broken("lab.lua", lab_with { [field] = "nil" },
        ("bad/lab.lua: '%s' is missing: %s"):format(field, wanted), "no " .. field)
end
for _, case in ipairs {
    { "id", '"a b"', "a name of letters, digits, '-' and '_'", '"a b"' },
    { "title", "5", "a line of text", "5" },
    { "points", "0", "a positive number up to 1000000", "0" },
    { "functions", "{}", "a list of names", "table" },
    { "functions", '{ "a b" }', "a list of names", "table" },
    { "profile", '"../x.lua"', "the name of a profile, or a file beside lab.lua", '"../x.lua"' },
    { "limits", "5", "a table", "5" },
    { "required", '"lab.spin"', "a list of calls", '"lab.spin"' },
    { "forbidden", "{ 5 }", "a list of calls", "table" },
    { "hidden_visibility", '"never"', "hidden, after_due_date, after_published or visible",
        '"never"' },
} do
    local field, value, wanted, shown = table.unpack(case)
    broken("lab.lua", lab_with { [field] = value }, ("bad/lab.lua: '%s' must be %s, got %s"):format(
        field, wanted, shown), ("%s = %s"):format(field, value))
end
broken("lab.lua", lab_with { limit = "{}" },
    "bad/lab.lua: there is no 'limit'; did you mean 'limits'?", "an unknown field")
broken("lab.lua", lab_with { limits = "{ memory_mb = 5 }" },
    "bad/lab.lua: limits: there is no 'memory_mb'; did you mean 'memory_mib'?", "an unknown limit")
broken("lab.lua", lab_with { limits = "{ wall_s = -1 }" },
    "bad/lab.lua: limits: 'wall_s' must be a number from 0.01 to 86400, got -1",
    "a limit that is none")
broken("lab.lua", lab_with { points = "12" }, "bad: lab.lua says 12 points, its tests have 10",
    "points that do not add up")

local tests <const> = "tests/visible.lua"
broken(tests, "x x", "bad/tests/visible.lua:1: syntax error near 'x'", "tests that are no Lua")
broken(tests, "local x = nil + 1", "bad: tests/visible.lua fails: tests/visible.lua:1: attempt to "
    .. "perform arithmetic on a nil value", "an error outside of tests")
broken(tests, "test('a')", "bad: tests/visible.lua fails: tests/visible.lua:1: test takes a name, "
    .. "a table of options and a function", "a test without a function")
for options, want in pairs {
    ["{}"] = "'points' is missing: a number from 0",
    ["{ points = -1 }"] = "'points' must be a number from 0, got -1",
    ["{ points = 6, hint = 5 }"] = "'hint' must be a line of text, got 5",
    ["{ points = 6, hints = 'x' }"] = "there is no 'hints'; did you mean 'hint'?",
    ["{ points = 6, forbidden = 'x' }"] = "'forbidden' must be a list of calls, got \"x\"",
} do
    broken(tests, ("test('a', %s, print)"):format(options),
        "bad/tests/visible.lua: test \"a\": " .. want, "a test with " .. options)
end
broken(tests, "include 'none.lua'", "bad: tests/visible.lua fails: cannot read bad/tests/none.lua: "
    .. "No such file or directory", "a file to include that is not there")
broken(tests, "include '../lab.lua'", "bad: tests/visible.lua fails: tests/visible.lua:1: include "
    .. "takes the name of a file in tests/", "one elsewhere")
broken(tests, "include 'visible.lua'", "bad: tests/visible.lua fails: tests/visible.lua:1: "
    .. "include: tests/visible.lua is being read already", "one that includes itself")
write("bad/tests/common.lua", "return { two = 2 }\n")
write("bad/tests/visible.lua", "local a, b = include 'common.lua', include 'common.lua'\n"
    .. visible:gsub(", 2,", ", (a.two + b.two) / 2,"))
tap.is((run "check bad right.lua"):match("ok 1.-\n"), "ok 1 - 1.1 twice one is two\n",
    "the same one twice is fine")

write_lab "bad"
os.remove(at "bad/tests/visible.lua")
refused("check bad right.lua", "cannot read bad/tests/visible.lua: No such file or directory", 1,
    "no tests that students have")
write("bad/tests/visible.lua", "")
os.remove(at "bad/tests/hidden.lua")
refused("check bad right.lua",
    "bad has no tests: tests/visible.lua calls test(name, options, f)", 1, "no test in them")
os.execute("rm " .. at "bad/lab.lua" .. " && mkdir " .. at "bad/lab.lua")
refused("check bad right.lua", "cannot read bad/lab.lua: it is no file", 1, "a folder as lab.lua")
os.execute("rmdir " .. at "bad/lab.lua")

-- What only shows when a test runs: students are told that it is not their fault, teachers why.
local function could_not_run(field, value, why)
    write_lab "bad"
    write("bad/lab.lua", lab_with { [field] = value })
    out, err, code = run "check bad right.lua"
    tap.like(out, "# error: the test could not be run; if this comes again, tell your teacher\n#",
        "a lab with " .. value .. " cannot run its tests")
    tap.ok(not out:find("hint", 1, true), "which is no question of hints")
    tap.is(err:match("[^\n]*"), "streamlab: lab: right: test 1.1 could not be run: "
        .. "streamlab: lab: " .. why, "stderr says why")
    tap.is(code, 1, "check fails")
    out, err, code = run "grade bad right.lua -o bad.csv"
    tap.is(out .. code, "right       0/10  the test could not be run; if this comes again, tell "
        .. "your teacher\n1", "grade, too")
    tap.like(err, " test 2%.1 could not be run: ", "and says why")
end
could_not_run("profile", '"none"', "there is no profile \"none\"; known: a10, a100, "
    .. "b200, h100, h200, h200_nvlink, l4, rtx4060_laptop, rtx4090, t4, textbook, v100, or the "
    .. "name of a file that ends in .lua")
could_not_run("forbidden", '{ "lab.matmull" }',
    "'lab.matmull' in a list of calls is no function; did you mean 'lab.matmul'?")

-- ---- new and pack --------------------------------------------------------------------------

out, err, code = run "new 'my lab'"
tap.is(err .. code .. " " .. out:match("[^\n]*"), "0 README.md", "new writes a lab, and says what")
refused("new 'my lab'",
    "my lab is there already and not empty; a new lab needs a folder of its own", 1,
    "but not over another one")
tap.is(run "grade 'my lab' 'my lab/solution.lua' -o new.csv", "solution     100/100  all passed\n",
    "its solution is one")
write("nothing.lua", "function step() end\n")
tap.is(run "grade 'my lab' nothing.lua -o new.csv", "nothing       0/100  failed 1.1 1.2 2.1 2.2\n",
    "and a function that does nothing has no points")
refused("pack none", "there is no lab in none: a lab is a folder with a file lab.lua", 1,
    "pack needs a lab")
refused("pack bare", "the lab has no README.md", 1, "with all that belongs to one")
tap.like(err, "\nstreamlab: lab: the lab has no solution.lua\n", "and names all that is missing")
tap.is(run "pack 'my lab' -o packed", "packed/copy-and-compute-student.zip\n"
    .. "packed/copy-and-compute-gradescope.zip\n", "it writes two files, and says where")

shell.remove(folder)
tap.done()
