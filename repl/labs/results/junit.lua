-- junit.lua - a submission or a class as JUnit XML, as Jenkins, GitLab and CodeGrade read it: a
-- testsuite a student. Points are properties.

local junit = import "repl/run/junit.lua"
local lists = import "repl/run/lists.lua"
local words = import "repl/labs/results/words.lua"

local function properties(score, points)
    return { { "score", words.number(score) }, { "points", words.number(points) } }
end

local function failure_of(test, problem)
    local text = test.output ~= "" and test.output or problem or "failed"
    return { message = words.lines(text)[1] or "failed", text = text }
end

local function case_of(graded, test, bundle)
    return {
        class = bundle.id .. "." .. words.name(graded.student),
        name = test.number .. " " .. test.name,
        properties = properties(test.score, test.points),
        failure = not test.passed and failure_of(test, graded.problem) or nil,
    }
end

local function suite_of(graded, bundle)
    return {
        name = words.name(graded.student),
        properties = properties(graded.score, graded.points),
        cases = lists.map(graded.tests, function(test) return case_of(graded, test, bundle) end),
    }
end

local function text(list, bundle)
    return junit.text(bundle.id .. " " .. bundle.title,
        lists.map(list, function(graded) return suite_of(graded, bundle) end))
end

return { suffix = ".xml", class = true, text = text }
