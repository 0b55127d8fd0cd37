-- 40-class.t.lua - students of one class against each other: what one hands in changes nothing of
-- what another gets, and takes nothing of the grader, which has none of the limits that its
-- children have: it opens no submission, compiles none, and its work on what one writes is
-- linear.
package.path = "tests/repl/?.lua;tests/labs/?.lua;" .. package.path
local tap, shell, hostile = require "tap", require "shell", require "hostile"

local environment = debug.getregistry()["streamlab.environment"]
local bundle = environment.import "repl/labs/bundle.lua"
local feedback = environment.import "repl/labs/feedback.lua"
local find = environment.import("repl/labs/class.lua").find
local grade = environment.import("repl/labs/grader.lua").grade
local to_json = environment.import("repl/labs/results/gradescope.lua").text
local to_tap = environment.import("repl/labs/results/tap.lua").text
local words = environment.import "repl/labs/results/words.lua"
local text = environment.import "repl/run/text.lua"
local files = environment.import "repl/run/files.lua"

local folder = shell.folder()
local attack_lab = bundle.read "tests/labs/attack-lab"

-- ---- the class ---------------------------------------------------------------------------

local solution = shell.read "tests/labs/attack-lab/solution.lua"
local honest = {
    alice = "local mine = 4711\nfunction answer() return nil + mine end\nfunction work() end\n",
    grace = solution, zoe = solution,
    linus = "function answer(n) return 2 * n end\nfunction work(x) print(x) return x end\n",
    syntax = "function answer(n)\n    n += n\nend\n",
}
shell.sh(("mkdir %s/alone %s/class"):format(folder, folder))
for name, source in pairs(honest) do
    shell.write(("%s/alone/%s.lua"):format(folder, name), source)
    shell.write(("%s/class/%s.lua"):format(folder, name), source)
end

-- What burns its time in each test is among the attacks (20-attacks.t.lua).
local left_out = { ["slow-labels"] = true, ["runs-for-ever"] = true, ["prints-for-ever"] = true,
    ["fills-memory"] = true }
-- Reading it takes a second.
left_out["slow-elseif"] = tap.sized(true, false)
local is_load = {}
for i, kind in ipairs(hostile.kinds) do
    if not left_out[kind[1]] then
        local name = ("%s-%s"):format(i % 2 == 0 and "a" or "n", kind[1])    -- among the others
        is_load[name] = kind.load
        hostile.write(kind, ("%s/class/%s.lua"):format(folder, name), attack_lab.functions)
    end
end

-- ---- what the grader does ------------------------------------------------------------------

local starts, opened, compiled = {}, {}, {}
local program, io_table = environment.program, environment.io
local spawn, open, load_text = program.spawn, io_table.open, environment.load
function program.spawn(options)
    local student = options.command[6]:match("([^/]*)%.lua$")
    starts[student] = (starts[student] or 0) + 1
    return spawn(options)
end
function io_table.open(path, ...)
    opened[#opened + 1] = path:sub(1, #folder) == folder and path or nil
    return open(path, ...)
end
function environment.load(source, ...)
    compiled[#compiled + 1] = source:sub(1, 40)
    return load_text(source, ...)
end

-- The results of a class by student.
local function results(class)
    local by_name = {}
    local list = grade(attack_lab, (find(folder .. "/" .. class)),
        { backend = "sim", jobs = debug.getregistry()["streamlab.internals"].processors() })
    for _, graded in ipairs(list) do
        by_name[graded.student] = graded
    end
    return by_name
end

local alone = results "alone"
starts = {}
local class = results "class"
program.spawn, io_table.open, environment.load = spawn, open, load_text

tap.is(alone.grace.score .. alone.alice.score .. alone.linus.score, "100020",
    "those who are honest get what they earn")
for name in pairs(honest) do
    tap.is(to_json({ class[name] }, attack_lab), to_json({ alone[name] }, attack_lab),
        name .. " gets the same bytes beside hostile neighbours")
end
tap.is(table.concat(opened, " "), "", "the grader itself opens no submission")
tap.is(table.concat(compiled, " "), "", "and compiles none")
tap.is(starts.grace, 2, "each test of a submission has a process")
tap.is(starts.syntax, 1, "one that is no Lua has one process for all tests")
for name in pairs(is_load) do
    tap.is(starts[name], 1, name .. " is started once, not once a test")
    tap.like(class[name].problem, "^it .* while it was loaded, and was stopped$",
        "and its remark says why")
    tap.like(to_tap({ class[name] }, attack_lab), "\n# 0 of 100 points\n$", "it has no points")
end
tap.is(class["a-sparse"].problem,
    "cannot read a-sparse.lua: it has 6442450944 bytes, more than 1048576",
    "how large a file is, is known without reading it")
tap.is(class["a-quotes-another"].tests[1].output,
    "error: alice.lua:1: look\nin a-quotes-another.lua:1",
    "a message with another's position quotes nothing of the other's")
tap.like(class.alice.tests[1].output, "^error: alice%.lua:2: attempt to perform arithmetic on a "
    .. "nil value\n 2 | function answer%(%) return nil %+ mine end\n",
    "who made the mistake sees the line")
tap.like(class["a-chain-error"].tests[1].output, "%(field 'a'%)\n 6 | ",
    "a line of twenty thousand words is quoted in part")
tap.like(class["n-many-near"].problem, "unexpected symbol near '='\n 1 | ", "so is a long line")

-- ---- what it does with texts ----------------------------------------------------------------

-- Each of these would take hours if it took the square.
local n <const> = 1 << 20
local function result_of(record, output)
    local report = ""
    for _, field in ipairs { record.kind, record.name or "", record.seen or "", "", "", "",
        "end", "", "", "", "", "" } do
        report = report .. ("<s4"):pack(field)
    end
    return feedback.of({ hidden = false }, { report = report, output = output, errors = "",
        status = 0, processor_s = 0 }, attack_lab.limits)
end
tap.is(#result_of({ kind = "passed" }, ("\n"):rep(n) .. "x").printed, n + 1,
    "a million empty lines are kept")
tap.is(result_of({ kind = "passed" }, "x" .. ("\n"):rep(n)).printed, "x", "not at the end")
tap.is(result_of({ kind = "failed", name = "a", seen = "x" .. (" "):rep(n) }, "").output,
    "failed: a\n  seen   x", "a million blanks, as a value")
tap.is(words.lines((" "):rep(n) .. "x" .. (" "):rep(n))[1], (" "):rep(n) .. "x", "as a line")
tap.is(#words.lines(("\n"):rep(n >> 2)), 0, "empty lines as a text")
tap.is(#text.fold("x" .. (" "):rep(n), 70), 1, "a line that is folded")
tap.is(table.concat(text.fold("name  " .. ("word "):rep(20), 40), "\n"),
    "name  word word word word word word word\n      word word word word word word word\n"
    .. "      word word word word word word", "and folding is as it was")

-- ---- who killed a process ---------------------------------------------------------------------

local function ended(child)
    child.report, child.output, child.errors, child.signal = "", "", "", child.signal or 9
    local result = feedback.of({ hidden = false }, child, attack_lab.limits)
    return result.output, result.broken
end
local not_run <const> = "error: the test could not be run; if this comes again, tell your teacher"
local output, broken = ended { processor_s = 1.9 }
tap.is(output, "error: it used up its 1 s of processor time and was stopped",
    "the system kills who has used up the time")
tap.is(broken, nil, "which is no teacher's business")
output, broken = ended { processor_s = 0.1 }
tap.is(output, not_run, "who is killed for what others take is not to blame")
tap.is(broken, "its process was killed; is there too little memory for so many at a time (-j)?",
    "and the teacher is told")
output, broken = ended { processor_s = 9, out_of_memory = true }
tap.is(output, not_run, "nor is who says what the grader has no memory for")
tap.is(broken, "there is no memory for what its process wrote", "of which the teacher is told, too")
tap.is(ended { processor_s = 0.1, signal = 11 }, "error: its process ended with signal 11",
    "a crash has its signal")

-- ---- the reader of strangers' files -----------------------------------------------------------

local function read(name, most_bytes)
    local bytes, reason = files.read_bounded(folder .. "/" .. name, most_bytes)
    return bytes or "not: " .. reason
end
shell.write(folder .. "/small", "12345")
shell.write(folder .. "/empty", "")
shell.sh(("cd %s; mkfifo pipe; ln -s pipe to-pipe; ln -s small to-small"):format(folder))
tap.is(read("small", 5), "12345", "a file of just the size is read")
tap.is(read("small", 4), "not: it has 5 bytes, more than 4", "a larger one is not")
tap.is(read("empty", 4), "", "an empty one is")
tap.is(read("none", 4), "not: No such file or directory", "none is not")
tap.is(read("pipe", 4), "not: it is no file", "a pipe is not waited for")
tap.is(read("to-pipe", 4), "not: it is no file", "nor one behind a link")
tap.is(read("to-small", 5), "12345", "a link leads to a file")
tap.is(read("class", 4), "not: it is no file", "a folder is none")

shell.remove(folder)
tap.done()
