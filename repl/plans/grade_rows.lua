-- grade_rows.lua - whether a result that somebody else wrote is one of grading: of this student, by
-- the tests of this lab, with no points that the lab cannot give.

local fields = import "repl/run/fields.lua"

local most_name <const>, most_path <const>, most_text <const> = 256, 4096, 8 << 20
local most_points <const> = 1e9         -- of all tests together; exact sums are asked for below
local near <const> = 1e-6

local points <const> = fields.number(0, most_points)

local known_graded <const> = {
    { "student", fields.text(most_name), true }, { "file", fields.text(most_path), true },
    { "score", points, true }, { "points", points, true }, { "tests", fields.table, true },
    { "lacking", fields.list(fields.bytes(most_text), 100), true },
    { "problem", fields.bytes(most_text) },
}

local known_test <const> = {
    { "score", points, true }, { "passed", fields.boolean, true },
    { "output", fields.bytes(most_text), true }, { "printed", fields.bytes(most_text), true },
}

-- What a test's entry has from the lab.
local of_lab <const> = { "number", "name", "points", "hidden", "hint" }

local function problem_with_test(entry, test)
    if type(entry) ~= "table" then
        return "it is missing"
    end
    for _, name in ipairs(of_lab) do
        if entry[name] ~= test[name] then
            return ("its '%s' is not that of the lab"):format(name)
        end
    end
    local problem = fields.problem(entry, known_test)
    if not problem and entry.score ~= (entry.passed and test.points or 0) then
        return ("its score cannot be %g: the lab gives %g or nothing"):format(entry.score,
            test.points)
    end
    return problem
end

local function problem_with_tests(graded, tests)
    local score, sum = 0, 0
    for i, test in ipairs(tests) do
        local entry = graded.tests[i]
        local problem = problem_with_test(entry, test)
        if problem then
            return ("test %s: %s"):format(test.number, problem)
        end
        score, sum = score + entry.score, sum + test.points
    end
    if #graded.tests ~= #tests then
        return ("it has %d tests, the lab has %d"):format(#graded.tests, #tests)
    elseif math.abs(graded.score - score) > near or math.abs(graded.points - sum) > near then
        return ("it says %g of %g points, its tests have %g of %g"):format(graded.score,
            graded.points, score, sum)
    end
end

-- Why the value is no result of the submission {student =, file =}, by a lab's tests; nil if it is.
return function(graded, submission, tests)
    if type(graded) ~= "table" then
        return "it is no result of grading"
    end
    local problem = fields.problem(graded, known_graded)
    if problem then
        return problem
    elseif graded.student ~= submission.student or graded.file ~= submission.file then
        return ("it is about %s (%s), not about %s"):format(graded.student, graded.file,
            submission.student)
    elseif graded.broken ~= nil or graded.open ~= 0 then
        return "its tests were not all run"
    end
    return problem_with_tests(graded, tests)
end
