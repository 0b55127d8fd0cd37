-- narrow.lua - tables of plain text on a terminal that has fewer columns than they need.
--
-- In a table a line has a title and values behind two blanks or more, each ending below a word of
-- the table's head. Its columns move together; where that is not enough, values go below their
-- title.

local _, core = ...

local gap <const>, indent <const> = 2, 2
local no_title <const> = 12         -- so many blanks in front: the line has values alone

-- The parts of a line that two blanks or more divide: {text =, to = where it ends}.
local function cells_of(line)
    local cells, from = {}, #line:match("^ *") + 1
    while from <= #line do
        local first, last = line:find("  +", from)
        cells[#cells + 1] = { text = line:sub(from, (first or #line + 1) - 1),
                              to = first and first - 1 or #line }
        from = last and last + 1 or #line + 1
    end
    local blanks = line:match("^ *")
    if #blanks >= no_title then
        table.insert(cells, 1, { text = "", to = 0 })
    elseif cells[1] then
        cells[1].text = blanks .. cells[1].text
    end
    return cells
end

-- The line's texts by the column of the head that they end with; those of no column come last.
local function row_of(line, edges)
    local row, cells = {}, cells_of(line)
    for i, cell in ipairs(cells) do
        row[i == 1 and 1 or edges[cell.to] or #row + 1] = cell.text
    end
    return row
end

local function width(text) return core.label_columns(text) end

local function widths_of(rows, n)
    local widths, sum = {}, 0
    for i = 1, n do
        widths[i] = 0
        for _, row in ipairs(rows) do
            widths[i] = math.max(widths[i], row.is_sentence and 0 or width(row[i] or ""))
        end
        sum = sum + widths[i] + (i > 1 and gap or 0)
    end
    return widths, sum
end

local function aligned(row, widths, n)
    local parts = { row[1] .. (" "):rep(widths[1] - width(row[1])) }
    for i = 2, n do
        parts[i] = (" "):rep(widths[i] - width(row[i] or "") + gap) .. (row[i] or "")
    end
    return (table.concat(parts):gsub(" +$", ""))
end

-- The title, and below it the values.
local function stacked(row, n, columns)
    local values = {}
    for i = 2, n do values[#values + 1] = row[i] end
    local blanks = #row[1]:match("^ *")
    local title = row[1] ~= "" and (" "):rep(blanks)
                  .. core.fold(row[1]:sub(blanks + 1), blanks + indent, columns) or ""
    local below = (" "):rep(indent) .. core.fold(table.concat(values, ", "), indent, columns)
    return (#values > 0 and title .. below or title):sub(1, -2)
end

local function narrowed(lines, columns)
    local edges, rows, n = {}, {}, 1
    for i, cell in ipairs(cells_of(lines[1])) do edges[cell.to] = i end
    for i, line in ipairs(lines) do
        rows[i] = row_of(line, edges)
        for column in next, rows[i] do n = math.max(n, column) end
        rows[i].is_sentence = #rows[i] == 1
    end
    local widths, sum = widths_of(rows, n)
    for i, row in ipairs(rows) do
        local fits = sum <= columns and not row.is_sentence
        lines[i] = fits and aligned(row, widths, n) or stacked(row, n, columns)
    end
end

-- narrow(text, columns): the text with its tables in that many columns; a table is what stands
-- between two empty lines. Lines without values, and tables that fit, stay.
return function(text, columns)
    local all, block, too_wide = {}, {}, false
    local function close()
        if too_wide then narrowed(block, columns) end
        table.move(block, 1, #block, #all + 1, all)
        block, too_wide = {}, false
    end
    for line in text:gmatch("([^\n]*)\n") do
        if line == "" then
            close()
            all[#all + 1] = ""
        else
            block[#block + 1] = line
            too_wide = too_wide or width(line) > columns
        end
    end
    close()
    all[#all + 1] = ""
    return table.concat(all, "\n")
end
