-- counters.lua - counters below the rows of a timeline's picture: of each its title, its largest
-- value and how it changes, as an area.

local _, core = ...
local pen, units = core.need("pictures/pen"), core.words.units

local height <const>, gap <const> = 30, 8       -- pixels
local points <const> = 1000                     -- about 15 bytes each
local normal <const>, small <const> = 12, 11    -- fonts

local counters = {}

-- "852", "1.5 GiB", "24.9 GB/s"
local function value_text(counter, value)
    if counter.unit == "count" then return ("%d"):format(value) end
    return counter.unit == "bytes/s" and units.rate(value, 1000000000) or units.bytes(value)
end

-- "gpu1: H2D copies", and shorter: "gpu1: H2D", "1: H2D".
local function titles_of(counter)
    local short = counter.name:gsub("^memcpy_", "")
    if short ~= counter.name then short = short:upper() end
    return { counter.prefix .. counter.title, counter.prefix .. short,
        counter.prefix:gsub("^gpu", "") .. short }
end

function counters.collect(c)
    local first_ns = c.layout.first_ns
    local list = c.layout.counters(first_ns + c.from_ns, first_ns + c.to_ns, points)
    for _, counter in ipairs(list) do
        local value = value_text(counter, counter.max)
        counter.titles, counter.texts = titles_of(counter), { "max " .. value, value }
    end
    return list
end

-- Of their titles, and of their values.
function counters.widest(list)
    local widest = 0
    for _, counter in ipairs(list) do
        widest = math.max(widest, core.xml_px(counter.titles[1], normal),
            core.xml_px(counter.texts[1], small))
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

-- {x =, value =}, where the area changes: of each pixel the largest value, so that what is short is
-- seen; `x_of` gives where a time is.
local function outline(c, counter, x_of)
    local list, i, last, shown = {}, 1, 0, 0
    local function column_of(at_us)
        return x_of(c, math.max(math.floor(at_us * 1000 + 0.5), c.from_ns)) // 100
    end
    for x = c.left, c.left + c.scale_width // 100 - 1 do
        local most = last
        while i <= #counter.at_us and column_of(counter.at_us[i]) <= x do
            last, i = counter.values[i], i + 1
            most = math.max(most, last)
        end
        if most ~= shown then list[#list + 1] = { x = x, value = most } end
        shown = most
    end
    return list
end

local function put_area(c, counter, x_of)
    local bottom = (counter.y + height) * 100
    c.pen:put('<path d="M', pen.px(c.left * 100), " ", pen.px(bottom))
    for _, step in ipairs(outline(c, counter, x_of)) do
        local level = core.ratio(step.value, counter.max, (height - 2) * 100)
        c.pen:put("H", pen.px(step.x * 100), "V", pen.px(bottom - level))
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

-- The first text that has room, or what fits of the last one.
local function fitting(texts, room, size)
    for _, text in ipairs(texts) do
        if core.xml_px(text, size) <= room then return text end
    end
    return core.xml_fit(texts[#texts], room, size, true)
end

local function put_texts(c, role, size, down, texts)
    c.pen:begin_texts(role, size)
    for _, counter in ipairs(c.counters) do
        local shown = fitting(counter[texts], c.label_room, size)
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
    put_texts(c, "ink", normal, 13, "titles")
    put_texts(c, "dim", small, 26, "texts")
end

return counters
