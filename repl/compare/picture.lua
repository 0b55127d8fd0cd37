-- picture.lua - an SVG of predicted makespans against measured ones, both axes logarithmic, with
-- the diagonal and lines 10 % beside it; and below it predicted / measured of each script, as many
-- decades leave no room for what differs by less. Bars are the GPU's own runs, thin lines
-- predicted ranges. The colours are those of timelines and plots, dark for those who prefer that.

local figures = import "repl/compare/figures.lua"
local lists = import "repl/run/lists.lua"

local picture = {}

local left <const>, top <const>, side <const> = 80, 48, 500
local ratios_top <const>, ratios_height <const> = top + side + 44, 160
local width <const>, height <const> = left + side + 60, ratios_top + ratios_height + 60

local function put(out, form, ...)
    out[#out + 1] = form:format(...)
end

local function log10(x)
    return math.log(x, 10)
end

-- ---- marks -----------------------------------------------------------------------------------

local colours <const> = { experiments = "#0072b2", puzzler = "#d55e00", random = "#009e73",
                          others = "#8a939d" }

local shapes <const> = {
    experiments = '<circle cx="%.1f" cy="%.1f" r="4" fill="%s"%s',
    puzzler = '<path transform="translate(%.1f %.1f)" d="M0 -6 L5 4 H-5 Z" fill="%s"%s',
    random = '<path transform="translate(%.1f %.1f)" d="M0 -5 L5 0 L0 5 L-5 0 Z" fill="%s"%s',
    others = '<path transform="translate(%.1f %.1f)" d="M-4 -4 H4 V4 H-4 Z" fill="%s"%s',
}

local escapes <const> = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }

-- A script's mark, whose title is its name and ratio.
local function put_mark(out, result, x, y)
    local r, kind = result.record, result.entry.kind
    local name = result.entry.name:gsub("%c", "?"):gsub('[&<>"]', escapes)
    put(out, shapes[kind], x, y, colours[kind], (' fill-opacity="0.6"><title>%s: %.3f</title></%s>')
        :format(name, r.sim_us / r.gpu_us, shapes[kind]:match("^<(%a+)")))
end

-- ---- makespans -------------------------------------------------------------------------------

-- The powers of ten between which all times lie.
local function decades(results)
    local least, most = math.huge, -math.huge
    for _, result in ipairs(results) do
        local r = result.record
        least = math.min(least, r.sim_us, r.gpu_us)
        most = math.max(most, r.sim_us, r.gpu_us)
    end
    local from, to = math.floor(log10(least)), math.ceil(log10(most))
    return { from = from, to = math.max(to, from + 1) }
end

local function x_of(axis, log_us)
    return left + side * (log_us - axis.from) / (axis.to - axis.from)
end

local function y_of(axis, log_us)
    return top + side - side * (log_us - axis.from) / (axis.to - axis.from)
end

local function tick_name(decade)
    local units, unit = { "us", "ms", "s" }, 1
    while decade >= 3 and unit < #units do
        decade, unit = decade - 3, unit + 1
    end
    return ("%g %s"):format(10.0 ^ decade, units[unit])
end

-- Vertical lines from y to y + length, with the times below them.
local function put_times(out, axis, y, length)
    for decade = axis.from, axis.to do
        local x = x_of(axis, decade)
        put(out, '<path class="grid" d="M%.1f %d V%d"/>', x, y, y + length)
        put(out, '<text x="%.1f" y="%d" text-anchor="middle">%s</text>', x, y + length + 18,
            tick_name(decade))
    end
end

local function put_axes(out, axis)
    put_times(out, axis, top, side)
    for decade = axis.from, axis.to do
        local y = y_of(axis, decade)
        put(out, '<path class="grid" d="M%d %.1f H%d"/>', left, y, left + side)
        put(out, '<text x="%d" y="%.1f" text-anchor="end">%s</text>', left - 8, y + 4,
            tick_name(decade))
    end
    put(out, '<text transform="translate(18 %d) rotate(-90)" text-anchor="middle">'
        .. "predicted makespan</text>", top + side // 2)
    put_times(out, axis, ratios_top, ratios_height)
    put(out, '<text x="%d" y="%d" text-anchor="middle">measured makespan</text>',
        left + side // 2, ratios_top + ratios_height + 44)
end

-- Where predicted is `factor` times measured.
local function put_line(out, axis, factor, class)
    local shift = log10(factor)
    local from, to = axis.from + math.max(0, -shift), axis.to - math.max(0, shift)
    put(out, '<path class="%s" d="M%.1f %.1f L%.1f %.1f"/>', class, x_of(axis, from),
        y_of(axis, from + shift), x_of(axis, to), y_of(axis, to + shift))
end

local function put_diagonal(out, axis)
    put_line(out, axis, 1, "same")
    put_line(out, axis, 1.1, "tenth")
    put_line(out, axis, 1 / 1.1, "tenth")
end

-- ---- ratios ----------------------------------------------------------------------------------

-- Ratios with a line, the most useful ones first: there may be no room for all.
local ticks <const> = { 1, 0.5, 2, 0.8, 1.25, 0.1, 10, 0.25, 4, 0.9, 1.1 }
local closest_pixels <const> = 15
local least_factor <const> = 1.25           -- that the part shows

-- The factor above and below 1 that all ratios are within.
local function factor_of(results)
    local log_factor = math.log(least_factor)
    for _, result in ipairs(results) do
        local r = result.record
        for _, us in ipairs { r.sim_us, r.gpu_min_us, r.gpu_max_us, r.sim_low_us or r.sim_us,
            r.sim_high_us or r.sim_us } do
            log_factor = math.max(log_factor, math.abs(math.log(us / r.gpu_us)))
        end
    end
    return math.exp(log_factor * 1.05)
end

local function has_room(shown, y)
    return y >= ratios_top and y <= ratios_top + ratios_height
        and lists.all(shown, function(other) return math.abs(other - y) >= closest_pixels end)
end

local function put_ratio_axis(out, ratio_y)
    local shown = {}
    for _, ratio in ipairs(ticks) do
        local y = ratio_y(ratio)
        if has_room(shown, y) then
            shown[#shown + 1] = y
            put(out, '<path class="%s" d="M%d %.1f H%d"/>',
                ratio == 1 and "same" or "grid", left, y,
                left + side)
            put(out, '<text x="%d" y="%.1f" text-anchor="end">%g</text>', left - 8, y + 4, ratio)
        end
    end
    for _, ratio in ipairs { 1.1, 1 / 1.1 } do
        put(out, '<path class="tenth" d="M%d %.1f H%d"/>', left, ratio_y(ratio), left + side)
    end
    put(out, '<text transform="translate(18 %d) rotate(-90)" text-anchor="middle">'
        .. "predicted / measured</text>", ratios_top + ratios_height // 2)
end

local function put_ratios(out, axis, results)
    local factor = factor_of(results)
    local function ratio_y(ratio)
        return ratios_top + ratios_height / 2 * (1 - math.log(ratio, factor))
    end
    put_ratio_axis(out, ratio_y)
    for _, result in ipairs(results) do
        local r = result.record
        put(out, '<path class="runs" d="M%.1f %.1f V%.1f"/>', x_of(axis, log10(r.gpu_us)),
            ratio_y(r.gpu_min_us / r.gpu_us), ratio_y(r.gpu_max_us / r.gpu_us))
    end
    for _, result in ipairs(figures.with_range(results)) do
        local r = result.record
        put(out, '<path class="range" d="M%.1f %.1f V%.1f"/>', x_of(axis, log10(r.gpu_us)),
            ratio_y(r.sim_low_us / r.gpu_us), ratio_y(r.sim_high_us / r.gpu_us))
    end
    for _, result in ipairs(results) do
        local r = result.record
        put_mark(out, result, x_of(axis, log10(r.gpu_us)), ratio_y(r.sim_us / r.gpu_us))
    end
end

-- ---- legend ----------------------------------------------------------------------------------

-- Rows {sign, text}.
local function legend_of(results)
    local rows = {}
    for _, kind in ipairs(figures.kinds) do
        local n = #figures.of_kind(results, kind)
        if n > 0 then
            rows[#rows + 1] = { shapes[kind]:format(0, 0, colours[kind], "/>"),
                                ("%s (%d)"):format(kind, n) }
        end
    end
    for _, line in ipairs { { "same", "predicted as measured" }, { "tenth", "10 % off" },
        { "runs", "the GPU's own runs, below" },
        #figures.with_range(results) > 0 and { "range", "predicted ranges, below" } or nil } do
        rows[#rows + 1] = { ('<path class="%s" d="M-10 0 H10"/>'):format(line[1]), line[2] }
    end
    return rows
end

local function put_legend(out, results)
    local rows <const>, step <const> = legend_of(results), 18
    put(out, '<rect class="legend" x="%d" y="%d" width="210" height="%d"/>', left + 8, top + 8,
        step * #rows + 8)
    for i, row in ipairs(rows) do
        put(out, '<g transform="translate(%d %d)">%s<text x="18" y="4">%s</text></g>', left + 26,
            top + 3 + step * i, row[1], row[2])
    end
end

local style <const> = [[
<style>
text { font: 12px Helvetica, Arial, sans-serif; fill: #1d2329 } .title { font-size: 15px }
.page { fill: #ffffff } .legend { fill: #ffffff; fill-opacity: 0.85; stroke: #dde1e6 }
.grid { stroke: #dde1e6; fill: none } .same { stroke: #1d2329; fill: none }
.tenth { stroke: #8a939d; stroke-dasharray: 4 3; fill: none }
.runs { stroke: #e69f00; stroke-width: 3; fill: none } .range { stroke: #5c6670; fill: none }
@media (prefers-color-scheme: dark) {
text { fill: #e8eaed } .page { fill: #16191d } .legend { fill: #16191d; stroke: #2e343c }
.grid { stroke: #2e343c } .same { stroke: #e8eaed } .tenth { stroke: #6b7580 } .range { stroke: #9aa4af }
}
</style>]]

-- Of a list of results that is not empty.
function picture.svg(results)
    local axis = decades(results)
    local out = { ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
        .. 'viewBox="0 0 %d %d">'):format(width, height, width, height), style,
        '<rect class="page" width="100%" height="100%"/>' }
    put(out, '<text class="title" x="%d" y="28" text-anchor="middle">Predicted and '
        .. 'measured makespans of %d script%s</text>', left + side // 2, #results,
        #results == 1 and "" or "s")
    put_axes(out, axis)
    put_diagonal(out, axis)
    put_legend(out, results)
    for _, result in ipairs(results) do
        local r = result.record
        put_mark(out, result, x_of(axis, log10(r.gpu_us)), y_of(axis, log10(r.sim_us)))
    end
    put_ratios(out, axis, results)
    out[#out + 1] = "</svg>\n"
    return table.concat(out, "\n")
end

return picture
