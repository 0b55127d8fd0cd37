-- captures.lua - the rows of lab.capture_probes as text: a line for each call, columns for modes
-- and kinds of streams. 80 columns are enough.

local lists = import "repl/run/lists.lua"

local captures = {}

local function cell(row)
    if not row.number then
        return "no"
    elseif row.number == 0 and row.end_number ~= 0 and row.end_number ~= 901 then
        return row.end_number .. "e"
    end
    local number = row.number == 0 and (row.spoils and "" or "-") or row.number
    return number .. (row.spoils and "*" or "")
end

local first_column <const> = 41
local line_form <const> = "%-" .. first_column .. "s" .. (" %-4s %-4s   "):rep(3)

local function line(text, rows)
    local cells = {}
    for i, row in ipairs(rows) do
        cells[i] = cell(row)
    end
    return line_form:format(text, table.unpack(cells))
end

-- The lines of one call: `list` has its rows, six for each thing that it is given.
local function add_call(out, list)
    local call, of = list[1].call, list[1].of
    local name = "  " .. call .. (of and ", " .. of or "")
    if #list == 6 and #name <= first_column then
        out[#out + 1] = line(name, list)
        return
    end
    out[#out + 1] = "  " .. call
    for i = 1, #list, 6 do
        out[#out + 1] = line("    " .. (list[i].of or ""), table.move(list, i, i + 5, 1, {}))
    end
end

-- CUDA's errors that there were, by number.
local function add_names(out, rows)
    local names, numbers = {}, {}
    for _, row in ipairs(rows) do
        for number, name in pairs { [row.number or 0] = row.error,
                                    [row.end_number] = row.end_error } do
            if number ~= 0 and not names[number] then
                numbers[#numbers + 1] = number
                names[number] = name
            end
        end
    end
    table.sort(numbers)
    for _, number in ipairs(numbers) do
        out[#out + 1] = ("%d  %s"):format(number, names[number])
    end
end

local introduction <const> = [[
Each call is made while a stream is captured, in each mode, and for a captured
stream that is blocking (B) or has cudaStreamNonBlocking (N).
-     it is permitted          907   it gives this error; the capture goes on
900*  it gives this error, and the capture is spoiled: its end gives 901
*     it succeeds, and the capture is spoiled
904e  it succeeds, and the end of the capture gives this error
no    streamlab does not have it in captures]]

function captures.text(rows, title)
    local out = { title, introduction, "" }
    out[#out + 1] = ("%42s%-13s%-13s%s"):format("", "global", "thread_local", "relaxed")
    out[#out + 1] = line_form:format("call", "B", "N", "B", "N", "B", "N")
    for _, group in ipairs(lists.runs(rows, function(row) return row.group end)) do
        out[#out + 1] = group.key
        for _, list in ipairs(lists.runs(group, function(row) return row.call end)) do
            add_call(out, list)
        end
    end
    out[#out + 1] = ""
    add_names(out, rows)
    return lists.join(out, function(text) return (text:gsub("%s+$", "")) end, "\n") .. "\n"
end

-- The fields of a row in JSON, and how a value is written.
captures.fields = { { "call", '"%s"' }, { "of", '"%s"' }, { "mode", '"%s"' }, { "streams", '"%s"' },
                    { "number", "%d" }, { "error", '"%s"' }, { "spoils", "%s" },
                    { "end_number", "%d" }, { "end_error", '"%s"' } }

return captures
