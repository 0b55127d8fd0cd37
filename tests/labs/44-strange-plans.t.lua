-- 44-strange-plans.t.lua - plans and results that somebody else wrote: no name leads out of the
-- folder of results, no row is about another student or has points that the lab cannot give, and
-- what is broken or no file is refused with a sentence that names the file.
package.path = "tests/repl/?.lua;" .. package.path
local tap, shell = require "tap", require "shell"

local environment = debug.getregistry()["streamlab.environment"]
local sha256 = debug.getregistry()["streamlab.internals"].sha256
local json = environment.import "repl/run/json.lua"
local result_names = environment.import "repl/labs/result_names.lua"

local folder = shell.folder()
local root = shell.sh "pwd":match "[^\n]+"

local function sh(command)
    return shell.sh("cd " .. folder .. "; " .. command)
end

sh(("cp -r %s/tests/labs/attack-lab lab; mkdir class out out/results"):format(root))
for _, student in ipairs { "ada", "bob" } do
    sh(("cp lab/solution.lua class/%s.lua"):format(student))
end
sh '"$P" lab grade lab class --plan p.jsonl; "$P" work p.jsonl --quiet'

-- ---- plans and rows with other contents ---------------------------------------------------------

local lines = {}
for line in shell.read(folder .. "/p.jsonl"):gmatch "[^\n]+" do
    lines[#lines + 1] = line
end
local body = json.read(lines[1]).plan

local function point(i) return json.read(lines[i + 1]) end

local function row(i)
    return json.read(shell.read(("%s/p.results/%s.json"):format(folder, point(i).point)))
end

-- Writes the plan q.jsonl with these points, whose digests are right; gives these.
local function write_plan(plan_text, points)
    local identity, digests = sha256(plan_text), {}
    local text = { ('{"identity":"%s","plan":%s}\n'):format(identity, plan_text) }
    for i, values in ipairs(points) do
        digests[i] = sha256(identity .. "\n" .. values)
        text[i + 1] = ('{"point":"%s","values":%s}\n'):format(digests[i], values)
    end
    shell.write(folder .. "/q.jsonl", table.concat(text))
    sh "rm -rf q.results; mkdir q.results"
    return digests
end

local function result_path(digest) return ("%s/q.results/%s.json"):format(folder, digest) end

-- The plan as it was, with rows that `change` has changed; gives the points' digests.
local function write_rows(change)
    local digests = write_plan(json.write(body),
                               { json.write(point(1).values), json.write(point(2).values) })
    for i, digest in ipairs(digests) do
        local changed = row(i)
        changed.point = digest
        if i == 1 then change(changed.graded, changed) end
        shell.write(result_path(digest), json.write(changed))
    end
    return digests
end

write_rows(function() end)
local out, err, code = sh '"$P" merge q.jsonl -o out/results; ls out/results'
tap.is(out .. err .. code,
    "ada     100/100  all passed\nbob     100/100  all passed\nada.json\nbob.json\n0",
    "a plan with the same contents gives the same results")

-- ---- names of results --------------------------------------------------------------------------

sh "rm out/results/*"
for _, name in ipairs { "../../evil", "./evil", "a/b", "..", ".", "", "\0x", "x\ny", "\27[31m",
    "-rf", ".hidden", "~x",
    "a\\b", "con", "NUL.txt", "Com1", ("x"):rep(247), 3, { "x" } } do
    local values = point(1).values
    values[3] = name
    local digest = write_plan(json.write(body), { json.write(values) })[1]
    local changed = row(1)
    changed.point = digest
    shell.write(result_path(digest), json.write(changed))
    out, err, code = sh '"$P" merge q.jsonl -o out/results'
    tap.like(out .. err .. code,
        "^streamlab: merge: q.jsonl: point 1: 'result' must be a plain name of a file or false, "
        .. "got .* %(line 2%)\n1$",
        ("a result cannot be called %s"):format(json.write(name):sub(1, 30)))
end
tap.is(sh "ls -A out out/results; ls -d ev*", "out:\nresults\n\nout/results:\n",
       "and nothing is written")

local function points_of(first, second)
    return { json.write { first[1], "class/ada.lua", first[2], false, point(1).values[5] },
             json.write { second[1], "class/bob.lua", second[2], false, point(2).values[5] } }
end
for _, case in ipairs {
    { { "ada", "ada" }, { "bob", "Ada" }, "the name of the result Ada" },
    { { "ada", "ada" }, { "ada", "bob" }, "the student ada" },
} do
    write_plan(json.write(body), points_of(case[1], case[2]))
    for _, command in ipairs { "work", "merge" } do
        out, err, code = sh(('"$P" %s q.jsonl'):format(command))
        tap.is(out .. err .. code,
            ("streamlab: %s: q.jsonl: point 2: %s stands twice in the plan (line "
                .. "3)\n1"):format(command,
            case[3]), ("%s refuses twins: %s"):format(command, case[3]))
    end
end

-- What `lab grade` calls them, of names that files can have.
local function names_of(...)
    local list, names = {}, {}
    for i, student in ipairs { ... } do list[i] = { student = student } end
    result_names.give(list)
    for i, submission in ipairs(list) do names[i] = submission.result end
    return table.concat(names, " ")
end
local function digest(text) return "student-" .. sha256(text):sub(1, 16) end
tap.is(names_of("ada", "bob"), "ada bob", "a result has its student's name")
tap.is(names_of("Ada", "ada", "ada/", "ADA.2"), "Ada ada.3 ada.4 ADA.2",
    "names that differ in capitals alone are kept apart where they would be the same")
tap.is(names_of("-rf", "a\nb", "NUL", ".x", "~"),
    table.concat({ digest "-rf", digest "a\nb", digest "NUL", digest ".x",
    digest "~" }, " "), "a name that is an option, a device, hidden or no line is a digest")
tap.is(names_of(("x"):rep(246)), ("x"):rep(246), "246 bytes are a name")
tap.is(names_of(("x"):rep(247)), ("x"):rep(240), "of a longer one 240 are kept")
for _, name in ipairs { ("x"):rep(247), "-rf", "a\nb", "nul" } do
    tap.ok(result_names.is_plain(names_of(name)), "and merge takes what lab grade gives")
end

sh [[mkdir odd
for n in Ada ada -rf "$(printf 'a\nb')" NUL; do cp lab/solution.lua "odd/$n.lua"; done
"$P" lab grade lab odd -o alone 2>alone.err; "$P" lab grade lab odd --plan odd.jsonl; "$P" work odd.jsonl --quiet]]
out, err, code = sh '"$P" merge odd.jsonl -o merged; diff -r alone merged && ls merged | wc -l'
tap.like(out .. code, "\n5\n0$", "odd names: merge delivers what lab grade delivers")
tap.is(err:gsub("merge:", "lab:"), shell.read(folder .. "/alone.err"),
       "and both say which files these are")

-- ---- rows --------------------------------------------------------------------------------------

-- A row is no result: merge says so, and writes nothing.
local function is_refused(why, name)
    out, err, code = sh '"$P" merge q.jsonl -o q.csv; ls q.csv'
    tap.like(out .. err .. code,
        "^streamlab: merge: point 1 %(ada%) has no result that can be read, which is to be "
        .. "removed: q.results/%x+%.json is no result: " .. why, name)
    tap.like(err, "1 of 2 points have no result", "the other row counts")
end

for _, case in ipairs {
    { function(g) g.student = "bob" end, "it is about bob %(class/ada%.lua%), not about ada\n",
        "of another student" },
    { function(g) g.file = "class/bob.lua" end, "it is about ada %(class/bob", "of another file" },
    { function(g) g.score = 99 end, "it says 99 of 100 points, its tests have 100 of 100",
      "with another sum" },
    { function(g) g.score, g.tests[2].score, g.tests[2].passed = 20, 0, true end,
        "test 2%.1: its score cannot be 0", "with a test that passed without points" },
    { function(g) g.score, g.tests[1].score = 180, 100 end,
        "test 1%.1: its score cannot be 100: the lab gives 20",
        "with more points than a test has" },
    { function(g)
        g.score, g.points, g.tests[1].score, g.tests[1].points = 1080, 1080, 1000, 1000
    end,
        "test 1%.1: its 'points' is not that of the lab", "with points of its own" },
    { function(g) g.score = 1e308 end, "'score' must be a number from 0 to 1e",
      "that is out of all range" },
    { function(g) g.score = -5 end, "'score' must be a number from 0", "below 0" },
    { function(g) g.score = 0 / 0 end, "'score' must be a number", "that is no number" },
    { function(g) g.student = { "ada" } end, "'student' must be a text",
      "whose student is a list" },
    { function(g) g.tests = {} end, "test 1%.1: it is missing", "without tests" },
    { function(g) g.tests[3] = g.tests[2] end, "it has 3 tests, the lab has 2",
      "with one test more" },
    { function(g) g.tests[1].name = "x" end, "test 1%.1: its 'name' is not that of the lab",
      "of other tests" },
    { function(g) g.tests[1].output = 3 end, "test 1%.1: 'output' must be a text",
      "whose output is a number" },
    { function(g) g.tests[2].hidden = false end, "test 2%.1: its 'hidden' is not that",
      "that shows a hidden test" },
    { function(g) g.lacking = { {} } end, "'lacking' must be a list",
      "with a table where texts are" },
    { function(g) g.broken = "x" end, "its tests were not all run", "that was not finished" },
    { function(g) g.open = 1 end, "its tests were not all run", "in which a test is open" },
    { function(_, r) r.graded = nil end, "it is no result of grading", "of nothing" },
    { function(_, r) r.graded = 3 end, "it is no result of grading", "that is a number" },
    { function(_, r) r.seconds = -1 end, "'seconds' must be a number from 0",
      "that took less than nothing" },
    { function(_, r) r.seconds = 1e300 end, "'seconds' must be a number from 0",
      "that took longer than all time" },
} do
    write_rows(case[1])
    is_refused(case[2], "a row is refused: one " .. case[3])
end

local digests = write_rows(function() end)
for _, case in ipairs {
    { "mkfifo %s", "it is no file", "a pipe" },
    { "ln -s /etc/passwd %s", "it is a link", "a link" },
    { "mkdir %s", "it is no file", "a folder" },
    { "truncate -s 9M %s", "it has 9437184 bytes, more than 8388608",
        "9 MiB" },
    { "printf '%%0100000d' 0 | tr 0 '[' > %s", "it is no JSON at byte 130", "a deep one" },
    { "printf null > %s", "it is no table", "null" },
    { ": > %s", "it is no JSON at byte 1", "an empty one" },
} do
    local file = result_path(digests[1])
    sh(("rm -rf %s; "):format(file) .. case[1]:format(file))
    is_refused(case[2], "a result that is " .. case[3])
    out, err, code = sh '"$P" work q.jsonl --quiet'
    if case[2]:find "it is " and not case[2]:find "JSON" and case[3] ~= "null" then
        tap.like(out .. err .. code,
            "^streamlab: work: cannot write .*: there is something of that name, and no file\n1$",
            "and work does not write into it")
    end
end
sh "rm -rf q.results; ln -s nowhere q.results"
tap.is(select(2, sh '"$P" work q.jsonl'),
    "streamlab: work: cannot make the folder q.results: there is something of that "
    .. "name, and no folder\n", "results need a folder")
sh "rm q.results"

-- ---- plans -------------------------------------------------------------------------------------

local function refuses_plan(text, points, why, name)
    write_plan(text, points)
    out, err = sh 'for c in work merge sbatch; do "$P" $c q.jsonl 2>&1; echo $?; done'
    local wanted = ""
    for _, command in ipairs { "work", "merge", "sbatch" } do
        wanted = wanted .. ("streamlab: %s: q%%.jsonl: %s %%(line %%d%%)\n1\n"):format(command, why)
    end
    tap.like(out .. err, "^" .. wanted .. "$", "work, merge and sbatch refuse " .. name)
end

local good = { json.write(point(1).values) }
for _, case in ipairs {
    { "lab", 3, "'lab' must be a text of 1 to 4096 bytes, got 3" },
    { "lab", "a\0b", "'lab' must be .*" },
    { "files", { 3 }, "'files' must be .*" }, { "files", { { "a", "b" } }, "'files' must be .*" },
    { "backend", "; rm", "'backend' must be sim or cuda, got \"; rm\"" },
    { "class", 5, "'class' must be .*" },
    { "verbose", {}, "'verbose' must be .*" },
} do
    local changed = {}
    for name, value in pairs(body) do changed[name] = value end
    changed[case[1]] = case[2]
    refuses_plan(json.write(changed), good, case[3],
                 ("a plan whose %s is %s"):format(case[1], json.write(case[2])))
end
for _, values in ipairs { "[]", '["x"]', "[1,2]", "[null,null]", '{"a":1}',
    '["ada","class/ada.lua",{"x":1},[1],3]',
    '["ada","class/ada.lua","ada",true,3]', '["ada","class/ada.lua","ada",false,"x"]',
    ("["):rep(1000),
    ('["%s","class/ada.lua","ada",false,false]'):format(("A"):rep(257)) } do
    refuses_plan(json.write(body), { values }, "point 1: .*", "the point " .. values:sub(1, 40))
end

-- The other kinds of plans.
shell.write(folder .. "/sweep.lua", [[
lab.sweep({ { "kib", { 1, 2 } } }, function(p) return { a = p.kib } end, { plan = "s.jsonl" })
]])
shell.write(folder .. "/script.lua", "lab.relu(lab.tensor(64)) lab.synchronize()\n")
sh '"$P" sweep.lua; "$P" compare script.lua --against a100 --plan c.jsonl; "$P" work s.jsonl; \z
    "$P" work c.jsonl'
local pipe = folder .. "/pipe"
sh("mkfifo pipe")
for _, case in ipairs {
    { "s", "axes", 3 }, { "s", "axes", { 1 } }, { "s", "script", {} }, { "s", "arguments", "x" },
    { "s", "files", { { "/dev/zero" } } }, { "s", "title", {} }, { "s", "columns", { {} } },
    { "s", "device", 3 },
    { "s", "earlier", { {} } },
    { "s", "earlier", { { body = { axes = {} }, points = { 3 }, results = { 3 } } } },
    { "c", "profile", 3 }, { "c", "runs", 1e308 }, { "c", "runs", 0 }, { "c", "spread", "x" },
    { "c", "against", {} },
    { "c", "figures", "x" },
} do
    local first = shell.read(("%s/%s.jsonl"):format(folder, case[1])):match "[^\n]+"
    local changed = json.read(first).plan
    changed[case[2]] = case[3]
    refuses_plan(json.write(changed), {}, ".*",
                 ("a plan whose %s is %s"):format(case[2], json.write(case[3])))
end
for _, case in ipairs { { "s", "[1,2]" }, { "s", "[[1]]" }, { "s", "[null]" },
    { "s", '{"kib":1}' }, { "c", "[]" },
    { "c", "[3,false,false]" }, { "c", '["x",1.5,false]' }, { "c", '["x",false,3]' } } do
    local text = shell.read(("%s/%s.jsonl"):format(folder,
        case[1])):match '^{"identity":"%x+","plan":([^\n]*)}\n'
    refuses_plan(text, { case[2] }, "point 1: .*", "the point " .. case[2])
end

tap.is(select(2,
    sh '"$P" work pipe.jsonl; mv pipe pipe.jsonl; "$P" work pipe.jsonl; mv pipe.jsonl \z
        pipe'):gsub(".*\n(.*\n)", "%1"),
    "streamlab: work: cannot read pipe.jsonl: it is no file\n", "a pipe is no plan")

-- ---- rows of other kinds ------------------------------------------------------------------------

local function refuses_row(plan, change, why, name)
    sh(("cp %s.jsonl q.jsonl; rm -rf q.results; cp -r %s.results q.results"):format(plan, plan))
    local path = sh "ls -d $PWD/q.results/*":match "[^\n]+"
    local changed = json.read(shell.read(path))
    change(changed)
    shell.write(path, json.write(changed))
    out, err, code = sh '"$P" merge q.jsonl'
    tap.like(out .. err .. code, "^streamlab: merge: point %d .* is no result: " .. why, name)
end
for _, case in ipairs {
    { "s", function(r) r.values = 3 end, "it has no values" },
    { "s", function(r) r.values = { 3 } end,
        "it has no values" },
    { "s", function(r) r.values = { { "kib", 1 } } end, "the names of its values must be" },
    { "s", function(r) r.values = { { "a", 1 }, { "a", 2 } } end,
      "the names of its values must be" },
    { "s", function(r) r.others = { a = 1 } end, "the names of its values must be" },
    { "c", function(r) r.record.script = "x.lua" end, "it is about x%.lua" },
    { "c", function(r) r.record.gpu_us = 0 end, "'gpu_us' must be a time above 0" },
    { "c", function(r) r.record.sim_us = nil end, "'sim_us' is missing" },
    { "c", function(r) r.record.gpu_us = 1e300 end, "'gpu_us' must be" },
    { "c", function(r) r.record.gpu_max_us = 1e-3 end,
      "gpu_min_us, gpu_us and gpu_max_us must not decrease" },
    { "c", function(r) r.record.lane_pairs = 1.5 end, "'lane_pairs' must be a whole number" },
    { "c", function(r) r.record = 3 end, "it has no record" },
} do
    refuses_row(case[1], case[2], case[3],
        ("a row of a plan of %s: %s"):format(case[1] == "s" and "a sweep" or "comparing",
        case[3]))
end

-- ---- names that are the same on some systems ----------------------------------------------------

-- The names of results of these students, in a line.
local function given(...)
    local list, names = {}, {}
    for i, student in ipairs { ... } do list[i] = { student = student } end
    result_names.give(list)
    for i, one in ipairs(list) do names[i] = one.result end
    return table.concat(names, " ")
end
tap.is(given("Änne", "änne", "Иван", "иван", "Νικος", "ΝΙΚΟΣ"),
    "Änne änne.2 Иван иван.2 Νικος ΝΙΚΟΣ.2", "capital letters are not told from small ones")
tap.is(given("zo\u{e9}", "zoe\u{301}", "\u{419}a", "\u{438}\u{306}a"),
    "zo\u{e9} zoe\u{301}.2 \u{419}a \u{438}\u{306}a.2", "nor letters from letters and marks")
tap.is(given("Иван", "Пётр", "王伟", "李娜", "김", "박", "דן", "רן"), "Иван Пётр 王伟 李娜 김 박 דן רן",
    "others keep their names")

shell.remove(folder)
tap.done()
