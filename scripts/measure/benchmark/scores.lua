-- scores.lua - how good predictions of measured times are, as numbers. Plain Lua.
--
-- A guess: {measured, us, low_us, high_us}, of which `measured` is a measurement
-- (benchmark_files.lua) and the range may be missing.

local lists = import "repl/run/lists.lua"
local statistics = import "repl/run/statistics.lua"

local scores = {}

-- |predicted / measured - 1|
function scores.error_of(guess)
    return math.abs(guess.us / guess.measured.us - 1)
end

local function shares(values)
    return { number = #values, median = statistics.median(values),
             p90 = statistics.percentile(values, 0.9), worst = statistics.percentile(values, 1) }
end

-- {number, median, p90, worst, ratio}; the last is the median of predicted / measured. Of no
-- guesses it is nil, here and below.
function scores.errors(guesses)
    if #guesses == 0 then
        return nil
    end
    local result = shares(lists.map(guesses, scores.error_of))
    result.ratio = statistics.median(lists.map(guesses, function(guess)
        return guess.us / guess.measured.us
    end))
    return result
end

-- Of the guesses that state a range: {number, inside, width}: in how many of them the measured
-- median lies, and how wide they are in the median, as a share of the predicted time.
function scores.ranges(guesses)
    local ranged = lists.select(guesses, function(guess) return guess.low_us end)
    if #ranged == 0 then
        return nil
    end
    local inside = lists.select(ranged, function(guess)
        return guess.low_us <= guess.measured.us and guess.measured.us <= guess.high_us
    end)
    return { number = #ranged, inside = #inside,
             width = statistics.median(lists.map(ranged, function(guess)
                 return (guess.high_us - guess.low_us) / guess.us
             end)) }
end

-- How far the GPU's own runs spread, (longest - shortest) / median: {number, median, p90, worst}.
function scores.spreads(measurements)
    if #measurements == 0 then
        return nil
    end
    return shares(lists.map(measurements, function(m) return (m.max_us - m.min_us) / m.us end))
end

-- The GPU as its own predictor: for each measurement, each other one of the same program (on
-- another occasion) as a guess.
function scores.other_occasions(measurements, all)
    local by_seed, guesses = {}, {}
    for _, m in ipairs(all) do
        by_seed[m.seed] = by_seed[m.seed] or {}
        table.insert(by_seed[m.seed], m)
    end
    for _, measured in ipairs(measurements) do
        for _, m in ipairs(by_seed[measured.seed]) do
            if m ~= measured then
                guesses[#guesses + 1] = { measured = measured, us = m.us, low_us = m.min_us,
                                          high_us = m.max_us }
            end
        end
    end
    return guesses
end

return scores
