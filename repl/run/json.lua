-- json.lua - values of Lua as JSON (RFC 8259); json_read.lua reads them back.
--
-- What was written is read as the same value. So a float keeps its point, and what JSON lacks is an
-- object with one name that begins with "$":
--   {"$float": "nan"}         nan, inf or -inf
--   {"$bytes": "ff00"}        a text that is no UTF-8
--   {"$table": [[k, v], ...]} a table whose keys are no list and not all names
--   {"$other": "function"}    what is no value to write; it is read as json.other

local reader = import "repl/run/json_read.lua"

local json = { read = reader.read, other = reader.other }

internals.need "tables"
local tables = internals.results
local sorted_keys = internals.arguments.sorted_keys

local most_depth <const> = 32

-- Of a value that is written: the bytes of its text, and the values in it.
json.most = { bytes = 64 << 20, values = 2000000 }

-- ---- writing -----------------------------------------------------------------------------------

json.string = internals.json_string

local encode

-- What is written so far: a list of texts, `bytes` of them and `values`; the tables that are being
-- written are `open`.
local function add(out, text)
    out.bytes = out.bytes + #text
    if out.bytes > json.most.bytes or out.values > json.most.values then
        error(("the value is too large for JSON: more than %d bytes of text, or %d values (a table "
               .. "that is there several times counts each "
               .. "time)"):format(json.most.bytes, json.most.values), 0)
    end
    out[#out + 1] = text
end

local function number_text(value)
    if math.type(value) == "integer" then
        return tostring(value)
    elseif value ~= value or value == math.huge or value == -math.huge then
        return '{"$float":"' .. tables.exact_number(value) .. '"}'
    end
    local text = tables.exact_number(value)
    return text:find("[.e]") and text or text .. ".0"
end

local hex <const> = {}
for byte = 0, 255 do hex[string.char(byte)] = ("%02x"):format(byte) end

-- One that is too long fails before its characters are looked at.
local function add_string(out, value)
    if out.bytes + #value > json.most.bytes then
        out.bytes = out.bytes + #value
        add(out, "")
    elseif utf8.len(value) then
        add(out, json.string(value))
    else
        add(out, '{"$bytes":"' .. value:gsub(".", hex) .. '"}')
    end
end

local function encode_list(out, list, depth)
    add(out, "[")
    for i, item in ipairs(list) do
        if i > 1 then add(out, ",") end
        encode(out, item, depth)
    end
    add(out, "]")
end

local function encode_object(out, object, keys, depth)
    add(out, "{")
    for i, key in ipairs(keys) do
        if i > 1 then add(out, ",") end
        add_string(out, key)
        add(out, ":")
        encode(out, rawget(object, key), depth)
    end
    add(out, "}")
end

local function is_name(key)
    return type(key) == "string" and utf8.len(key) and not key:find("^%$")
end

local function encode_table(out, value, depth)
    if not tables.no_list(value) then
        return encode_list(out, value, depth)
    end
    local keys, named = sorted_keys(value), true
    for _, key in ipairs(keys) do
        named = named and is_name(key)
    end
    if named then
        return encode_object(out, value, keys, depth)
    end
    local pairs_of = {}
    for i, key in ipairs(keys) do
        pairs_of[i] = { key, rawget(value, key) }
    end
    add(out, '{"$table":')
    encode_list(out, pairs_of, depth)
    add(out, "}")
end

local function is_written(out, value, depth)
    return not debug.getmetatable(value) and depth < most_depth and not out.open[value]
end

function encode(out, value, depth)
    local kind = type(value)
    out.values = out.values + 1
    if kind == "nil" then
        add(out, "null")
    elseif kind == "boolean" then
        add(out, tostring(value))
    elseif kind == "number" then
        add(out, number_text(value))
    elseif kind == "string" then
        add_string(out, value)
    elseif kind == "table" and is_written(out, value, depth) then
        out.open[value] = true
        encode_table(out, value, depth + 1)
        out.open[value] = nil
    else
        add(out, '{"$other":' .. json.string(internals.type_name(value)) .. "}")
    end
end

-- One line, without a newline. The same value gives the same text. A table within itself is
-- {"$other": "table"}. A value that is too large is an error.
function json.write(value)
    local out = { bytes = 0, values = 0, open = {} }
    encode(out, value, 0)
    return table.concat(out)
end

return json
