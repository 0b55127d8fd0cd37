-- junit.lua - results as JUnit XML, as Jenkins, GitLab and others read it. The format only knows
-- passed and failed; all else is a property, which readers may ignore.

local lists = import "repl/run/lists.lua"

internals.need "tables"
local tables = internals.results

local junit = {}

local entities = {
    ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;",
    ["\n"] = "\n", ["\t"] = "\t", ["\r"] = "",
}

-- The content of an XML element. Characters that XML 1.0 cannot hold, or that a terminal should
-- not get, become U+FFFD.
local function content(text)
    local function replace() return "\u{fffd}" end
    return (tables.replace_hidden(tables.valid_utf8(text), replace)
        :gsub("[%c&<>\"']", function(character) return entities[character] or "\u{fffd}" end)
        :gsub("\xef\xbf[\xbe\xbf]", "\u{fffd}"))        -- U+FFFE, U+FFFF
end

-- And of an attribute, where readers would turn line breaks into blanks.
local function attribute(text)
    return (content(text):gsub("\n", "&#10;"):gsub("\t", "&#9;"))
end

local function add_properties(lines, indent, list)
    if not list then return end
    lines[#lines + 1] = indent .. "<properties>"
    for _, property in ipairs(list) do
        lines[#lines + 1] = ('%s  <property name="%s" value="%s"/>'):format(indent,
            attribute(property[1]), attribute(property[2]))
    end
    lines[#lines + 1] = indent .. "</properties>"
end

local function add_case(lines, case)
    lines[#lines + 1] = ('    <testcase classname="%s" name="%s">'):format(
        attribute(case.class), attribute(case.name))
    add_properties(lines, "      ", case.properties)
    if case.failure then
        lines[#lines + 1] = ('      <failure type="failed" message="%s">%s</failure>')
            :format(attribute(case.failure.message), content(case.failure.text))
    end
    lines[#lines + 1] = "    </testcase>"
end

local function failures_of(suite)
    return #lists.select(suite.cases, function(case) return case.failure end)
end

local function add_suite(lines, suite)
    lines[#lines + 1] = ('  <testsuite name="%s" tests="%d" failures="%d" errors="0" skipped="0">')
        :format(attribute(suite.name), #suite.cases, failures_of(suite))
    add_properties(lines, "    ", suite.properties)
    for _, case in ipairs(suite.cases) do
        add_case(lines, case)
    end
    lines[#lines + 1] = "  </testsuite>"
end

-- The text of suites: {name =, properties = {{name, value}, ...}, cases =}, of which a case is
-- {class =, name =, properties =, failure = {message =, text =}}; properties and failures may be
-- left out.
function junit.text(name, suites)
    local tests, failures, lines = 0, 0, {}
    for _, suite in ipairs(suites) do
        tests, failures = tests + #suite.cases, failures + failures_of(suite)
        add_suite(lines, suite)
    end
    return ('<?xml version="1.0" encoding="UTF-8"?>\n'
        .. '<testsuites name="%s" tests="%d" failures="%d" errors="0">\n%s\n</testsuites>\n')
        :format(attribute(name), tests, failures, table.concat(lines, "\n"))
end

return junit
