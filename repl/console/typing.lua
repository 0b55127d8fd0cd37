-- typing.lua - what the editor asks while somebody types: colours, matching brackets, the signature
-- of the call, how far a line is indented.

local tokens = import "repl/run/tokens.lua"

local typing = {}

local blanks_per_level <const> = 4

-- The console's own lines are no Lua.
local function is_command(text)
    return text:find("^%s*[?!]") or text:find("^%s*%.%l")
end

-- ---- brackets ------------------------------------------------------------------------------

local closes <const> = { [")"] = "(", ["]"] = "[", ["}"] = "{" }
local opens <const> = { ["("] = true, ["["] = true, ["{"] = true }

-- Gives token.partner to brackets that belong together, token.alone to those that end nothing.
local function match_brackets(list)
    local open = {}
    for _, token in ipairs(list) do
        if token.kind == "operator" and opens[token.text] then
            open[#open + 1] = token
        elseif token.kind == "operator" and closes[token.text] then
            local other = open[#open]
            if other and other.text == closes[token.text] then
                token.partner, other.partner = other, token
                open[#open] = nil
            else
                token.alone = true
            end
        end
    end
end

-- The bracket before the cursor, else the one behind it.
local function bracket_at(list, cursor)
    local behind
    for _, token in ipairs(list) do
        if token.partner and token.at == cursor then
            return token
        elseif token.partner and token.at == cursor + 1 then
            behind = token
        end
    end
    return behind
end

-- ---- colours -------------------------------------------------------------------------------

local letters <const> = { keyword = "k", string = "s", number = "n", comment = "-" }
local constants <const> = { ["nil"] = true, ["true"] = true, ["false"] = true }

local function letter_of(token)
    return token.alone and "e" or constants[token.text] and "c" or letters[token.kind] or " "
end

-- A letter for each byte (lineedit.h); `cursor`: how many bytes are before it. Nil: no colours.
function typing.styles(text, cursor)
    if not internals.colour(1) then
        return nil
    elseif is_command(text) then
        return (" "):rep(#text)
    end
    local list, parts, at = tokens.read(text), {}, 1
    match_brackets(list)
    local bracket = bracket_at(list, cursor)
    for _, token in ipairs(list) do
        local marked = bracket and (token == bracket or token == bracket.partner)
        parts[#parts + 1] = (" "):rep(token.at - at)
        parts[#parts + 1] = (marked and "b" or letter_of(token)):rep(#token.text)
        at = token.at + #token.text
    end
    parts[#parts + 1] = (" "):rep(#text - at + 1)
    return table.concat(parts)
end

-- ---- signatures ----------------------------------------------------------------------------

-- Of the function whose call the text ends in.
function typing.hint(text)
    if is_command(text) then
        return nil
    end
    return import "repl/console/completion/complete.lua".signature(text)
end

-- ---- indenting -----------------------------------------------------------------------------

local begins <const> = {
    ["do"] = true, ["then"] = true, ["repeat"] = true, ["function"] = true, ["else"] = true,
    ["("] = true, ["["] = true, ["{"] = true,
}
local ends <const> = {
    ["end"] = true, ["until"] = true, ["else"] = true, ["elseif"] = true, [")"] = true,
    ["]"] = true, ["}"] = true,
}

-- How many blanks the last line is to begin with: a level for each earlier line in which something
-- begins that does not end before it.
function typing.indent(text)
    local _, n_newlines = text:gsub("\n", "")
    local lines = {}
    for _, token in ipairs(is_command(text) and {} or tokens.read(text)) do
        local is_last = token.line == n_newlines + 1
        local is_word = token.kind == "keyword" or token.kind == "operator"
        if is_last and not (is_word and ends[token.text]) then
            break
        end
        if is_word and ends[token.text] then
            lines[#lines] = nil
        end
        if is_word and begins[token.text] and not is_last then
            lines[#lines + 1] = token.line
        end
    end
    local levels = 0
    for i, line in ipairs(lines) do
        levels = levels + (line == lines[i - 1] and 0 or 1)
    end
    return levels * blanks_per_level
end

return typing
