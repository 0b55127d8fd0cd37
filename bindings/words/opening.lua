-- opening.lua - what comes first of an explanation: what recording took, and the verdict.

local _, core = ...

-- opening(explanation): sentences
return function(e)
    local recording = core.words.recording(e.verdict, e.trace.makespan_ns)
    return (recording and recording .. " " or "") .. core.words.verdict(e)
end
