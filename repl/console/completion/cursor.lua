-- cursor.lua - as much of Lua's syntax as completion needs: what the end of an unfinished
-- text stands in.

local cursor = {}

-- A step of a path: {key =, separator =}; separator is "." or ":", nil of the first.

-- The path of names that ends at the end of the text, or at `last`, and where it begins:
-- "x = lab.cu" gives lab, cu and 5. Its last key is "" behind a "." or ":". In it, a[1] and
-- a["b"] are steps as well. nil in place of the path: the text ends in a number.
function cursor.path(text, last)
    local steps, at = {}, last or #text
    local first = at + 1
    while true do
        local from, key = text:sub(1, at):match("()([%w_]*)$")
        if key:find("^%d") then
            return nil, #text + 1
        end
        local separator = text:sub(from - 1, from - 1)
        if separator ~= "." and separator ~= ":" then
            separator = nil
        elseif text:sub(from - 2, from - 1) == ".." or text:sub(from - 2, from - 1) == "::" then
            separator = nil
        end
        if key == "" and (#steps > 0 or not separator) then
            break
        end
        first = #steps == 0 and from or first
        table.insert(steps, 1, { key = key, separator = separator })
        at = from - 1
        if not separator then
            return steps, first
        end
        at = at - 1
        -- Indices between the names: data[3].x
        while text:sub(at, at) == "]" do
            local open, index = text:sub(1, at):match('()%[([%d]+)%]$')
            local name
            if not open then
                open, name = text:sub(1, at):match('()%["([^"%]]*)"%]$')
            end
            if not open then
                return steps[1].separator and { { key = "" }, table.unpack(steps) } or steps, first
            end
            table.insert(steps, 1, { key = name or math.tointeger(tonumber(index)), separator = "." })
            at = open - 1
        end
    end
    -- What stands before the first "." is no name: a call, a text. Nothing is known of it.
    if steps[1] and steps[1].separator then
        table.insert(steps, 1, { key = "" })
    end
    return steps, first
end

-- ---- reading ----------------------------------------------------------------------------

-- Behind a bracket that was opened: {bracket =, path =, argument =, given =, option =}.
local function opened(text, at, bracket, outer)
    local before = text:sub(1, at - 1):match("()%s*$") - 1
    local level = { bracket = bracket, argument = 1, given = {}, key = bracket == "{" }
    local called = text:sub(1, before):find("[%w_]$") ~= nil
    if called then
        level.path = cursor.path(text, before)
    elseif bracket == "{" and outer and outer.bracket == "(" then
        level.path = outer.path         -- f(a, {
    end
    if level.path and #level.path == 0 then
        level.path = nil
    end
    return level
end

local function skip_text(text, at, quote)
    while at <= #text do
        local c = text:sub(at, at)
        if c == "\\" then
            at = at + 2
        elseif c == quote then
            return at + 1
        elseif c == "\n" then
            return at + 1
        else
            at = at + 1
        end
    end
end

-- Behind the long bracket that begins at `at`, nil if it does not end; false: there is none.
local function skip_long(text, at)
    local level, from = text:match("^%[(=*)%[()", at)
    if not level then
        return false
    end
    local _, last = text:find("]" .. level .. "]", from, true)
    return last and last + 1
end

-- Where the comment at `at` ends; nil if it goes on to the end of the text.
local function skip_comment(text, at)
    local long = skip_long(text, at + 2)
    if long ~= false then
        return long
    end
    local _, last = text:find("\n", at, true)
    return last and last + 1
end

-- What stands at `at` in a level: notes names of options and the number of arguments.
local function note(level, text, at, c)
    if c == "," or c == ";" then
        level.argument = level.argument + 1
        level.key, level.option = level.bracket == "{", nil
    elseif c == "=" and level.key and text:sub(at + 1, at + 1) ~= "=" then
        local name = text:sub(1, at - 1):match("([%a_][%w_]*)%s*$")
        level.given[#level.given + 1] = name
        level.option, level.key = name, false
    end
end

-- What the end of the text stands in:
--   text     the position behind the quote of a text that does not end
--   comment  true in a comment, or in a text that is no single line
--   call     of the innermost bracket: {path =, argument =, option =, given = names}; nil if
--            that is no call
--   key      true where the name of an option may stand
function cursor.read(text)
    local levels, at = {}, 1
    while at <= #text do
        local c = text:sub(at, at)
        local level = levels[#levels]
        if text:find("^%-%-", at) or text:find("^%[=*%[", at) then
            local skip = c == "-" and skip_comment or skip_long
            at = skip(text, at)
            if not at then
                return { comment = true }
            end
        elseif c == '"' or c == "'" then
            local after = skip_text(text, at + 1, c)
            if not after then
                return { text = at + 1, call = cursor.call_at(text, at, levels) }
            end
            at = after
        elseif c == "(" or c == "{" or c == "[" then
            levels[#levels + 1] = opened(text, at, c, level)
            at = at + 1
        elseif c == ")" or c == "}" or c == "]" then
            levels[#levels] = nil
            at = at + 1
        else
            if level then
                note(level, text, at, c)
            end
            at = at + 1
        end
    end
    local level = levels[#levels]
    return { call = level and level.path and level, key = level and level.key and level.path ~= nil }
end

-- The call whose text argument begins at `at`, also without brackets: lab.load "
function cursor.call_at(text, at, levels)
    local before = text:sub(1, at - 1):match("()%s*$") - 1
    if text:sub(1, before):find("[%w_]$") then
        return { path = cursor.path(text, before), argument = 1, given = {} }
    end
    local level = levels[#levels]
    if not (level and level.path) then
        return nil
    end
    if level.bracket == "{" and not level.option then
        return nil
    end
    return level
end

return cursor
