-- sheet.lua - lays text out for the terminal: wraps words to its width, colours code and labels
-- if colours are on, and uses only ASCII if the locale has nothing else.
--
-- A sheet collects lines; sheet:print() writes them. Texts are Markdown's spans.

local text = import "repl/run/text.lua"
local markdown = import "repl/console/help/markdown.lua"

local sheet = {}
sheet.__index = sheet

-- Within text a style begins with its mark and ends with the last one. They take no room.
local marks <const> = { code = "\1", strong = "\2", label = "\3" }
local ending <const> = "\4"
local escapes <const> = { [ending] = text.escape() }
for style, mark in pairs(marks) do
    escapes[mark] = text.escape(style)
end

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

-- What the sheets say that f(...) prints, and what it returns.
local collected
function sheet.said_by(f, ...)
    local said = {}
    collected = said
    local _ <close> = setmetatable({}, { __close = function() collected = nil end })
    local result = f(...)
    return table.concat(said), result
end

-- ---- text --------------------------------------------------------------------------------

-- The text in characters that the terminal has.
function sheet:shown(s)
    return self.unicode and s or (s:gsub(utf8.charpattern, function(character)
        return #character > 1 and (ascii[character] or "?") or nil
    end))
end

-- The text with marks around it if the sheet has colours.
function sheet:styled(style, s)
    return self.colour and marks[style] .. s .. ending or s
end

-- Markdown's spans with marks, or as they were if there is no colour.
function sheet:marked(s)
    local parts = {}
    for i, span in ipairs(markdown.spans(s)) do
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

-- ---- lines -------------------------------------------------------------------------------

function sheet:line(s)
    self.lines[#self.lines + 1] = self:shown(s or "")
end

-- An empty line, unless there is one already.
function sheet:gap()
    if #self.lines > 0 and self.lines[#self.lines] ~= "" then
        self:line()
    end
end

-- Wrapped lines, of which the first begins with `first` and the others with as many blanks.
function sheet:hanging(first, marked)
    first, marked = self:shown(first), self:shown(marked)
    local indent = text.width(first)
    local width = math.max(self.width, indent + 10)
    for _, line in ipairs(text.wrap(marked, first, (" "):rep(indent), width)) do
        self:line(line)
    end
end

function sheet:heading(title)
    self:gap()
    self:hanging("", self:styled("strong", title))
end

-- A label and its text in two columns; a label that is too wide has a line of its own.
local function add_row(self, indent, column, label, marked)
    local pad = (" "):rep(indent)
    local shown = pad .. self:styled("label", label)
    if text.width(label) > column then
        self:hanging(pad, self:styled("label", label))
        self:hanging((" "):rep(indent + 4), marked)
    else
        self:hanging(shown .. (" "):rep(column - text.width(label) + 2), marked)
    end
end

-- Rows of {label, marked text}.
function sheet:rows(rows, indent)
    local column, most = 0, math.max(self.width // 3, 8)
    for _, row in ipairs(rows) do
        local width = text.width(row[1])
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
        local label = self:marked(cells[1]):gsub("[\1-\4`]", "")
        local others = {}
        for j = 2, #cells do
            others[#others + 1] = cells[j] ~= "" and self:marked(cells[j]) or nil
        end
        if i > 1 or #others > 0 then
            rows[#rows + 1] = { label, table.concat(others, "; ") }
        end
    end
    self:rows(rows, #pad)
end

-- A text of several blocks.
function sheet:markdown(s, indent)
    local before
    for _, block in ipairs(markdown.blocks(s)) do
        add_block[block.kind](self, block, (" "):rep(indent or 0), before)
        before = block.kind
    end
end

-- ---- the end -------------------------------------------------------------------------------

-- Turns marks into escapes. A style that goes on in the next line ends with this one and
-- begins again there.
local function coloured(line, style)
    local whole = (style or "") .. line
    for mark in line:gmatch("[\1-\4]") do
        style = mark ~= ending and mark or nil
    end
    return (whole .. (style and ending or "")):gsub("[\1-\4]", escapes), style
end

function sheet:print()
    local style
    for _, line in ipairs(self.lines) do
        line, style = coloured(line, style)
        line = line:gsub("%s+$", "") .. "\n"
        if collected then collected[#collected + 1] = line else io.write(line) end
    end
end

return sheet
