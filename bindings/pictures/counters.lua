-- counters.lua - counters below the rows of a timeline's picture: of each its title, its largest
-- value and how it changes, as an area.

local _, core = ...
local pen = core.need("pictures/pen")

local height <const>, gap <const> = 30, 8       -- pixels
local points <const> = 1000                     -- about 15 bytes each
local normal <const>, small <const> = 12, 11    -- fonts

local counters = {}

local sizes <const> = { "bytes", "KiB", "MiB", "GiB", "TiB" }

-- "852", "1.50 GiB", "24.9 GB/s"
function counters.value(counter, value)
    if counter.unit == "count" then return ("%d"):format(value) end
    if counter.unit == "bytes/s" then return ("%.1f GB/s"):format(value / 1e9) end
    local size, unit = value, 1
    while size >= 1024 and unit < #sizes do size, unit = size / 1024, unit + 1 end
    return (unit == 1 and "%d %s" or "%.2f %s"):format(unit == 1 and value or size, sizes[unit])
end

function counters.collect(c)
    local first_ns = c.layout.first_ns
    local list = c.layout.counters(first_ns + c.from_ns, first_ns + c.to_ns, points)
    for _, counter in ipairs(list) do
        counter.text = "max " .. counters.value(counter, counter.max)
    end
    return list
end

-- Of their titles, and of their values.
function counters.widest(list)
    local widest = 0
    for _, counter in ipairs(list) do
        widest = math.max(widest, core.xml_px(counter.title, normal),
            core.xml_px(counter.text, small))
    end
    return widest
end

-- Below c.y, which moves on.
function counters.place(c)
    for _, counter in ipairs(c.counters) do
        counter.y = c.y
        c.y = c.y + height + gap
    end
end

-- From the range's beginning to its end, in steps: `x_of` gives where a time is.
local function put_area(c, counter, x_of)
    local bottom, shown = (counter.y + height) * 100, 0
    local function level(value)
        return bottom - core.ratio(value, counter.max, (height - 2) * 100)
    end
    c.pen:put('<path d="M', pen.px(c.left * 100), " ", pen.px(bottom))
    for i, at_us in ipairs(counter.at_us) do
        local ns = math.floor(at_us * 1000 + 0.5)
        local x = x_of(c, math.max(ns, c.from_ns))
        if counter.values[i] ~= shown and ns <= c.to_ns then
            c.pen:put("H", pen.px(x), "V", pen.px(level(counter.values[i])))
            shown = counter.values[i]
        end
    end
    c.pen:put("H", pen.px(c.left * 100 + c.scale_width), "V", pen.px(bottom), 'z"/>\n')
end

local function put_tracks(c)
    c.pen:put("<g")
    c.pen:put_role("track")
    c.pen:put(">\n")
    for _, counter in ipairs(c.counters) do
        c.pen:put_rect(c.left * 100, counter.y * 100, c.scale_width, height * 100)
        c.pen:put("/>\n")
    end
    c.pen:finish()
end

local function put_texts(c, role, size, down, text)
    c.pen:begin_texts(role, size)
    for _, counter in ipairs(c.counters) do
        local shown = core.xml_fit(counter[text], c.label_room, size, true)
        if shown then
            c.pen:put_text((c.left - c.label_gap) * 100, (counter.y + down) * 100, "end", shown)
        end
    end
    c.pen:finish()
end

function counters.put(c, x_of)
    if #c.counters == 0 then return end
    put_tracks(c)
    c.pen:put('<g fill-opacity="0.55"')
    c.pen:put_role("dim")
    c.pen:put(">\n")
    for _, counter in ipairs(c.counters) do put_area(c, counter, x_of) end
    c.pen:finish()
    put_texts(c, "ink", normal, 13, "title")
    put_texts(c, "dim", small, 26, "text")
end

return counters
