-- sheet.lua - lays text out for the terminal: words wrapped to its width, code and labels
-- in colour where there is colour, and nothing but ASCII where the locale has nothing else.
--
-- A sheet collects lines; sheet:print() writes them. Texts are Markdown's spans.

local markdown = import "repl/console/help/markdown.lua"

local sheet = {}
sheet.__index = sheet

-- Within text a style begins with its mark and ends with the last one. They take no room.
local marks <const> = { code = "\1", strong = "\2", label = "\3" }
local ending <const> = "\4"
local escapes <const> = {
    ["\1"] = "\27[36m", ["\2"] = "\27[1m", ["\3"] = "\27[32m", [ending] = "\27[0m",
}

local ascii <const> = {
    ["–"] = "-", ["—"] = "-", ["−"] = "-", ["→"] = "->", ["×"] = "x", ["·"] = "*",
    ["µ"] = "u", ["…"] = "...", ["≤"] = "<=", ["≥"] = ">=", ["≈"] = "~", ["‘"] = "'",
    ["’"] = "'", ["“"] = '"', ["”"] = '"',
}

-- A sheet for stdout as it is now.
function sheet.new()
    return setmetatable({
        lines = {}, width = internals.columns() - 1, colour = internals.colour(1),
        unicode = internals.unicode(),
    }, sheet)
end

-- ---- text --------------------------------------------------------------------------------

local function visible(text)
    return text:gsub("[\1-\4]", "")
end

local function width_of(text)
    local shown = visible(text)
    return utf8.len(shown) or #shown
end

-- The text with marks around it if the sheet has colours.
function sheet:styled(style, text)
    return self.colour and marks[style] .. text .. ending or text
end

-- Markdown's spans with marks, or as they were if there is no colour.
function sheet:marked(text)
    local parts = {}
    for i, span in ipairs(markdown.spans(text)) do
        if span.kind == "text" then
            parts[i] = span.text
        elseif span.kind == "code" and not self.colour then
            parts[i] = "`" .. span.text .. "`"
        else
            parts[i] = self:styled(span.kind, span.text)
        end
    end
    return table.concat(parts)
end

-- A word that is wider than the room, in parts.
local function add_parts(words, word, room)
    while width_of(word) > room and not word:find("[\1-\4]") and utf8.len(word) do
        local cut = utf8.offset(word, room + 1)
        words[#words + 1] = word:sub(1, cut - 1)
        word = word:sub(cut)
    end
    words[#words + 1] = word
end

-- Marked text as lines of at most that width.
function sheet.wrapped(text, room)
    local words, lines, line = {}, {}, nil
    for word in text:gmatch("%S+") do
        add_parts(words, word, room)
    end
    for _, word in ipairs(words) do
        if line and width_of(line) + 1 + width_of(word) <= room then
            line = line .. " " .. word
        else
            lines[#lines + 1] = line
            line = word
        end
    end
    lines[#lines + 1] = line
    return lines
end

-- ---- lines -------------------------------------------------------------------------------

function sheet:line(text)
    self.lines[#self.lines + 1] = text or ""
end

-- An empty line, unless there is one already.
function sheet:gap()
    if #self.lines > 0 and self.lines[#self.lines] ~= "" then
        self:line()
    end
end

-- Wrapped lines, of which the first begins with `first` and the others with as many blanks.
function sheet:hanging(first, marked)
    local indent = width_of(first)
    local lines = sheet.wrapped(marked, math.max(self.width - indent, 10))
    for i, line in ipairs(lines) do
        self:line((i == 1 and first or (" "):rep(indent)) .. line)
    end
    if #lines == 0 then
        self:line(first)
    end
end

function sheet:heading(text)
    self:gap()
    self:hanging("", self:styled("strong", text))
end

-- A label and its text in two columns; a label that is too wide has a line of its own.
local function add_row(self, indent, column, label, text)
    local pad = (" "):rep(indent)
    local shown = pad .. self:styled("label", label)
    if width_of(label) > column then
        self:hanging(pad, self:styled("label", label))
        self:hanging((" "):rep(indent + 4), text)
    else
        self:hanging(shown .. (" "):rep(column - width_of(label) + 2), text)
    end
end

-- Rows of {label, marked text}.
function sheet:rows(rows, indent)
    local column, most = 0, math.max(self.width // 3, 8)
    for _, row in ipairs(rows) do
        local width = width_of(row[1])
        column = width <= most and math.max(column, width) or column
    end
    for _, row in ipairs(rows) do
        add_row(self, indent or 0, column, row[1], row[2])
    end
end

-- ---- Markdown ------------------------------------------------------------------------------

local add_block <const> = {}

function add_block.paragraph(self, block, pad)
    self:gap()
    self:hanging(pad, self:marked(block.text))
end

function add_block.item(self, block, pad, before)
    if before ~= "item" then
        self:gap()
    end
    local mark = block.mark:find("%d") and block.mark or "-"
    self:hanging(pad .. ("  "):rep(block.depth) .. mark .. " ", self:marked(block.text))
end

function add_block.code(self, block, pad)
    self:gap()
    for _, line in ipairs(block.lines) do
        self:line(pad .. "    " .. line)
    end
end

function add_block.heading(self, block, pad)
    self:gap()
    self:hanging(pad, self:styled("strong", block.text))
end

-- The first column is labels, the others are one text. A head that names only the labels
-- is left out.
function add_block.table(self, block, pad)
    self:gap()
    local rows = {}
    for i, cells in ipairs(block.rows) do
        local label = visible(self:marked(cells[1])):gsub("`", "")
        local text = {}
        for j = 2, #cells do
            text[#text + 1] = cells[j] ~= "" and self:marked(cells[j]) or nil
        end
        if i > 1 or #text > 0 then
            rows[#rows + 1] = { label, table.concat(text, "; ") }
        end
    end
    self:rows(rows, #pad)
end

-- A text of several blocks.
function sheet:markdown(text, indent)
    local before
    for _, block in ipairs(markdown.blocks(text)) do
        add_block[block.kind](self, block, (" "):rep(indent or 0), before)
        before = block.kind
    end
end

-- ---- the end -------------------------------------------------------------------------------

local function to_ascii(line)
    return (line:gsub(utf8.charpattern, function(character)
        return #character > 1 and (ascii[character] or "?") or nil
    end))
end

-- Turns marks into escapes. A style that goes on in the next line ends with this one and
-- begins anew there.
local function coloured(line, style)
    local text = (style or "") .. line
    for mark in line:gmatch("[\1-\4]") do
        style = mark ~= ending and mark or nil
    end
    return (text .. (style and ending or "")):gsub("[\1-\4]", escapes), style
end

function sheet:print()
    local style
    for _, line in ipairs(self.lines) do
        if not self.unicode then
            line = to_ascii(line)
        end
        line, style = coloured(line, style)
        io.write((line:gsub("%s+$", "")), "\n")
    end
end

return sheet
