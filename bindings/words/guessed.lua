-- guessed.lua - that the durations of some kernels are a guess, and how they become known.

local _, core = ...

local guessed = {}

local function share(g)
    local percent = core.ratio(g.busy_ns, g.makespan_ns, 100)
    return percent < 1 and "less than 1 %" or percent .. " %"
end

-- `g` as in a trace's or figures' field `guessed`:
-- "The time of saxpy (12 launches, 34 % of the makespan) is a guess: ..."
function guessed.sentence(g)
    local subject = g.others and ("The times of %s and others"):format(g.name)
                    or ("The time of %s"):format(g.name)
    return ("%s (%d launch%s, %s of the makespan) %s: each tensor moved once; give cost = { us = } "
            .. "or { bytes =, flops = }, or measure it: streamlab calibrate --kernels "
            .. "script.lua"):format(
            subject, g.count, g.count == 1 and "" or "es", share(g),
            g.others and "are guesses" or "is a guess")
end

return guessed
