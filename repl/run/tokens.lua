-- tokens.lua - splits Lua text into tokens with their positions. It also reads text with syntax
-- errors.

local tokens = {}

-- Lua's keywords: word -> true.
tokens.keywords = {}
for word in ("and break do else elseif end false for function goto if in local nil not or "
    .. "repeat return then true until while"):gmatch("%a+") do
    tokens.keywords[word] = true
end

-- Longer ones first.
local operators <const> = {
    "...", "..", "::", "==", "~=", "<=", ">=", "//", "<<", ">>",
}

-- Behind the long bracket that begins at `at` ("[[", "[=["), or nil if none does, and whether
-- it is not closed and goes on to the end.
local function skip_long(text, at)
    local level = text:match("^%[(=*)%[", at)
    if not level then
        return nil
    end
    local _, last = text:find("]" .. level .. "]", at, true)
    return (last or #text) + 1, not last
end

-- Behind the string in quotes that begins at `at`, and whether it is not closed; it ends with
-- its line at the latest.
local function skip_string(text, at)
    local quote, i = text:sub(at, at), at + 1
    while true do
        local c = text:sub(i, i)
        if c == "" or c == "\n" then
            return i, true
        elseif c == quote then
            return i + 1
        elseif c == "\\" then
            local _, blanks = text:find("^z%s*", i + 1)
            i = (blanks or i + 1) + 1
        else
            i = i + 1
        end
    end
end

-- Behind the comment that begins at `at`, and whether more of it may follow.
local function skip_comment(text, at)
    local behind, open = skip_long(text, at + 2)
    if behind then
        return behind, open
    end
    behind = text:find("\n", at, true)
    return behind or #text + 1, not behind
end

-- Behind the word that begins at `at`, its kind, and whether it is not closed.
local function skip(text, at)
    local _, last = text:find("^[%a_][%w_]*", at)
    if last then
        return last + 1, tokens.keywords[text:sub(at, last)] and "keyword" or "name"
    end
    _, last = text:find("^%.?%d[%w_.]*", at)
    if last then
        return last + 1, "number"
    end
    local is_comment = text:find("^%-%-", at)
    local skip_this = is_comment and skip_comment
        or text:find("^[\"']", at) and skip_string or skip_long
    local behind, open = skip_this(text, at)
    if behind then
        return behind, is_comment and "comment" or "string", open
    end
    for _, operator in ipairs(operators) do
        if text:sub(at, at + #operator - 1) == operator then
            return at + #operator, "operator"
        end
    end
    return at + 1, "operator"
end

-- The lines of a text, without their ends.
function tokens.lines(text)
    local lines = {}
    for line in (text .. "\n"):gmatch("([^\n]*)\n") do
        lines[#lines + 1] = line:gsub("\r$", "")
    end
    return lines
end

-- The list of a text's words: {kind =, text =, line =, from =, to =, at =, open =}: kind is
-- name, keyword, number, string, comment or operator; from and to are columns of its first
-- line, counted in bytes; `at` is where it begins in the whole text; `open`: the text ends
-- within it.
function tokens.read(text)
    local list, at, line, line_start = {}, 1, 1, 1
    while true do
        local blanks_end = text:match("^[ \t\r\v\f]*()", at)
        at = blanks_end
        if at > #text then
            return list
        elseif text:sub(at, at) == "\n" then
            at, line, line_start = at + 1, line + 1, at + 1
        else
            local behind, kind, open = skip(text, at)
            local word = text:sub(at, behind - 1)
            local column = at - line_start + 1
            list[#list + 1] = {
                kind = kind, text = word, line = line, at = at,
                from = column, to = column + #word:match("^[^\r\n]*") - 1,
                open = open and behind > #text or nil,
            }
            local _, n_ends = word:gsub("\n", "")
            if n_ends > 0 then
                line = line + n_ends
                line_start = at + #word:match("^.*\n")
            end
            at = behind
        end
    end
end

return tokens
