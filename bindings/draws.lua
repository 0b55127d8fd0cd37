-- draws.lua - runs with figures drawn from the spreads of a profile: lab.profile(f, {spread = n}),
-- and for the program whole scripts.
--
-- What is open keeps its figures, {figures, current}: `figures` as profiles.lua has them, `current`
-- those that it has now, flat.

local lab, core = ...

local spreads = core.need("spreads")
local refuse, as = core.refuse, core.as
local is_count, show_value = core.arguments.is_count, core.arguments.show_value

local draws = {}

local rest = { low = 1, high = 1 }      -- of the devices that were opened in the last draw
local drawing           -- the draw in which every device is opened: {k, n, rows}; nil: none

-- For devices that are opened ------------------------------------------------------------------

local function drawn(figures, k, n)
    local flat = spreads.draw(figures, k, n)
    flat["values.kept"] = { 1 }         -- the next run computes the same values
    return flat
end

-- By what a range is wider at its ends than the draws: {low, high}, from the rows for what no
-- figure varies.
local function rest_of(rows)
    local found = { low = 1, high = 1 }
    for _, row in ipairs(rows) do
        if row.is_rest then
            found.low, found.high = found.low * row.low, found.high * row.high
        end
    end
    return found
end

-- What a device keeps that is to be opened with these figures.
function draws.choose(figures)
    for _, row in ipairs(drawing and figures.rows or {}) do
        if not row.is_rest then drawing.rows[row.name] = row end
    end
    if drawing then rest = rest_of(figures.rows) end
    if not drawing then return { figures = figures, current = figures.flat } end
    return { figures = figures, current = drawn(figures, drawing.k, drawing.n) }
end

-- For the program: until the next call, devices are opened in draw k of n, as they are if k is 0,
-- and lab.profile runs its function once. Without arguments this ends.
function draws.begin(k, n)
    drawing = k and { k = k, n = n, rows = {} }
    core.is_drawing = drawing ~= nil
    if k then rest = { low = 1, high = 1 } end
end

-- The rows of spread, by name, of the devices that were opened in this draw.
function draws.rows() return drawing.rows end

draws.factor = spreads.factor

-- Ranges ---------------------------------------------------------------------------------------

-- The value that so great a share of further values is expected to lie below: value i of n sorted
-- ones for i / (n + 1), with straight lines between neighbours, and none beyond the ends.
local function quantile(sorted, share)
    local at = math.max(1, math.min(share * (#sorted + 1), #sorted))
    local below = math.floor(at)
    local above = math.min(below + 1, #sorted)
    return sorted[below] + (at - below) * (sorted[above] - sorted[below])
end

-- Between which values nine tenths of further ones are expected, one twentieth on either side; of
-- fewer than 19 values the lowest and the highest. Wider by what no figure varies: `own`
-- {low, high}, else that of the devices of the last draw.
function draws.range(values, own)
    local sorted, by = table.move(values, 1, #values, 1, {}), own or rest
    table.sort(sorted)
    return quantile(sorted, 0.05) * by.low, quantile(sorted, 0.95) * by.high
end

-- Causes ---------------------------------------------------------------------------------------

local most_causes <const> = 3
local least_share <const> = 0.002       -- of the makespan: what costs less is not compared

-- Of a complete timeline {makespan_us, lost}: the time that each cause costs, by its code.
function draws.sample(tl)
    local e, lost = core.explanation(tl), {}
    for i = 1, e.n_findings do
        local lost_ns, _, same_as = e.loss(i)
        local code = same_as == i and e.finding(i).cause
        if code then lost[code] = (lost[code] or 0) + lost_ns end
    end
    return { makespan_us = tl.makespan_us, lost = lost }
end

-- The main causes of a sample, the most expensive first.
local function main_causes(sample)
    local codes, lost = {}, sample.lost
    for code, lost_ns in next, lost do
        if lost_ns >= least_share * 1000 * sample.makespan_us then codes[#codes + 1] = code end
    end
    table.sort(codes, function(a, b)
        if lost[a] ~= lost[b] then return lost[a] > lost[b] end
        return a < b
    end)
    return table.move(codes, 1, most_causes, 1, {})
end

-- How often two of the main causes come in the other order than in `codes`: of the pair for which
-- that is most often so {n, earlier, later}; n is 0 if no order changes.
local function swaps(codes, samples)
    local most = { n = 0 }
    for i, earlier in ipairs(codes) do
        for j = i + 1, #codes do
            local later, n = codes[j], 0
            for _, sample in ipairs(samples) do
                if (sample.lost[later] or 0) > (sample.lost[earlier] or 0) then n = n + 1 end
            end
            if n > most.n then most = { n = n, earlier = earlier, later = later } end
        end
    end
    return most
end

-- The range of the makespans of samples, and how their causes differ from those of the first run:
-- {low_us, high_us, runs, swaps}. `own` as of draws.range.
function draws.range_of(first, samples, own)
    local makespans = {}
    for i, sample in ipairs(samples) do makespans[i] = sample.makespan_us end
    local low_us, high_us = draws.range(makespans, own)
    return { low_us = low_us, high_us = high_us, runs = #samples,
             swaps = swaps(main_causes(first), samples) }
end

function draws.set_range(tl, range)
    core.set_range(tl, range.low_us, range.high_us, range.runs, range.swaps.n, range.swaps.earlier,
                   range.swaps.later)
end

-- lab.profile ------------------------------------------------------------------------------------

local function set_figures(device, flat)
    core.set_figures(device, core.need("profiles").settings(flat))
end

-- Gives the device, when it is closed, the figures that it had.
local function restorer(device, known)
    return setmetatable({}, { __close = function() set_figures(device, known.current) end })
end

-- What core.profile gives of a run; of several with the same `files` only the first one changes
-- files.
local function run_with(files, is_first, op, f, ...)
    if files then core.divert(files, not is_first) end
    local _ <close> = files and setmetatable({}, { __close = function() core.divert() end })
    return table.pack(core.profile(op, f, ...))
end

-- Samples of n more runs of f on the device.
local function run_draws(files, op, device, n, f, ...)
    local known, samples = core.figures_of(device), {}
    local _ <close> = known and restorer(device, known)
    for k = 1, n do
        if known then set_figures(device, drawn(known.figures, k, n)) end
        device:make_current()
        samples[k] = draws.sample(run_with(files, false, op, f, ...)[1])
    end
    return samples
end

-- The timeline of f as it is, with the range of n draws (on a real GPU, of n more runs); then what
-- f returned. In a draw of the program's f runs once.
function draws.profile(op, n, f, ...)
    if not is_count(n) or n < 2 or n > 1000 then
        refuse(op, "option 'spread' must be a whole number from 2 to 1000, got %s", show_value(n))
    end
    local device = as(op, lab.device)
    local files = not core.is_diverting() and core.diversion() or nil
    local results = run_with(files, true, op, f, ...)
    local first = draws.sample(results[1])
    local samples = drawing and { first } or run_draws(files, op, device, n, f, ...)
    local known = not drawing and core.figures_of(device)
    draws.set_range(results[1], draws.range_of(first, samples, rest_of(known and known.figures.rows
                                                                       or {})))
    return table.unpack(results, 1, results.n)
end

return draws
