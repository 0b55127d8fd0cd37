-- 30-rules.t.lua - what the grader makes of a test: forbidden and required calls, positions,
-- remarks, errors. The lab is written here; each case is a submission and a test.
package.path = "tests/repl/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"
local lab = require "streamlab"

local folder = shell.folder()
local more_of_lab = ""

-- Grades a submission by one test, given as the text of its options and of its function's
-- body; gives the results as TAP.
local function grade(submission, options, body)
    shell.sh("mkdir -p " .. folder .. "/tests")
    shell.write(folder .. "/lab.lua", ([[
        return { id = "rules", title = "Rules", points = 1, functions = { "go" }%s }]]):format(more_of_lab))
    shell.write(folder .. "/tests/hidden.lua", "")
    shell.write(folder .. "/tests/visible.lua", ([[
        test("it holds", { points = 1, hint = "the hint of the lab", %s }, function(t, student, comm)
            %s
        end)]]):format(options, body))
    shell.write(folder .. "/mine.lua", submission)
    local out, err, code = shell.sh(('"$P" lab grade %s %s/mine.lua --format tap'):format(folder,
        folder))
    tap.is(err .. code, "0", "it is graded")
    return out
end

local function passes(name, ...)
    local out = grade(...)
    if not tap.like(out, "\nok 1 ", name) then
        tap.diag(out)
    end
    return out
end

local function fails(name, ...)
    local out = grade(...)
    if not tap.like(out, "\nnot ok 1 ", name) then
        tap.diag(out)
    end
    return out
end

-- ---- what a submission has -----------------------------------------------------------------

-- Every function of the laboratory is in one of the two lists of repl/labs/sandbox.lua.
local function undecided()
    local names = {}
    for prefix, part in pairs { lab = lab, ["lab.cuda"] = lab.cuda } do
        for name in pairs(part) do
            names[#names + 1] = ("    { %q, %q },\n"):format(prefix, name)
        end
    end
    table.sort(names)
    local out = grade("local missing = {}\nfor _, place in ipairs {\n"
        .. table.concat(names) .. [==[
} do
    local part = place[1] == "lab" and lab or lab.cuda
    local fine, value = pcall(function() return part[place[2]] end)
    if fine and value == nil or not fine and not value:find("a submission does not have it") then
        missing[#missing + 1] = place[1] .. "." .. place[2]
    end
end
function go() error("undecided: " .. table.concat(missing, " "), 0) end]==], "",
        "student.go()")
    return out:match("undecided: ([^\n]*)") or out
end

tap.is(undecided(), "", "each function of lab is allowed or refused by repl/labs/sandbox.lua")

-- ---- calls ---------------------------------------------------------------------------------

local no_sync = 'forbidden = { "lab.synchronize", "stream:synchronize" }'
local calls_go = "student.go() t:ok(true, 'it went')"

passes("what is not called", "function go() end", no_sync, calls_go)
local out = fails("a forbidden function", "function go()\n    lab.synchronize()\nend", no_sync,
    calls_go)
tap.like(out, "error: mine%.lua:2: lab%.synchronize may not be called", "the error names it")
tap.like(out, "seen   mine%.lua:2 called lab%.synchronize", "and so does the rule")
fails("a forbidden method, and its error caught",
    "function go() pcall(function() lab.default_stream():synchronize() end) end", no_sync, calls_go)
passes("the test itself may call it", "function go() end", no_sync,
    "student.go() lab.synchronize() lab.default_stream():synchronize() t:ok(true, 'it went')")
passes("also where the submission calls it back", "function go(work)\n    work()\nend", no_sync,
    "student.go(function() lab.default_stream():synchronize() end) t:ok(true, 'it went')")

local needs = 'required = { "stream:wait_event" }'
out = fails("a required call that is missing", "function go() end", needs, calls_go)
tap.like(out, "failed: stream:wait_event is called\n#   seen   it was not called", "says so")
passes("a required call", [[
    function go()
        local e = lab.default_stream():record_event()
        lab.stream():wait_event(e)
    end]], needs, calls_go)
fails("a call that the test made", "function go(work) work() end", needs, [[
    student.go(function()
        lab.stream():wait_event(lab.default_stream():record_event())
    end)
    t:ok(true, "it went")]])

out = grade("local function go() end", "", "t:ok(true, 'it is quick')")
tap.like(out, "does not define the function go %(a global one: no `local` before it%)",
    "a function that is local is not seen, and the message says why")

-- ---- random numbers ------------------------------------------------------------------------

local draw = "local n = math.random(1 << 40) "
passes("a test's random numbers are not the submission's, whatever its seed", [[
    function go(n)
        local met = math.random(1 << 40) == n
        for a = 0, 20 do
            for b = 0, 3 do
                math.randomseed(a, b)
                met = met or math.random(1 << 40) == n
            end
        end
        return met
    end]], "", draw .. "t:is(student.go(n), false, 'it foresees nothing')")
local tell = draw .. "t:diag(tostring(n)) t:ok(false, 'no')"
tap.is(grade("function go() end", "", tell), grade("function go() end", "", tell),
    "and are the same each time")

-- ---- what is said ----------------------------------------------------------------------------

out = fails("an operation of the test, on the submission's line",
    "function go(work)\n    work()\nend", "", [[
    local tl = lab.profile(student.go, function() lab.spin(1) end)
    t:stream_count(tl, { exactly = 2 })]])
tap.like(out, 'mine%.lua:2: spin in "default"', "is where the submission called it")
tap.like(out, "hint: the hint of the lab", "the lab's hint stands below")

local race <const> = [[
function go()
    local x = lab.zeros(4)
    for i = 1, 2 do x:fill_(i, {stream = lab.stream{non_blocking = true}}) end
    return x
end]]
out = fails("a race alone", race, "pace = true", "student.go() t:no_race('nothing races')")
tap.like(out, "hint: Mend the race first%. the hint of the lab", "the task's hint is second")
out = fails("a race that the test did not look for", race, "pace = true",
    "student.go() t:ok(true, 'it went')")
tap.like(out, "hint: Mend the race first%. the hint of the lab", "then as well")
out = fails("a race and something else", race, "pace = true",
    "student.go() t:is(1, 2, 'one is two') t:no_race('nothing races')")
tap.like(out, "hint: the hint of the lab", "if more failed, the hint stands alone")
out = fails("an error", "function go()\n    local x\n    x.y = 1\nend", "", calls_go)
tap.like(out, "error: mine%.lua:3: attempt to index a nil value %(local 'x'%)\n"
    .. "#  3 |     x%.y = 1\n", "has its line")
tap.ok(not out:find("the hint of the lab", 1, true), "and no hint of the lab")
out = fails("no Lua", "function go()\n    local n = 1\n    n += 1\nend", "", calls_go)
tap.like(out, "\n# mine%.lua:3: syntax error near '%+'\n#  3 |     n %+= 1\n", "is reported once")
tap.like(out, "hint: there is no %+=", "with what helps")
out = fails("a remark", "function go() end", "", "t:diag('look here') t:ok(false, 'no')")
tap.like(out, "\n# look here\n# failed: no\n", "reaches the student")
out = fails("a chart twice", "function go() lab.spin(1) end", "", [[
    local tl = lab.profile(student.go)
    t:makespan(tl, { of_us = 1, within_percent = 1 }, "first")
    t:makespan(tl, { of_us = 2, within_percent = 1 }, "second")]])
tap.is(select(2, out:gsub(" busy\n", "")), 1, "is shown once")
out = fails("no assertion", "function go() end", "", "student.go()")
tap.like(out, "the test asserts nothing", "is no pass")
for line in out:gmatch("[^\n]+") do
    tap.ok(#line <= 78, "lines are not long")
end

-- ---- races, and tests of pace ------------------------------------------------------------------

local racing = [[
    function go(quick)
        local x, s = lab.zeros(4), lab.stream{ non_blocking = true }
        lab.synchronize()
        lab.spin(1, { stream = s })
        x:fill_(1, { stream = s })
        if not quick then
            lab.mul(x, 2, { stream = lab.stream{ non_blocking = true } })
        end
    end]]
local sound = "function go() end"

out = fails("a test that asserts nothing about races fails where there is one",
            racing, "", calls_go)
tap.like(out, "failed: nothing races\n#   seen   1 race\n#   asked  none\n#   look   race: stream",
    "and says which one")
local before, continued, broken_twice = nil, 0, 0
for line in out:gmatch("[^\n]+") do
    local word = before and line:match("^#" .. (" "):rep(20) .. "(%S+)")
    if word then
        continued = continued + 1
        broken_twice = broken_twice + (#before + 1 + #word <= 78 and 1 or 0)
    end
    before = (word or line:find("^# +fix  ")) and line
end
tap.is(continued .. " " .. broken_twice, "2 0",
       "in lines that are broken once, each as long as it can be")
out = fails("a test that asserts it fails", racing, "", "student.go() t:no_race('all is in order')")
tap.is(select(2, out:gsub("race: stream", "")), 1, "and says it once")
tap.ok(not out:find("nothing races", 1, true), "under its own name")
passes("a test without a race passes", racing, "", "student.go(true) t:ok(true, 'it went')")
out = fails("an error hides no race", racing, "", "student.go() error('the lab broke')")
tap.like(out, "error: .*failed: nothing races", "both are said")

-- Nobody can insert anything before a line of the tests.
local gives = [[
    function go()
        local s, x = lab.stream{ non_blocking = true }, lab.zeros(4)
        local p = lab.zeros(4, { device = "cpu", pinned = true })
        lab.synchronize()
        lab.spin(1, { stream = s })
        x:fill_(1, { stream = s })
        p:copy_(x, { non_blocking = true, stream = s })
        return x, p
    end]]
for use, words in pairs{
    ["lab.mul(x, 2)"] = 'fix the stream that is current when your function is called must wait for '
        .. 'stream "stream 1", made at mine.lua:2, before your function returns',
    ["p:get(1)"] = 'fix the host must wait for stream "stream 1", made at mine.lua:2, '
        .. 'before your function returns',
} do
    out = fails("what races in the test: " .. use, gives, "", "local x, p = student.go() " .. use
        .. " t:ok(x and p, 'it went')")
    tap.like(out:gsub("[\n#%s]+", " "), words, "the feedback says what the function has to do")
    tap.ok(not out:find("insert", 1, true), "and names no line of the tests to change")
end

-- Grades a submission by a visible test for 3 points, `values`, and two for 2 and 1, `quick` and
-- `other`, each the options and the body of a function; gives the line, and the TAP.
local function grade_by(submission, values, quick, other)
    local function test(points, part)
        return ('test("it holds", { points = %d, %s }, function(t, student) %s end)\n')
            :format(points, part[1], part[2])
    end
    shell.write(folder .. "/lab.lua",
        'return { id = "pace", title = "Pace", points = 6, functions = { "go" } }')
    shell.write(folder .. "/tests/visible.lua", test(3, values) .. test(2, quick))
    shell.write(folder .. "/tests/hidden.lua", test(1, other))
    shell.write(folder .. "/mine.lua", submission)
    local out, err =
        shell.sh(('"$P" lab grade %s %s/mine.lua -o %s/mine.tap'):format(folder, folder,
        folder))
    return err .. out:match("mine%s+(.-)\n"), shell.read(folder .. "/mine.tap")
end

local fine = { "", "t:ok(true, 'it holds')" }
local pace = { "pace = true", "student.go(true) t:ok(true, 'it is quick')" }
local races = { "", calls_go }
local not_right = { "", "t:ok(false, 'it is right')" }

tap.is(grade_by(sound, fine, pace, fine), "6/6  all passed", "what is right has all points")
local line, text = grade_by(racing, fine, pace, races)
tap.is(line, "3/6  failed 1.2 2.1",
       "a race in one test takes the points of tests of pace, and of no others")
tap.like(text, "not ok 2 %- 1%.2 it holds\n.-failed: only a program that is right gets points for "
    .. "its pace\n%s*#   seen   races in 2%.1\n%s*#   asked  no test finds a race\n",
    "which says so")
tap.is(grade_by(racing, races, pace, { "pace = {}", "t:ok(true, 'it is quick')" }),
    "0/6  failed 1.1 1.2 2.1", "of all tests of pace, with an empty list as well")
tap.is(grade_by(sound, not_right, pace, fine), "3/6  failed 1.1",
    "a test that fails otherwise takes none")
local needs_it = { "pace = { '1.1' }", "t:ok(true, 'it is quick')" }
line, text = grade_by(sound, not_right, needs_it, fine)
tap.is(line, "1/6  failed 1.1 1.2", "but of a test whose pace names it")
tap.like(text, "#   seen   1%.1 failed\n%s*#   asked  it passes\n", "which says so")
tap.is(grade_by(sound, fine, needs_it, not_right), "5/6  failed 2.1", "and of no other")
local needs_quick = { "pace = { '1.2' }", "t:ok(true, 'it is quick')" }
line, text = grade_by(sound, not_right, needs_it, needs_quick)
tap.is(line, "0/6  failed 1.1 1.2 2.1",
       "a test of pace that lost its points has failed for one that names it")
tap.like(text, "#   seen   1%.2 failed\n%s*#   asked  it passes\n", "which says so")
tap.is(grade_by(sound, { "pace = { '1.2' }", "t:ok(true, 'it is quick')" },
    { "pace = { '2.1' }", "t:ok(true, 'it is quick')" }, not_right), "0/6  failed 1.1 1.2 2.1",
    "also where it stands before that one")
tap.is(grade_by(sound, { "pace = { '1.2' }", "t:ok(true, 'it is quick')" }, needs_it, fine),
    "6/6  all passed", "two that name each other keep theirs")

-- The last lines of `lab check`, of a lab whose visible test has that option and which has hidden
-- tests.
local function checked(option)
    grade_by(sound, fine, { option, "t:ok(true, 'it is quick')" }, fine)
    local checked_out = shell.sh(('"$P" lab check %s %s/mine.lua'):format(folder, folder))
    return checked_out:match("# 5 of 5 .*")
end
tap.is(checked "pace = true", "# 5 of 5 points; hidden tests have the other 1\n"
    .. "# (races that hidden tests find cost the points for pace)\n",
    "who checks visible tests of pace reads that hidden tests may take their points")
tap.is(checked "", "# 5 of 5 points; hidden tests have the other 1\n",
       "where there are none, nothing of that")

for _, case in ipairs{ { "pace = { '1.3' }",
                         "its pace names 1%.3, and there is no other test of this number" },
    { "pace = { '1.2' }", "its pace names 1%.2, and there is no other" },
    { "pace = false", "'pace' must be true, or a list of the numbers of tests, got false" },
    { "pace = { 1.1 }", "'pace' must be true, or a list of the numbers of tests, got table" } } do
    pcall(grade_by, sound, fine, { case[1], "t:ok(true, 'it is quick')" }, fine)
    local _, err = shell.sh(('"$P" lab grade %s %s/mine.lua'):format(folder, folder))
    tap.like(err, case[2], case[1] .. " is refused")
end
os.remove(folder .. "/tests/hidden.lua")
shell.write(folder .. "/tests/visible.lua", [[
    test("it holds", { points = 1, pace = { "2.1" } }, function(t) t:ok(true, "it is quick") end)]])
tap.like(shell.sh(('"$P" lab check %s %s/mine.lua'):format(folder, folder)), "\nok 1 ",
    "students have no hidden tests, and the visible ones may name them")

-- ---- many failures -----------------------------------------------------------------------------

out = fails("what fails for each item of a list is said once", "function go() end", "",
    "for i = 1, 72 do t:is(i, -i, 'item ' .. i .. ' of 72') end t:is(1, 2, 'another')")
tap.like(out, "failed: item 1 of 72\n#   and 71 more, which differ by a number alone\n#   seen   "
    .. "1\n",
    "with the first one, and how many there are")
tap.is(select(2, out:gsub("failed: ", "")), 2, "and others are said beside it")
out = fails("three are said one by one", "function go() end", "",
    "for i = 1, 3 do t:is(i, -i, 'item ' .. i) end")
tap.is(select(2, out:gsub("failed: item", "")), 3, "each of them")

-- ---- several GPUs ----------------------------------------------------------------------------

passes("a lab that does not say so has one GPU", "function go() end", "",
    "student.go() t:is(comm, nil, 'no communicator')")
more_of_lab = ", gpus = 3"
passes("one with gpus = 3 has a communicator of three, and the first is current",
    [[function go(comm) return comm:all_reduce{ lab.ones(4), lab.ones(4, { device = "cuda:1" }),
        lab.ones(4, { device = "cuda:2" }) } end]], "",
    "t:is(comm.size, 3, 'size') t:is(lab.device() == comm.devices[1], true, 'the first') "
    .. "t:close(student.go(comm)[3], 3, 'the sum')")
passes("what a submission makes current on any GPU is put back",
    "function go(comm) for k = 1, 3 do lab.use(lab.stream{device = comm.devices[k]}) end end",
    "", [[
        student.go(comm)
        t:is(lab.device() == comm.devices[1], true, "the GPU")
        for k = 1, 3 do
            comm.devices[k]:make_current()
            t:is(lab.current_stream() == lab.default_stream(), true, "its stream")
        end]])
passes("what a submission enqueued while it was loaded is done on each GPU",
    "lab.spin(5, { stream = lab.stream{ device = 'cuda:2' } }) function go() end", "", [[
        t:at_most(lab.profile(student.go).span_count, 0, "nothing runs in the test")
        t:at_least(lab.now_us(), 5000, "it was waited for")]])
out = fails("a submission makes no communicator itself",
    "function go() lab.comm{ devices = { 0, 1 } } end", "", "student.go() t:ok(true, 'it went')")
tap.like(out, "lab%.comm: a submission does not have it: where a lab has several GPUs its tests "
    .. "give you",
    "and is told who does")
for _, wrong in ipairs{ "0", "9", "1.5", "true" } do
    shell.write(folder .. "/lab.lua", ('return { id = "rules", title = "Rules", points = 1, '
        .. 'functions = { "go" }, gpus = %s }'):format(wrong))
    local _, err = shell.sh(('"$P" lab grade %s %s/mine.lua'):format(folder, folder))
    tap.like(err, "'gpus' must be a whole number from 1 to 8, got " .. wrong:gsub("%.", "%%."),
        "gpus = " .. wrong .. " is refused")
end

shell.remove(folder)
tap.done()
