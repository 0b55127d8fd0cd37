-- plot_cells.lua - a plot for a terminal. In Unicode a cell has 2 x 4 dots of braille, else it has
-- one dot. A point is its line's letter, if there are several lines, so that no colour is needed.

local _, core = ...

local results = core.results

local colours <const> = { 36, 33, 35, 32, 34, 31 }
local letters <const> = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

local function letter_of(number)
    local i = (number - 1) % #letters + 1
    return letters:sub(i, i)
end

-- Texts --------------------------------------------------------------------------------------

-- On a terminal.
local function width_of(text)
    local columns = 0
    for _, code in utf8.codes(text) do
        columns = columns + math.max(0, core.character_columns(code))
    end
    return columns
end

-- The text in at most so many columns.
local function clip(text, columns)
    local n = utf8.len(text)
    while width_of(text) > columns do
        n = n - 1
        text = text:sub(1, utf8.offset(text, n + 1) - 1)
    end
    return text
end

local function fill(text, columns)
    return text .. (" "):rep(columns - width_of(text))
end

local function paint(style, number, text)
    if not style.colour then return text end
    return ("\27[%dm%s\27[0m"):format(colours[(number - 1) % #colours + 1], text)
end

-- A text for the terminal: without Unicode what is not ASCII is "?".
local function shown(style, text)
    return style.unicode and text or (text:gsub("[\xc2-\xf4][\x80-\xbf]+", "?"))
end

-- Dots ---------------------------------------------------------------------------------------

-- A canvas of cells; dots from 0, 0 at the top left.
local function new_canvas(style, width, height)
    local sx, sy = 1, 1
    if style.unicode then sx, sy = 2, 4 end
    return { style = style, width = width, height = height, sx = sx, sy = sy, cells = {} }
end

local function cell_at(canvas, x, y)
    local key = y * canvas.width + x
    canvas.cells[key] = canvas.cells[key] or { dots = 0 }
    return canvas.cells[key]
end

-- Of braille: the bits of the left and the right column, from the top.
local bits <const> = { { 0x01, 0x02, 0x04, 0x40 }, { 0x08, 0x10, 0x20, 0x80 } }

local function put_dot(canvas, x, y, number)
    local cell = cell_at(canvas, x // canvas.sx, y // canvas.sy)
    cell.dots = cell.dots | bits[x % canvas.sx + 1][y % canvas.sy + 1]
    cell.number = number
end

local function put_line(canvas, x1, y1, x2, y2, number)
    local n = math.max(math.abs(x2 - x1), math.abs(y2 - y1), 1)
    for i = 0, n do
        put_dot(canvas, math.floor(x1 + (x2 - x1) * i / n + 0.5),
                math.floor(y1 + (y2 - y1) * i / n + 0.5), number)
    end
end

local function put_mark(canvas, x, y, number, mark)
    local cell = cell_at(canvas, x // canvas.sx, y // canvas.sy)
    cell.number, cell.mark = number, mark
end

local function row_text(canvas, y)
    local parts = {}
    for x = 0, canvas.width - 1 do
        local cell = canvas.cells[y * canvas.width + x]
        parts[#parts + 1] = not cell and " " or paint(canvas.style, cell.number, cell.mark
            or (canvas.style.unicode and utf8.char(0x2800 + cell.dots) or "."))
    end
    return table.concat(parts)
end

-- Curves -------------------------------------------------------------------------------------

local function dot_of(canvas, plot, x, y)
    return math.floor(plot.x_axis:place(x) * (canvas.width * canvas.sx - 1) + 0.5),
           math.floor((1 - plot.y_axis:place(y)) * (canvas.height * canvas.sy - 1) + 0.5)
end

local function put_curve(canvas, plot, curve)
    local last_x, last_y
    for _, point in ipairs(curve.points) do
        local x, y = dot_of(canvas, plot, point.x, point.y)
        if last_x then put_line(canvas, last_x, last_y, x, y, curve.number) end
        if point.low then
            local _, low = dot_of(canvas, plot, point.x, point.low)
            local _, high = dot_of(canvas, plot, point.x, point.high)
            put_line(canvas, x, high, x, low, curve.number)
        end
        last_x, last_y = x, y
    end
end

-- Above all lines.
local function put_marks(canvas, plot, curve)
    local alone = canvas.style.unicode and "●" or "*"
    local mark = #plot.kinds > 1 and letter_of(curve.number) or alone
    for _, point in ipairs(curve.points) do
        local x, y = dot_of(canvas, plot, point.x, point.y)
        put_mark(canvas, x, y, curve.number, mark)
    end
end

-- Axes ---------------------------------------------------------------------------------------

local function row_of(height, place) return math.floor((1 - place) * (height - 1) + 0.5) end
local function column_of(width, place) return math.floor(place * (width - 1) + 0.5) end

-- row -> text
local function y_labels(style, plot, height)
    local labels, widest = {}, 0
    local ticks = plot.y_axis:ticks(function(ticks)
        for i = 2, #ticks do
            local rows = row_of(height, ticks[i - 1].place) - row_of(height, ticks[i].place)
            if rows < 3 then return false end
        end
        return true
    end)
    for _, tick in ipairs(ticks) do
        local text = shown(style, tick.text)
        labels[row_of(height, tick.place)] = text
        widest = math.max(widest, width_of(text))
    end
    return labels, widest
end

-- Where a label in the middle of `at` begins, on `width` columns.
local function begin_of(text, at, width)
    return math.max(0, math.min(at - width_of(text) // 2, width - width_of(text)))
end

local function fits_beside(width)
    return function(ticks)
        local behind = -2
        for _, tick in ipairs(ticks) do
            local first = begin_of(tick.text, column_of(width, tick.place), width)
            if first < behind + 2 or width_of(tick.text) > width then return false end
            behind = first + width_of(tick.text)
        end
        return true
    end
end

-- The line with marks, and the labels below it.
local function x_lines(style, plot, width)
    local marks, labels = {}, ""
    for i = 0, width - 1 do marks[i] = style.unicode and "─" or "-" end
    for _, tick in ipairs(plot.x_axis:ticks(fits_beside(width))) do
        local at, text = column_of(width, tick.place), clip(shown(style, tick.text), width)
        marks[at] = style.unicode and "┴" or "+"
        labels = fill(labels, begin_of(text, at, width)) .. text
    end
    return table.concat(marks, "", 0), fill(labels, width)
end

-- Names --------------------------------------------------------------------------------------

local function name_of(style, kind)
    return letter_of(kind.number) .. " " .. shown(style, kind.title)
end

-- row -> curve, beside the ends of the lines.
local function place_names(plot, curves, height)
    local sorted, rows, row = table.move(curves, 1, #curves, 1, {}), {}, -1
    local function end_of(curve)
        return row_of(height, plot.y_axis:place(curve.points[#curve.points].y))
    end
    table.sort(sorted, function(a, b)
        if end_of(a) ~= end_of(b) then return end_of(a) < end_of(b) end
        return a.number < b.number
    end)
    for i, curve in ipairs(sorted) do
        row = math.min(math.max(row + 1, end_of(curve)), height - 1 - (#sorted - i))
        rows[row] = curve
    end
    return rows
end

local function legend_lines(style, plot)
    local lines, line, used = {}, {}, 0
    for _, kind in ipairs(plot.kinds) do
        local text = clip(name_of(style, kind), style.columns)
        if used > 0 and used + 3 + width_of(text) > style.columns then
            lines[#lines + 1] = table.concat(line, "   ")
            line, used = {}, 0
        end
        used = used + (used > 0 and 3 or 0) + width_of(text)
        line[#line + 1] = paint(style, kind.number, text)
    end
    lines[#lines + 1] = table.concat(line, "   ")
    return lines
end

-- Panels -------------------------------------------------------------------------------------

-- Its lines, which are all as wide, but for the names behind them.
local function panel_lines(style, plot, panel, width, height, names)
    local lines, labels, margin = {}, y_labels(style, plot, height)
    local canvas = new_canvas(style, width - margin - 2, height)
    for _, curve in ipairs(panel.curves) do put_curve(canvas, plot, curve) end
    for _, curve in ipairs(panel.curves) do put_marks(canvas, plot, curve) end
    local rows = names and place_names(plot, panel.curves, height) or {}
    for y = 0, height - 1 do
        local label = labels[y] or ""
        local edge = style.unicode and (labels[y] and "┤" or "│") or labels[y] and "+" or "|"
        lines[#lines + 1] = (" "):rep(margin - width_of(label)) .. label .. " " .. edge
            .. row_text(canvas, y)
            .. (rows[y] and " " .. paint(style, rows[y].number, name_of(style, rows[y])) or "")
    end
    local marks, ticks = x_lines(style, plot, canvas.width)
    lines[#lines + 1] = (" "):rep(margin + 1) .. (style.unicode and "└" or "+") .. marks
    lines[#lines + 1] = (" "):rep(margin + 2) .. ticks
    if panel.title then
        local title = clip((" "):rep(margin + 2) .. shown(style, panel.title), width)
        table.insert(lines, 1, fill(title, width))
    end
    return lines
end

local least_panel <const> = 34

local function add_panels(lines, style, plot, names)
    local most = math.max(1, style.columns // least_panel)
    local rows = (#plot.panels + most - 1) // most
    local columns = (#plot.panels + rows - 1) // rows
    local width = (style.columns - (names or 0) - 2 * (columns - 1)) // columns
    local height = #plot.panels > 1 and 10 or 16
    for first = 1, #plot.panels, columns do
        local beside = {}
        for i = first, math.min(first + columns - 1, #plot.panels) do
            for n, line in ipairs(panel_lines(style, plot, plot.panels[i], width, height, names)) do
                beside[n] = beside[n] and beside[n] .. "  " .. line or line
            end
        end
        table.move(beside, 1, #beside, #lines + 1, lines)
    end
end

-- How many columns the names at the right edge take; nil: they stand above.
local function names_columns(style, plot)
    local widest = 0
    for _, kind in ipairs(plot.kinds) do
        widest = math.max(widest, width_of(name_of(style, kind)) + 1)
    end
    return #plot.panels == 1 and #plot.kinds <= 16 and widest <= style.columns // 3
        and widest or nil
end

local function middle(text, columns)
    return (" "):rep((columns - width_of(text)) // 2) .. text
end

local cells = {}

-- The text, of lines no longer than the terminal is wide.
function cells.draw(plot)
    local style = { columns = core.columns(), unicode = core.unicode(), colour = core.colour(1) }
    local lines, several = {}, #plot.kinds > 1
    local names = several and names_columns(style, plot) or nil
    local function add(text) lines[#lines + 1] = clip(shown(style, text), style.columns) end
    if plot.title then add(results.cell_text(plot.title)) end
    if several and not names then
        for _, line in ipairs(legend_lines(style, plot)) do lines[#lines + 1] = line end
    end
    if #plot.y == 1 then add(results.cell_text(plot.y[1])) end
    add_panels(lines, style, plot, names)
    add(middle(clip(results.cell_text(plot.x), style.columns), style.columns))
    for i, line in ipairs(lines) do lines[i] = line:gsub(" +$", "") end
    return table.concat(lines, "\n") .. "\n"
end

return cells
