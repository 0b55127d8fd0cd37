-- form.lua [--fix] FILE... - the form of text that no other tool checks: in all files blanks at the
-- end of a line, and its width; in Lua also tabs, and spaces inside the braces of a table: `{ a = 1
-- }`.
-- It prints what is wrong as "FILE:LINE: what", and then has the status 1. --fix puts spaces inside
-- braces, and moves what was aligned with what they move. scripts/lint.sh runs it.

-- Columns that a line may have, by the ending of the file's name. In Markdown, tables and
-- quotations have as many as they need.
local widths <const> = { c = 100, h = 100, cu = 100, cuh = 100, lua = 100, change = 100, md = 120 }

-- Files with longer lines, as patterns of their paths.
local wide <const> = {
    "^core/emulate/device/", "^tests/.*%.[ch]u?h?$", "/.*%.md$",
    "^docs/api/", "^docs/facts/", "^docs/results/", -- texts, each line of which is one of a page
}

-- ---- tokens -------------------------------------------------------------------------------------

-- Where the comment or string ends that starts at `at`; nil: none does. And what it is.
local function end_of_text(text, at)
    local is_comment = text:find("^%-%-", at)
    local level = text:match("^%[(=*)%[", at) or text:match("^%-%-%[(=*)%[", at)
    if level then
        return select(2, text:find("]" .. level .. "]", at, true)) or #text,
            is_comment and "comment" or "string"
    end
    if is_comment then return (text:find("\n", at, true) or #text + 1) - 1, "comment" end
    local quote, last = text:match("^[\"']", at), at
    while quote do
        last = text:find("[\\" .. quote .. "]", last + 1) or #text
        if text:sub(last, last) ~= "\\" or last >= #text then return last, "string" end
        last = last + 1
    end
end

-- Calls each(kind, first, last) for all of the text's brackets, comments and strings. kind: "open",
-- "close", "comment", "string".
local function scan(text, each)
    local at = text:match "^#[^\n]*()" or 1
    while true do
        at = text:find("[-%[%](){}\"']", at)
        if not at then return end
        local last, kind = end_of_text(text, at)
        if not last and not text:find("^%-", at) then
            last, kind = at, text:find("^[%[({]", at) and "open" or "close"
        end
        if kind then each(kind, at, last) end
        at = (last or at) + 1
    end
end

-- ---- spaces inside braces -----------------------------------------------------------------------

-- The positions that lack a space before them, as keys.
local function lacking_spaces(text)
    local lacking = {}
    scan(text, function(kind, at)
        local char = text:sub(at, at)
        if kind == "open" and char == "{" and text:find("^[^%s}]", at + 1) then
            lacking[at + 1] = true
        elseif kind == "close" and char == "}" and text:find("^[^%s{]", at - 1) then
            lacking[at] = true
        end
    end)
    return lacking
end

-- A list of the text's lines: { first = its position, text =, tokens = { kind =, at = its column,
-- last = } those that start in it, inside = it starts inside a string or comment }.
local function lines_of(text)
    local lines = {}
    for first, line in text:gmatch "()([^\n]*)\n?" do
        if first > #text then break end
        lines[#lines + 1] = { first = first, text = line, tokens = {} }
    end
    local n = 1
    scan(text, function(kind, at, last)
        while lines[n + 1] and lines[n + 1].first <= at do n = n + 1 end
        local first = lines[n].first
        table.insert(lines[n].tokens, { kind = kind, at = at - first + 1, last = last - first + 1 })
        local k = n
        while lines[k + 1] and lines[k + 1].first <= last do
            k = k + 1
            lines[k].inside = true
        end
    end)
    return lines
end

-- By how much the line moves whose first `indent` columns are blanks: as what it is aligned with,
-- the first item behind an open bracket; else as the line above that is indented by less, or as
-- much.
local function shift_of(indent, open, above)
    for i = #open, 1, -1 do
        if open[i].old == indent + 1 then return open[i].new - open[i].old end
    end
    while above[#above] and above[#above].indent > indent do table.remove(above) end
    return above[#above] and above[#above].shift or 0
end

-- The line moved by `shift`, with the spaces that it lacks, and for each of its columns the new
-- one.
local function with_spaces(line, shift, lacking)
    local new, new_column, column = {}, {}, 1 + shift
    for at = 1, #line.text do
        if lacking[line.first + at - 1] then
            new[#new + 1], column = " ", column + 1
        end
        new_column[at], column = column, column + 1
        new[#new + 1] = line.text:sub(at, at)
    end
    return ((" "):rep(shift) .. table.concat(new)):sub(1 + math.max(0, -shift)), new_column
end

-- Notes the comment that ends the line: where it begins, the blanks before it, and the code before
-- them as it will be; a comment alone in its line only where it continues the one above.
local function note_comment(line, token, before, new_column)
    local code = line.text:sub(1, token.at - 1)
    local continues = before and before.comment_at == token.at and before.gap ~= 0
    if not code:find "%S" and not continues then return end
    line.comment_at, line.gap = token.at, #code:match " *$"
    line.code = line.new:sub(1, new_column[token.at] - 1):match "^(.-) *$"
    line.comment = line.text:sub(token.at)
end

-- Comments behind code that began in the same column in successive lines do so again.
local function align_comments(lines)
    local i = 1
    while i <= #lines do
        local column, k, at = lines[i].comment_at, i, 0
        while column and k <= #lines and lines[k].comment_at == column do
            local gap = lines[k].code == "" and 0 or math.min(lines[k].gap, 2)
            at, k = math.max(at, #lines[k].code + gap + 1), k + 1
        end
        for n = i, k - 1 do
            lines[n].new = lines[n].code .. (" "):rep(math.max(at, column) - 1 - #lines[n].code)
                .. lines[n].comment
        end
        i = math.max(k, i + 1)
    end
end

local function put_spaces(text)
    local lacking, lines, open, above = lacking_spaces(text), lines_of(text), {}, {}
    for i, line in ipairs(lines) do
        local indent, shift = #line.text:match "^ *", 0
        if not line.inside and line.text ~= "" then
            shift = shift_of(indent, open, above)
            above[#above + 1] = { indent = indent, shift = shift }
        end
        local new_column
        line.new, new_column = with_spaces(line, shift, lacking)
        for _, token in ipairs(line.tokens) do
            if token.kind == "open" then
                local item = line.text:match("^ *()[^ ]", token.at + 1)
                open[#open + 1] = { old = item or 0, new = item and new_column[item] or 0 }
            elseif token.kind == "close" then
                table.remove(open)
            elseif token.kind == "comment" and token.last <= #line.text and not line.inside then
                note_comment(line, token, lines[i - 1], new_column)
            end
        end
    end
    align_comments(lines)
    local all = {}
    for i, line in ipairs(lines) do all[i] = line.new end
    return table.concat(all, "\n") .. (text:sub(-1) == "\n" and "\n" or "")
end

-- ---- files --------------------------------------------------------------------------------------

-- The text with each(code, position) in place of what stands between `head` and `tail`.
local function replace_between(text, head, tail, each)
    return (text:gsub("(" .. head .. ")()(.-)(" .. tail .. ")", function(before, at, code, after)
        return before .. each(code, at) .. after
    end))
end

-- Calls each(code, position) for the code of a file: in Lua all of it, and in docs/api the
-- examples; in Markdown listings. What it returns stands in place of the code.
local function replace_code(path, text, each)
    local is_lua, is_help = path:find "%.lua$", path:find "docs/api/"
    if is_help then text = replace_between(text, "example = %[%[\n?", "%]%]", each) end
    if is_help or path:find "%.md$" then
        text = replace_between("\n" .. text, "\n```lua[^\n]*\n", "\n```", function(code, at)
            return each(code, at - 1)
        end):sub(2)
    end
    return is_lua and each(text, 1) or text
end

local function is_wide(path)
    for _, pattern in ipairs(wide) do
        if path:find(pattern) then return true end
    end
    return false
end

-- What is wrong with a line of the file; nil: nothing.
local function fault_of(line, ending, width)
    if line:find "[ \t\r]$" then return "blanks at its end" end
    local columns = utf8.len(line) or #line
    if not width or columns <= width or ending == "md" and line:find "^ *[|>]" then return nil end
    return ("%d columns, and %d may be"):format(columns, width)
end

-- Prints what is wrong with the text; returns whether that is nothing.
local function check(path, text)
    local ending, number, good = path:match "%.(%w+)$", 0, true
    local width, faults, inside = not is_wide(path) and widths[ending] or nil, {}, {}
    replace_code(path, text, function(code, first)
        for at in pairs(lacking_spaces(code)) do
            faults[first + at - 1] = "a brace and its neighbour need a space between them"
        end
        for _, line in ipairs(lines_of(code)) do
            if line.inside then
                inside[first + line.first - 1] = true
            elseif line.text:find "^ *\t" then
                faults[first + line.first - 1] = "a tab in its indentation"
            end
        end
        return code
    end)
    for first, line in text:gmatch "()([^\n]*)\n?" do
        number = number + 1
        local fault = fault_of(line, ending, not inside[first] and width)
        for at = first, first + #line do fault = fault or faults[at] end
        if fault then
            print(("%s:%d: %s"):format(path, number, fault))
            good = false
        end
    end
    return good
end

local good = true
local fixes = arg[1] == "--fix"
for i = fixes and 2 or 1, #arg do
    local file <close> = assert(io.open(arg[i], "rb"))
    local text = file:read "a"
    if fixes then
        local new = replace_code(arg[i], text, put_spaces)
        if new ~= text then
            local out <close> = assert(io.open(arg[i], "wb"))
            assert(out:write(new))
        end
    else
        good = check(arg[i], text) and good
    end
end
os.exit(good)
