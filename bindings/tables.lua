-- tables.lua - lab.table: a list of named values as a table for people, as CSV and as JSON
-- lines. The object is a table of Lua with methods, class "results" in docs/api.

local lab, core = ...

local raise, refuse, type_name = core.raise, core.refuse, core.type_name
local no_more, check_options = core.arguments.no_more, core.arguments.check_options
local is_text, is_table = core.arguments.is_text, core.arguments.is_table
local sorted_keys, did_you_mean = core.arguments.sorted_keys, core.arguments.did_you_mean

local most_cell_bytes <const> = 1000    -- of a text in a table for people

local results = {}
core.results = results

local function quoted(text) return ("'%s'"):format(core.safe(text:sub(1, 60))) end

-- Whether a cell can hold it.
function results.is_cell(value)
    local kind = type(value)
    return kind == "number" or kind == "string" or kind == "boolean" or kind == "nil"
end
local is_cell = results.is_cell

-- Arguments ------------------------------------------------------------------------------

-- What the value is, unless it is a list; nil if it is one. A metatable's items may have no end.
local function no_list(value)
    if type(value) ~= "table" then return type_name(value) end
    if getmetatable(value) ~= nil then return "a table with a metatable" end
    local n, last = 0, rawlen(value)
    for key in next, value do
        if math.type(key) ~= "integer" or key < 1 then return "a table with named values" end
        n = n + 1
        if key > last then return "a list with gaps" end
    end
    return n < last and "a list with gaps" or nil
end
results.no_list = no_list

local function check_rows(rows, what, op)
    local other = no_list(rows)
    if other then
        refuse(op, "%s must be a list of tables, got %s", what, other)
    end
    for i, row in ipairs(rows) do
        if type(row) ~= "table" then
            refuse(op, "row %d must be a table of named values, got %s", i, type_name(row))
        end
        for key in next, row do
            if type(key) ~= "string" then
                refuse(op, "row %d: the values must be named, as in { kib = 64 }; got the key "
                    .. "%s", i,
                       tostring(key))
            end
        end
    end
end

-- The names of what the rows hold, sorted; those of tables, functions and objects are left
-- out.
local function found_columns(rows)
    local seen = {}
    for _, row in ipairs(rows) do
        for name, value in next, row do
            seen[name] = seen[name] ~= false and is_cell(value)
        end
    end
    local names = {}
    for _, name in ipairs(sorted_keys(seen)) do
        if seen[name] then names[#names + 1] = name end
    end
    return names, seen
end

-- Raises unless the list holds names without duplicates.
function results.check_names(names, what, op)
    local seen, other = {}, no_list(names)
    if other then
        refuse(op, "%s must be a list of names, got %s", what, other)
    end
    for i, name in ipairs(names) do
        if not is_text(name) or name == "" then
            refuse(op, "%s: item %d must be a name, got %s", what, i,
                   name == "" and "an empty text" or type_name(name))
        elseif seen[name] then
            refuse(op, "%s: %s is in it twice", what, quoted(name))
        end
        seen[name] = true
    end
end

local function check_cells(rows, name, op)
    for i, row in ipairs(rows) do
        if not is_cell(row[name]) then
            refuse(op, "row %d: %s is a %s; a column has numbers, texts, true and false", i,
                   quoted(name), type_name(row[name]))
        end
    end
end

-- A name that no row has is a typo, unless there are no rows.
local function check_columns(rows, columns, op)
    results.check_names(columns, "option 'columns'", op)
    local names, known = found_columns(rows)
    for _, name in ipairs(columns) do
        if known[name] == nil and #rows > 0 then
            refuse(op, "column %s is in no row; there are: %s%s", quoted(name),
                   table.concat(names, ", "), did_you_mean(name, known))
        end
        check_cells(rows, name, op)
    end
end

-- Cells ----------------------------------------------------------------------------------

-- The text of a number that needs no rounding; nil for others.
local function plain_number(value)
    if value ~= value then return "nan" end
    if math.type(value) == "integer" then return ("%d"):format(value) end
    if math.abs(value) == math.huge then return value > 0 and "inf" or "-inf" end
end

-- With four significant digits; digits before the point are never rounded away.
local function short_number(value)
    local plain, size = plain_number(value), math.abs(value)
    if plain then return plain end
    if value == 0 then return "0" end
    if size < 1e15 and (size >= 1000 or value == math.floor(value)) then
        return ("%.0f"):format(value)
    end
    return ("%.4g"):format(value)
end

-- For people, on one line.
local function cell_text(value)
    if value == nil then return "-" end
    if type(value) == "number" then return short_number(value) end
    if type(value) == "boolean" then return value and "yes" or "no" end
    local text = tostring(value)
    if #text <= most_cell_bytes then return core.safe(text) end
    local head = text:sub(1, most_cell_bytes):gsub("[\xc2-\xf4][\x80-\xbf]*$", "")
    return ("%s... (%d bytes)"):format(core.safe(head), #text)
end
results.cell_text = cell_text

-- With as few digits as give the same number when they are read again.
function results.exact_number(value)
    local plain = plain_number(value)
    if plain then return plain end
    for digits = 15, 17 do
        local text = ("%." .. digits .. "g"):format(value)
        if digits == 17 or tonumber(text) == value then return text end
    end
end
local exact_number = results.exact_number

-- For people -----------------------------------------------------------------------------

local function width_of(text) return utf8 and utf8.len(text) or #text end
local function blanks(n) return (" "):rep(n) end

local function is_numeric(rows, name)
    local some = false
    for _, row in ipairs(rows) do
        local value = row[name]
        if value ~= nil and type(value) ~= "number" then return false end
        some = some or value ~= nil
    end
    return some
end

-- The texts of a column of numbers, all with the decimal point in the same place.
local function align_points(texts)
    local fractions, widest = {}, 0
    for i, text in ipairs(texts) do
        fractions[i] = #(text:match("[.e].*$") or "")
        widest = math.max(widest, fractions[i])
    end
    for i, text in ipairs(texts) do texts[i] = text .. blanks(widest - fractions[i]) end
end

-- A column as texts of one width, the heading first.
local function make_column(rows, name)
    local texts, numeric = {}, is_numeric(rows, name)
    for i, row in ipairs(rows) do texts[i] = cell_text(row[name]) end
    if numeric then align_points(texts) end
    table.insert(texts, 1, cell_text(name))
    local width = 0
    for _, text in ipairs(texts) do width = math.max(width, width_of(text)) end
    for i, text in ipairs(texts) do
        local pad = blanks(width - width_of(text))
        texts[i] = numeric and pad .. text or text .. pad
    end
    return texts
end

local function to_text(r)
    local lines, columns = {}, {}
    for i, name in ipairs(r.columns) do columns[i] = make_column(r.rows, name) end
    if r.title then lines[1] = cell_text(r.title) end
    for i = 1, #r.rows + 1 do
        local parts = {}
        for j, texts in ipairs(columns) do parts[j] = texts[i] end
        lines[#lines + 1] = table.concat(parts, "  "):match("^.*%S") or ""
    end
    if #r.rows == 0 then lines[#lines + 1] = "(no rows)" end
    return table.concat(lines, "\n")
end

-- For programs ---------------------------------------------------------------------------

local function csv_cell(value)
    if value == nil then return "" end
    if type(value) == "number" then return exact_number(value) end
    local text = tostring(value)
    if text == "" or text:find('[",\r\n]') then return '"' .. text:gsub('"', '""') .. '"' end
    return text
end
results.csv_cell = csv_cell

local function to_csv(r)
    local lines = {}
    for i = 0, #r.rows do
        local parts = {}
        for j, name in ipairs(r.columns) do
            parts[j] = i == 0 and csv_cell(name) or csv_cell(r.rows[i][name])
        end
        local line = table.concat(parts, ",")
        if line == "" then line = '""' end      -- readers skip empty lines
        lines[#lines + 1] = line .. "\r\n"
    end
    return table.concat(lines)
end

-- Bytes that are no UTF-8 become U+FFFD, the replacement character.
local function valid_utf8(text)
    local parts, from = {}, 1
    while utf8 do
        local _, bad = utf8.len(text, from)
        if not bad then break end
        parts[#parts + 1] = text:sub(from, bad - 1)
        from = bad + 1
    end
    parts[#parts + 1] = text:sub(from)
    return table.concat(parts, "\u{fffd}")
end
results.valid_utf8 = valid_utf8

-- Replaces each character beyond ASCII that must not reach a terminal by instead(code). The text
-- is UTF-8.
local function replace_hidden(text, instead)
    return (text:gsub("[\xc2-\xf4][\x80-\xbf]+", function(character)
        local code = utf8 and utf8.codepoint(character)
        return code and core.character_columns(code) < 0 and instead(code) or nil
    end))
end
results.replace_hidden = replace_hidden

-- JSON has neither infinities nor NaN.
local function json_value(value)
    if type(value) == "number" then
        local finite = value == value and math.abs(value) ~= math.huge
        return finite and exact_number(value) or "null"
    end
    if value == nil then return "null" end
    return type(value) == "boolean" and tostring(value) or core.json_string(tostring(value))
end

local function to_jsonl(r)
    local lines = {}
    for i, row in ipairs(r.rows) do
        local parts = {}
        for j, name in ipairs(r.columns) do
            parts[j] = core.json_string(name) .. ": " .. json_value(row[name])
        end
        lines[i] = "{" .. table.concat(parts, ", ") .. "}\n"
    end
    return table.concat(lines)
end

-- The object -----------------------------------------------------------------------------

local methods = {}
local fields = { rows = true, columns = true, title = true }
local class <const> = "streamlab.results"
local meta = { __name = class, __metatable = class, __methods = methods, __fields = fields }

-- Also checks the object's content, which scripts may change.
local function check_self(r, op)
    if type(r) ~= "table" or getmetatable(r) ~= class then
        refuse(op, "argument 1 (self) must be what lab.table or lab.sweep gave, got %s; call it as "
               .. "r:%s(...)", type_name(r), op)
    end
    check_rows(r.rows, "rows", op)
    results.check_names(r.columns, "columns", op)
    for _, name in ipairs(r.columns) do check_cells(r.rows, name, op) end
    if r.title ~= nil and not is_text(r.title) then
        refuse(op, "title must be a string, got %s", type_name(r.title))
    end
end
results.check_self = check_self

function meta.__index(_, key)
    if methods[key] or fields[key] then return methods[key] end
    local known = {}
    for _, names in ipairs{ methods, fields } do
        for name in next, names do known[name] = true end
    end
    refuse("", "what lab.table gave has no field or method %s%s", quoted(tostring(key)),
           did_you_mean(key, known, "'"))
end

function meta.__tostring(r)
    check_self(r, "tostring")
    return to_text(r)
end

-- The operation's text: into the file, or back if there is none.
local function deliver(text, file, op)
    if file == nil then return text end
    if not is_text(file) then
        refuse(op, "argument 2 (file) must be a file's name, got %s", type_name(file))
    end
    if not io then raise("SL_EUNSUPPORTED", op, "there is no io library") end
    local written, reason = core.write_files { { path = file, text = text } }
    if not written then raise("SL_EIO", op, reason) end
end

function methods.show(r, ...)
    check_self(r, "show")
    no_more(1, "show", ...)
    if not io then raise("SL_EUNSUPPORTED", "show", "there is no io library") end
    io.write(to_text(r), "\n")
end

function methods.csv(r, file, ...)
    check_self(r, "csv")
    no_more(2, "csv", ...)
    return deliver(to_csv(r), file, "csv")
end

function methods.jsonl(r, file, ...)
    check_self(r, "jsonl")
    no_more(2, "jsonl", ...)
    return deliver(to_jsonl(r), file, "jsonl")
end

function methods.plot(...)
    core.need("plotting")
    return core.plot(...)
end

core.define_class(meta)

-- `columns` nil: those that are found.
function results.new(rows, columns, title)
    return setmetatable({ rows = rows, columns = columns or found_columns(rows), title = title },
                        meta)
end

local table_options = {
    { "columns", "a list of names", is_table }, { "title", "a string", is_text },
}

function lab.table(rows, opts, ...)
    no_more(2, "table", ...)
    opts = check_options(opts, table_options, "table")
    check_rows(rows, "argument 1 (rows)", "table")
    if opts.columns then check_columns(rows, opts.columns, "table") end
    return results.new(rows, opts.columns and table.move(opts.columns, 1, #opts.columns, 1, {}),
                       opts.title)
end
