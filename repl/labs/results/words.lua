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

local entities = {
    ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;",
    ["\n"] = "\n", ["\t"] = "\t", ["\r"] = "",
}

-- The content of an XML element. Characters that XML 1.0 cannot hold, or that a terminal should
-- not get, become U+FFFD.
function words.xml(text)
    local function replace() return "\u{fffd}" end
    return (tables.replace_hidden(tables.valid_utf8(text), replace)
        :gsub("[%c&<>\"']", function(character) return entities[character] or "\u{fffd}" end)
        :gsub("\xef\xbf[\xbe\xbf]", "\u{fffd}"))        -- U+FFFE, U+FFFF
end

-- And of an attribute, where readers would turn line breaks into blanks.
function words.attribute(text)
    return (words.xml(text):gsub("\n", "&#10;"):gsub("\t", "&#9;"))
end

return words
