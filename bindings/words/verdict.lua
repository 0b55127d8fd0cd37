-- verdict.lua - whether there is anything to gain, how much at most, and where, in a sentence.
-- The judgement is core/timeline/verdict.c's.

local _, core = ...
local say, duration = core.words.say, core.duration

-- "4.56 ms of 17.4 ms (1.36 x)"; from 10 times on without decimals
local function gain(v)
    local text = duration(v.gain_ns) .. " of " .. duration(v.makespan_ns)
    local left_ns = v.makespan_ns - v.gain_ns
    if left_ns <= 0 then return text end
    local percent = core.ratio(v.makespan_ns, left_ns, 100)
    if percent >= 1000 then return ("%s (%d x)"):format(text, (percent + 50) // 100) end
    return ("%s (%d.%02d x)"):format(text, percent // 100, percent % 100)
end

local function clause(e, i) return say(e.finding(i), "clause") end

-- What else is worth a word: another cause, or, where the first is not known, one that is.
local function also(e, v)
    if not v.also then return "" end
    if v.joint then return "; " .. clause(e, v.also) end
    local _, gain_ns = e.loss(v.also)
    return ("; of what is known at most %s: %s"):format(duration(gain_ns), clause(e, v.also))
end

-- verdict(explanation): a sentence
return function(e)
    local v = e.verdict
    if e.trace.n_spans == 0 then
        return "The timeline is empty: nothing ran on the device, so nothing waited."
    elseif v.good and v.gain_ns == 0 then
        return ("Nothing to gain: no wait made the makespan of %s longer.")
            :format(duration(v.makespan_ns))
    elseif v.good then
        local permille = core.ratio(v.gain_ns, v.makespan_ns, 1000)
        return ("Little to gain: ending the largest cause would save %s of %s, %d.%d %%.")
            :format(duration(v.gain_ns), duration(v.makespan_ns), permille // 10, permille % 10)
    end
    return ("To gain: at most %s%s: %s%s."):format(gain(v),
        v.joint and ", if several causes end together" or "", clause(e, 1), also(e, v))
end
