-- plot.lua - a plot as SVG, which follows the reader's light or dark theme as pictures of timelines
-- do. Lines have Okabe's and Ito's colours, which the colour-blind can tell apart, and points have
-- shapes. Each line's name stands at its end; in several panels, or where there is no room, above.

local _, core = ...

local results = core.results
local pens = core.need("pictures/pen")

-- Colours ----------------------------------------------------------------------------------

local colours <const> = {
    { "#0072b2", "#3d9fdc" }, { "#d55e00", "#e8792a" }, { "#009e73", "#1fbf93" },
    { "#cc79a7", "#cc79a7" }, { "#e69f00", "#e69f00" }, { "#56b4e9", "#7cc8f2" },
    { "#1d2329", "#e8eaed" },
}

-- Around 0, 0.
local shapes <const> = {
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z", "M-3.5 -3.5H3.5V3.5H-3.5Z", "M0 -5L4.5 3.5H-4.5Z",
    "M0 -5L5 0L0 5L-5 0Z", "M0 5L4.5 -3.5H-4.5Z",
}

local function role(plot, name) return pens.role(plot.theme, name) end

-- Of line number n.
local function colour(plot, n)
    local i = (n - 1) % #colours + 1
    local shade = colours[i][plot.theme == "dark" and 2 or 1]
    return ('%s fill="%s" stroke="%s"'):format(pens.class(plot.theme, "line" .. i), shade, shade)
end

local function style()
    local lines = {}
    for i, shades in ipairs(colours) do
        lines[i] = (".sl-line%d{fill:%s;stroke:%s}"):format(i, shades[2], shades[2])
    end
    return pens.style(pens.common_roles, lines)
end

-- Texts ------------------------------------------------------------------------------------

local escapes <const> = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }

-- XML has no U+FFFE.
local function escape(text)
    return (text:gsub("\xef\xbf[\xbe\xbf]", "\xef\xbf\xbd"):gsub('[&<>"]', escapes))
end

local normal <const>, small <const>, big <const> = 12, 11, 15

-- In pixels, rather too many than too few: of Helvetica's ASCII, and of what is about as wide as a
-- column of a terminal.
local function width_of(text, size)
    local ems = 0
    for _, code in utf8.codes(text) do
        local character = utf8.char(code)
        ems = ems + (character:find("[MWmw@%%]") and 0.95 or character:find("%u") and 0.75
                     or 0.57 * math.max(1, core.character_columns(code)))
    end
    return ems * size
end

-- The text in as many pixels, cut at its end where it is longer.
local function clip(text, size, px)
    if width_of(text, size) <= px then return text end
    local n = utf8.len(text)
    while n > 1 and width_of(text, size) > px - size do
        n = n - 1
        text = text:sub(1, utf8.offset(text, n + 1) - 1)
    end
    return text .. "…"
end

-- A pen: what was drawn, and the plot.
local function put(pen, form, ...)
    pen[#pen + 1] = form:format(...)
end

local function px(value)
    return (("%.1f"):format(value):gsub("%.0$", ""))
end

-- anchor: "start", "middle" or "end".
local function put_text(pen, x, y, text, size, anchor, kind)
    put(pen, '<text x="%s" y="%s" font-size="%d"%s%s>%s</text>\n', px(x), px(y), size,
        anchor == "start" and "" or (' text-anchor="%s"'):format(anchor),
        role(pen.plot, kind or "dim"), escape(text))
end

local function put_marker(pen, number, x, y, tooltip)
    put(pen, '<path stroke="none" transform="translate(%s %s)" d="%s"%s\n', px(x), px(y),
        shapes[(number - 1) % #shapes + 1],
        tooltip and ("><title>%s</title></path>"):format(escape(tooltip)) or "/>")
end

-- Axes --------------------------------------------------------------------------------------

local inset <const> = 10        -- of the points from the edges

local function x_of(box, place) return box.x + inset + place * (box.width - 2 * inset) end

local function y_of(box, place)
    return box.y + box.height - inset - place * (box.height - 2 * inset)
end

-- Whether labels in a row do not touch.
local function fits_beside(box)
    return function(ticks)
        for i = 2, #ticks do
            local room = x_of(box, ticks[i].place) - x_of(box, ticks[i - 1].place)
            local words = width_of(ticks[i].text .. ticks[i - 1].text, small) / 2
            if room < words + 10 then return false end
        end
        return true
    end
end

local function fits_above(box)
    return function(ticks)
        for i = 2, #ticks do
            if y_of(box, ticks[i - 1].place) - y_of(box, ticks[i].place) < 32 then return false end
        end
        return true
    end
end

local function put_x_axis(pen, box)
    for _, tick in ipairs(pen.plot.x_axis:ticks(fits_beside(box))) do
        local x = x_of(box, tick.place)
        put(pen, '<path d="M%s %sv%s"%s/>\n', px(x), px(box.y), px(box.height),
            role(pen.plot, "grid"))
        local text = clip(tick.text, small, box.width / 2)
        local half = width_of(text, small) / 2
        put_text(pen, math.max(half, math.min(x, pen.plot.width_px - half - 2)),
                 box.y + box.height + 16, text, small, "middle")
    end
end

local function put_y_axis(pen, box, ticks, labelled)
    for _, tick in ipairs(ticks) do
        local y = y_of(box, tick.place)
        put(pen, '<path d="M%s %sh%s"%s/>\n', px(box.x), px(y), px(box.width),
            role(pen.plot, "grid"))
        if labelled then put_text(pen, box.x - 6, y + 4, tick.text, small, "end") end
    end
end

-- Curves ------------------------------------------------------------------------------------

-- "kib 64 KiB, us 9.1 (8.9 to 9.4)"
local function tooltip(plot, curve, point)
    local x = plot.places and results.cell_text(plot.x_axis.values[point.x + 1])
        or plot.x_axis:text(point.x)
    local text = ("%s\n%s %s: %s"):format(curve.title, results.cell_text(plot.x), x,
                                          plot.y_axis:text(point.y))
    if not point.low then return text end
    return ("%s (%s to %s)"):format(text, plot.y_axis:text(point.low), plot.y_axis:text(point.high))
end

local function put_curve(pen, box, curve)
    local plot, line, bars = pen.plot, {}, {}
    local function at(point, y)
        return x_of(box, plot.x_axis:place(point.x)), y_of(box, plot.y_axis:place(y))
    end
    for i, point in ipairs(curve.points) do
        local x, y = at(point, point.y)
        line[i] = (i == 1 and "M" or "L") .. px(x) .. " " .. px(y)
        if point.low then
            local _, low = at(point, point.low)
            local _, high = at(point, point.high)
            bars[#bars + 1] = ("M%s %sh6m-3 0V%sm-3 0h6"):format(px(x - 3), px(low), px(high))
        end
    end
    put(pen, "<g%s>\n", colour(plot, curve.number))
    put(pen, '<path fill="none" stroke-width="2" stroke-linejoin="round"%s d="%s"/>\n',
        curve.number > #colours and ' stroke-dasharray="6 3"' or "", table.concat(line))
    if #bars > 0 then
        put(pen, '<path fill="none" stroke-width="1.2" d="%s"/>\n', table.concat(bars))
    end
    for _, point in ipairs(curve.points) do
        local x, y = at(point, point.y)
        put_marker(pen, curve.number, x, y, tooltip(plot, curve, point))
    end
    put(pen, "</g>\n")
end

-- Names of the lines --------------------------------------------------------------------------

local line_px <const> = 16      -- of a name

-- Where the names at the right edge are: beside the ends of their lines, moved so that they do
-- not touch.
local function place_names(plot, box, curves)
    local names = {}
    for i, curve in ipairs(curves) do
        local last = curve.points[#curve.points]
        local y = y_of(box, plot.y_axis:place(last.y))
        names[i] = { curve = curve, x = x_of(box, plot.x_axis:place(last.x)), end_y = y, y = y }
    end
    table.sort(names, function(a, b)
        if a.y ~= b.y then return a.y < b.y end
        return a.curve.number < b.curve.number
    end)
    for i = 2, #names do names[i].y = math.max(names[i].y, names[i - 1].y + line_px) end
    local limit = box.y + box.height - 4
    for i = #names, 1, -1 do
        names[i].y = math.min(names[i].y, limit)
        limit = names[i].y - line_px
    end
    return names
end

local function put_names(pen, box, curves, room)
    for _, name in ipairs(place_names(pen.plot, box, curves)) do
        local x = box.x + box.width + 10
        if math.abs(name.y - name.end_y) > 2 or name.x < box.x + box.width - inset - 1 then
            put(pen, '<path fill="none" stroke-dasharray="1 3" d="M%s %sL%s %s"%s/>\n',
                px(name.x + 6), px(name.end_y), px(x - 6), px(name.y), role(pen.plot, "frame"))
        end
        put(pen, "<g%s>", colour(pen.plot, name.curve.number))
        put_marker(pen, name.curve.number, x, name.y)
        put(pen, "</g>\n")
        put_text(pen, x + 9, name.y + 4, clip(name.curve.title, normal, room - 26), normal,
                 "start", "ink")
    end
end

-- The names above the panels, from y on; gives where they end.
local function put_legend(pen, y)
    local plot, x = pen.plot, 16
    for _, kind in ipairs(plot.kinds) do
        local text = clip(kind.title, normal, plot.width_px - 48)
        local width = width_of(text, normal) + 30
        if x > 16 and x + width > plot.width_px - 8 then x, y = 16, y + line_px + 4 end
        put(pen, "<g%s>", colour(plot, kind.number))
        put_marker(pen, kind.number, x + 4, y + 8)
        put(pen, "</g>\n")
        put_text(pen, x + 13, y + 12, text, normal, "start", "ink")
        x = x + width
    end
    return y + line_px + 8
end

-- The whole ----------------------------------------------------------------------------------

local widest_names <const> = 0.35       -- of the picture
local least_panel_px <const> = 240

-- Columns and rows of panels.
local function arrange(plot)
    local most = math.max(1, plot.width_px // least_panel_px)
    local rows = (#plot.panels + most - 1) // most
    return (#plot.panels + rows - 1) // rows, rows
end

-- How high a panel is.
local function panel_px(plot)
    local most = #plot.panels == 1 and 340 or 240
    return math.floor(math.max(130, math.min(most, plot.width_px / (arrange(plot)) * 0.6)))
end

-- How wide the column of names at the right edge is; nil: the names stand above.
local function names_px(plot)
    if #plot.panels > 1 or #plot.kinds * line_px > panel_px(plot) then return nil end
    local widest = 0
    for _, kind in ipairs(plot.kinds) do
        widest = math.max(widest, width_of(kind.title, normal))
    end
    return widest + 28 <= plot.width_px * widest_names and widest + 28 or nil
end

local function put_panel(pen, panel, box, y_ticks, labelled)
    put(pen, '<rect x="%s" y="%s" width="%s" height="%s"%s/>\n', px(box.x), px(box.y),
        px(box.width), px(box.height), role(pen.plot, "track"))
    if panel.title then
        put_text(pen, box.x, box.y - 6, clip(panel.title, normal, box.width), normal, "start",
                 "ink")
    end
    put_x_axis(pen, box)
    put_y_axis(pen, box, y_ticks, labelled)
    put(pen, '<path d="M%s %sh%s"%s/>\n', px(box.x), px(box.y + box.height), px(box.width),
        role(pen.plot, "frame"))
    for _, curve in ipairs(panel.curves) do put_curve(pen, box, curve) end
end

-- The panels from y on; gives where they end.
local function put_panels(pen, y, right_px)
    local plot, columns = pen.plot, arrange(pen.plot)
    local gap, height = 28, panel_px(plot)
    local y_ticks = plot.y_axis:ticks(fits_above { y = 0, height = height })
    local left = 0
    for _, tick in ipairs(y_ticks) do left = math.max(left, width_of(tick.text, small)) end
    left = left + 22
    local width = (plot.width_px - left - (right_px or 16) - gap * (columns - 1)) / columns
    for i, panel in ipairs(plot.panels) do
        local column, row = (i - 1) % columns, (i - 1) // columns
        local box = { x = left + column * (width + gap), width = width, height = height,
                      y = y + (panel.title and 18 or 0) + row * (height + 46) }
        put_panel(pen, panel, box, y_ticks, column == 0)
        if right_px and #plot.kinds > 1 then put_names(pen, box, panel.curves, right_px) end
        pen.bottom = box.y + box.height
    end
    put_text(pen, left + (plot.width_px - left - (right_px or 16)) / 2, pen.bottom + 36,
             clip(results.cell_text(plot.x), normal, plot.width_px - left), normal, "middle")
    return pen.bottom + 50
end

-- In words, for those who cannot see it.
local function describe(plot)
    local parts = {}
    for _, panel in ipairs(plot.panels) do
        for _, curve in ipairs(panel.curves) do
            local first, last = curve.points[1], curve.points[#curve.points]
            parts[#parts + 1] = ("%s%s: %d point%s, from %s to %s."):format(
                panel.title and panel.title .. ", " or "", curve.title, #curve.points,
                #curve.points == 1 and "" or "s", plot.y_axis:text(first.y),
                plot.y_axis:text(last.y))
        end
    end
    return table.concat(parts, " ")
end

local function title_of(plot)
    if plot.title then return results.cell_text(plot.title) end
    return plot.kinds[1].title .. (#plot.kinds > 1 and " and others" or "")
end

local function head(plot, height)
    return pens.head(plot.width_px, height, escape(title_of(plot)), escape(describe(plot)))
        .. (plot.theme == "auto" and style() or "")
        .. ('<rect width="%d" height="%d"%s/>\n'):format(plot.width_px, height, role(plot, "page"))
end

local svg = {}

-- The whole file's text.
function svg.draw(plot)
    local pen, y = { plot = plot }, 10
    if plot.title then
        put_text(pen, 16, 26, clip(results.cell_text(plot.title), big, plot.width_px - 32), big,
                 "start", "ink")
        y = 38
    end
    local right = #plot.kinds == 1 and 16 or names_px(plot)
    if not right then y = put_legend(pen, y) end
    if #plot.y == 1 then
        put_text(pen, 16, y + 12, clip(results.cell_text(plot.y[1]), normal, plot.width_px - 32),
                 normal, "start")
        y = y + 20
    end
    local height = math.floor(put_panels(pen, y + 2, right))
    return head(plot, height) .. table.concat(pen) .. "</svg>\n"
end

return svg
