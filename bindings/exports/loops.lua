-- loops.lua - a list in which parts repeat, as loops.
--
-- A cell has a key, which says what it is, and figures that are added up where cells become one:
-- {key =, n = how many it stands for, gap =, work =}. What comes out has cells, and loops {times =,
-- body = list of the same}.

local loops = {}

local gram <const> = 6        -- cells that two parts begin with
local most_tries <const> = 48 -- distances that are tried at a place
local near <const> = 12       -- and these in any case
local deepest <const> = 6

-- Of each place: where the next one begins with the same cells, or nil.
local function next_places(cells)
    local n, last, next_of = #cells, {}, {}
    for i = n - gram + 1, 1, -1 do
        local keys = {}
        for k = 0, gram - 1 do keys[k + 1] = cells[i + k].key end
        local key = table.concat(keys, "\0")
        next_of[i], last[key] = last[key], i
    end
    return next_of
end

-- How often the `period` cells from `i` on come one after the other, up to `stop`.
local function repeats(cells, i, period, stop)
    local k = i + period
    while k <= stop and cells[k].key == cells[k - period].key do k = k + 1 end
    return (k - i) // period
end

-- The period that saves most cells, and how often it comes.
local function best_loop(cells, next_of, i, stop)
    local best, times, saved = nil, nil, 0
    local function try(period)
        local found = repeats(cells, i, period, stop)
        local gain = (found - 1) * period
        if found >= 2 and gain > saved then best, times, saved = period, found, gain end
    end
    for period = 1, math.min(near, (stop - i + 1) // 2) do try(period) end
    local at, tries = next_of[i], 0
    while at and at <= stop and tries < most_tries do
        if at - i > near then try(at - i) end
        at, tries = next_of[at], tries + 1
    end
    return best, times
end

local function merged(cells, i, period, times)
    local body = {}
    for k = 0, period - 1 do
        local sum = { n = 0, gap = 0, work = 0 }
        for round = 0, times - 1 do
            local cell = cells[i + k + round * period]
            sum.n, sum.gap = sum.n + cell.n, sum.gap + cell.gap
            sum.work, sum.key, sum.what = sum.work + cell.work, cell.key, sum.what or cell.what
        end
        body[k + 1] = sum
    end
    return body
end

function loops.fold(cells, depth)
    local list, i, n = {}, 1, #cells
    local next_of = next_places(cells)
    depth = depth or 1
    while i <= n do
        local period, times = nil, nil
        if depth <= deepest then period, times = best_loop(cells, next_of, i, n) end
        if period then
            local body = loops.fold(merged(cells, i, period, times), depth + 1)
            list[#list + 1] = { times = times, body = body }
            i = i + period * times
        else
            list[#list + 1] = cells[i]
            i = i + 1
        end
    end
    return list
end

return loops
