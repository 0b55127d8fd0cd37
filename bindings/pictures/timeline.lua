-- timeline.lua - a timeline as an SVG picture for papers and slides.
--
--     title: device, makespan, lower bound
--     host     |:::  //sync//             |       its calls
--     compute  |[matmul][matmul]          |  65 %
--     copies   |        `->[D2H 4 MiB]    |  19 %
--              0        10        20 ms
--     legend
--
-- A row a stream or an engine; what overlaps within a row lies in lanes below each other. Labels
-- stand in the bars that have room for them, everything else is in the tooltips. The picture is
-- text: no script, no reference to anything outside, and the same bytes for the same timeline
-- everywhere.

local _, core = ...
local counters = core.need("pictures/counters")
local marks = core.need("pictures/marks")
local pen = core.need("pictures/pen")
local times = core.need("pictures/times")

local usual_width <const>, least_width <const>, most_width <const> = 960, 200, 20000
local most_rows <const>, most_bars <const> = 100, 3000          -- about 200 bytes each
local most_events <const>, most_waits <const> = 200, 24         -- arrows
local tick_slack <const> = 6            -- blanks between the labels of two ticks
local big <const>, normal <const>, small <const> = 15, 12, 11   -- fonts
-- In pixels.
local margin <const>, label_gap <const>, busy_column <const>, most_label <const> = 16, 10, 40, 190
local line <const>, host_lane <const>, least_lane <const> = 18, 15, 8
local row_gap <const>, arrow_gap <const> = 7, 12

local nothing <const> = "The timeline is empty: nothing ran on the device."

-- Where a time since the first span lies in the picture.
local function x_of(c, ns)
    local x = ns >= c.to_ns and c.scale_width
        or core.ratio(ns - c.from_ns, c.to_ns - c.from_ns, c.scale_width)
    return c.left * 100 + x
end

local function is_part(c) return c.from_ns > 0 or c.to_ns < c.layout.makespan_ns end

-- "80%", "<1%" of what is not nothing.
local function share(c, row, form, least)
    local percent = core.ratio(row.busy_ns, c.to_ns - c.from_ns, 100)
    return percent == 0 and row.busy_ns > 0 and least or form:format(percent)
end

-- Lines of things ----------------------------------------------------------------------------

-- Where something `width` pixels wide goes, beside the last one or in the next line, c.y.
local function flow_place(c, flow, width)
    if flow.x > flow.first and flow.x + width > c.width - margin then
        flow.x = flow.first
        c.y = c.y + line
    end
    local x = flow.x
    flow.x = x + width + 18
    return x
end

local function put_line(c, x, role, size, text)
    c.pen:begin_texts(role, size)
    c.pen:put_text(x * 100, c.y * 100, "start", text)
    c.pen:finish()
end

-- Title --------------------------------------------------------------------------------------

local function device_name(c)
    return (c.layout.device ~= "" and c.layout.device or "Timeline")
        .. (c.layout.simulated and " (simulated)" or "")
end

local function put_name(c)
    local room <const>, bytes <const> = c.width - 2 * margin, 168
    c.y = margin + big
    c.pen:put('<g font-weight="bold" font-size="', big, '"')
    c.pen:put_role("ink")
    c.pen:put(">\n")
    local text = core.xml_fit(c.title .. device_name(c), room, big + 1, true, bytes)
    if text then c.pen:put_text(margin * 100, c.y * 100, "start", text) end
    c.pen:finish()
end

local function put_figures(c)
    local flow, lower_ns = { x = margin, first = margin }, c.layout.lower_ns
    local function put_figure(name, value)
        local text = name .. " " .. value
        local x = flow_place(c, flow, core.xml_px(text, normal))
        c.pen:put_text(x * 100, c.y * 100, "start", text)
    end
    c.y = c.y + 20
    c.pen:begin_texts("dim", normal)
    put_figure("makespan", c.layout.makespan)
    put_figure("lower bound", core.duration(lower_ns))
    if lower_ns > 0 then
        local percent = core.ratio(c.layout.makespan_ns, lower_ns, 100)
        put_figure("makespan / bound", ("%d.%02d"):format(percent // 100, percent % 100))
    end
    if is_part(c) then
        put_figure("shown:", ("%s to %s %s"):format(times.exact(c.from_ns, c.axis.unit_ns),
            times.exact(c.to_ns, c.axis.unit_ns), c.axis.unit))
    end
    c.pen:finish()
end

-- Frame --------------------------------------------------------------------------------------

local engine_titles <const> = {
    compute = "compute", comm = "communication", h2d = "H2D copies", d2h = "D2H copies",
    p2p = "P2P copies", copy = "copies", host = "host functions",
}

-- Of an engine, "gpu1: h2d" where there are several GPUs, or of a stream.
local function row_name(c, name)
    return c.by == "engines" and name:gsub("[%w]+$", engine_titles) or name
end

local function host_name(row)
    return row.thread == 0 and "host" or row.name ~= "" and row.name or "thread " .. row.thread
end

-- Where the chart begins: names are left of it.
local function left_edge(c)
    local limit = math.min(c.width // 4, most_label)
    local widest = core.xml_px(c.layout.has_threads and "thread 10" or "host", normal)
    for _, name in ipairs(c.layout.names) do
        if widest >= limit then break end
        widest = math.max(widest, core.xml_px(row_name(c, name), normal))
    end
    for _, name in ipairs(c.layout.thread_names) do
        widest = math.max(widest, core.xml_px(name, normal))
    end
    widest = math.max(widest, counters.widest(c.counters))
    return margin + math.min(widest, limit) + label_gap
end

local function choose_edges(c, left)
    c.left, c.label_room, c.label_gap = left, left - margin - label_gap, label_gap
    c.right = c.width - margin - busy_column
    c.scale_width = (c.right - c.left) * 100
    c.axis = times.axis(c.from_ns, c.to_ns, (c.right - c.left) // 6, tick_slack)
end

-- Rows get lower as there are more of them, lanes as there are more in a row.
local function lane_height(n_lanes, full)
    local height = n_lanes == 1 and full or n_lanes == 2 and full * 2 // 3
        or n_lanes <= 8 and full // 2 or 0
    return math.max(height, least_lane)
end

local function place_rows(c)
    local n = #c.rows
    local full = n <= 8 and 26 or n <= 16 and 20 or n <= 32 and 16 or 12
    local gap = n > 32 and row_gap // 2 or #c.events > 0 and n <= 16 and arrow_gap or row_gap
    local function place(row, height)
        row.y, row.lane_height = c.y, height
        c.y = marks.bottom(row) + gap
    end
    c.top = c.y
    for _, row in ipairs(c.hosts) do place(row, host_lane) end
    for _, row in ipairs(c.rows) do place(row, lane_height(row.n_lanes, full)) end
    counters.place(c)
end

local function put_tracks(c)
    local function put_track(row)
        c.pen:put_rect(c.left * 100, row.y * 100, c.scale_width,
            (marks.bottom(row) - row.y) * 100)
        c.pen:put("/>\n")
    end
    c.pen:put("<g")
    c.pen:put_role("track")
    c.pen:put(">\n")
    for _, row in ipairs(c.hosts) do put_track(row) end
    for _, row in ipairs(c.rows) do put_track(row) end
    c.pen:finish()
end

-- A path of upright lines at the ticks, from the height `y`, `length` pixels long.
local function put_ticks(c, y, length)
    for tick in c.axis:each(c.from_ns, c.to_ns) do
        c.pen:put("M", pen.px(x_of(c, tick)), " ", y, "v", length)
    end
    c.pen:put('"/>\n')
end

local function put_grid(c)
    c.pen:put('<path stroke-width="1"')
    c.pen:put_role("grid")
    c.pen:put(' d="')
    put_ticks(c, c.top, c.y - c.top)
end

-- The last label has the unit.
local function put_axis(c)
    c.pen:put('<path fill="none" stroke-width="1"')
    c.pen:put_role("frame")
    c.pen:put(' d="M', c.left, " ", c.y, "H", c.right)
    put_ticks(c, c.y, 4)
    c.y = c.y + 16
    c.pen:begin_texts("dim", small)
    for tick in c.axis:each(c.from_ns, c.to_ns) do
        local last = c.to_ns - tick < c.axis.step_ns
        c.pen:put_text(x_of(c, tick), c.y * 100, "middle",
            c.axis:label(tick) .. (last and " " .. c.axis.unit or ""))
    end
    c.pen:finish()
    c.y = c.y + 4
end

-- Of a text in the middle of a row.
local function baseline(row) return (row.y + marks.bottom(row)) * 50 + 400 end

local function put_row_names(c)
    local x, room = (c.left - label_gap) * 100, c.left - margin - label_gap
    c.pen:begin_texts("ink", #c.rows <= 32 and normal or 10)
    for _, row in ipairs(c.rows) do
        local text = core.xml_fit(row_name(c, row.name), room, normal, true)
        if text then c.pen:put_text(x, baseline(row), "end", text) end
    end
    c.pen:finish()
    if #c.hosts == 0 then return end
    c.pen:begin_texts("dim", small)
    for _, row in ipairs(c.hosts) do c.pen:put_text(x, baseline(row), "end", host_name(row)) end
    c.pen:finish()
end

local function put_busy(c)
    local right = (c.width - margin) * 100
    c.pen:begin_texts("dim", small)
    c.pen:put_text(right, (c.top - 5) * 100, "end", "busy")
    for _, row in ipairs(c.rows) do
        c.pen:put_text(right, baseline(row), "end", share(c, row, "%d%%", "<1%"))
    end
    c.pen:finish()
end

-- Legend -------------------------------------------------------------------------------------

-- A small bar, which has the attributes that `paint` puts, and a text.
local function put_entry(c, flow, text, paint, look, ...)
    local x = flow_place(c, flow, 18 + core.xml_px(text, small))
    put_line(c, x + 18, "ink", small, text)
    c.pen:put_rect(x * 100 + 50, (c.y - 10) * 100 + 50, 1200, 1000)
    paint(c.pen, look, true)
    c.pen:put(...)
    c.pen:put("/>\n")
end

local function put_arrow_entry(c, flow, role, style, text)
    local x = flow_place(c, flow, 24 + core.xml_px(text, small))
    c.pen:put('<path fill="none" d="M', x, " ", c.y - 4, 'h18m-4.5 -2.5l4.5 2.5l-4.5 2.5" ', style)
    c.pen:put_role(role)
    c.pen:put("/>\n")
    put_line(c, x + 24, "ink", small, text)
end

local function put_looks(c, flow)
    local first
    for _, look in ipairs(c.looks) do
        if c.drawn[look.name] then
            put_entry(c, flow, look.label, pen.put_fill, look)
            first = first or look
        end
    end
    if c.gaps and first then
        put_entry(c, flow, "several, with gaps", pen.put_fill, first, ' fill-opacity="',
            pen.px(marks.light), '"')
    end
    for _, look in ipairs(c.host_looks) do
        if c.drawn[look.name] then
            put_entry(c, flow, look.label, look.name == "wait" and pen.put_hatched or pen.put_fill,
                look)
        end
    end
end

local function put_legend(c)
    local first = c.width < 480 and margin or c.left
    local flow, wide <const> = { x = first, first = first }, 'stroke-width="1.2"'
    c.y = c.y + line
    put_looks(c, flow)
    if c.waited then put_arrow_entry(c, flow, "arrow", wide, "waited for event") end
    if c.unheld then
        put_arrow_entry(c, flow, "arrow", wide .. " " .. marks.no_wait, "event, no wait")
    end
    if c.host_waited then put_arrow_entry(c, flow, "frame", marks.host_wait, "host waited") end
end

-- What would be too much for a picture.
local function put_left_out(c)
    local function put(text, ...)
        c.y = c.y + line
        put_line(c, c.left, "dim", small, text:format(...))
    end
    if c.left_out > 0 then
        put("not shown: %d more stream%s, none busier", c.left_out, c.left_out == 1 and "" or "s")
    end
    if c.events.left_out > 0 then
        put("arrows: the %d longest waits of %d", #c.events, #c.events + c.events.left_out)
    end
end

-- The picture --------------------------------------------------------------------------------

-- For readers who cannot see it, escaped.
local function describe(c)
    local shares = {}
    for i, row in ipairs(c.rows) do
        shares[i] = (i > 1 and ", " or "") .. core.xml(row_name(c, row.name), 240) .. " "
            .. share(c, row, "%d %%", "&lt;1 %")
    end
    for _, row in ipairs(c.hosts) do
        local host = row.thread == 0 and "the host" or ("thread %d of the host"):format(row.thread)
        if row.thread > 0 and row.name ~= "" then
            host = host .. (" (%s)"):format(core.xml(row.name, 240))
        end
        shares[#shares + 1] = ("; %s in its calls %s"):format(host,
            share(c, row, "%d %%", "&lt;1 %"))
    end
    return ("What ran when: a row for each %s, from left to right in time%s. Makespan %s, "
        .. "lower bound %s. Busy%s: %s."):format(c.by == "engines" and "engine" or "stream",
        #c.hosts > 0 and ", above them the host's calls" or "", c.layout.makespan,
        core.duration(c.layout.lower_ns), is_part(c) and " in the part that is shown" or "",
        table.concat(shares))
end

local function put_chart(c)
    c.y = c.y + 24
    place_rows(c)
    put_tracks(c)
    put_grid(c)
    put_row_names(c)
    put_busy(c)
    for number in ipairs(c.hosts) do marks.put_host(c, number) end
    for number in ipairs(c.rows) do marks.put_row(c, number) end
    marks.put_arrows(c)
    counters.put(c, x_of)
    put_axis(c)
    put_legend(c)
    put_left_out(c)
end

-- The rows, of the host's only if some of its calls are shown, and the arrows.
local function collect(c, arrows)
    local first_ns = c.layout.first_ns
    local shown = c.layout.fill(first_ns + c.from_ns, first_ns + c.to_ns, c.scale_width, most_rows,
        most_bars)
    local any = false
    for _, row in ipairs(shown.hosts) do any = any or row.n_bars > 0 end
    c.rows, c.hosts, c.left_out = shown.rows, any and shown.hosts or {}, shown.left_out
    c.events = arrows and c.layout.events(most_events) or { left_out = 0 }
    c.waits = arrows and c.layout.waits(most_waits) or {}
end

-- Everything below the head, whose height is known only then.
local function put_body(c, left, arrows)
    put_name(c)
    if c.layout.n_spans == 0 then
        c.y = c.y + 28
        put_line(c, margin, "dim", normal, nothing)
        c.description = nothing
        return
    end
    choose_edges(c, left)
    collect(c, arrows)
    put_figures(c)
    put_chart(c)
    c.description = describe(c)
end

local function head(c, height, description)
    local all, begin = {}, pen.new(c.pen.theme)
    table.move(c.looks, 1, #c.looks, 1, all)
    table.move(c.host_looks, 1, #c.host_looks, #all + 1, all)
    begin:put(pen.head(c.width, height,
        core.xml(device_name(c)) .. ": makespan " .. c.layout.makespan, description))
    begin:define(all)
    begin:put_rect(0, 0, c.width * 100, height * 100)
    begin:put_role("page")
    begin:put("/>\n")
    return table.concat(begin)
end

-- A picture of its own. title: what stands before the device's name.
local function open(timeline, title, options, width)
    local c = { width = width, by = options.rows, pen = pen.new(options.theme), drawn = {},
                look_of = {}, title = title, layout = core.picture(timeline, options.rows) }
    c.looks, c.host_looks = core.looks()
    for _, looks in ipairs { c.looks, c.host_looks } do
        for _, look in ipairs(looks) do c.look_of[look.name] = look end
    end
    return c
end

-- The pictures one below the other, with the same range of time in the same columns.
local function draw(pictures, options)
    local left, height, texts, descriptions = 0, 0, {}, {}
    for _, c in ipairs(pictures) do
        c.counters = options.counters and c.layout.n_spans > 0 and counters.collect(c) or {}
        left = math.max(left, left_edge(c))
    end
    for i, c in ipairs(pictures) do
        put_body(c, left, options.arrows)
        texts[i] = table.concat(c.pen)
        if height > 0 then
            texts[i] = ('<g transform="translate(0 %d)">\n%s</g>\n'):format(height, texts[i])
        end
        height = height + c.y + margin
        descriptions[i] = c.title .. c.description
    end
    return head(pictures[1], height, table.concat(descriptions, " "))
        .. table.concat(texts) .. "</svg>\n"
end

-- The files for a timeline that is saved at that path: {{path =, text =}}. Options: rows, "streams"
-- or "engines"; theme; from_ns and to_ns, the range since the first span's start, to_ns 0: all;
-- width_px, 0: 960; arrows, of events and waits, or not; counters below the rows, or not; beside, a
-- timeline of the same work before a change, which is drawn above it.
return function(timeline, path, options)
    local width = options.width_px == 0 and usual_width or options.width_px
    if width < least_width or width > most_width then
        core.raise("SL_EINVAL", "save", ("a picture can be %d to %d pixels wide, not %d"):format(
            least_width, most_width, width))
    end
    local beside = options.beside
    local before = beside and open(beside, "Before: ", options, width)
    local _ <close> = before and before.layout.memory
    local c = open(timeline, beside and "After: " or "", options, width)
    local _ <close> = c.layout.memory
    local to_ns = times.check_range("save", c.layout.makespan_ns,
        math.max(c.layout.makespan_ns, before and before.layout.makespan_ns or 0),
        options.from_ns, options.to_ns)
    local pictures = before and { before, c } or { c }
    for _, picture in ipairs(pictures) do
        picture.from_ns, picture.to_ns = options.from_ns, math.max(to_ns, options.from_ns + 1)
    end
    return { { path = path, text = draw(pictures, options) } }
end
