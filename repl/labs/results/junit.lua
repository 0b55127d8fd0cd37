-- junit.lua - a submission or a class as JUnit XML, as Jenkins, GitLab and CodeGrade read it: a
-- testsuite a student. The format only knows passed and failed; the points are properties, which
-- readers may ignore.

local lists = import "repl/run/lists.lua"
local words = import "repl/labs/results/words.lua"

local function property(indent, name, value)
    return ('%s<property name="%s" value="%s"/>'):format(indent, name, words.number(value))
end

local function properties(indent, score, points)
    return {
        indent .. "<properties>",
        property(indent .. "  ", "score", score),
        property(indent .. "  ", "points", points),
        indent .. "</properties>",
    }
end

local function add_failure(lines, test, problem)
    local text = test.output ~= "" and test.output or problem or "failed"
    local first = words.lines(text)[1] or "failed"
    lines[#lines + 1] = ('      <failure type="failed" message="%s">%s</failure>')
        :format(words.attribute(first), words.xml(text))
end

local function add_case(lines, graded, test, bundle)
    lines[#lines + 1] = ('    <testcase classname="%s" name="%s">'):format(
        words.attribute(bundle.id .. "." .. words.name(graded.student)),
        words.attribute(test.number .. " " .. test.name))
    lists.append(lines, properties("      ", test.score, test.points))
    if not test.passed then
        add_failure(lines, test, graded.problem)
    end
    lines[#lines + 1] = "    </testcase>"
end

local function failures_of(graded)
    return #lists.select(graded.tests, function(test) return not test.passed end)
end

local function add_suite(lines, graded, bundle)
    lines[#lines + 1] = ('  <testsuite name="%s" tests="%d" failures="%d" errors="0" skipped="0">')
        :format(words.attribute(words.name(graded.student)), #graded.tests, failures_of(graded))
    lists.append(lines, properties("    ", graded.score, graded.points))
    for _, test in ipairs(graded.tests) do
        add_case(lines, graded, test, bundle)
    end
    lines[#lines + 1] = "  </testsuite>"
end

local function text(list, bundle)
    local tests, failures, lines = 0, 0, {}
    for _, graded in ipairs(list) do
        tests, failures = tests + #graded.tests, failures + failures_of(graded)
        add_suite(lines, graded, bundle)
    end
    return ('<?xml version="1.0" encoding="UTF-8"?>\n'
        .. '<testsuites name="%s" tests="%d" failures="%d" errors="0">\n%s\n</testsuites>\n')
        :format(words.attribute(bundle.id .. " " .. bundle.title), tests, failures,
            table.concat(lines, "\n"))
end

return { suffix = ".xml", class = true, text = text }
