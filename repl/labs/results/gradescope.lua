-- gradescope.lua - one submission as Gradescope's results.json.
--
-- Students see the tests' outputs, those of hidden tests when the lab's hidden_visibility says
-- so. They see the text at the top at once, so it says nothing about hidden tests. There are no
-- times: the same submission gives the same bytes.

local lists = import "repl/run/lists.lua"
local words = import "repl/labs/results/words.lua"

-- `fields` is a list that alternates names and JSON values.
local function object(fields, begin, between, close)
    local parts = {}
    for i = 1, #fields, 2 do
        parts[#parts + 1] = words.json(fields[i]) .. ": " .. fields[i + 1]
    end
    return begin .. table.concat(parts, between) .. close
end

local function test_object(test, bundle)
    local visibility = test.hidden and bundle.hidden_visibility or "visible"
    return object({
        "score", words.number(test.score),
        "max_score", words.number(test.points),
        "status", words.json(test.passed and "passed" or "failed"),
        "name", words.json(test.name),
        "number", words.json(test.number),
        "output", words.json(test.output),
        "output_format", words.json("text"),
        "tags", "[" .. words.json(test.hidden and "hidden" or "visible") .. "]",
        "visibility", words.json(visibility),
    }, "{", ", ", "}")
end

-- What stands above the tests.
local function summary(graded)
    if graded.problem then
        return graded.problem
    end
    local visible = lists.select(graded.tests, function(test) return not test.hidden end)
    local passed = lists.select(visible, function(test) return test.passed end)
    local hidden = #graded.tests - #visible
    local text = ("%d of %d visible tests passed."):format(#passed, #visible)
    return hidden == 0 and text
        or ("%s %d hidden test%s run as well."):format(text, hidden,
            hidden == 1 and " was" or "s were")
end

-- `names_student`: the file's name is not the student's.
local function text(list, bundle, names_student)
    local graded = list[1]
    local whose = names_student and "Student: " .. words.name(graded.student) .. "\n" or ""
    local tests = lists.join(graded.tests, function(test)
        return "\n    " .. test_object(test, bundle)
    end, ",")
    return object({
        "score", words.number(graded.score),
        "output", words.json(whose .. summary(graded)),
        "output_format", words.json("text"),
        "stdout_visibility", words.json("hidden"),
        "tests", "[" .. tests .. "\n  ]",
    }, "{\n  ", ",\n  ", "\n}\n")
end

return { suffix = ".json", class = false, text = text }
