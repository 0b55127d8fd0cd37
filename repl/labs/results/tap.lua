-- tap.lua - one submission as TAP 13, or a class with a subtest a student.

local lists = import "repl/run/lists.lua"
local words = import "repl/labs/results/words.lua"

-- A test's description: "#" would begin a directive.
local function description(text)
    return (words.line(text):gsub("[\\#]", "\\%0"))
end

local function add_diagnostic(lines, text)
    for _, line in ipairs(words.lines(text)) do
        lines[#lines + 1] = line == "" and "#" or "# " .. line
    end
end

local function result(passed, number, name)
    return ("%s %d - %s"):format(passed and "ok" or "not ok", number, description(name))
end

local function all_passed(graded)
    return not graded.problem and lists.all(graded.tests, function(test) return test.passed end)
end

-- "# 10 of 30 points"; the points of the tests that the student does not have, and whether these
-- can take any of the others.
local function add_points(lines, graded, lab_bundle)
    local hidden = lab_bundle and lab_bundle.points - graded.points or 0
    add_diagnostic(lines, words.points(graded.score, graded.points)
        .. (hidden > 0 and ("; hidden tests have the other %g"):format(hidden) or ""))
    local has_pace = hidden > 0 and not lists.all(lab_bundle.tests, function(test)
        return test.hidden or not test.pace
    end)
    if has_pace then
        add_diagnostic(lines, "(races that hidden tests find cost the points for pace)")
    end
end

local function tests_of(graded, lab_bundle)
    local lines = { "1.." .. #graded.tests }
    if graded.problem then
        add_diagnostic(lines, graded.problem)
    end
    for i, test in ipairs(graded.tests) do
        lines[#lines + 1] = result(test.passed, i, test.number .. " " .. test.name)
        add_diagnostic(lines, words.points(test.score, test.points))
        add_diagnostic(lines, graded.problem and "" or test.output)
    end
    add_points(lines, graded, lab_bundle)
    return lines
end

local function class_of(list)
    local lines = { "1.." .. #list }
    for i, graded in ipairs(list) do
        lines[#lines + 1] = "# Subtest: " .. words.name(graded.student)
        for _, line in ipairs(tests_of(graded)) do
            lines[#lines + 1] = "    " .. line
        end
        lines[#lines + 1] = result(all_passed(graded), i, words.name(graded.student))
        add_diagnostic(lines, words.points(graded.score, graded.points))
    end
    return lines
end

local function text(list, lab_bundle)
    local lines = #list == 1 and tests_of(list[1], lab_bundle) or class_of(list)
    return "TAP version 13\n" .. table.concat(lines, "\n") .. "\n"
end

return { suffix = ".tap", class = true, text = text }
