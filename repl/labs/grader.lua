-- grader.lua - grades submissions: starts a process for each test of each (case.lua), some at
-- a time, and collects what becomes of them (feedback.lua).

local feedback = import "repl/labs/feedback.lua"
local submission_file = import "repl/labs/submission.lua"

local grader = {}

-- ---- submissions -----------------------------------------------------------------------------

-- What the file holds; or nil and why it cannot be graded.
local function read(submission)
    if submission.problem then
        return nil, submission.problem
    end
    local source, problem = submission_file.read(submission.file)
    problem = source and submission_file.mistake(source) or problem
    return not problem and source or nil, problem
end

local function new_graded(submission, tests)
    local source, problem = read(submission)
    local graded = { student = submission.student, file = submission.file, score = 0, points = 0,
        source = source, problem = problem, tests = {}, open = problem and 0 or #tests,
        lacking = {} }
    for i, test in ipairs(tests) do
        graded.points = graded.points + test.points
        graded.tests[i] = { number = test.number, name = test.name, points = test.points,
            score = 0, passed = false, hidden = test.hidden, hint = test.hint, printed = "",
            output = problem and "error: " .. problem or "" }
    end
    return graded
end

local function start(lab_bundle, test, submission, backend)
    return program.spawn {
        command = { program.executable(), "lab", "case", lab_bundle.folder, test.number,
            submission.file, backend },
        wall_seconds = lab_bundle.limits.wall_s,
        output_bytes = math.floor(lab_bundle.limits.output_kib * 1024),
    }
end

local function finish(graded, i, test, child, limits, verbose)
    local result = feedback.of(test, child, limits, graded.source, verbose)
    local entry = graded.tests[i]
    entry.passed, entry.output, entry.printed = result.passed, result.output, result.printed
    entry.score = result.passed and test.points or 0
    graded.score = graded.score + entry.score
    graded.open = graded.open - 1
    table.move(result.lacking, 1, #result.lacking, #graded.lacking + 1, graded.lacking)
    if result.broken then
        graded.broken = graded.broken or {}
        table.insert(graded.broken, ("test %s could not be run: %s"):format(test.number,
            result.broken:match("[^\n]+") or "its process ended without a report"))
    end
end

-- The tests that are asked for: all, or those that the student has.
local function choose(lab_bundle, only_visible)
    local tests = {}
    for _, test in ipairs(lab_bundle.tests) do
        if not (only_visible and test.hidden) then
            tests[#tests + 1] = test
        end
    end
    return tests
end

-- Grades submissions {student =, file =}, at most `options.jobs` tests at a time, and gives
-- their list in the same order. options.each(graded) is called for each in this order, as soon
-- as it and those before it are done. options: backend, jobs, only_visible, verbose, each.
function grader.grade(lab_bundle, submissions, options)
    local tests = choose(lab_bundle, options.only_visible)
    local list, running, count, told = {}, {}, 0, 0
    local function tell()
        while list[told + 1] and list[told + 1].open == 0 do
            told = told + 1
            if options.each then
                options.each(list[told])
            end
        end
    end
    local function wait()
        local child = program.wait()
        local job = running[child.id]
        running[child.id], count = nil, count - 1
        finish(job.graded, job.i, tests[job.i], child, lab_bundle.limits, options.verbose)
        tell()
    end
    for n, submission in ipairs(submissions) do
        local graded = new_graded(submission, tests)
        list[n] = graded
        for i = 1, graded.open do
            while count >= options.jobs do
                wait()
            end
            running[start(lab_bundle, tests[i], submission, options.backend)] =
                { graded = graded, i = i }
            count = count + 1
        end
    end
    while count > 0 do
        wait()
    end
    tell()
    return list
end

return grader
