-- chart.lua - the Gantt chart for a terminal: a row a stream, or an engine.
--
--     compute |#########|######:.........|  65%
--     to host |<<<<<.....................|  19%
--             ++--------+--------+-------+ busy
--              0        10       20 ms
--              # kernel  < copy D2H  . idle  | next begins  : partly busy
--
-- A cell shows the kind of work that fills most of it, and by its glyph how much of the cell is
-- busy: bars of kernels have sharp edges (eighths of a cell) where one stretch of work begins or
-- ends, and shades where there are several with gaps; the signs of the other kinds are solid,
-- hollow or small. Whatever ran leaves a mark, however short. Without Unicode there are two signs a
-- kind, the lighter one for cells that are less than half busy. Where a long operation follows one
-- of its kind without a gap, a thin line stands in its first cell. A chart that shows a part of the
-- timeline says which, behind the legend. Colour repeats what the glyphs say, so nothing is lost
-- without it.

local _, core = ...
local times = core.need("pictures/times")

local least_columns <const>, most_columns <const> = 20, 4096
local most_label <const>, most_rows <const> = 14, 32
local most_of_rank <const> = 16         -- "rank 12: compute"
local busy_columns <const> = 5          -- " 100%", " busy"
local nothing <const> = "The timeline is empty: nothing ran on the device.\n"

-- By kind: solid, hollow, small, in ASCII, lighter there, and the colour. Bright blue, since plain
-- blue is hard to read on black; idle is dim.
local signs <const> = {
    kernel = { "█", "▒", "░", "#", ":", "\27[32m" },
    collective = { "★", "☆", "⋆", "@", "o", "\27[95m" },
    memcpy_h2d = { "▲", "△", "▵", ">", ")", "\27[94m" },
    memcpy_d2h = { "▼", "▽", "▿", "<", "(", "\27[35m" },
    memcpy_d2d = { "■", "□", "▫", "=", "-", "\27[36m" },
    memcpy_p2p = { "◆", "◇", "⋄", "X", "x", "\27[96m" },
    memset = { "●", "○", "◦", "*", "+", "\27[33m" },
    host_func = { "ƒ", "ƒ", "ƒ", "f", "f", "\27[31m" },
    idle = { "·", "·", "·", ".", ".", "\27[2m" },
}

local function solid(c, kind) return signs[kind][c.unicode and 1 or 4] end

local function put(c, ...)
    for i = 1, select("#", ...) do c[#c + 1] = (select(i, ...)) end
end

-- Rows -------------------------------------------------------------------------------------------

-- A kernel's bar that fills part of a cell. One stretch of work is drawn where it is: eighths from
-- the left, or a half or an eighth at the right.
local bars <const> = { [0] = "▏", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█" }

local function bar_glyph(eighths, pieces, left, right)
    if pieces > 1 then return eighths <= 2 and "░" or eighths <= 5 and "▒" or "▓" end
    if right and not left then return eighths <= 2 and "▕" or eighths <= 6 and "▐" or "█" end
    return bars[math.min(eighths, 8)]
end

-- The glyph of the cell, and its kind.
local function glyph_of(c, row, column)
    local kind, sixteenths, eighths, pieces, left, right, begins = c.grid.cell(row, column)
    if not kind then return solid(c, "idle"), "idle" end
    if begins then
        c.marked = true
        return c.unicode and "│" or "|", kind
    end
    local is_bar = c.unicode and kind == "kernel"
    if sixteenths >= (is_bar and 15 or 8) then return solid(c, kind), kind end
    c.partly[kind] = true
    if is_bar then return bar_glyph(eighths, pieces, left, right), kind end
    if not c.unicode then return signs[kind][5], kind end
    return signs[kind][sixteenths >= 2 and 2 or 3], kind
end

local function put_cells(c, row)
    local last
    for column = 1, c.n_cells do
        local glyph, kind = glyph_of(c, row, column)
        if c.colour and kind ~= last then
            put(c, last and "\27[0m" or "", signs[kind][6])
            last = kind
        end
        c.kinds[kind] = true
        c[#c + 1] = glyph
    end
    if c.colour then put(c, "\27[0m") end
end

-- "s 84" of "stream 84", where such names are too long: they differ by what stands around the word.
local numbered <const> = "%f[%w]stream (%d)"

local function name_in(c, name)
    return c.brief and name:gsub(numbered, "s %1") or name
end

local function put_row(c, number, row)
    local frame = c.unicode and "│" or "|"
    local label = core.label(name_in(c, row.name), c.label_columns, not c.unicode)
    put(c, label, (" "):rep(c.label_columns - core.label_columns(label, not c.unicode)), " ", frame)
    put_cells(c, number)
    local percent = core.ratio(row.busy_ns, c.range_ns, 100)
    put(c, frame, percent == 0 and row.busy_ns > 0 and "  <1%\n" or (" %3d%%\n"):format(percent))
end

-- The axis ---------------------------------------------------------------------------------------

-- Centres the label of the tick on its column, within the chart's.
local function put_tick(c, lines, axis, tick_ns, last)
    local column, text = c.grid.column(c.grid.origin_ns + tick_ns), axis:label(tick_ns)
    local at = c.label_columns + 1 + column - #text // 2
    if last then text = text .. " " .. axis.unit end
    at = math.min(at, c.columns - #text)
    if at < 0 or (lines.labels ~= "" and at <= #lines.labels) then return end
    lines[column] = true
    lines.labels = lines.labels .. (" "):rep(at - #lines.labels) .. text
end

local function put_axis(c, from_ns, to_ns)
    local slack <const> = 4     -- a blank, and a blank and the unit at the last
    local axis, lines = times.axis(from_ns, to_ns, c.n_cells, slack), { labels = "" }
    for tick in axis:each(from_ns, to_ns - 1) do
        put_tick(c, lines, axis, tick, to_ns - tick <= axis.step_ns)
    end
    if lines.labels == "" then  -- a narrow chart of a part between two ticks
        put_tick(c, lines, axis, axis:round(from_ns, to_ns - from_ns), true)
    end
    local begin, line, mark, finish = "+", "-", "+", "+"
    if c.unicode then begin, line, mark, finish = "└", "─", "┬", "┘" end
    put(c, (" "):rep(c.label_columns), " ", begin)
    for column = 1, c.n_cells do c[#c + 1] = lines[column] and mark or line end
    put(c, finish, " busy\n", lines.labels, "\n")
end

-- The legend -------------------------------------------------------------------------------------

-- Entries two blanks apart, on as many lines as they need.
local function put_entry(c, legend, glyph, colour, name)
    local width = #name + (glyph and core.label_columns(glyph, not c.unicode) + 1 or 0)
    if legend.column > legend.indent and legend.column + 2 + width > c.columns then
        put(c, "\n")
        legend.column = 0
    end
    local blanks = legend.column == 0 and legend.indent or 2
    put(c, (" "):rep(blanks))
    if glyph and colour and c.colour then
        put(c, colour, glyph, "\27[0m ")
    elseif glyph then
        put(c, glyph, " ")
    end
    put(c, name)
    legend.column = legend.column + blanks + width
end

-- Without Unicode the characters of partly busy cells.
local function put_partly(c, legend)
    local lighter = {}
    for _, look in ipairs(c.looks) do       -- a host function has one sign only
        if c.partly[look.name] and look.name ~= "host_func" then
            lighter[#lighter + 1] = signs[look.name][5]
        end
    end
    if #lighter == 0 then return end
    if not c.unicode then
        local between = c.columns >= 30 and " " or ""
        put_entry(c, legend, table.concat(lighter, between), nil, "partly busy")
    else
        put_entry(c, legend, nil, nil,
            c.columns < 30 and "lighter: partly busy" or "lighter, hollow: partly busy")
    end
end

-- Which part of the timeline is shown, if it is a part and there is room to say so.
local function put_part(c, legend, from_ns, to_ns)
    if from_ns == 0 and to_ns >= c.grid.whole_ns then return end
    local axis, range_ns = times.axis(from_ns, to_ns, 1, 0), to_ns - from_ns
    local from = axis:label(axis:round(from_ns, range_ns))
    local to = axis:label(axis:round(to_ns, range_ns))
    local text = ("showing %s to %s %s of %s"):format(from, to, axis.unit,
        core.duration(c.grid.whole_ns))
    if legend.indent + #text <= c.columns then put_entry(c, legend, nil, nil, text) end
end

local function put_legend(c, from_ns, to_ns)
    local legend = { indent = c.columns >= 60 and c.label_columns + 2 or 0, column = 0 }
    for _, look in ipairs(c.looks) do
        if c.kinds[look.name] then
            put_entry(c, legend, solid(c, look.name), signs[look.name][6], look.label)
        end
    end
    if c.kinds.idle then put_entry(c, legend, solid(c, "idle"), signs.idle[6], "idle") end
    if c.marked then put_entry(c, legend, c.unicode and "│" or "|", nil, "next begins") end
    put_partly(c, legend)
    put_part(c, legend, from_ns, to_ns)
    put(c, "\n")
end

-- The chart --------------------------------------------------------------------------------------

-- The widest of the names, at most `limit`.
local function widest(c, names, limit)
    local most = 0
    for _, name in ipairs(names) do
        if most >= limit then return limit end
        most = math.max(most, core.label_columns(name_in(c, name), not c.unicode))
    end
    return math.min(most, limit)
end

local function has_long_number(c, names, limit)
    for _, name in ipairs(names) do
        if name:find(numbered) and core.label_columns(name, not c.unicode) > limit then
            return true
        end
    end
    return false
end

local function choose_labels(c, beside)
    local is_of_rank = c.grid.names[1] and c.grid.names[1]:find("^rank %d+: ")
    local limit = math.min(c.columns // 4, is_of_rank and most_of_rank or most_label)
    local others = beside and beside.names or {}
    c.brief = has_long_number(c, c.grid.names, limit) or has_long_number(c, others, limit)
    c.label_columns = math.max(widest(c, c.grid.names, limit), widest(c, others, limit))
end

local function draw(c, from_ns, to_ns, beside)
    choose_labels(c, beside)
    c.n_cells = c.columns - c.label_columns - 3 - busy_columns
    local shown_ns = math.max(to_ns, from_ns + c.n_cells)       -- no cell is shorter than 1 ns
    c.range_ns = math.max(1, to_ns - from_ns, math.min(shown_ns, c.grid.whole_ns) - from_ns)
    to_ns = shown_ns
    local first_ns = c.grid.origin_ns
    local rows, left_out = c.grid.fill(first_ns + from_ns, first_ns + to_ns, c.n_cells, most_rows)
    for number, row in ipairs(rows) do put_row(c, number, row) end
    if left_out > 0 then
        put(c, ("... %d more stream%s\n"):format(left_out, left_out == 1 and "" or "s"))
    end
    put_axis(c, from_ns, to_ns)
    put_legend(c, from_ns, to_ns)
end

-- The chart of a timeline, a text, for the method `op`. Options: columns; unicode; colour; rows,
-- "streams" or "engines"; from_ns and to_ns, the range since the first span's start, to_ns 0: all;
-- beside, a timeline: the chart is as wide as that of this one, and its range is that of the longer
-- of both.
return function(timeline, op, options)
    local columns = options.columns
    if columns < least_columns or columns > most_columns then
        core.raise("SL_EINVAL", op, ("a chart can be %d to %d columns wide, not %d"):format(
            least_columns, most_columns, columns))
    end
    local c = { columns = columns, unicode = options.unicode, colour = options.colour,
                kinds = {}, partly = {}, looks = core.looks(),
                grid = core.grid(timeline, options.rows) }
    local _ <close> = c.grid.memory
    local beside = options.beside and core.grid(options.beside, options.rows)
    local _ <close> = beside and beside.memory
    local to_ns = times.check_range(op, c.grid.makespan_ns,
        math.max(c.grid.whole_ns, beside and beside.makespan_ns or 0), options.from_ns,
        options.to_ns)
    if c.grid.n_spans == 0 then return nothing end
    draw(c, options.from_ns, to_ns, beside)
    return table.concat(c)
end
