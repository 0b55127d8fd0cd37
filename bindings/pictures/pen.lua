-- pen.lua - what SVG pictures are drawn with: shapes, texts and the colours of a theme, "auto",
-- "light" or "dark".
--
-- A theme's colours are presentation attributes, which every reader of SVG knows; with the
-- automatic theme these are the light ones, and a style sheet replaces them in the dark, for
-- viewers that know prefers-color-scheme. A class is there for the style sheet alone: the picture
-- may become a part of a page, whose classes are not ours. Coordinates of a pen are in hundredths
-- of a pixel.

local _, core = ...

local pen = {}
pen.__index = pen

-- Name, property, on a white page, on a black one.
local roles <const> = {
    { "page", "fill", "#ffffff", "#16191d" }, { "ink", "fill", "#1d2329", "#e8eaed" },
    { "dim", "fill", "#5c6670", "#9aa4af" }, { "track", "fill", "#f4f5f7", "#1e2227" },
    { "grid", "stroke", "#dde1e6", "#2e343c" }, { "frame", "stroke", "#8a939d", "#6b7580" },
    { "held", "fill", "#e9ebee", "#2f363e" }, { "hatch", "stroke", "#aab2bb", "#5d6873" },
    { "arrow", "stroke", "#1d2329", "#eceef0" },
}
local role_of <const> = {}
for _, role in ipairs(roles) do role_of[role[1]] = role end

pen.common_roles = 6    -- of plots; the others are of timelines
pen.all_roles = #roles

function pen.class(theme, name)
    return theme == "auto" and (' class="sl-%s"'):format(name) or ""
end

-- The attributes of a role: its class, and its colour as fill or stroke.
function pen.role(theme, name)
    local role = role_of[name]
    return ('%s %s="%s"'):format(pen.class(theme, name), role[2], role[theme == "dark" and 4 or 3])
end

-- The colours of a role.
function pen.colours(name) return role_of[name][3], role_of[name][4] end

-- The style sheet of the automatic theme: the first n roles, and more lines.
function pen.style(n, lines)
    local sheet = { "<style>\n@media (prefers-color-scheme: dark) {" }
    for i = 1, n do
        local role = roles[i]
        sheet[#sheet + 1] = (".sl-%s{%s:%s}"):format(role[1], role[2], role[4])
    end
    table.move(lines, 1, #lines, #sheet + 1, sheet)
    return table.concat(sheet, "\n") .. "\n}\n</style>\n"
end

-- How a picture begins; title and description are escaped.
function pen.head(width, height, title, description)
    return ('<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" '
        .. 'width="%d" height="%d" viewBox="0 0 %d %d" font-family="Helvetica, Arial, sans-serif" '
        .. 'role="img">\n<title>%s</title>\n<desc>%s</desc>\n'):format(width, height, width, height,
        title, description)
end

-- Pens ---------------------------------------------------------------------------------------

local edge <const> = 80         -- around bars

-- A pen is the list of what it has drawn.
function pen.new(theme) return setmetatable({ theme = theme }, pen) end

function pen:put(...)
    for i = 1, select("#", ...) do self[#self + 1] = (select(i, ...)) end
end

-- "12.5" of 1250.
function pen.px(value)
    local size, sign = math.abs(value), value < 0 and "-" or ""
    local whole, part = size // 100, size % 100
    if part == 0 then return sign .. whole end
    if part % 10 == 0 then return sign .. whole .. "." .. part // 10 end
    return ("%s%d.%02d"):format(sign, whole, part)
end
local px <const> = pen.px

function pen:put_role(name) self:put(pen.role(self.theme, name)) end

-- How a look is painted here: {fill =, edge =, ink =}.
local function paint_of(self, look) return look[self.theme == "dark" and "dark" or "light"] end

local function put_edge(self, look)
    self:put(' stroke="', paint_of(self, look).edge, '" stroke-width="', px(edge), '"')
end

-- The attributes of bars, with or without an edge.
function pen:put_fill(look, has_edge)
    local class = has_edge and look.name .. " sl-edge-" .. look.name or look.name
    self:put(pen.class(self.theme, class), ' fill="', paint_of(self, look).fill, '"')
    if has_edge then put_edge(self, look) end
end

-- Of a host that waits: neither busy nor free.
function pen:put_hatched(look)
    self:put(pen.class(self.theme, "edge-" .. look.name), ' fill="url(#streamlab-held)"')
    put_edge(self, look)
end

-- Of text on bars.
function pen:put_ink(look)
    self:put(pen.class(self.theme, "on-" .. look.name), ' fill="', paint_of(self, look).ink, '"')
end

local function look_style(look)
    return (".sl-%s{fill:%s} .sl-edge-%s{stroke:%s} .sl-on-%s{fill:%s}"):format(look.name,
        look.dark.fill, look.name, look.dark.edge, look.name, look.dark.ink)
end

-- The style sheet with these looks, and the pattern for what is hatched.
function pen:define(looks)
    local lines = {}
    for i, look in ipairs(looks) do lines[i] = look_style(look) end
    if self.theme == "auto" then self:put(pen.style(pen.all_roles, lines)) end
    self:put('<defs><pattern id="streamlab-held" width="5" height="5" '
        .. 'patternUnits="userSpaceOnUse"><rect width="5" height="5"', pen.role(self.theme, "held"),
        '/><path d="M-1 1L1 -1M0 5L5 0M4 6L6 4" stroke-width="1"', pen.role(self.theme, "hatch"),
        "/></pattern></defs>\n")
end

-- A group of texts of one size and role, and its end, or that of another group.
function pen:begin_texts(role, size)
    self:put('<g font-size="', size, '"', pen.role(self.theme, role), ">\n")
end
function pen:finish() self:put("</g>\n") end

-- <rect .../> without its end: attributes or children may follow.
function pen:put_rect(x, y, width, height)
    self:put('<rect x="', px(x), '" y="', px(y), '" width="', px(width), '" height="', px(height),
        '"')
end

-- A text, which is escaped here. anchor: "start", "middle" or "end".
function pen:put_text(x, y, anchor, text)
    local attribute = anchor == "start" and "" or ' text-anchor="' .. anchor .. '"'
    self:put('<text x="', px(x), '" y="', px(y), '"', attribute, ">", core.xml(text), "</text>\n")
end

return pen
