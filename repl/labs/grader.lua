-- grader.lua - grades submissions: starts a process for each test of each submission (case.lua),
-- some at a time, and collects the results (feedback.lua).
--
-- A submission's first test runs alone. If its process could not read, compile or load the
-- submission, all of its tests fail for that reason and none is started. This process opens no
-- submission.
--
-- What is right comes before what is quick: a test of pace (its option `pace`) gives no points to a
-- submission in which any test has found a race, or which fails a test that the option names.

local feedback = import "repl/labs/feedback.lua"
local lists = import "repl/run/lists.lua"

local grader = {}

local function new_graded(submission, tests)
    local graded = { student = submission.student, file = submission.file, score = 0, points = 0,
        tests = {}, open = #tests, lacking = {} }
    for i, test in ipairs(tests) do
        graded.points = graded.points + test.points
        graded.tests[i] = { number = test.number, name = test.name, points = test.points,
            score = 0, passed = false, hidden = test.hidden, hint = test.hint, printed = "",
            output = "" }
    end
    return graded
end

-- Why none of its tests can pass.
local function fail_all(graded, problem)
    graded.problem, graded.open = problem, 0
    for _, entry in ipairs(graded.tests) do
        entry.output = "error: " .. problem
    end
end

-- Gives the process's number, and its folder for what compilers write: nil in a lab without
-- kernels.
local function start(lab_bundle, test, graded, backend, server)
    local scratch = lab_bundle.kernels and program.make_scratch() or nil
    return program.spawn {
        command = { program.executable(), "lab", "case", lab_bundle.folder, test.number,
            graded.file, backend, scratch },
        server = server,
        wall_seconds = lab_bundle.limits.wall_s,
        output_bytes = math.floor(lab_bundle.limits.output_kib * 1024),
    }, scratch
end

-- The process from which tests are forked; none for a real GPU, whose driver starts threads.
local function start_server(lab_bundle, backend)
    return backend == "sim" and program.start_fork_server {
        program.executable(), "lab", "cases", lab_bundle.folder, backend,
    } or nil
end

-- Once it has ended, and with it all that it has started.
local function remove_scratch(job)
    if job.scratch then
        program.remove_scratch(job.scratch)
    end
end

local function note_broken(graded, test, why)
    graded.broken = graded.broken or {}
    table.insert(graded.broken, ("test %s could not be run: %s"):format(test.number,
        why:match("[^\n]+") or "its process ended without a report"))
end

-- Takes the i-th test's result.
local function finish(graded, i, test, result)
    local entry = graded.tests[i]
    lists.append(graded.lacking, result.lacking)
    if result.broken then
        note_broken(graded, test, result.broken)
    end
    if result.problem and i == 1 then
        fail_all(graded, result.problem)
        return
    end
    entry.passed, entry.output, entry.printed = result.passed, result.output, result.printed
    entry.raced = result.raced
    entry.score = result.passed and test.points or 0
    graded.score = graded.score + entry.score
    graded.open = graded.open - 1
end

-- ---- pace ------------------------------------------------------------------------------------

local function fail_pace(graded, entry, seen, asked)
    entry.passed = false
    graded.score, entry.score = graded.score - entry.score, 0
    entry.output = ("%s%sfailed: only a program that is right gets points for its pace\n"
        .. "  seen   %s\n  asked  %s"):format(entry.output,
                                              entry.output ~= "" and "\n" or "", seen, asked)
end

-- Those of the tests that `test` names, of the numbers in `failed`.
local function failed_needs(test, failed)
    return lists.select(test.pace, function(number) return failed[number] end)
end

-- Once all tests of the submission have run. A test of pace that loses its points has failed for
-- those that name it, so this goes on until none loses more.
local function judge_pace(graded, tests)
    local raced, failed, passed = {}, {}, 0
    for _, entry in ipairs(graded.tests) do
        raced[#raced + 1] = entry.raced and entry.number or nil
        failed[entry.number] = not entry.passed
    end
    repeat
        local before = passed
        passed = 0
        for i, test in ipairs(tests) do
            local entry = graded.tests[i]
            local needed = test.pace and entry.passed and failed_needs(test, failed) or {}
            if raced[1] and test.pace and entry.passed then
                fail_pace(graded, entry, "races in " .. table.concat(raced, ", "),
                    "no test finds a race")
            elseif needed[1] then
                fail_pace(graded, entry, table.concat(needed, ", ") .. " failed", "it passes")
            end
            failed[test.number] = not entry.passed
            passed = passed + (entry.passed and 1 or 0)
        end
    until passed == before
end

-- ---- the order of tests ----------------------------------------------------------------------

-- Gives what to start next, {graded =, i =}: tests whose submission could be loaded, then the first
-- one of the next submission; nil if there is none now. Appends to `list` what is begun, and calls
-- `finished` for what has no test to run.
local function make_queue(next_submission, tests, list, finished)
    local ready, taken = {}, 0
    local queue = {}
    function queue.add_others(graded)
        for i = 2, graded.open + 1 do
            ready[#ready + 1] = { graded = graded, i = i }
        end
    end
    function queue.take()
        if ready[taken + 1] then
            taken = taken + 1
            return ready[taken]
        end
        for submission in next_submission do
            local graded = new_graded(submission, tests)
            list[#list + 1] = graded
            if submission.problem then
                fail_all(graded, submission.problem)
            end
            if graded.open > 0 then
                return { graded = graded, i = 1 }
            end
            finished(graded)
        end
    end
    return queue
end

local function each_of(list)
    local i = 0
    return function()
        i = i + 1
        return list[i]
    end
end

-- Grades submissions {student =, file =, problem =}, a list or a function that gives the next one,
-- at most `options.jobs` tests at a time, and gives their list in the same order.
-- options.each(graded) is called for each in this order, as soon as it and those before it are
-- done; options.finished(graded) as soon as it is done, whatever the others are. options: backend,
-- jobs, only_visible, verbose, each, finished.
function grader.grade(lab_bundle, submissions, options)
    local tests = lists.select(lab_bundle.tests, function(test)
        return not (options.only_visible and test.hidden)
    end)
    local list, running, count, reported = {}, {}, 0, 0
    local finished = options.finished or function() end
    local next_submission = type(submissions) == "table" and each_of(submissions) or submissions
    local queue = make_queue(next_submission, tests, list, finished)
    local function report()
        while list[reported + 1] and list[reported + 1].open == 0 do
            reported = reported + 1
            if options.each then
                options.each(list[reported])
            end
        end
    end
    local function wait()
        local child = program.wait()
        local job = running[child.id]
        running[child.id], count = nil, count - 1
        remove_scratch(job)
        local test = tests[job.i]
        finish(job.graded, job.i, test,
            feedback.of(test, child, lab_bundle.limits, options.verbose))
        if job.i == 1 then
            queue.add_others(job.graded)
        end
        if job.graded.open == 0 then
            judge_pace(job.graded, tests)
            finished(job.graded)
        end
        report()
    end
    local _ <close> = setmetatable({}, { __close = function()   -- after Ctrl-C
        for _, job in pairs(running) do
            remove_scratch(job)
        end
    end })
    local server <close> = start_server(lab_bundle, options.backend)
    while true do
        local job = count < options.jobs and queue.take()
        if job then
            local id, scratch = start(lab_bundle, tests[job.i], job.graded, options.backend,
                server)
            job.scratch = scratch
            running[id], count = job, count + 1
        elseif count > 0 then
            wait()
        else
            report()
            return list
        end
    end
end

return grader
