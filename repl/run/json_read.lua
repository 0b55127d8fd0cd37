-- json_read.lua - reads JSON (RFC 8259), as json.lua writes it. It may be anybody's: what comes of
-- it is only tables and texts, of a limited depth; its size is for the caller to limit. Plain Lua:
-- tools of tests/bench read this file outside of the program.

local json = {}

local most_nested <const> = 128         -- a table that json.lua writes may take three levels

-- What stands for a value that JSON cannot have.
json.other = setmetatable({}, { __metatable = "streamlab.other",
                                __newindex = function() error("it cannot be changed", 2) end })

-- Each takes the text and a position, and gives a value and the position behind it; what is wrong
-- is raised as {at = position}.

local function wrong(at)
    error({ at = at }, 0)
end

local function skip(text, at)
    return text:match("^[ \t\r\n]*()", at)
end

local escapes <const> = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ['"'] = '"',
                          ["\\"] = "\\", ["/"] = "/" }

-- Half of a surrogate pair alone is no character.
local function unicode_at(text, at)
    local code = tonumber(text:match("^u(%x%x%x%x)", at) or wrong(at), 16)
    if code < 0xd800 or code > 0xdfff then
        return utf8.char(code), at + 5
    end
    local low = tonumber(text:match("^\\u(%x%x%x%x)", at + 5) or wrong(at), 16)
    if code > 0xdbff or low < 0xdc00 or low > 0xdfff then
        wrong(at)
    end
    return utf8.char(0x10000 + (code - 0xd800 << 10) + low - 0xdc00), at + 11
end

local function string_at(text, at)
    local parts, from = {}, at + 1
    while true do
        local stop = text:find('["\\%c]', from) or wrong(at)
        parts[#parts + 1] = text:sub(from, stop - 1)
        local mark = text:sub(stop, stop)
        if mark == '"' then
            return table.concat(parts), stop + 1
        elseif mark ~= "\\" then
            wrong(stop)
        end
        local escaped = escapes[text:sub(stop + 1, stop + 1)]
        if escaped then
            parts[#parts + 1], from = escaped, stop + 2
        else
            parts[#parts + 1], from = unicode_at(text, stop + 1)
        end
    end
end

local function number_at(text, at)
    local digits = text:match("^-?%d+", at) or wrong(at)
    if digits:find("^-?0%d") then
        wrong(at)
    end
    digits = digits .. (text:match("^%.%d+", at + #digits) or "")
    digits = digits .. (text:match("^[eE][+-]?%d+", at + #digits) or "")
    return tonumber(digits), at + #digits
end

local words <const> = { ["true"] = true, ["false"] = false }

local value_at

local function list_at(text, at, depth)
    local list, n = {}, 0
    at = skip(text, at + 1)
    if text:byte(at) == 93 then         -- "]"
        return list, at + 1
    end
    while true do
        n = n + 1
        list[n], at = value_at(text, at, depth)
        local mark, behind = text:match("^[ \t\r\n]*([],])()", at)
        if not mark then
            wrong(at)
        elseif mark == "]" then
            return list, behind
        end
        at = behind
    end
end

local floats <const> = { nan = 0 / 0, inf = math.huge, ["-inf"] = -math.huge }

local function from_hex(digits)
    return type(digits) == "string" and #digits % 2 == 0 and not digits:find("%X")
        and digits:gsub("%x%x", function(byte) return string.char(tonumber(byte, 16)) end) or nil
end

local function from_pairs(list)
    local value = {}
    for _, pair in ipairs(type(list) == "table" and list or {}) do
        local key = type(pair) == "table" and pair[1]
        if key == nil or key ~= key then
            return nil
        end
        value[key] = pair[2]
    end
    return value
end

local special <const> = {
    ["$float"] = function(name) return floats[name] end,
    ["$bytes"] = function(digits) return (from_hex(digits)) end,
    ["$table"] = from_pairs,
    ["$other"] = function() return json.other end,
}

local function object_at(text, at, depth)
    local object, start = {}, at
    at = skip(text, at + 1)
    if text:byte(at) == 125 then        -- "}"
        return object, at + 1
    end
    while true do
        if text:byte(at) ~= 34 then     -- '"'
            wrong(at)
        end
        local name, behind = string_at(text, at)
        if object[name] ~= nil then     -- readers differ in which one they take
            wrong(at)
        end
        behind = text:match("^[ \t\r\n]*:()", behind) or wrong(behind)
        object[name], behind = value_at(text, behind, depth)
        local mark
        mark, at = text:match("^[ \t\r\n]*([},])[ \t\r\n]*()", behind)
        if mark == "}" then
            local read = special[name]
            if read and next(object) == name and next(object, name) == nil then
                object = read(object[name])
                if object == nil then
                    wrong(start)
                end
            end
            return object, text:match("^[ \t\r\n]*}()", behind)
        elseif not mark then
            wrong(behind)
        end
    end
end

function value_at(text, at, depth)
    if depth > most_nested then
        wrong(at)
    end
    at = skip(text, at)
    local first = text:sub(at, at)
    if first == '"' then
        return string_at(text, at)
    elseif first == "{" then
        return object_at(text, at, depth + 1)
    elseif first == "[" then
        return list_at(text, at, depth + 1)
    end
    local word = text:match("^%l+", at)
    if word == "null" then
        return nil, at + 4
    elseif word then
        if words[word] == nil then
            wrong(at)
        end
        return words[word], at + #word
    end
    return number_at(text, at)
end

-- The value of a text; or nil and a sentence. null is nil: a field that is null is missing.
function json.read(text)
    local fine, value, at = pcall(value_at, text, 1, 0)
    if not fine then
        if type(value) ~= "table" or not value.at then
            error(value, 0)
        end
        return nil, ("it is no JSON at byte %d"):format(value.at)
    elseif skip(text, at) <= #text then
        return nil, ("it is no JSON at byte %d"):format(at)
    end
    return value
end

return json
