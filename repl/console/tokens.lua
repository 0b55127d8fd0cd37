-- tokens.lua - the words of a Lua text: what its lines consist of, for those who point at
-- places in them. Texts with mistakes are read as well.

local tokens = {}

local keywords <const> = {}
for word in ("and break do else elseif end false for function goto if in local nil not or "
    .. "repeat return then true until while"):gmatch("%a+") do
    keywords[word] = true
end

-- Longer ones first.
local operators <const> = {
    "...", "..", "::", "==", "~=", "<=", ">=", "//", "<<", ">>",
}

-- Behind the long bracket that begins at `at` ("[[", "[=["), or nil if none does; one that
-- is not closed goes on to the end.
local function skip_long(text, at)
    local level = text:match("^%[(=*)%[", at)
    if not level then
        return nil
    end
    local _, last = text:find("]" .. level .. "]", at, true)
    return (last or #text) + 1
end

-- Behind the string in quotes that begins at `at`; it ends with its line at the latest.
local function skip_string(text, at)
    local quote, i = text:sub(at, at), at + 1
    while true do
        local c = text:sub(i, i)
        if c == "" or c == "\n" then
            return i
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

-- Behind the word that begins at `at`, and its kind.
local function skip(text, at)
    local _, last = text:find("^[%a_][%w_]*", at)
    if last then
        return last + 1, keywords[text:sub(at, last)] and "keyword" or "name"
    end
    _, last = text:find("^%.?%d[%w_.]*", at)
    if last then
        return last + 1, "number"
    end
    if text:find("^%-%-", at) then
        return skip_long(text, at + 2) or text:find("\n", at, true) or #text + 1, "comment"
    end
    if text:find("^[\"']", at) then
        return skip_string(text, at), "string"
    end
    local behind = skip_long(text, at)
    if behind then
        return behind, "string"
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

-- The list of a text's words: {kind =, text =, line =, from =, to =, at =}: kind is name,
-- keyword, number, string, comment or operator; from and to are columns of its first line,
-- counted in bytes; `at` is where it begins in the whole text.
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
            local behind, kind = skip(text, at)
            local word = text:sub(at, behind - 1)
            local column = at - line_start + 1
            list[#list + 1] = {
                kind = kind, text = word, line = line, at = at,
                from = column, to = column + #word:match("^[^\r\n]*") - 1,
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
