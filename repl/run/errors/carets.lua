-- carets.lua - finds the place in a line that an error message is about.
--
-- Messages of Lua and of the laboratory contain names: a variable, a function, a word near which
-- the compiler stopped. These are searched for in the line. All matches are marked; if no match
-- is certain, nothing is marked.

local text = import "repl/run/text.lua"
local tokens = import "repl/run/tokens.lua"

local carets = {}

-- ---- words of a line -------------------------------------------------------------------

-- The indices of the words on the line, comments left out.
local function on_line(script, number)
    local indices = {}
    for i, token in ipairs(script.tokens) do
        if token.line == number and token.kind ~= "comment" then
            indices[#indices + 1] = i
        end
    end
    return indices
end

local function word(script, i)
    local token = script.tokens[i]
    return token and token.text or ""
end

local function mark_of(token)
    return { from = token.from, to = token.to }
end

-- The marks of the words on the line for which fits(i) is true.
local function collect(script, number, fits)
    local marks = {}
    for _, i in ipairs(on_line(script, number)) do
        if fits(i) then
            marks[#marks + 1] = mark_of(script.tokens[i])
        end
    end
    return marks
end

local function is_call(script, i)
    local token = script.tokens[i + 1]
    return token and (token.text == "(" or token.text == "{" or token.kind == "string") or false
end

-- Whether the word is behind a dot or a colon, and which.
local function selector(script, i)
    local before = word(script, i - 1)
    return (before == "." or before == ":") and before or nil
end

-- ---- names in Lua's messages -----------------------------------------------------------

local arithmetic <const> = {
    ["+"] = true, ["-"] = true, ["*"] = true, ["/"] = true, ["//"] = true, ["%"] = true,
    ["^"] = true,
}
local bitwise <const> = { ["&"] = true, ["|"] = true, ["~"] = true, ["<<"] = true, [">>"] = true }
local comparing <const> = { ["<"] = true, [">"] = true, ["<="] = true, [">="] = true }

local most_names <const> = 100      -- of a chain a.b.c: each of its names looks back along it

-- Whether the whole expression that the name ends, a.b.name, stands beside such an operator.
local function is_operand(script, i, set)
    if set[word(script, i + 1)] then
        return true
    end
    local least = i - 2 * most_names
    while selector(script, i) and i > 2 and i > least do
        i = i - 2
    end
    return set[word(script, i - 1)] or false
end

-- What is done to the name, by the message's words: whether word i can be it.
local actions <const> = {
    { "^attempt to call ", is_call },
    { "^attempt to index ", function(script, i)
        local after = word(script, i + 1)
        return after == "." or after == "[" or after == ":"
    end },
    { "^attempt to perform arithmetic ", function(script, i)
        return is_operand(script, i, arithmetic)
    end },
    { "^attempt to perform bitwise ", function(script, i)
        return is_operand(script, i, bitwise)
    end },
    { "^attempt to concatenate ", function(script, i)
        return is_operand(script, i, { [".."] = true })
    end },
    { "^attempt to get length ", function(script, i)
        return is_operand(script, i, { ["#"] = true })
    end },
}

-- Whether word i is a name of that kind: global, local, upvalue, constant, field, method.
local function is_of_kind(script, i, kind, name)
    local token = script.tokens[i]
    if kind == "constant" then
        return token.kind == "string" and token.text:sub(2, -2) == name
    elseif kind == "field" and token.kind == "string" then
        return token.text:sub(2, -2) == name and word(script, i - 1) == "["
    elseif token.kind ~= "name" or token.text ~= name then
        return false
    end
    local before = selector(script, i)
    if kind == "method" then
        return before == ":"
    elseif kind == "field" then
        return before == "."
    end
    return before == nil
end

-- "attempt to index a nil value (global 'x')"
local function find_variable(script, number, message)
    local kind, name = message:match("^attempt to .*%((%l+) '(.*)'%)$")
    if not kind then
        return {}
    end
    local all = collect(script, number, function(i)
        return is_of_kind(script, i, kind, name)
    end)
    for _, action in ipairs(actions) do
        if message:find(action[1]) then
            local better = collect(script, number, function(i)
                -- what is behind t["x"] is behind the bracket
                local last = script.tokens[i].kind == "string" and i + 1 or i
                return is_of_kind(script, i, kind, name) and action[2](script, last)
            end)
            return #better > 0 and better or all
        end
    end
    return all
end

-- Messages that are about an operator or a word: what it can be.
local operations <const> = {
    { "^attempt to compare ", comparing },
    { "^attempt to perform 'n//0'", { ["//"] = true } },
    { "^attempt to divide by zero", { ["//"] = true } },
    { "^attempt to perform 'n%%%%0'", { ["%"] = true } },
    { "^attempt to add a ", { ["+"] = true } },
    { "^attempt to sub a ", { ["-"] = true } },
    { "^attempt to mul a ", { ["*"] = true } },
    { "^attempt to div a ", { ["/"] = true } },
    { "^attempt to idiv a ", { ["//"] = true } },
    { "^attempt to mod a ", { ["%"] = true } },
    { "^attempt to pow a ", { ["^"] = true } },
    { "^attempt to perform arithmetic ", arithmetic },
    { "^attempt to perform bitwise ", bitwise },
    { "^number has no integer representation", bitwise },
    { "^attempt to concatenate ", { [".."] = true } },
    { "^attempt to get length ", { ["#"] = true } },
    { "^bad 'for' ", { ["for"] = true } },
    { "^'for' ", { ["for"] = true } },
}

local function find_operation(script, number, message)
    if message:find("%(%l+ '.*'%)$") and not message:find("for iterator") then
        return {}                       -- it has a name, which is not there
    elseif message:find("for iterator", 1, true) then
        return collect(script, number, function(i)
            return word(script, i) == "in"
        end)
    end
    for _, operation in ipairs(operations) do
        if message:find(operation[1]) then
            return collect(script, number, function(i)
                return operation[2][word(script, i)] and script.tokens[i].kind ~= "string"
            end)
        end
    end
    return {}
end

-- Names in calls: bad argument #1 to 'insert' (table expected, got nil).
local function find_called(script, number, name)
    return collect(script, number, function(i)
        return script.tokens[i].kind == "name" and word(script, i) == name
            and is_call(script, i)
    end)
end

-- ---- errors of the laboratory -----------------------------------------------------------

local metamethods <const> = {
    add = "+", sub = "-", unm = "-", mul = "*", div = "/", idiv = "//", mod = "%", pow = "^",
    concat = "..", len = "#", lt = "<", le = "<=",
}

-- `op` is what the user called: "matmul" in lab.matmul(a, b) or a:matmul(b).
local function find_op(script, number, op)
    local name = op:match("[%w_]+$") or op
    local marks = find_called(script, number, name)
    if #marks == 0 then                 -- pcall(lab.matmul, a, b)
        marks = collect(script, number, function(i)
            return word(script, i) == name and selector(script, i) ~= nil
        end)
    end
    if #marks == 0 and metamethods[name] then
        marks = collect(script, number, function(i)
            return word(script, i) == metamethods[name]
        end)
    end
    return marks
end

-- tensor has no field or method 'shape'; a tensor is not indexed with [].
local function find_field(script, number, message)
    local name = message:match("^%l+ has no field or method '(.-)'")
        or message:match("^field '(.-)' cannot be set")
    if name then
        return collect(script, number, function(i)
            return is_of_kind(script, i, "field", name) or is_of_kind(script, i, "method", name)
        end)
    elseif message:find("is not indexed with []", 1, true) then
        return collect(script, number, function(i)
            local before = script.tokens[i - 1]
            return word(script, i) == "[" and before ~= nil
                and (before.kind == "name" or before.text == ")" or before.text == "]")
        end)
    end
    return {}
end

-- ---- errors of the compiler -----------------------------------------------------------

local most_tries <const>, most_compiled <const> = 200, 1 << 20     -- bytes, in all tries

-- The compiler's message for a part of a script, without its position.
local function complaint(script, part)
    local _, message = load(part, script.source, "t")
    if message and message:sub(1, #script.prefix) == script.prefix then
        return message:sub(#script.prefix + 1):gsub("^%d+: ", "")
    end
end

-- An entry at the prompt as an expression, where a = in front is allowed.
local function as_expression(entry)
    return "return " .. entry:gsub("^=", "")
end

-- Whether the script up to byte `last` has the same mistake.
local function is_wrong_at(script, last, message)
    local part = script.text:sub(1, last)
    return complaint(script, part) == message or complaint(script, part .. "\n") == message
        or complaint(script, as_expression(part)) == message
end

-- Whether the bytes from..to of the line are a part of a longer word.
local function is_inside_word(line, from, to)
    local function joined(i)
        return line:find("^[%w_]", i) ~= nil and line:find("^[%w_]", i + 1) ~= nil
    end
    return (from > 1 and joined(from - 1)) or joined(to)
end

-- The place of the word near which the compiler gave up: the first one of those in the line
-- with which the script becomes wrong.
local function find_near(script, number, message, near)
    local line, tries, compiled, at = script.lines[number], 0, 0, 1
    while tries < most_tries and compiled < most_compiled do
        local from, to = line:find(near, at, true)
        if not from then
            return {}
        elseif not is_inside_word(line, from, to) then
            local last = script.starts[number] + to - 1
            tries, compiled = tries + 1, compiled + last
            if is_wrong_at(script, last, message) then
                return { { from = from, to = to } }
            end
        end
        at = from + 1
    end
    return {}
end

-- The end of the script's last line that is not blank.
local function end_of(script)
    local number = #script.lines
    while number > 1 and not script.lines[number]:find("%S") do
        number = number - 1
    end
    local line = text.trim(script.lines[number])
    return { number = number, marks = { { from = #line + 1, to = #line + 1 } } }
end

-- 'end' expected (to close 'for' at line 3) near ...
local function opening_of(script, message)
    local opener, number = message:match("%(to close '(.-)' at line (%d+)%)")
    number = tonumber(number)
    if not number or not script.lines[number] then
        return nil
    end
    local marks = collect(script, number, function(i)
        return word(script, i) == opener
    end)
    return { number = number, marks = #marks == 1 and marks or {} }
end

-- A name in quotes that is one word of the line: a label, a constant variable.
local function find_quoted(script, number, message)
    local name = message:match("'([%a_][%w_]*)'")
    local marks = collect(script, number, function(i)
        return script.tokens[i].kind == "name" and word(script, i) == name
            and word(script, i + 1) ~= "<"          -- its declaration
    end)
    return #marks == 1 and marks or {}
end

local function find_mistake(script, number, message)
    local near = message:match(" near '(.*)'$")
    local at = message:match(" at line (%d+)$")     -- of a goto without label, a lone break
    local place
    if not near and tonumber(at) and script.lines[tonumber(at)] then
        number = tonumber(at)
    end
    if message:find(" near <eof>$") then
        place = end_of(script)
    elseif near then
        place = { number = number, marks = find_near(script, number, message, near) }
    else
        place = { number = number, marks = find_quoted(script, number, message) }
    end
    local opening = opening_of(script, message)
    if opening and opening.number < place.number then
        return { opening, place }
    end
    return { place }
end

-- ---- all of them -----------------------------------------------------------------------

-- A script: its text, the chunk's name, and how its messages begin: "lab.lua:".
function carets.script(code, source, prefix)
    local script = { text = code, source = source, prefix = prefix,
                     lines = tokens.lines(code), tokens = tokens.read(code), starts = {} }
    local at = 1
    for i = 1, #script.lines do
        script.starts[i] = at
        at = (code:find("\n", at, true) or #code) + 1
    end
    return script
end

-- Whether the message is what the compiler says about the script.
function carets.is_compilers(script, message)
    return complaint(script, script.text) == message
        or complaint(script, as_expression(script.text)) == message
end

-- What to show of the script for an error in line `number`: a list of {number =, line =,
-- marks = {{from =, to =}, ...}}; the last one is the place itself. The message is without
-- its position; `op` is that of an error of the laboratory, else nil. `syntax`: the script
-- could not be compiled.
function carets.find(script, number, message, op, syntax)
    local places
    if syntax then
        places = find_mistake(script, number, message)
    else
        local called = message:match("^bad argument #%d+ to '([%w_]+)'")
            or message:match("^calling '([%w_]+)' on bad self")
        local marks
        if op and op ~= "" then
            marks = find_op(script, number, op)
        elseif op then
            marks = find_field(script, number, message)
        elseif called then
            marks = find_called(script, number, called)
        else
            marks = find_variable(script, number, message)
            marks = #marks > 0 and marks or find_operation(script, number, message)
        end
        places = { { number = number, marks = marks } }
    end
    for _, place in ipairs(places) do
        place.line = script.lines[place.number]
    end
    return places
end

return carets
