-- screen.lua - what a terminal shows after some bytes: a small emulation of xterm and
-- vt100, of which "dumb" is a part.
--
--   local screen = require "screen".new(80, 24)
--   screen:feed(bytes)
--   screen:row(1)         the first row's text, without the blanks at its end
--   screen:text()         all rows that have text, and those between, joined by newlines;
--                         rows that have scrolled off the top are in front
--   screen:cursor()       its row and column, from 1
--   screen:colour(r, c)   the SGR parameters in force there ("1;32"), "" for none
--   screen.modes          private modes: screen.modes["2004"] is true in bracketed paste
--   screen.unknown        escape sequences that it does not know, which tests should not meet
--
-- Characters that are two columns wide take two cells; the second holds "".

local screen = {}
screen.__index = screen

local function blank_row()
    return { text = {}, sgr = {} }
end

function screen.new(columns, rows)
    local self = setmetatable({
        columns = columns, rows = rows, x = 1, y = 1, lines = {}, above = {}, modes = {},
        unknown = {}, pending = "", sgr = "", wrap_due = false, bells = 0,
    }, screen)
    for i = 1, rows do
        self.lines[i] = blank_row()
    end
    return self
end

-- ---- what it shows ---------------------------------------------------------------

local function row_text(line, columns)
    local cells = {}
    for i = 1, columns do
        cells[i] = line.text[i] or " "
    end
    return table.concat(cells):match("^.*[^ ]") or ""
end

function screen:row(number)
    return row_text(self.lines[number], self.columns)
end

function screen:text()
    local rows = table.move(self.above, 1, #self.above, 1, {})
    for i = 1, self.rows do
        rows[#rows + 1] = self:row(i)
    end
    while #rows > 0 and rows[#rows] == "" do
        rows[#rows] = nil
    end
    return table.concat(rows, "\n")
end

-- The end of the text: at most n rows.
function screen:last_rows(n)
    local rows = {}
    for row in (self:text() .. "\n"):gmatch("(.-)\n") do
        rows[#rows + 1] = row
    end
    return table.concat(rows, "\n", math.max(1, #rows - n + 1))
end

function screen:cursor()
    return self.y, self.x
end

function screen:colour(row, column)
    return self.lines[row].sgr[column] or ""
end

-- ---- writing ---------------------------------------------------------------------

local wide = {
    { 0x1100, 0x115f }, { 0x2e80, 0xa4cf }, { 0xac00, 0xd7a3 }, { 0xf900, 0xfaff },
    { 0xfe30, 0xfe6f }, { 0xff00, 0xff60 }, { 0xffe0, 0xffe6 }, { 0x1f300, 0x1faff },
    { 0x20000, 0x3fffd },
}

local function width(code)
    if code >= 0x300 and code <= 0x36f then
        return 0
    end
    for _, range in ipairs(wide) do
        if code >= range[1] and code <= range[2] then
            return 2
        end
    end
    return 1
end

function screen:line_feed()
    self.wrap_due = false
    if self.y < self.rows then
        self.y = self.y + 1
        return
    end
    self.above[#self.above + 1] = self:row(1)
    table.remove(self.lines, 1)
    self.lines[self.rows] = blank_row()
end

-- A terminal with automatic margins wraps when the next character comes, not before.
function screen:put(character)
    local columns = width(utf8.codepoint(character))
    local line = self.lines[self.y]
    if columns == 0 then
        local x = self.wrap_due and self.x or self.x - 1
        line.text[x] = (line.text[x] or " ") .. character
        return
    end
    if self.wrap_due or self.x + columns - 1 > self.columns then
        self.x = 1
        self:line_feed()
        line = self.lines[self.y]
    end
    for i = 1, columns do
        line.text[self.x + i - 1] = i == 1 and character or ""
        line.sgr[self.x + i - 1] = self.sgr
    end
    self.x = self.x + columns
    if self.x > self.columns then
        self.x = self.columns
        self.wrap_due = true
    end
end

-- ---- control characters and sequences ----------------------------------------------

local controls = {
    ["\n"] = screen.line_feed,
    ["\r"] = function(self) self.x, self.wrap_due = 1, false end,
    ["\b"] = function(self) self.x, self.wrap_due = math.max(1, self.x - 1), false end,
    ["\a"] = function(self) self.bells = self.bells + 1 end,
    ["\t"] = function(self) self.x = math.min(self.columns, (self.x - 1) // 8 * 8 + 9) end,
    ["\0"] = function() end,
    ["\14"] = function() end,
    ["\15"] = function() end,
}

function screen:erase(y, from, to)
    for x = from, to do
        self.lines[y].text[x], self.lines[y].sgr[x] = nil, nil
    end
end

function screen:go(x, y)
    self.x = math.max(1, math.min(self.columns, x))
    self.y = math.max(1, math.min(self.rows, y))
    self.wrap_due = false
end

-- Shifts the rest of the row by n columns, to the right if n > 0.
function screen:shift(n)
    local line = self.lines[self.y]
    for _, cells in ipairs { line.text, line.sgr } do
        local moved = {}
        for x = self.x, self.columns do
            moved[x] = x - n >= self.x and cells[x - n] or nil
        end
        for x = self.x, self.columns do
            cells[x] = moved[x]
        end
    end
end

local csi = {
    A = function(self, n) self:go(self.x, self.y - math.max(n, 1)) end,
    B = function(self, n) self:go(self.x, self.y + math.max(n, 1)) end,
    C = function(self, n) self:go(self.x + math.max(n, 1), self.y) end,
    D = function(self, n) self:go(self.x - math.max(n, 1), self.y) end,
    G = function(self, n) self:go(math.max(n, 1), self.y) end,
    H = function(self, n, m) self:go(math.max(m, 1), math.max(n, 1)) end,
    d = function(self, n) self:go(self.x, math.max(n, 1)) end,
    J = function(self, n)
        self:erase(self.y, n == 0 and self.x or 1, n == 1 and self.x or self.columns)
        for y = n == 0 and self.y + 1 or 1, n == 1 and self.y - 1 or self.rows do
            self:erase(y, 1, self.columns)
        end
    end,
    K = function(self, n)
        self:erase(self.y, n == 0 and self.x or 1, n == 1 and self.x or self.columns)
    end,
    P = function(self, n) self:shift(-math.max(n, 1)) end,
    ["@"] = function(self, n) self:shift(math.max(n, 1)) end,
    X = function(self, n)
        self:erase(self.y, self.x, math.min(self.columns, self.x + math.max(n, 1) - 1))
    end,
    L = function(self, n)
        for _ = 1, math.max(n, 1) do
            table.insert(self.lines, self.y, blank_row())
            self.lines[self.rows + 1] = nil
        end
    end,
    M = function(self, n)
        for _ = 1, math.max(n, 1) do
            table.remove(self.lines, self.y)
            self.lines[self.rows] = blank_row()
        end
    end,
    m = function(self, _, _, parameters)
        local plain = parameters == "" or parameters == "0" or parameters == "0;0"
        self.sgr = plain and "" or parameters
    end,
}

function screen:sequence(parameters, final)
    local private = parameters:match("^%?([%d;]*)$")
    if private and (final == "h" or final == "l") then
        for mode in private:gmatch("%d+") do
            self.modes[mode] = final == "h"
        end
        return
    end
    local obey = parameters:match("^[%d;]*$") and csi[final]
    if obey then
        local n, m = parameters:match("^(%d*);?(%d*)")
        obey(self, tonumber(n) or 0, tonumber(m) or 0, parameters)
    elseif final ~= "h" and final ~= "l" then
        self.unknown[#self.unknown + 1] = "[" .. parameters .. final
    end
end

-- ESC and what follows it, from position `at`; returns the position behind it, or nil if
-- the rest is still to come.
function screen:escape(bytes, at)
    local kind = bytes:sub(at + 1, at + 1)
    if kind == "[" then
        local parameters, final, next_at = bytes:match("^([\x20-\x3f]*)([\x40-\x7e])()", at + 2)
        if final then
            self:sequence(parameters, final)
        end
        return next_at
    elseif kind == "]" then
        return bytes:match("^[^\a\27]*\a()", at + 2) or bytes:match("^[^\27]*\27\\()", at + 2)
    elseif kind == "(" or kind == ")" then
        return #bytes >= at + 2 and at + 3 or nil
    elseif kind == "" then
        return nil
    elseif kind == "M" then
        self:go(self.x, self.y - 1)
    elseif not kind:find("[=>78c]") then
        self.unknown[#self.unknown + 1] = kind
    end
    return at + 2
end

-- How many bytes the UTF-8 character takes that begins with that byte.
local function character_bytes(byte)
    return byte < 0x80 and 1 or byte < 0xe0 and 2 or byte < 0xf0 and 3 or 4
end

function screen:feed(new)
    local bytes, at = self.pending .. new, 1
    while at <= #bytes do
        local byte = bytes:byte(at)
        local control = controls[string.char(byte)]
        local next_at
        if byte == 27 then
            next_at = self:escape(bytes, at)
        elseif control then
            control(self)
            next_at = at + 1
        else
            local n = character_bytes(byte)
            if #bytes >= at + n - 1 then
                local character = bytes:sub(at, at + n - 1)
                self:put(utf8.len(character) == 1 and character or "?")
                next_at = at + n
            end
        end
        if not next_at then
            break
        end
        at = next_at
    end
    self.pending = bytes:sub(at)
end

-- The size changes; rows keep their text, and nothing is wrapped again, as in xterm.
function screen:resize(columns, rows)
    while #self.lines > rows do
        if self.y < #self.lines then
            self.lines[#self.lines] = nil
        else
            self.above[#self.above + 1] = row_text(table.remove(self.lines, 1), self.columns)
            self.y = self.y - 1
        end
    end
    while #self.lines < rows do
        self.lines[#self.lines + 1] = blank_row()
    end
    self.columns, self.rows = columns, rows
    self:go(self.x, self.y)
end

return screen
