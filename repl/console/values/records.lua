-- records.lua - a list of tables with the same fields, as tl:spans() gives one, as a table
-- with headings.

local text = import "repl/run/text.lua"

local records = {}

local most_rows <const> = 20
local most_columns <const> = 24
local cell_bytes <const> = 40

-- These come first, and stay longest when there is not room for all; others follow by name.
local order = {}
for i, name in ipairs {
    "name", "kind", "cause", "lost_us", "backend", "index", "profile", "stream", "engine",
    "start_us", "end_us", "duration_us", "us", "bytes", "count", "text", "where",
} do order[name] = i end

local function is_simple(value)
    local kind = type(value)
    return kind == "number" or kind == "boolean"
        or kind == "string" and not value:find("\n", 1, true)
end

-- Adds the row's fields to `fields` (name -> in how many rows); false if it is no record.
local function note_fields(row, fields)
    local n = 0
    if type(row) ~= "table" or debug.getmetatable(row) ~= nil then return false end
    for name, value in next, row do
        n = n + 1
        if type(name) ~= "string" or not is_simple(value) or n > most_columns then return false end
        fields[name] = (fields[name] or 0) + 1
    end
    return n > 0
end

-- The names of the columns if the rows that are shown are records of one sort: most fields
-- are in all of them.
local function find_columns(list, rows)
    local fields, names, cells = {}, {}, 0
    for i = 1, rows do
        if not note_fields(rawget(list, i), fields) then return nil end
    end
    for name, count in next, fields do
        names[#names + 1] = name
        cells = cells + count
    end
    if #names > most_columns or cells < rows * #names * 0.6 then return nil end
    table.sort(names, function(a, b)
        local oa, ob = order[a] or math.huge, order[b] or math.huge
        if oa ~= ob then return oa < ob end
        return a < b
    end)
    return names
end

-- What the column's numbers are written with: whole ones as they are, others with as many
-- decimals as times in us have.
local function number_format(list, rows, name)
    local fraction = false
    for i = 1, rows do
        local value = rawget(rawget(list, i), name)
        if type(value) == "number" and math.type(value) == "float" then
            if value ~= value or math.abs(value) >= 1e12
                or value ~= 0 and math.abs(value) < 1e-3 then return "%.6g" end
            fraction = true
        end
    end
    return fraction and "%.3f" or nil
end

local function cell_text(value, format)
    if value == nil then return "" end
    if math.type(value) == "float" then return value ~= value and "nan" or format:format(value) end
    if type(value) == "string" then
        if #value > cell_bytes then value = text.head(value, cell_bytes - 3) .. "..." end
        return text.clean(value, true)
    end
    return tostring(value)
end

local function make_column(list, rows, name)
    local format = number_format(list, rows, name) or "%.14g"
    local column = { name = text.clean(name, true), cells = {}, left = true }
    column.width = text.width(column.name)
    for i = 1, rows do
        local value = rawget(rawget(list, i), name)
        local cell = cell_text(value, format)
        column.cells[i] = cell
        column.width = math.max(column.width, text.width(cell))
        if type(value) == "number" then column.left = false end
    end
    return column
end

-- The numbers of the rows, as one writes them behind the list's name.
local function index_column(rows)
    local column = { name = "", cells = {}, width = #tostring(rows) + 2,
                     left = false, kind = "dim" }
    for i = 1, rows do column.cells[i] = "[" .. i .. "]" end
    return column
end

-- As many columns as fit; the names of the others.
local function choose(columns, room)
    local chosen, others, used = {}, {}, 0
    for _, column in ipairs(columns) do
        local width = column.width + (used > 0 and 2 or 0)
        if #others == 0 and used + width <= room then
            chosen[#chosen + 1] = column
            used = used + width
        else
            others[#others + 1] = column.name
        end
    end
    return chosen, others
end

local function row_line(columns, i)
    local parts = {}
    for c, column in ipairs(columns) do
        local cell = i == 0 and column.name or column.cells[i]
        cell = text.pad(cell, column.width, not column.left)
        parts[c] = text.paint(i == 0 and "heading" or column.kind, cell)
    end
    return (table.concat(parts, "  "):gsub("%s+$", ""))
end

-- Of a list of records: its columns, the first of which has the rows' numbers; how many rows these
-- have, and how many the list. nil: it is no such list.
function records.columns(list)
    if type(list) ~= "table" or debug.getmetatable(list) ~= nil then return nil end
    local n = rawlen(list)
    local rows = math.min(n, most_rows)
    if n < 2 or next(list, n) ~= nil and n <= most_rows then return nil end
    local names = find_columns(list, rows)
    if not names or #names < 2 then return nil end
    local columns = { index_column(rows) }
    for i, name in ipairs(names) do columns[i + 1] = make_column(list, rows, name) end
    return columns, rows, n
end

-- The list as lines, or nil if it is no list of records, or would lose most of its columns.
function records.lines(list)
    local columns, rows, n = records.columns(list)
    if not columns then return nil end
    local chosen, others = choose(columns, internals.columns())
    if #chosen < 3 then return nil end
    local lines = {}
    for i = 0, rows do lines[i + 1] = row_line(chosen, i) end
    if n > rows then lines[#lines + 1] = text.paint("dim", ("... %d more"):format(n - rows)) end
    if #others > 0 then
        for _, line in ipairs(text.wrap(table.concat(others, ", "), "also: ", "  ")) do
            lines[#lines + 1] = text.paint("dim", line)
        end
    end
    return lines
end

return records
