-- fit.lua - the host's part of a profile, scaled until programs take as long on the simulator as
-- they took on the GPU.
--
-- Between machines, and between minutes of one machine, all calls become slower or faster together,
-- and so do all uploads; the shapes of the tables stay. So each group of figures has one factor.
-- programs.lua has the programs; a group's factor is the one with which the simulated host takes
-- as long in them as the median round on the GPU. Copies that are staged do not take exactly as
-- long as their rate says, so it is found in steps.

local flat = import "scripts/measure/calibrate/flat.lua"
local lists = import "repl/run/lists.lua"
local measuring = import "repl/run/measuring.lua"
local programs = import "scripts/measure/calibrate/programs.lua"
local statistics = import "repl/run/statistics.lua"

local fit = {}

-- A rate's factor is below 1 where the host is slower, a time's above.
fit.groups = measuring.host_groups

local most_steps <const>, close_enough <const>, still_close <const> = 10, 0.003, 0.01
local least_factor <const>, most_factor <const> = 0.02, 50
local least_rounds <const> = 5
local least_spread <const>, most_spread <const> = 1e-3, 1e3     -- bindings/spreads.lua

-- ---- figures --------------------------------------------------------------------------------

-- A figure so many times as large; of a table the last number of each row.
function fit.times(value, by)
    if type(value) ~= "table" then
        return value * by
    end
    local rows = {}
    for i, row in ipairs(value) do
        rows[i] = { row[1], row[2] * by }
    end
    return rows
end

-- The keys of a profile's flat figures that a group scales, in order.
function fit.keys(group, figures)
    local keys = {}
    for key in pairs(figures) do
        if group.figure(key) then
            keys[#keys + 1] = key
        end
    end
    table.sort(keys)
    return keys
end

-- The groups that a profile with these flat figures has, or those of them whose ids are in the set
-- `chosen`. Without a table of uncached uploads everything is cached.
local function groups_of(figures, chosen)
    local list = {}
    for _, group in ipairs(fit.groups) do
        if fit.keys(group, figures)[1] and (not chosen or chosen[group.id]) then
            list[#list + 1] = group
        end
    end
    return list
end

-- The flat figures of a base that are scaled, with factors by group's id.
function fit.scaled(figures, factors)
    local result = {}
    for _, group in ipairs(groups_of(figures)) do
        for _, key in ipairs(factors[group.id] and fit.keys(group, figures) or {}) do
            result[key] = fit.times(figures[key], factors[group.id])
        end
    end
    return result
end

-- Rows of a profile's `spread` in the order of groups, {name =, keys =, low =, high =}, for factors
-- {low, median, high} by group's id.
function fit.spread_rows(figures, ranges)
    local rows = {}
    for _, group in ipairs(fit.groups) do
        local range, keys = ranges[group.id], fit.keys(group, figures)
        if range and keys[1] then
            rows[#rows + 1] = { name = group.name, keys = keys,
                                low = math.max(least_spread, range.low / range.median),
                                high = math.min(most_spread, range.high / range.median) }
        end
    end
    return rows
end

-- ---- measuring ------------------------------------------------------------------------------

-- What programs take on the current device, for fit.run: {rounds =, list = the programs, plain =
-- whether all products are plain ones, cold =}. A round is {all = by group, by_program = list};
-- there are as many as there is time for; on a simulated GPU, where all are equal, one. `cold`:
-- with uploads that no cache has. tell(text) is called with what is done.
function fit.measure(lab, cold, seconds, tell)
    local set = programs.new(lab, cold)
    local is_simulated, rounds = lab.device().backend == "sim", {}
    set:round()
    local start_us = lab.now_us()
    repeat
        local all, by_program = set:round()
        rounds[#rounds + 1] = { all = all, by_program = by_program }
        local enough = #rounds >= least_rounds and lab.now_us() - start_us >= seconds * 1e6
    until is_simulated or enough
    set:close()
    tell(("%d round%s"):format(#rounds, #rounds == 1 and "" or "s"))
    return { rounds = rounds, list = set.list, plain = not set.tf32, cold = cold }
end

-- Whether flat figures tell uploads that no cache has apart.
function fit.is_cold(figures)
    return figures.h2d_staging_cold_gb_per_s ~= nil
end

local function median_of(rounds, read)
    local list = {}
    for i, round in ipairs(rounds) do
        list[i] = read(round)
    end
    return statistics.median(list), list
end

-- ---- simulating -----------------------------------------------------------------------------

-- A simulated device of the base that runs the programs: simulate(factors) gives a round's times.
-- It is the current device until close(). `plain` as for programs.new.
local function simulator(lab, base, figures, cold, plain)
    local before = lab.device()
    local device = lab.open { backend = "sim", profile = base }
    local set = programs.new(lab, cold, plain)
    local function simulate(factors)
        measuring.set_figures(device, base, fit.scaled(figures, factors))
        return set:round()
    end
    simulate {}
    return simulate, function()
        set:close()
        before:make_current()
    end
end

-- How far the simulated times `us` are from those wanted, as ratios by group's id; and the most
-- that one of them is off.
local function ratios_of(groups, wanted, us)
    local ratios, worst = {}, 0
    for _, group in ipairs(groups) do
        local ratio = wanted[group.id] / us[group.id]
        ratios[group.id], worst = ratio, math.max(worst, math.abs(ratio - 1))
    end
    return ratios, worst
end

local function correct(factors, groups, ratios)
    for _, group in ipairs(groups) do
        local by = group.is_rate and 1 / ratios[group.id] or ratios[group.id]
        factors[group.id] = math.max(least_factor, math.min(most_factor, factors[group.id] * by))
    end
end

-- By group the factor with which the simulated programs take as long as `wanted`; the ratios that
-- are left; and times by program of the base and of the last step.
local function approach(simulate, groups, wanted)
    local factors, ratios, first, last = {}, nil, nil, nil
    for _, group in ipairs(groups) do
        factors[group.id] = 1
    end
    for step = 1, most_steps do
        local all, by_program = simulate(factors)
        local worst
        first, last = first or by_program, by_program
        ratios, worst = ratios_of(groups, wanted, all)
        if worst <= close_enough or step == most_steps then
            break
        end
        correct(factors, groups, ratios)
    end
    return factors, ratios, first, last
end

-- ---- the whole ------------------------------------------------------------------------------

-- A group's {low =, median =, high =}: the factor, and the 10th and 90th percentile of what it
-- would be in each round.
local function range_of(group, factor, times, median_us)
    local list = {}
    for i, us in ipairs(times) do
        list[i] = factor * (group.is_rate and median_us / us or us / median_us)
    end
    local low, high = statistics.tenths(list)
    return { low = math.min(factor, low), median = factor, high = math.max(factor, high) }
end

-- What to say of groups that no factor brings close: a copy cannot be faster than its engine.
local function complaints(groups, ratios)
    local texts = {}
    for _, group in ipairs(groups) do
        local ratio = ratios[group.id]
        if math.abs(ratio - 1) > still_close then
            texts[#texts + 1] = ("%s: no factor brings the simulator closer than to %.2f times the "
                .. "measured time"):format(group.name, 1 / ratio)
        end
    end
    return texts
end

-- By program and group how long it took, measured and simulated: texts.
local function details(groups, rounds, list, first, last)
    local lines = {}
    for i, program in ipairs(list) do
        for _, group in ipairs(groups) do
            local id = group.id
            if rounds[1].by_program[i][id] then
                local us = median_of(rounds, function(round) return round.by_program[i][id] end)
                lines[#lines + 1] = ("%s, %s: %.1f us; simulated %.1f us, once fitted %.1f us")
                    :format(program.name, group.name, us, first[i][id],
                            last[i][id])
            end
        end
    end
    return lines
end

-- Fits the figures of a base, a profile's table, to what fit.measure has found: of all groups, or
-- of those whose ids are in the set `chosen`. tell(text) is called with what is done.
-- Gives {rounds = how many, ranges = by group's id {low, median, high}: factors of the base's
-- figures, complaints = texts of groups that could not be fitted, details = texts by program}.
function fit.run(lab, base, measured, tell, chosen)
    local figures, rounds = flat.of(base), measured.rounds
    local groups, by_id = lists.select(groups_of(figures, chosen), function(group)
        return rounds[1].all[group.id] ~= nil
    end), {}
    for _, group in ipairs(groups) do
        by_id[group.id] = group
    end
    local wanted, times = {}, {}
    for id in pairs(by_id) do
        wanted[id], times[id] = median_of(rounds, function(round) return round.all[id] end)
    end
    tell("the same programs on the simulator")
    local simulate, close = simulator(lab, base, figures, measured.cold,
                                                 measured.plain)
    local factors, ratios, first, last = approach(simulate, groups, wanted)
    close()
    local ranges = {}
    for id, group in pairs(by_id) do
        ranges[id] = range_of(group, factors[id], times[id], wanted[id])
    end
    return { rounds = #rounds, ranges = ranges, complaints = complaints(groups, ratios),
             details = details(groups, rounds, measured.list, first, last) }
end

return fit
