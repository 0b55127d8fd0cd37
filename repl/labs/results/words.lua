-- words.lua - what the formats of results share: numbers, and text that a submission printed (any
-- bytes) in the form that each format can hold.

local text_of = import "repl/run/text.lua"

internals.need "tables"
local tables = internals.results

local words = {
    number = tables.exact_number,       -- all its digits; integers without a point
    json = internals.json_string,        -- a JSON string
    csv = tables.csv_cell,
}

-- "85 of 100 points"
function words.points(score, points)
    return ("%s of %s point%s"):format(words.number(score), words.number(points),
        points == 1 and "" or "s")
end

-- One line for people: control characters are written out.
function words.line(text)
    return internals.safe(tables.valid_utf8(text:gsub("\t", "    "):gsub("\r", "")))
end

-- A student's name, which is a file's: names that differ only in bytes that are no UTF-8, as from
-- an old archive, stay different.
words.name = internals.safe

-- What `line` gives of each line of a text, in which empty lines at the end do not count.
function words.lines(text)
    local lines = {}
    for line in (text_of.trim(text) .. "\n"):gmatch("([^\n]*)\n") do
        lines[#lines + 1] = words.line(line)
    end
    return lines[1] ~= "" and lines or #lines > 1 and lines or {}
end

return words
