-- mdoc.lua - writes text as mdoc, the language of man pages: escapes, and Markdown.

local markdown = import "repl/console/help/markdown.lua"

local mdoc = {}

-- ---- text --------------------------------------------------------------------------------

local characters <const> = {
    ["\\"] = "\\e", ["~"] = "\\(ti", ["^"] = "\\(ha", ["`"] = "\\(ga", ["'"] = "\\(aq",
    ["–"] = "\\(en", ["—"] = "\\(em", ["→"] = "\\(->", ["×"] = "\\(mu", ["µ"] = "\\(mc",
    ["≤"] = "\\(<=", ["≥"] = "\\(>=",
}

-- Text in which roff finds nothing of its own. In code a "-" is one that can be copied.
local function escaped(text, is_code)
    text = text:gsub(utf8.charpattern, function(character)
        if character == "'" and not is_code then
            return nil
        elseif #character > 1 and not characters[character] then
            return ("\\[u%04X]"):format(utf8.codepoint(character))
        end
        return characters[character]
    end)
    return is_code and text:gsub("%-", "\\-") or text
end

-- A line, which is a macro if it begins with "." or "'".
local function line_of(text)
    return (text:gsub("^[.']", "\\&%0"))
end

-- An argument of a macro: as one word, in which no macro is seen.
function mdoc.argument(text, is_code)
    text = escaped(text, is_code):gsub('"', "\\(dq")
    if #text <= 3 or text:find("^%p") then
        text = "\\&" .. text
    end
    return '"' .. text .. '"'
end

-- A font for code and for strong words in the text; "R" ends it.
local fonts <const> = { code = "B", strong = "B" }

-- A line of Markdown's spans.
local function inline(text)
    local parts = {}
    for i, span in ipairs(markdown.spans(text)) do
        local font = fonts[span.kind]
        local words = escaped(span.text, span.kind == "code")
        parts[i] = font and ("\\f%s%s\\fR"):format(font, words) or words
    end
    return table.concat(parts)
end

local line_bytes <const> = 80

-- The text as lines, each sentence beginning a new one, as mdoc wants it.
function mdoc.prose(text)
    local lines = {}
    text = inline(text):gsub("%s+", " "):gsub("([%w)][.?!]) (%f[%u\\])", "%1\n%2")
    for sentence in (text .. "\n"):gmatch("([^\n]*)\n") do
        local line
        for word in sentence:gmatch("%S+") do
            if line and #line + 1 + #word < line_bytes then
                line = line .. " " .. word
            else
                lines[#lines + 1] = line and line_of(line)
                line = word
            end
        end
        lines[#lines + 1] = line and line_of(line)
    end
    return table.concat(lines, "\n") .. "\n"
end

-- Lines that stay as they are.
function mdoc.code(lines)
    local out = { ".Bd -literal -offset indent" }
    for _, line in ipairs(lines) do
        out[#out + 1] = line_of(escaped(line, true))
    end
    out[#out + 1] = ".Ed"
    return table.concat(out, "\n") .. "\n"
end

-- A list of {label, text as mdoc}.
function mdoc.tagged(rows, options)
    local out = { (".Bl -tag -width Ds%s\n"):format(options or "") }
    for _, row in ipairs(rows) do
        out[#out + 1] = ".It Ic " .. mdoc.argument(row[1], true) .. "\n" .. row[2]
    end
    out[#out + 1] = ".El\n"
    return table.concat(out)
end

-- ---- Markdown --------------------------------------------------------------------------

local function plain(text)
    local parts = {}
    for i, span in ipairs(markdown.spans(text)) do
        parts[i] = span.text
    end
    return table.concat(parts)
end

local write <const> = {}

function write.paragraph(block)
    return ".Pp\n" .. mdoc.prose(block.text)
end

function write.code(block)
    return mdoc.code(block.lines)
end

function write.heading(block)
    return ".Pp\n.Sy " .. mdoc.argument(plain(block.text)) .. "\n"
end

function write.table(block)
    local rows = {}
    for i, cells in ipairs(block.rows) do
        local text = table.concat(cells, "; ", 2):gsub("^[; ]+", ""):gsub("[; ]+$", "")
        if i > 1 then
            rows[#rows + 1] = { plain(cells[1]), text ~= "" and mdoc.prose(text) or "" }
        end
    end
    return ".Pp\n" .. mdoc.tagged(rows, " -compact")
end

local function write_items(blocks, i)
    local out, kind = {}, blocks[i].mark:find("%d") and "enum" or "bullet"
    out[1] = (".Bl -%s -compact\n"):format(kind)
    while blocks[i] and blocks[i].kind == "item" do
        out[#out + 1] = ".It\n" .. mdoc.prose(blocks[i].text)
        i = i + 1
    end
    out[#out + 1] = ".El\n"
    return ".Pp\n" .. table.concat(out), i
end

-- A text of several blocks; it begins with a new paragraph.
function mdoc.markdown(text)
    local blocks, out, i = markdown.blocks(text), {}, 1
    while blocks[i] do
        if blocks[i].kind == "item" then
            out[#out + 1], i = write_items(blocks, i)
        else
            out[#out + 1] = write[blocks[i].kind](blocks[i])
            i = i + 1
        end
    end
    return table.concat(out)
end

return mdoc
