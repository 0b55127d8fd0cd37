-- assigned.lua - which class of the laboratory's objects a name has in text that has not run: s in
-- "local s = lab.stream()" is a stream, as docs/api says what a call returns. No code runs; where
-- the text does not say it, the class is nil.

local api = import "repl/run/api.lua"
local tokens = import "repl/run/tokens.lua"

local assigned = {}

local closing <const> = { ["("] = ")", ["{"] = "}", ["["] = "]" }

local function is(list, i, text) return list[i] ~= nil and list[i].text == text end

local function is_name(list, i) return list[i] ~= nil and list[i].kind == "name" end

-- The class that a type begins with: "tensor|tensor[]" is a tensor, "tensor[]" a list.
local function class_in(type)
    local word, rest = (type or ""):match "^(%a+)(.?)"
    local page = word and rest ~= "[" and rest ~= "<" and api.page(word)
    return page and page.class == word and word or nil
end

local function returned(entry)
    local first = entry and entry.returns and entry.returns[1]
    return first and class_in(first[1])
end

-- Behind the bracket that opens at i; nil: it does not close.
local function behind_bracket(list, i)
    local depth = 0
    repeat
        local text = list[i].text
        if closing[text] then depth = depth + 1
        elseif text == ")" or text == "}" or text == "]" then depth = depth - 1 end
        i = i + 1
    until depth == 0 or not list[i]
    return depth == 0 and i or nil
end

-- Behind the arguments of a call at i; nil: there are none.
local function behind_arguments(list, i)
    if is(list, i, "(") or is(list, i, "{") then return behind_bracket(list, i) end
    return list[i] and list[i].kind == "string" and i + 1 or nil
end

-- Behind "<const>" or "<close>".
local function behind_attribute(list, i)
    return is(list, i, "<") and is(list, i + 2, ">") and i + 3 or i
end

-- ---- expressions --------------------------------------------------------------------------

-- The class of "lab.cuda.name(...)" at i, and what follows; nil: none.
local function class_of_call(list, i)
    local name = list[i].text
    while is(list, i + 1, ".") and is_name(list, i + 2) do
        name, i = name .. "." .. list[i + 2].text, i + 2
    end
    local behind = behind_arguments(list, i + 1)
    return behind and returned(api.entry(name)) or nil, behind
end

-- The class of what begins at i, with its calls of methods and its fields.
local function class_of_expression(list, i)
    if not is_name(list, i) then return nil end
    local class, at
    if list[i].text == "lab" then
        class, at = class_of_call(list, i)
    else
        class, at = assigned.class(list, list[i].text, i - 1), i + 1
    end
    while class do
        local separator, key = list[at] and list[at].text, list[at + 1] and list[at + 1].text
        if separator ~= ":" and separator ~= "." then return class end
        local entry = api.member(class, key or "")
        at = separator == ":" and behind_arguments(list, at + 2) or at + 2
        class = separator == ":" and returned(entry) or class_in(entry and entry.type)
    end
end

-- ---- assignments --------------------------------------------------------------------------

-- Which of the names before "=" stands at i.
local function place_of(list, i)
    local place = 1
    while is(list, i - 1, ",") do
        i = is(list, i - 2, ">") and i - 5 or i - 2
        if not is_name(list, i) then return nil end
        place = place + 1
    end
    return not is(list, i - 1, "{") and not is(list, i - 1, ".") and place or nil
end

-- Behind the "=" that follows the name at i and others; nil: none does.
local function behind_equals(list, i)
    local at = behind_attribute(list, i + 1)
    while is(list, at, ",") and is_name(list, at + 1) do at = behind_attribute(list, at + 2) end
    return is(list, at, "=") and at + 1 or nil
end

-- Where the n-th of the expressions from `at` begins.
local function expression(list, at, n)
    while n > 1 and list[at] do
        if closing[list[at].text] then at = behind_bracket(list, at) else at = at + 1 end
        if is(list, at, ",") then at, n = at + 1, n - 1 end
    end
    return at
end

-- Of the name, by its last assignment in the first `last` tokens.
function assigned.class(list, name, last)
    for i = last, 1, -1 do
        local place = is_name(list, i) and list[i].text == name and place_of(list, i)
        local at = place and behind_equals(list, i)
        if at and at <= last then return class_of_expression(list, expression(list, at, place)) end
    end
end

-- Of the path {key =, separator =} at the end of the text, without its last step.
function assigned.class_at_end(text, path)
    local list = tokens.read(text)
    local class = assigned.class(list, path[1].key, #list)
    for i = 2, #path - 1 do
        local entry = class and api.member(class, path[i].key)
        class = class_in(entry and entry.type)
    end
    return class
end

return assigned
