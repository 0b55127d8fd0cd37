-- marks.lua - what lies in the rows of a picture of a timeline: bars, their labels, the host's
-- calls, and the arrows between them.

local _, core = ...
local px = core.need("pictures/pen").px
local tooltips = core.need("pictures/tooltips")

local marks = {}

-- Attributes of arrows: of an event for which nothing had to wait; to the host.
marks.no_wait = 'stroke-dasharray="3 2" opacity=".6"'
marks.host_wait = 'stroke-width=".7" stroke-dasharray="1 2"'

local tiny <const>, small <const> = 9, 11       -- font sizes in pixels
local inset <const> = 40                        -- of a bar: half the width of its edge
local light <const>, lightest <const> = 45, 25  -- how opaque bars with gaps are, in hundredths
marks.light = light

-- Bars ---------------------------------------------------------------------------------------

-- In pixels; lanes count from 1.
local function lane_top(row, lane) return row.y + (lane - 1) * row.lane_height end

function marks.bottom(row) return lane_top(row, row.n_lanes + 1) end

local function bar_height(row) return row.lane_height - (row.n_lanes > 1 and 1 or 0) end

-- Wide enough for an edge.
local function is_wide(bar) return bar.width >= 300 end

-- How opaque a bar of several operations is that is not busy all the time, in hundredths; nil: it
-- is drawn in full. All are so light that text on them is that of the page. Narrow ones would
-- vanish.
local function lightness(bar)
    local length = bar.end_ns - bar.start_ns
    if not is_wide(bar) or length <= 0 then return nil end
    local tenths = core.ratio(bar.busy_ns, length, 10)
    return tenths < 5 and lightest or tenths < 9 and light or nil
end

local function put_bar(c, row, bar, hatched)
    local edge = is_wide(bar) and inset or 0
    c.pen:put_rect(c.left * 100 + bar.x + edge, lane_top(row, bar.lane) * 100 + edge,
        bar.width - 2 * edge, bar_height(row) * 100 - 2 * edge)
    local opacity = not hatched and lightness(bar)
    if opacity then
        c.pen:put(' fill-opacity="', px(opacity), '"')
        c.gaps = true
    end
    c.pen:put("><title>", bar.does and tooltips.of_call(c, bar) or tooltips.of_bar(c, bar),
        "</title></rect>\n")
end

-- The bars that look so, in a group: their colour stands there once. Narrow ones of a device have
-- no edge, and are a group of their own.
local function put_bars(c, row, bars, look, edge)
    local hatched, any = look.name == "wait", false
    for _, bar in ipairs(bars) do
        if bar.look == look.name and (bar.does or is_wide(bar) == edge) then
            if not any then
                c.pen:put("<g")
                if hatched then c.pen:put_hatched(look) else c.pen:put_fill(look, edge) end
                c.pen:put(">\n")
            end
            any = true
            put_bar(c, row, bar, hatched)
        end
    end
    if not any then return end
    c.pen:finish()
    c.drawn[look.name] = true
end

-- The mouse sees the bar, and its tooltip, through the text. nil: on the page.
local function begin_labels(c, size, look)
    c.pen:put('<g font-size="', size, '" pointer-events="none"')
    if look then c.pen:put_ink(look) else c.pen:put_role("ink") end
    c.pen:put(">\n")
end

-- In the middle of the bar.
local function put_label(c, row, bar, size, text)
    c.pen:put_text(c.left * 100 + bar.x + bar.width // 2,
        lane_top(row, bar.lane) * 100 + bar_height(row) * 50 + size * 36, "middle", text)
end

-- The labels of the bars that look so; nil: of those whose text has the page's ink, as they are
-- light or hatched.
local function put_labels(c, row, bars, look)
    local height, any = row.lane_height, false
    local size = (row.thread or height >= 11 and height < 16) and tiny or height >= 16 and small
    if not size then return end
    for _, bar in ipairs(bars) do
        local own = bar.look ~= "wait" and not lightness(bar) and bar.look or nil
        local text = own == (look and look.name) and not bar.crowded
            and tooltips.label(c, bar, size)
        if text then
            if not any then begin_labels(c, size, look) end
            any = true
            put_label(c, row, bar, size, text)
        end
    end
    if any then c.pen:finish() end
end

function marks.put_row(c, number)
    local row, bars = c.rows[number], c.layout.bars(number)
    for _, edge in ipairs { true, false } do
        for _, look in ipairs(c.looks) do put_bars(c, row, bars, look, edge) end
    end
    for _, look in ipairs(c.looks) do put_labels(c, row, bars, look) end
    put_labels(c, row, bars, nil)
end

-- What waits is drawn last: no other call hides it.
function marks.put_host(c, number)
    local row, bars = c.hosts[number], c.layout.bars(number, true)
    for _, name in ipairs { "issue", "work", "wait" } do
        put_bars(c, row, bars, c.look_of[name], true)
    end
    for _, look in ipairs(c.host_looks) do
        if look.name ~= "wait" then put_labels(c, row, bars, look) end
    end
    put_labels(c, row, bars, nil)
end

-- Arrows -------------------------------------------------------------------------------------

-- From the top to the bottom of a lane, in hundredths of a pixel.
local function edges_of(c, place)
    local row = c.rows[place.row]
    local top = lane_top(row, place.lane)
    return top * 100, (top + bar_height(row)) * 100
end

-- It leaves and arrives vertically, and so does its head.
local function put_curve(c, from_x, from_y, to_x, to_y)
    local wide <const>, high <const> = 250, 450
    local back, bend = from_y < to_y and -high or high, (from_y + to_y) // 2
    from_x, to_x = px(c.left * 100 + from_x), px(c.left * 100 + to_x)
    c.pen:put((' d="M%s %sC%s %s %s %s %s %sm%s %sl%s %sl%s %s"'):format(from_x, px(from_y), from_x,
        px(bend), to_x, px(bend), to_x, px(to_y), px(-wide), px(back), px(wide), px(-back),
        px(wide), px(back)))
end

-- Between two rows: within one there is no room for it.
local function put_event(c, arrow)
    if not arrow.from or not arrow.to or arrow.from.row == arrow.to.row then return end
    local from_top, from_bottom = edges_of(c, arrow.from)
    local to_top, to_bottom = edges_of(c, arrow.to)
    local down, waited = to_top > from_top, arrow.held_ns > 0
    c.pen:put(waited and "<path" or "<path " .. marks.no_wait)
    put_curve(c, arrow.from_x, down and from_bottom or from_top, arrow.to_x,
        down and to_top or to_bottom)
    c.pen:put("><title>", tooltips.of_event(arrow), "</title></path>\n")
    c.waited, c.unheld = c.waited or waited, c.unheld or not waited
end

-- Up to the host's row, that of the thread that waited. Arrows of shorter waits explain little and
-- hide much.
local function put_wait(c, arrow)
    local row = c.hosts[arrow.host]
    if arrow.length < 1200 or not row or row.n_bars == 0 or not arrow.from then return end
    c.pen:put("<path")
    put_curve(c, arrow.from_x, edges_of(c, arrow.from), arrow.to_x, marks.bottom(row) * 100)
    c.pen:put("/>\n")
    c.host_waited = true
end

function marks.put_arrows(c)
    local begin <const> = '<g fill="none" stroke-linecap="round" stroke-linejoin="round" '
    if #c.waits > 0 then
        c.pen:put(begin, marks.host_wait)
        c.pen:put_role("frame")
        c.pen:put(">\n")
        for _, arrow in ipairs(c.waits) do put_wait(c, arrow) end
        c.pen:finish()
    end
    if #c.events > 0 then
        c.pen:put(begin, 'stroke-width="', #c.events > 60 and ".8" or "1.2", '"')
        c.pen:put_role("arrow")
        c.pen:put(">\n")
        for _, arrow in ipairs(c.events) do put_event(c, arrow) end
        c.pen:finish()
    end
end

return marks
