-- json.lua - reads JSON, and nothing that is not JSON: for checking what was written.
--
-- read(text) gives the value, or raises with the position. null is json.null.

local json = {null = setmetatable({}, {__tostring = function() return "null" end})}

local value     -- value(text, at): the value there, and the position behind it

local function fail(what, at) error(("%s at byte %d"):format(what, at), 0) end

local function skip(text, at) return text:find("[^ \t\r\n]", at) or #text + 1 end

-- Passes a character that must be there.
local function expect(text, at, character)
    at = skip(text, at)
    if text:sub(at, at) ~= character then fail("no " .. character, at) end
    return at + 1
end

local escapes = {b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ['"'] = '"', ["\\"] = "\\",
                 ["/"] = "/"}

local function string_at(text, at)
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
    local stop = select(2, text:find("^-?%d+%.?%d*[eE]?[+-]?%d*", at))
    local digits = stop and text:sub(at, stop)
    local plain = digits and digits:gsub("[eE][+-]?%d+$", "")
    if not plain or not (plain:find("^-?%d+$") or plain:find("^-?%d+%.%d+$"))
        or plain:find("^-?0%d") then
        fail("no value", at)
    end
    return tonumber(digits), stop + 1
end

-- The items between the brackets; item(at) takes one and gives the position behind it.
local function items(text, at, close, item)
    at = skip(text, at + 1)
    if text:sub(at, at) == close then return at + 1 end
    while true do
        at = skip(text, item(at))
        local character = text:sub(at, at)
        if character == close then return at + 1 end
        if character ~= "," then fail("no , or " .. close, at) end
        at = at + 1
    end
end

local function list_at(text, at)
    local list = {}
    return list, items(text, at, "]", function(from)
        local item, behind = value(text, from)
        list[#list + 1] = item
        return behind
    end)
end

local function object_at(text, at)
    local object = {}
    return object, items(text, at, "}", function(from)
        from = skip(text, from)
        if text:sub(from, from) ~= '"' then fail("no name", from) end
        local key, behind = string_at(text, from)
        object[key], behind = value(text, expect(text, behind, ":"))
        return behind
    end)
end

local words = {["true"] = true, ["false"] = false, null = json.null}

function value(text, at)
    at = skip(text, at)
    local character = text:sub(at, at)
    if character == "{" then return object_at(text, at) end
    if character == "[" then return list_at(text, at) end
    if character == '"' then return string_at(text, at) end
    local word = text:match("^%l+", at)
    if word and words[word] ~= nil then return words[word], at + #word end
    return number_at(text, at)
end

function json.read(text)
    local result, at = value(text, 1)
    if skip(text, at) <= #text then fail("something behind the end", at) end
    return result
end

return json
