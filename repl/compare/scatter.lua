-- scatter.lua - an SVG picture of predicted makespans against measured ones, both axes logarithmic,
-- with the diagonal and lines 10 % beside it; and below it their ratios (ratios.lua), as many
-- decades leave no room for what differs by less.

local figures = import "repl/compare/figures.lua"
local marks = import "repl/compare/marks.lua"
local ratios = import "repl/compare/ratios.lua"

local scatter = {}

local left <const>, top <const>, side <const> = 80, 48, 500
local ratios_top <const>, ratios_height <const> = top + side + 44, 160
local width <const>, height <const> = left + side + 60, ratios_top + ratios_height + 60

-- ---- axes ----------------------------------------------------------------------------------

-- The powers of ten between which all times lie.
local function decades(results)
    local least, most = math.huge, -math.huge
    for _, result in ipairs(results) do
        local r = result.record
        least = math.min(least, r.sim_us, r.gpu_us)
        most = math.max(most, r.sim_us, r.gpu_us)
    end
    local from, to = math.floor(math.log(least, 10)), math.ceil(math.log(most, 10))
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
local function add_times(out, axis, y, length)
    for decade = axis.from, axis.to do
        local x = x_of(axis, decade)
        out[#out + 1] = ('<path class="grid" d="M%.1f %d V%d"/>'):format(x, y, y + length)
        out[#out + 1] = ('<text x="%.1f" y="%d" text-anchor="middle">%s</text>'):format(x,
            y + length + 18, tick_name(decade))
    end
end

local function add_axes(out, axis)
    add_times(out, axis, top, side)
    for decade = axis.from, axis.to do
        local y = y_of(axis, decade)
        out[#out + 1] = ('<path class="grid" d="M%d %.1f H%d"/>'):format(left, y, left + side)
        out[#out + 1] = ('<text x="%d" y="%.1f" text-anchor="end">%s</text>'):format(left - 8,
            y + 4, tick_name(decade))
    end
    out[#out + 1] = ('<text transform="translate(18 %d) rotate(-90)" text-anchor="middle">'
        .. "predicted makespan</text>"):format(top + side // 2)
    add_times(out, axis, ratios_top, ratios_height)
    out[#out + 1] = ('<text x="%d" y="%d" text-anchor="middle">measured makespan</text>'):format(
        left + side // 2, ratios_top + ratios_height + 44)
end

-- Where predicted is `factor` times measured.
local function add_line(out, axis, factor, class)
    local shift = math.log(factor, 10)
    local from, to = axis.from + math.max(0, -shift), axis.to - math.max(0, shift)
    out[#out + 1] = ('<path class="%s" d="M%.1f %.1f L%.1f %.1f"/>'):format(class,
        x_of(axis, from), y_of(axis, from + shift), x_of(axis, to), y_of(axis, to + shift))
end

local function add_marks(out, axis, results)
    for _, result in ipairs(results) do
        local r = result.record
        out[#out + 1] = marks.of(result, x_of(axis, math.log(r.gpu_us, 10)),
            y_of(axis, math.log(r.sim_us, 10)))
    end
end

-- ---- words ---------------------------------------------------------------------------------

local function add_title(out, results)
    out[#out + 1] = ('<text class="title" x="%d" y="28" text-anchor="middle">Predicted and '
        .. 'measured makespans of %d script%s</text>'):format(left + side // 2, #results,
        #results == 1 and "" or "s")
end

-- What the legend says beside each sign.
local function legend_of(results)
    local rows = {}
    for _, kind in ipairs(figures.kinds) do
        local n = #figures.of_kind(results, kind)
        if n > 0 then
            rows[#rows + 1] = { sign = marks.sign(kind), text = ("%s (%d)"):format(kind, n) }
        end
    end
    for _, line in ipairs { { "same", "predicted as measured" }, { "tenth", "10 % off" },
        { "runs", "the GPU's own runs, below" } } do
        rows[#rows + 1] = { sign = ('<path class="%s" d="M-10 0 H10"/>'):format(line[1]),
                            text = line[2] }
    end
    return rows
end

local function add_legend(out, results)
    local rows <const>, step <const> = legend_of(results), 18
    out[#out + 1] = ('<rect class="legend" x="%d" y="%d" width="210" height="%d"/>'):format(
        left + 8, top + 8, step * #rows + 8)
    for i, row in ipairs(rows) do
        out[#out + 1] = ('<g transform="translate(%d %d)">%s<text x="18" y="4">%s</text></g>')
            :format(left + 26, top + 3 + step * i, row.sign, row.text)
    end
end

local style <const> = [[
<style>
text { font: 12px sans-serif; fill: #222 } .title { font-size: 15px; font-weight: bold }
.legend { fill: white; fill-opacity: 0.85; stroke: #ddd }
.grid { stroke: #ddd; fill: none } .same { stroke: #222; fill: none }
.tenth { stroke: #888; stroke-dasharray: 4 3; fill: none }
.runs { stroke: #f0a030; stroke-width: 3; fill: none }
</style>]]

-- Of a list of comparisons that is not empty.
function scatter.svg(results)
    local axis = decades(results)
    local out = { ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
        .. 'viewBox="0 0 %d %d">'):format(width, height, width, height), style,
        '<rect width="100%" height="100%" fill="white"/>' }
    add_title(out, results)
    add_axes(out, axis)
    add_line(out, axis, 1, "same")
    add_line(out, axis, 1.1, "tenth")
    add_line(out, axis, 1 / 1.1, "tenth")
    add_legend(out, results)
    add_marks(out, axis, results)
    ratios.add(out, results, { left = left, top = ratios_top, width = side,
        height = ratios_height }, function(us) return x_of(axis, math.log(us, 10)) end)
    out[#out + 1] = "</svg>\n"
    return table.concat(out, "\n")
end

return scatter
