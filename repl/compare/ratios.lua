-- ratios.lua - the lower part of the picture: predicted / measured of each script, and behind it
-- how far the GPU's own runs lie from their median.

local marks = import "repl/compare/marks.lua"

local ratios = {}

-- Lines that are of use, the first ones first where there is no room for all.
local ticks <const> = { 1, 0.5, 2, 0.8, 1.25, 0.1, 10, 0.25, 4, 0.9, 1.1 }
local closest_pixels <const> = 15
local least_factor <const> = 1.25           -- that the part shows

-- The factor above and below 1 that all ratios are within.
local function factor_of(results)
    local log_factor = math.log(least_factor)
    for _, result in ipairs(results) do
        local r = result.record
        for _, us in ipairs { r.sim_us, r.gpu_min_us, r.gpu_max_us } do
            log_factor = math.max(log_factor, math.abs(math.log(us / r.gpu_us)))
        end
    end
    return math.exp(log_factor * 1.05)
end

local function y_of(area, ratio)
    return area.top + area.height / 2 * (1 - math.log(ratio, area.factor))
end

local function has_room(area, shown, y)
    if y < area.top or y > area.top + area.height then
        return false
    end
    for _, other in ipairs(shown) do
        if math.abs(other - y) < closest_pixels then
            return false
        end
    end
    return true
end

local function add_axis(out, area)
    local shown = {}
    for _, ratio in ipairs(ticks) do
        local y = y_of(area, ratio)
        if has_room(area, shown, y) then
            shown[#shown + 1] = y
            out[#out + 1] = ('<path class="%s" d="M%d %.1f H%d"/>'):format(
                ratio == 1 and "same" or "grid", area.left, y, area.left + area.width)
            out[#out + 1] = ('<text x="%d" y="%.1f" text-anchor="end">%g</text>'):format(
                area.left - 8, y + 4, ratio)
        end
    end
    for _, ratio in ipairs { 1.1, 1 / 1.1 } do
        out[#out + 1] = ('<path class="tenth" d="M%d %.1f H%d"/>'):format(area.left,
            y_of(area, ratio), area.left + area.width)
    end
    out[#out + 1] = ('<text transform="translate(18 %d) rotate(-90)" text-anchor="middle">'
        .. "predicted / measured</text>"):format(area.top + area.height // 2)
end

-- `area`: {left, top, width, height}; x_of(us) is where in it a measured makespan is.
function ratios.add(out, results, area, x_of)
    area.factor = factor_of(results)
    add_axis(out, area)
    for _, result in ipairs(results) do
        local r = result.record
        out[#out + 1] = ('<path class="runs" d="M%.1f %.1f V%.1f"/>'):format(x_of(r.gpu_us),
            y_of(area, r.gpu_min_us / r.gpu_us), y_of(area, r.gpu_max_us / r.gpu_us))
    end
    for _, result in ipairs(results) do
        local r = result.record
        out[#out + 1] = marks.of(result, x_of(r.gpu_us), y_of(area, r.sim_us / r.gpu_us))
    end
end

return ratios
