-- cursor.lua - the context of the cursor at the end of unfinished Lua text, as far as completion
-- needs it.

local tokens = import "repl/run/tokens.lua"

local cursor = {}

-- ---- paths ------------------------------------------------------------------------------

-- A path is a list of steps {key =, separator =}: a.b:c. The separator is "." or ":", nil of
-- the first. a[1] and a["b"] are steps as well. A path that begins with what is no name, a
-- call or a text, has "" as its first key.

local function is_word(token)
    return token and (token.kind == "name" or token.kind == "keyword")
end

-- The key of an index that is written out: "b", 1; nil for others.
local function written_key(token)
    if token.kind == "string" then
        return token.text:match("^\"([^\"\\]*)\"$") or token.text:match("^'([^'\\]*)'$")
    end
    return token.kind == "number" and math.tointeger(tonumber(token.text)) or nil
end

-- The step that ends with word i, and the index of the word before it; nil: there is none.
local function step_to(list, i)
    local token, before, open = list[i], list[i - 1], list[i - 2]
    if is_word(token) then
        local separator = before and (before.text == "." or before.text == ":") and before.text
        return { key = token.text, separator = separator or nil }, separator and i - 2
    elseif token and token.text == "]" and open and open.text == "[" then
        local key = written_key(before)
        return key and { key = key, separator = "." }, i - 3
    end
end

-- The path that ends with word i.
local function path_to(list, i)
    local steps = {}
    repeat
        local step, before = step_to(list, i)
        table.insert(steps, 1, step or { key = "" })
        i = before
    until not step or not step.separator
    return steps
end

-- The path that is being typed, and where its last key begins, which is "" behind a "." or
-- ":". Without a path that is {}; nil: the text ends in a number.
local function path_at_end(text, list)
    local last = list[#list]
    local touches = last and last.at + #last.text > #text
    if touches and last.kind == "number" then
        return nil, #text + 1
    elseif touches and is_word(last) then
        return path_to(list, #list), last.at
    elseif last and (last.text == "." or last.text == ":") then
        local steps = path_to(list, #list - 1)
        steps[#steps + 1] = { key = "", separator = last.text }
        return steps, #text + 1
    end
    return {}, #text + 1
end

-- ---- brackets ---------------------------------------------------------------------------

-- Behind the bracket at word i: {bracket =, path =, argument =, given =, option =, key =}.
local function opened(list, i, outer)
    local level = { bracket = list[i].text, argument = 1, given = {}, key = list[i].text == "{" }
    if list[i - 1] and list[i - 1].kind == "name" then
        level.path = path_to(list, i - 1)
    elseif level.bracket == "{" and outer and outer.bracket == "(" then
        level.path = outer.path         -- f(a, {
    end
    return level
end

-- What stands within a level: notes names of options and the number of arguments.
local function note(level, list, i)
    local word, before = list[i].text, list[i - 1]
    if word == "," or word == ";" then
        level.argument = level.argument + 1
        level.key, level.option = level.bracket == "{", nil
    elseif word == "=" and level.key then
        level.option, level.key = before.kind == "name" and before.text or nil, false
        level.given[#level.given + 1] = level.option
    end
end

local opening <const> = { ["("] = true, ["{"] = true, ["["] = true }
local closing <const> = { [")"] = true, ["}"] = true, ["]"] = true }

-- The brackets that are open behind the words.
local function open_levels(list)
    local levels = {}
    for i, token in ipairs(list) do
        local level = levels[#levels]
        if opening[token.text] then
            levels[#levels + 1] = opened(list, i, level)
        elseif closing[token.text] then
            levels[#levels] = nil
        elseif level then
            note(level, list, i)
        end
    end
    return levels
end

-- The call whose text argument is the last word, also without brackets: lab.load "
local function call_of_text(list, level)
    local before = list[#list - 1]
    if before and before.kind == "name" then
        return { path = path_to(list, #list - 1), argument = 1, given = {} }
    elseif level and level.path and (level.bracket ~= "{" or level.option) then
        return level
    end
end

-- ---- the whole --------------------------------------------------------------------------

-- What the end of the text stands in:
--   text     the position behind the quote of a text that does not end
--   comment  true in a comment, or in a text that is no single line
--   call     of the innermost bracket: {path =, argument =, option =, given = names}; nil if
--            that is no call
--   key      true where the name of an option may stand
--   path, first   as path_at_end gives them
function cursor.read(text)
    local list = tokens.read(text)
    local levels, last = open_levels(list), list[#list]
    local level = levels[#levels]
    if last and last.open and last.text:find("^[\"']") then
        return { text = last.at + 1, call = call_of_text(list, level) }
    elseif last and last.open then
        return { comment = true }
    end
    local path, first = path_at_end(text, list)
    return { call = level and level.path and level or nil,
             key = level and level.key and level.path ~= nil, path = path, first = first }
end

return cursor
