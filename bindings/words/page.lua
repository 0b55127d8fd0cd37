-- page.lua - the words of a page (core/pictures/pictures.h): of its verdict, its findings, and each
-- cause, in the order of core/timeline/causes.h.

local _, core = ...
local causes, say = core.words.causes, core.words.say

-- What causes.lua has of that name for each cause; false: nothing.
local function of_causes(what, trace)
    local list = {}
    for i, code in ipairs(core.cause_codes()) do
        local words = causes[code][what]
        if type(words) == "function" then words = words(trace) end
        list[i] = words or false
    end
    return list
end

-- What stands above the verdict, a line each: what is in doubt, what recording took, and of several
-- ranks which the others waited for.
local function above(e, timeline)
    local lines = core.words.doubts.sentences(e.trace)
    lines[#lines + 1] = core.words.recording(e.verdict, e.trace.makespan_ns)
    lines[#lines + 1] = core.of_ranks and core.of_ranks[timeline]
    return table.concat(lines, "\n")
end

-- page(explanation, n, timeline): {doubts = what stands above the verdict, verdict =,
-- sentences = of the first n findings, remedies =, titles =, shorts =}
return function(e, n, timeline)
    local sentences, remedies = {}, {}
    for i = 1, n do
        local r = e.finding(i)
        sentences[i], remedies[i] = say(r, "sentence"), say(r, "remedy") or false
    end
    local verdict, guessed = core.words.verdict(e), e.trace.guessed
    if guessed then verdict = verdict .. " " .. core.words.guessed.sentence(guessed) end
    return {
        doubts = above(e, timeline),
        verdict = verdict, sentences = sentences, remedies = remedies,
        titles = of_causes("title", e.trace), shorts = of_causes("short", e.trace),
    }
end
