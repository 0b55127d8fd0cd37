-- grader.lua - grades submissions: starts a process for each test of each (case.lua), some at
-- a time, and makes of their reports what a student gets to read.
--
-- What it writes depends on the lab and the submission alone, not on the machine: it has no
-- times of the machine, no paths and no addresses.

local case = import "repl/labs/case.lua"
local files = import "repl/labs/files.lua"

local grader = {}

local most_bytes <const> = 1024 * 1024      -- of a submission

local sigkill <const>, sigxcpu <const> = 9, 24

-- ---- what a student reads ------------------------------------------------------------------

-- Addresses differ from run to run: `print` shows them for a table.
local function without_addresses(text)
    return (text:gsub("0x%x%x%x%x%x%x+", "0x..."))
end

local function add_field(lines, label, text)
    if text ~= "" then
        lines[#lines + 1] = ("  %-6s %s"):format(label, (text:gsub("\n", "\n         ")))
    end
end

local function add_record(lines, record)
    if record.kind == "error" then
        lines[#lines + 1] = "error: " .. record.name
    elseif record.kind == "said" then
        lines[#lines + 1] = record.name
    elseif record.kind == "skipped" then
        lines[#lines + 1] = "skipped: " .. record.name
        add_field(lines, "why", record.seen)
    elseif record.kind == "failed" or record.kind == "note" then
        lines[#lines + 1] = "failed: " .. record.name
        add_field(lines, "seen", record.seen)
        add_field(lines, "asked", record.asked)
        add_field(lines, "look", record.look)
        if record.chart ~= "" then
            lines[#lines + 1] = (record.chart:gsub("\n+$", ""))
        end
    end
end

-- Why a process ended without the end of its report, as a sentence; nil if it should not have.
local function why_stopped(child, limits)
    if child.timed_out then
        return ("it took longer than %g s and was stopped"):format(limits.wall_s)
    elseif child.report_too_long then
        return "it made more assertions than a report can hold"
    elseif child.signal == sigxcpu or child.signal == sigkill then
        return case.used_up(limits)
    elseif child.signal then
        return ("its process ended with signal %d"):format(child.signal)
    end
end

-- The kinds of records that a passed test may have.
local harmless = { passed = true, skipped = true, said = true, lacking = true, ["end"] = true }

-- What the submission printed. Of hidden tests students see nothing of it: it could tell them
-- what these look like.
local function printed_by(child)
    local text = without_addresses(child.output):gsub("\n+$", "")
    return child.truncated and text .. "\n(what it printed beyond this is left out)" or text
end

-- What becomes of a test whose process has ended: {passed =, output =, printed =, broken =,
-- lacking =}; the last two are for the teacher: where the lab itself did not work, and what
-- this system could not do to confine the submission.
local function judge(test, child, limits)
    local records = case.read(child.report)
    local last = records[#records]
    local result = { passed = last ~= nil and last.kind == "end", lacking = {} }
    local lines = {}
    for _, record in ipairs(records) do
        result.passed = result.passed and harmless[record.kind] == true
        if record.kind == "lacking" then
            result.lacking[#result.lacking + 1] = record.name
        end
        add_record(lines, record)
    end
    if not (last and last.kind == "end") then
        local reason = why_stopped(child, limits)
        result.broken = not reason and child.errors or nil
        lines[#lines + 1] = "error: " .. (reason
            or "the test could not be run; if this comes again, tell your teacher")
    end
    if not result.passed and test.hint and not result.broken then
        lines[#lines + 1] = "hint: " .. test.hint
    end
    result.printed = test.hidden and "" or printed_by(child)
    if result.printed ~= "" then
        lines[#lines + 1] = "printed:\n  " .. result.printed:gsub("\n", "\n  ")
    end
    result.output = without_addresses(table.concat(lines, "\n"))
    return result
end

-- ---- submissions -----------------------------------------------------------------------------

-- A sentence if the file cannot be a submission.
local function problem_of(path)
    local kind = program.file_kind(path)
    if kind == "other" then             -- reading a pipe would wait for ever
        return "cannot read the submission: it is no file"
    end
    local text, reason = files.read(path)
    if not text then
        return "cannot read the submission: " .. (reason:match(": (.*)$") or reason)
    elseif #text > most_bytes then
        return ("the submission has %d bytes, more than %d"):format(#text, most_bytes)
    end
end

local function new_graded(lab_bundle, submission, tests)
    local graded = { student = submission.student, file = submission.file, score = 0, points = 0,
        problem = submission.problem or problem_of(submission.file), tests = {}, open = 0,
        lacking = {} }
    for i, test in ipairs(tests) do
        graded.points = graded.points + test.points
        graded.tests[i] = { number = test.number, name = test.name, points = test.points,
            score = 0, passed = false, hidden = test.hidden, hint = test.hint, printed = "",
            output = graded.problem and "error: " .. graded.problem or "" }
    end
    return graded
end

local function start(lab_bundle, test, submission, backend)
    return program.spawn {
        command = { program.executable(), "lab", "case", lab_bundle.folder, test.file,
            tostring(test.index), submission.file, backend },
        wall_seconds = lab_bundle.limits.wall_s,
        output_bytes = math.floor(lab_bundle.limits.output_kib * 1024),
    }
end

local function finish(graded, i, test, child, limits)
    local result, entry = judge(test, child, limits), graded.tests[i]
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
-- as it and those before it are done. options: backend, jobs, only_visible, each.
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
        finish(job.graded, job.i, tests[job.i], child, lab_bundle.limits)
        tell()
    end
    for n, submission in ipairs(submissions) do
        local graded = new_graded(lab_bundle, submission, tests)
        graded.open = graded.problem and 0 or #tests
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
