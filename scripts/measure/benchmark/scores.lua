-- scores.lua - how good predictions of measured times are, as numbers. Plain Lua.
--
-- A guess is a result (repl/compare/figures.lua): `measured` is a measurement
-- (benchmark_files.lua), and `record` has it as the GPU's side and what is predicted as the
-- simulator's, perhaps with a range.

local benchmark_files = import "scripts/measure/benchmark/benchmark_files.lua"
local figures = import "repl/compare/figures.lua"
local lists = import "repl/run/lists.lua"
local statistics = import "repl/run/statistics.lua"

local scores = {}

-- What is measured, and a prediction {us, low_us, high_us} of it.
function scores.guess(m, prediction)
    return { measured = m, record = {
        gpu_us = m.us, gpu_min_us = m.min_us, gpu_max_us = m.max_us, sim_us = prediction.us,
        sim_low_us = prediction.low_us, sim_high_us = prediction.high_us } }
end

-- {number, median, p90, worst, ratio}; the last is the median of predicted / measured. Of no
-- guesses it is nil, here and below.
function scores.errors(guesses)
    if #guesses == 0 then
        return nil
    end
    local result = figures.shares(guesses, figures.error_of)
    result.ratio = statistics.median(lists.map(guesses, function(guess)
        return guess.record.sim_us / guess.record.gpu_us
    end))
    return result
end

-- Of the guesses that state a range: {number, inside, width}: in how many of them the measured
-- median lies, and how wide they are in the median, as a share of the predicted time.
function scores.ranges(guesses)
    local ranged = figures.with_range(guesses)
    if #ranged == 0 then
        return nil
    end
    return { number = #ranged, inside = figures.count_in_range(ranged),
             width = figures.shares(ranged, figures.width_of).median }
end

-- How far the GPU's own runs spread, (longest - shortest) / median: {number, median, p90, worst}.
function scores.spreads(measurements)
    return #measurements > 0 and statistics.shares(lists.map(measurements, function(m)
        return (m.max_us - m.min_us) / m.us
    end)) or nil
end

-- The GPU as its own predictor: for each measurement, each other one of the same program (on
-- another occasion) as a guess.
function scores.other_occasions(measurements, all)
    local by_program, guesses = {}, {}
    for _, m in ipairs(all) do
        local program = benchmark_files.program(m)
        by_program[program] = by_program[program] or {}
        table.insert(by_program[program], m)
    end
    for _, measured in ipairs(measurements) do
        for _, m in ipairs(by_program[benchmark_files.program(measured)]) do
            if m ~= measured then
                guesses[#guesses + 1] = scores.guess(measured,
                    { us = m.us, low_us = m.min_us, high_us = m.max_us })
            end
        end
    end
    return guesses
end

return scores
