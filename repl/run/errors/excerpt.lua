-- excerpt.lua - lines of a script for the terminal: cut to its width, safe whatever bytes are in
-- them, with marks below.

local text = import "repl/run/text.lua"

local excerpt = {}

local tab_columns <const> = 4
local least_columns <const> = 20
local most_bytes <const> = 8192     -- of a line that are looked at

-- A text of several lines, as a message is, as it may reach a terminal. Letters stay as they
-- are, for names of files are among them.
function excerpt.clean(message)
    return text.clean(message, true, true)
end

-- The character that begins at `at`, or a byte that is none.
local function character(line, at)
    if not utf8.len(line, at, at) then
        return line:sub(at, at)
    end
    return utf8.char(utf8.codepoint(line, at))
end

-- The line in cells: {text =, columns =, from =}, each a character and the byte that it
-- begins with.
local function cells_of(line, unicode)
    local cells, at, column = {}, 1, 0
    while at <= #line do
        local piece = character(line, at)
        local cell = { text = piece, columns = text.width(piece), from = at }
        if piece == "\t" then
            cell.columns = tab_columns - column % tab_columns
            cell.text = (" "):rep(cell.columns)
        elseif text.clean(piece, true, unicode) ~= piece then
            cell.text, cell.columns = "?", 1
        end
        cells[#cells + 1] = cell
        column = column + cell.columns
        at = at + #piece
    end
    return cells
end

-- For each cell "^", "~" or nil; behind the last one there may be a mark, too.
local function marks_of(cells, line, marks)
    local list, cell_of = {}, {}        -- the cell by its bytes
    for i, cell in ipairs(cells) do
        for byte = cell.from, (cells[i + 1] and cells[i + 1].from or #line + 1) - 1 do
            cell_of[byte] = i
        end
    end
    for _, mark in ipairs(marks) do
        list[cell_of[mark.from] or #cells + 1] = "^"
        for byte = mark.from + 1, math.min(mark.to, #line) do
            local i = cell_of[byte]
            list[i] = list[i] or "~"
        end
    end
    return list
end

-- Which cells to show so that they fit into `room` columns: the first and the last, around
-- the cell `at`.
local function window(cells, at, room)
    local total, before = 0, 0
    for i, cell in ipairs(cells) do
        total = total + cell.columns
        before = before + (i < at and cell.columns or 0)
    end
    if total + 1 <= room then
        return 1, #cells
    end
    room = room - 7                         -- three dots at both ends, and the mark at the end
    local skip = math.max(0, math.min(before - room // 2, total - room))
    if skip <= 3 then                   -- no more than the dots take
        skip, room = 0, room + 3
    end
    local first, used = 1, 0
    while skip > 0 and cells[first] do
        skip, first = skip - cells[first].columns, first + 1
    end
    local last = first - 1
    while cells[last + 1] and used + cells[last + 1].columns <= room do
        used, last = used + cells[last + 1].columns, last + 1
    end
    return first, last
end

-- The text of the cells, and the line of marks below it, "" if there is none.
local function draw(cells, list, first, last)
    local above, below = {}, {}
    local function add(piece, columns, mark)
        above[#above + 1] = piece
        below[#below + 1] = (mark or " ")
            .. (mark and "~" or " "):rep(columns - 1)
    end
    if first > 1 then
        add("...", 3)
    end
    for i = first, last do
        local cell = cells[i]
        if cell.columns > 0 then
            add(cell.text, cell.columns, list[i])
        else
            above[#above + 1] = cell.text
        end
    end
    if last < #cells then
        add("...", 3)
    elseif list[#cells + 1] then
        add("", 1, list[#cells + 1])
    end
    return text.trim(table.concat(above)), text.trim(table.concat(below))
end

-- Of a very long line the part around the first mark, and the marks that begin in it.
local function shorten(line, marks)
    if #line <= most_bytes then
        return line, marks
    end
    local first = math.max(1, (marks[1] and marks[1].from or 1) - most_bytes // 2)
    while first > 1 and line:find("^[\x80-\xBF]", first) do
        first = first - 1
    end
    local part, moved = line:sub(first, first + most_bytes - 1), {}
    for _, mark in ipairs(marks) do
        if mark.from >= first and mark.from <= first + most_bytes then
            moved[#moved + 1] = { from = mark.from - first + 1, to = mark.to - first + 1 }
        end
    end
    if first > 1 then               -- so that dots stand for what is missing
        part = "." .. part
        for _, mark in ipairs(moved) do
            mark.from, mark.to = mark.from + 1, mark.to + 1
        end
    end
    return part, moved
end

-- Lines of a script with their numbers: " 12 | local c = lab.matmul(a, b)", and below each
-- its marks. `items` is a list of {number =, line =, marks = {{from =, to =}, ...}}, of which
-- from and to are bytes of the line. `paint(text)` colours marks.
function excerpt.show(items, columns, unicode, paint)
    local digits = 0
    for _, item in ipairs(items) do
        digits = math.max(digits, #tostring(item.number))
    end
    local lines = {}
    for _, item in ipairs(items) do
        local line, marks = shorten(item.line, item.marks)
        local cells = cells_of(line, unicode)
        local list = marks_of(cells, line, marks)
        local at = 1
        while at <= #cells and not list[at] do
            at = at + 1
        end
        local first, last = window(cells, #marks > 0 and at or 1,
            math.max(columns, least_columns) - digits - 4)
        local above, below = draw(cells, list, first, last)
        lines[#lines + 1] = (" %" .. digits .. "d | "):format(item.number) .. above
        if below ~= "" then
            lines[#lines + 1] = (" %s | "):format((" "):rep(digits))
                .. below:gsub("%S+", paint)
        end
    end
    return table.concat(lines, "\n")
end

return excerpt
