-- json.lua - reads JSON, and nothing that is not JSON: for checking what was written.
--
-- read(text) gives the value, or raises with the position. null is json.null.

local json = { null = setmetatable({}, { __tostring = function() return "null" end }) }

local value     -- value(text, at): the value there, and the position behind it

local function fail(what, at) error(("%s at byte %d"):format(what, at), 0) end

local byte <const>, find <const>, match <const>, sub <const> =
    string.byte, string.find, string.match, string.sub

-- Traces have millions of bytes, so that what is usual comes first, here and below.
local function skip(text, at)
    local is = byte(text, at)
    if is and is > 32 then return at end
    return find(text, "[^ \t\r\n]", at) or #text + 1
end

-- Passes a character that must be there.
local function expect(text, at, character)
    at = skip(text, at)
    if byte(text, at) ~= byte(character) then fail("no " .. character, at) end
    return at + 1
end

local escapes = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ['"'] = '"', ["\\"] = "\\",
                  ["/"] = "/" }

local function string_at(text, at)
    local ends = find(text, '["\\\0-\31]', at + 1)
    if ends and byte(text, ends) == 34 then return sub(text, at + 1, ends - 1), ends + 1 end
    local parts, from = {}, at + 1
    while true do
        local stop = text:find('["\\\0-\31]', from) or fail("a string without an end", at)
        parts[#parts + 1] = text:sub(from, stop - 1)
        local character = text:sub(stop, stop)
        if character == '"' then return table.concat(parts), stop + 1 end
        if character ~= "\\" then fail("a control character in a string", stop) end
        local letter = text:sub(stop + 1, stop + 1)
        from = stop + 2
        if letter == "u" then
            local digits = text:match("^%x%x%x%x", from) or fail("no four digits", from)
            parts[#parts + 1] = utf8.char(tonumber(digits, 16))
            from = from + 4
        else
            parts[#parts + 1] = escapes[letter] or fail("an unknown escape", stop)
        end
    end
end

local function number_at(text, at)
    local whole, behind = match(text, "^(-?[1-9]%d*)()[^%.%deE]", at)
    if whole then return tonumber(whole), behind end
    local stop = select(2, text:find("^-?%d+%.?%d*[eE]?[+-]?%d*", at))
    local digits = stop and text:sub(at, stop)
    local plain = digits and digits:gsub("[eE][+-]?%d+$", "")
    if not plain or not (plain:find("^-?%d+$") or plain:find("^-?%d+%.%d+$"))
        or plain:find("^-?0%d") then
        fail("no value", at)
    end
    return tonumber(digits), stop + 1
end

-- Behind an item: where the next one begins, or nil, and where the brackets end.
local function next_item(text, at, close)
    at = skip(text, at)
    local is = byte(text, at)
    if is == 44 then return at + 1 end
    if is ~= byte(close) then fail("no , or " .. close, at) end
    return nil, at + 1
end

-- Where the first item begins, or nil, and where the brackets end.
local function first_item(text, at, close)
    at = skip(text, at + 1)
    if byte(text, at) == byte(close) then return nil, at + 1 end
    return at
end

local function list_at(text, at)
    local list, behind = {}, nil
    at, behind = first_item(text, at, "]")
    while at do
        list[#list + 1], behind = value(text, at)
        at, behind = next_item(text, behind, "]")
    end
    return list, behind
end

local function object_at(text, at)
    local object, behind, key = {}, nil, nil
    at, behind = first_item(text, at, "}")
    while at do
        at = skip(text, at)
        if byte(text, at) ~= 34 then fail("no name", at) end
        key, behind = string_at(text, at)
        object[key], behind = value(text, expect(text, behind, ":"))
        at, behind = next_item(text, behind, "}")
    end
    return object, behind
end

local words = { ["true"] = true, ["false"] = false, null = json.null }

function value(text, at)
    at = skip(text, at)
    local is = byte(text, at)
    if is == 34 then return string_at(text, at) end
    if is == 123 then return object_at(text, at) end
    if is == 91 then return list_at(text, at) end
    local word = match(text, "^%l+", at)
    if word and words[word] ~= nil then return words[word], at + #word end
    return number_at(text, at)
end

function json.read(text)
    local result, at = value(text, 1)
    if skip(text, at) <= #text then fail("something behind the end", at) end
    return result
end

return json
