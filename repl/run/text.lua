-- text.lua - text for the terminal: colours, strings without control characters, the width of a
-- text, and wrapping.

local text = {}

local codes <const> = {
    number = "36", string = "32", constant = "35", name = "34", error = "31", dim = "2",
    heading = "1", strong = "1", code = "36", label = "32", mistake = "1;31",
}

-- What turns the colour of a kind on; without a kind, what turns all off.
function text.escape(kind)
    return "\27[" .. (codes[kind] or "0") .. "m"
end

-- The text in the colour of its kind, if there are colours; nil is no kind. `descriptor`:
-- where it goes to, 1 or 2; nothing is 1.
function text.paint(kind, s, descriptor)
    if not codes[kind] or s == "" or not internals.colour(descriptor or 1) then return s end
    return text.escape(kind) .. s .. text.escape()
end

local named <const> = {
    [7] = "\\a", [8] = "\\b", [9] = "\\t", [10] = "\\n", [11] = "\\v", [12] = "\\f",
    [13] = "\\r", [34] = "\\\"", [92] = "\\\\",
}

-- Of a character: 0, 1 or 2; -1: a terminal would obey it, or show nothing for it.
local columns_of <const> = internals.character_columns

local function escape_code(code)
    return code < 128 and ("\\x%02x"):format(code) or ("\\u{%x}"):format(code)
end

-- What is not printable ASCII, from position i on: how it is shown, and how many bytes.
local function show_odd(s, i, raw, unicode)
    local byte = s:byte(i)
    if byte < 128 then
        if raw and (byte == 9 or byte == 10) then return s:sub(i, i), 1 end
        return named[byte] or escape_code(byte), 1
    end
    if not utf8.len(s, i, i) then return ("\\x%02x"):format(byte), 1 end
    local code = utf8.codepoint(s, i)
    local char = utf8.char(code)
    return unicode and columns_of(code) >= 0 and char or escape_code(code), #char
end

-- The text without control characters and without bytes that are not UTF-8: these are shown
-- as Lua writes them in a string. `raw`: newlines, tabs, quotes and backslashes stay;
-- `unicode`: so do all letters, whatever the locale is.
function text.clean(s, raw, unicode)
    unicode = unicode or internals.unicode()
    if raw and unicode then return internals.safe(s, true) end
    local odd = raw and "[\0-\31\127-\255]" or "[\0-\31\"\\\127-\255]"
    local at = s:find(odd)
    if not at then return s end
    local parts, from = {}, 1
    while at do
        local shown, n = show_odd(s, at, raw, unicode)
        parts[#parts + 1] = s:sub(from, at - 1)
        parts[#parts + 1] = shown
        from = at + n
        at = s:find(odd, from)
    end
    parts[#parts + 1] = s:sub(from)
    return table.concat(parts)
end

-- Without the blanks at its end. A pattern that looks for "%s+$" everywhere takes the square of a
-- text with many blanks.
function text.trim(s)
    return s:match("^.*%S") or ""
end

-- The first n bytes, without a character that the cut has broken.
function text.head(s, n)
    s = s:sub(1, n)
    local start = s:find("[\xc2-\xf4][\x80-\xbf]*$")
    if start and not utf8.len(s, start) then s = s:sub(1, start - 1) end
    return s
end

-- A word as a shell reads it.
function text.shell_word(word)
    return "'" .. word:gsub("'", "'\\''") .. "'"
end

-- In quotes, and cut after about `most` bytes.
function text.quote(s, most)
    if #s <= most then return '"' .. text.clean(s) .. '"' end
    return ('"%s"... (%d bytes)'):format(text.clean(text.head(s, most)), #s)
end

-- Within a text a style of help/sheet.lua begins and ends with one of these, which take no
-- room. A clean text has none of its own.
local style_marks <const> = "[\1-\4]"

-- How many columns a clean text without colours takes.
function text.width(s)
    s = s:gsub(style_marks, "")
    if not s:find("[\x80-\xff]") or not utf8.len(s) then return #s end
    local width = 0
    for _, code in utf8.codes(s) do width = width + math.max(columns_of(code), 0) end
    return width
end

-- The text filled with blanks on the right, or with `left` on the left.
function text.pad(s, width, left)
    local blanks = (" "):rep(width - text.width(s))
    return left and blanks .. s or s .. blanks
end

-- Adds the word in parts of at most `room` columns; one with a style in it stays whole.
local function add_parts(words, word, room)
    local from, width = 1, 0
    if text.width(word) > room and not word:find(style_marks) and utf8.len(word) then
        for at, code in utf8.codes(word) do
            width = width + math.max(columns_of(code), 0)
            if width > room then
                words[#words + 1] = word:sub(from, at - 1)
                from, width = at, columns_of(code)
            end
        end
    end
    words[#words + 1] = word:sub(from)
end

-- The words of a text as lines, the first behind `first`, the others behind `rest`, of at
-- most `columns`, or as many as the terminal has.
function text.wrap(s, first, rest, columns)
    columns = columns or internals.columns()
    local words, lines, line, width, empty = {}, {}, first, text.width(first), true
    for word in s:gmatch("%S+") do
        add_parts(words, word, math.max(columns - text.width(rest), 10))
    end
    for _, word in ipairs(words) do
        local added = text.width(word)
        if not empty and width + 1 + added > columns then
            lines[#lines + 1] = line
            line, width, empty = rest, text.width(rest), true
        end
        line = line .. (empty and "" or " ") .. word
        width, empty = width + (empty and 0 or 1) + added, false
    end
    lines[#lines + 1] = line
    return lines
end

-- A line as lines of at most `columns`. What does not fit goes under the second column where
-- the line has two, with two blanks or more in between.
function text.fold(line, columns)
    if text.width(line) <= columns then return { line } end
    local _, gap_end = line:find("%s%s+", (line:find("%S")))
    local label = gap_end and gap_end < #line and line:sub(1, gap_end)
    local rest = label and line:sub(gap_end + 1)
    local indent = label and (" "):rep(text.width(label))
    if not label or #indent > columns // 2 then
        label, rest = line:match("^(%s*)(.*)$")
        indent = label .. "  "
    end
    return text.wrap(rest, label, indent, columns)
end

-- "4 MiB", "1.5 GiB"
function text.bytes(n)
    return n < 1024 and text.count(n, "byte") or internals.words.units.bytes(n)
end

-- "1 operation", "3 operations"
function text.count(n, noun)
    return ("%d %s%s"):format(n, noun, n == 1 and "" or "s")
end

return text
