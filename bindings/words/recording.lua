-- recording.lua - what recording a program took of its time, in a sentence.
-- The estimate is core/timeline/recording_cost.c's.

local _, core = ...
local duration = core.duration

local function host(v)
    local each = v.n_recorded > 1 and (", %s each"):format(
        duration(v.recording_host_ns // v.n_recorded)) or ""
    return ("Recording took the host about %s in %d call%s%s"):format(duration(v.recording_host_ns),
        v.n_recorded, v.n_recorded == 1 and "" or "s", each)
end

-- recording(verdict, makespan_ns): nil where nothing is known of it. What does not show in a
-- makespan of three digits is none of it.
return function(v, makespan_ns)
    if not v.n_recorded then return nil end
    if v.recording_ns * 200 < makespan_ns then
        return host(v) .. ", and does not make the makespan longer."
    end
    return ("%s: without it the makespan would be about %s in place of %s."):format(host(v),
        duration(makespan_ns - v.recording_ns), duration(makespan_ns))
end
