-- json_lines.lua - reads JSON lines that somebody else wrote: one object a line, of strings, numbers,
-- true, false and null, with no list and no object in it. Plain Lua: tests/bench reads this file
-- outside of the program.

local json_lines = {}

local most_bytes <const> = 4096         -- of a line

local escapes <const> = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ['"'] = '"',
                          ["\\"] = "\\", ["/"] = "/" }

-- Each takes the line and a position, and gives a value and the position behind it; or nil.

local function unescape(line, at)
    local digits = line:match("^u(%x%x%x%x)", at)
    if digits then
        return utf8.char(tonumber(digits, 16)), at + 5
    end
    return escapes[line:sub(at, at)], at + 1
end

local function string_at(line, at)
    local parts, from = {}, at + 1
    while true do
        local stop = line:find('["\\%c]', from)
        local character = stop and line:sub(stop, stop)
        if character ~= '"' and character ~= "\\" then
            return nil
        end
        parts[#parts + 1] = line:sub(from, stop - 1)
        if character == '"' then
            return table.concat(parts), stop + 1
        end
        local text
        text, from = unescape(line, stop + 1)
        if not text then
            return nil
        end
        parts[#parts + 1] = text
    end
end

local function number_at(line, at)
    local digits = line:match("^-?%d+%.%d+", at) or line:match("^-?%d+", at)
    if not digits or digits:find("^-?0%d") then
        return nil
    end
    digits = digits .. (line:match("^[eE][+-]?%d+", at + #digits) or "")
    return tonumber(digits), at + #digits
end

local words <const> = { ["true"] = true, ["false"] = false, null = json_lines }

local function value_at(line, at)
    if line:find('^"', at) then
        return string_at(line, at)
    end
    local word = line:match("^%l+", at)
    if word then
        return words[word], at + #word
    end
    return number_at(line, at)
end

-- Adds one field to the object. Gives the position behind it; or nil.
local function field_at(line, at, object)
    local name, behind = string_at(line, at)
    behind = name and line:match("^[ \t]*:[ \t]*()", behind)
    if not behind or object[name] ~= nil then
        return nil
    end
    object[name], behind = value_at(line, behind)
    return object[name] ~= nil and behind or nil
end

-- The object of a line, in which null is as if the field were missing; or nil.
function json_lines.object(line)
    local object = {}
    local at = #line <= most_bytes and line:match('^[ \t]*{[ \t]*()"')
    while at do
        at = field_at(line, at, object)
        local stop = at and line:match("^[ \t]*()[,}]", at)
        if stop and line:find("^}[ \t\r]*$", stop) then
            break
        end
        at = stop and line:match('^,[ \t]*()"', stop)
    end
    if not at then
        return nil
    end
    for name, value in pairs(object) do
        if value == json_lines then
            object[name] = nil
        end
    end
    return object
end

return json_lines
