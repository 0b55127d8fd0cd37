-- csv.lua - a class as a table: a header, then a line a student with the points of every test, and
-- a remark where the submission could not be run at all.
-- RFC 4180, in UTF-8.

local lists = import "repl/run/lists.lua"
local remark = import "repl/labs/results/remark.lua"
local words = import "repl/labs/results/words.lua"

-- Text that begins like a formula, also in full-width characters, gets an apostrophe in front. A
-- cell may also begin after a semicolon: spreadsheets in some languages separate there.
local function text_cell(text)
    local guarded = (";" .. text):gsub(";(%s*[=+@-])", ";'%1")
        :gsub(";(%s*\xef\xbc[\x8b\x8d\x9d\xa0])", ";'%1"):sub(2)
    local cell = words.csv(guarded)
    return cell == guarded and cell:find(";", 1, true) and '"' .. cell .. '"' or cell
end

local function header(bundle)
    local cells = { "student", "score", "points" }
    for _, test in ipairs(bundle.tests) do
        cells[#cells + 1] = text_cell(words.line(test.number .. " " .. test.name))
    end
    cells[#cells + 1] = "remark"
    return cells
end

-- The cell of a test that was not run is empty.
local function line_of(graded, bundle)
    local cells = { text_cell(words.name(graded.student)), words.number(graded.score),
                    words.number(graded.points) }
    local scores = {}
    for _, test in ipairs(graded.tests) do
        scores[test.number] = test.score
    end
    for _, test in ipairs(bundle.tests) do
        cells[#cells + 1] = words.csv(scores[test.number])
    end
    local why = remark(graded)
    cells[#cells + 1] = why and text_cell(words.line(why)) or ""
    return cells
end

local function text(list, bundle)
    local rows = lists.map(list, function(graded) return line_of(graded, bundle) end)
    table.insert(rows, 1, header(bundle))
    return lists.join(rows, function(cells) return table.concat(cells, ",") .. "\r\n" end, "")
end

return { suffix = ".csv", class = true, text = text }
