-- markdown.lua - takes Markdown apart, as far as docs/api uses it: for the terminal, and
-- for the man pages.
--
-- markdown.blocks(text) gives a list of
--   {kind = "paragraph", text =}
--   {kind = "item", text =, depth = 0, mark = "-" or "1."}
--   {kind = "code", lines =, language =}
--   {kind = "table", rows = {{cell, ...}, ...}}     the first row is the head's, "" if empty
--   {kind = "heading", text =, level =}
-- markdown.spans(text) gives a list of {kind = "text" | "code" | "strong", text}: what
-- stands in a line. Of a link its words are left.

local markdown = {}

-- ---- spans -----------------------------------------------------------------------------

local function add(spans, kind, text)
    if text ~= "" then
        spans[#spans + 1] = { kind = kind, text = text }
    end
end

-- What is no code: links, **strong**, *emphasis*, backslashes.
local function add_prose(spans, text)
    text = text:gsub("!?%[([^%]]*)%]%([^)]*%)", "%1")
    local at = 1
    while true do
        local from, to, words = text:find("%*%*(.-)%*%*", at)
        local plain = text:sub(at, (from or 0) - 1)
        plain = plain:gsub("%f[%*%w]%*(%w[^*]*)%*%f[^%w%*]", "%1")
        add(spans, "text", (plain:gsub("\\(%p)", "%1")))
        if not from then
            return
        end
        add(spans, "strong", words)
        at = to + 1
    end
end

-- A link whose words are code, [`x`](y), loses its brackets before code is looked for.
function markdown.spans(text)
    local spans, at = {}, 1
    text = text:gsub("%[(`[^`]*`)%]%([^)]*%)", "%1")
    while true do
        local from, to, code = text:find("`([^`]+)`", at)
        add_prose(spans, text:sub(at, (from or 0) - 1))
        if not from then
            return spans
        end
        add(spans, "code", code)
        at = to + 1
    end
end

-- ---- blocks ----------------------------------------------------------------------------

-- The cells of "| a | b |"; "\|" is a bar within one, and so is a bar in code.
local function cells_of(line)
    local cells = {}
    line = line:gsub("^%s*|", ""):gsub("|%s*$", ""):gsub("\\|", "\1")
    for cell in (line .. "|"):gmatch("([^|]*)|") do
        cells[#cells + 1] = cell:gsub("\1", "|"):match("^%s*(.-)%s*$")
    end
    return cells
end

local function is_ruler(line)
    return line:find("^%s*|?[%s|:-]+$") and line:find("-", 1, true)
end

-- Each reader takes the lines from number i on, adds a block, and gives the number of the
-- line behind it.

local function read_fence(blocks, lines, i)
    local block = { kind = "code", lines = {}, language = lines[i]:match("^```(%w*)") }
    blocks[#blocks + 1] = block
    i = i + 1
    while lines[i] and not lines[i]:find("^```") do
        block.lines[#block.lines + 1] = lines[i]
        i = i + 1
    end
    return i + 1
end

local function read_indented(blocks, lines, i)
    local block = { kind = "code", lines = {}, language = "" }
    blocks[#blocks + 1] = block
    while lines[i] and (lines[i]:find("^    ") or lines[i] == "") do
        block.lines[#block.lines + 1] = lines[i]:sub(5)
        i = i + 1
    end
    while block.lines[#block.lines] == "" do
        block.lines[#block.lines] = nil
    end
    return i
end

local function read_table(blocks, lines, i)
    local block = { kind = "table", rows = {} }
    blocks[#blocks + 1] = block
    while lines[i] and lines[i]:find("^%s*|") do
        if not is_ruler(lines[i]) then
            block.rows[#block.rows + 1] = cells_of(lines[i])
        end
        i = i + 1
    end
    return i
end

local function item_of(line)
    local indent, mark, text = line:match("^(%s*)([-*])%s+(.*)$")
    if not mark then
        indent, mark, text = line:match("^(%s*)(%d+%.)%s+(.*)$")
    end
    return mark and { kind = "item", mark = mark, text = text, depth = #indent // 2 }
end

-- Whether something else than more of a paragraph begins with this line.
local function begins_block(line)
    return line == "" or line:find("^```") or line:find("^%s*|") or line:find("^#+ ")
        or item_of(line) ~= nil
end

-- A paragraph, or what is left of an item.
local function read_words(blocks, lines, i, block)
    blocks[#blocks + 1] = block
    while lines[i] and not begins_block(lines[i]) do
        local line = lines[i]:match("^%s*(.-)%s*$")
        block.text = block.text == "" and line or block.text .. " " .. line
        i = i + 1
    end
    return i
end

local function read_block(blocks, lines, i)
    local line, last = lines[i], blocks[#blocks]
    local level, heading = line:match("^(#+) (.*)$")
    if line == "" then
        return i + 1
    elseif line:find("^```") then
        return read_fence(blocks, lines, i)
    elseif heading then
        blocks[#blocks + 1] = { kind = "heading", text = heading, level = #level }
        return i + 1
    elseif line:find("^%s*|") then
        return read_table(blocks, lines, i)
    elseif item_of(line) then
        return read_words(blocks, lines, i + 1, item_of(line))
    elseif line:find("^    ") and not (last and last.kind == "item") then
        return read_indented(blocks, lines, i)
    end
    return read_words(blocks, lines, i, { kind = "paragraph", text = "" })
end

function markdown.blocks(text)
    local lines, blocks, i = {}, {}, 1
    for line in (text:gsub("<!%-%-.-%-%->", "") .. "\n"):gmatch("([^\n]*)\n") do
        lines[#lines + 1] = line
    end
    while lines[i] do
        i = read_block(blocks, lines, i)
    end
    return blocks
end

return markdown
