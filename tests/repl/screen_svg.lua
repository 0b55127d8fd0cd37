-- screen_svg.lua - a screen (screen.lua) as a picture, light or dark as its reader's system is.
--
--   local svg = require "screen_svg"
--   file:write(svg(screen, "what the picture is about"))

local column_px <const>, row_px <const>, margin_px <const> = 8.4, 18, 16

-- Of SGR parameters: the class, and the colours of a light and a dark page.
local looks <const> = {
    [""] = { "ink", "#1d2329", "#e8eaed" }, ["2"] = { "dim", "#5c6670", "#9aa4af" },
    ["31"] = { "red", "#b3261e", "#f2857d" }, ["32"] = { "green", "#277849", "#6abb99" },
    ["34"] = { "blue", "#0b57a4", "#7cb7f2" }, ["35"] = { "magenta", "#8a3a86", "#dc9ad6" },
    ["36"] = { "cyan", "#00707a", "#5cc6d0" }, ["94"] = { "sky", "#0072b2", "#3d9fdc" },
}

local function escaped(text)
    return (text:gsub("[&<>]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;" }))
end

local function at(n)
    return ("%.1f"):format(n):gsub("%.0$", "")
end

-- The classes' colours: what is said first is for readers who have no preference.
local function style()
    local light, dark = {}, {}
    for _, look in pairs(looks) do
        light[#light + 1] = (".%s{fill:%s}"):format(look[1], look[2])
        dark[#dark + 1] = (".%s{fill:%s}"):format(look[1], look[3])
    end
    table.sort(light)
    table.sort(dark)
    return ("<style>\n.page{fill:#ffffff}\n%s\n@media (prefers-color-scheme: dark) {\n"
        .. ".page{fill:#16191d}\n%s\n}\n</style>"):format(
        table.concat(light, "\n"), table.concat(dark, "\n"))
end

-- Cells from column `from` to `to`. Fonts differ in width, so the width is given.
local function word(cells, row, from, to, sgr)
    local look = looks[sgr:gsub("^1;", "")] or error("no colour for SGR " .. sgr)
    return ('<text x="%s" y="%s" textLength="%s" lengthAdjust="spacingAndGlyphs" '
        .. 'class="%s"%s>%s</text>'):format(
        at(margin_px + (from - 1) * column_px), at(margin_px + row * row_px - 5),
        at((to - from + 1) * column_px), look[1],
        sgr:find("^1;") and ' font-weight="bold"' or "", escaped(table.concat(cells, "", from, to)))
end

-- What looks alike is one text. Readers of pictures drop blanks at an end, and all but one within.
local function add_row(screen, row, words)
    local cells, from = {}, nil
    for x = 1, screen.columns do
        cells[x] = screen.lines[row].text[x] or " "
    end
    local function goes_on(x, sgr)
        return x <= screen.columns and cells[x] ~= " " and screen:colour(row, x) == sgr
    end
    for x = 1, screen.columns do
        local sgr = screen:colour(row, x)
        from = from or cells[x] ~= " " and x or nil
        if from and not goes_on(x + 1, sgr)
                and not (cells[x] ~= " " and cells[x + 1] == " " and goes_on(x + 2, sgr)) then
            words[#words + 1] = word(cells, row, from, x, sgr)
            from = nil
        end
    end
end

local function last_row(screen)
    local row = screen.rows
    while row > 1 and screen:row(row) == "" do
        row = row - 1
    end
    return row
end

return function(screen, title)
    local rows, words = last_row(screen), {}
    local width = at(screen.columns * column_px + 2 * margin_px)
    local height = at(rows * row_px + 2 * margin_px)
    local y, x = screen:cursor()
    for row = 1, rows do
        add_row(screen, row, words)
    end
    words[#words + 1] = ('<rect x="%s" y="%s" width="2" height="%d" class="ink"/>'):format(
        at(margin_px + (x - 1) * column_px), at(margin_px + (y - 1) * row_px), row_px)
    return table.concat({
        ('<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" '
            .. 'role="img">'):format(width, height, width, height),
        "<title>" .. escaped(title) .. "</title>",
        style(),
        '<rect width="' .. width .. '" height="' .. height .. '" class="page"/>',
        '<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14">',
        table.concat(words, "\n"),
        "</g>", "</svg>", "",
    }, "\n")
end
