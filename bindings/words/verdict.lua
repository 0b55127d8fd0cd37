-- verdict.lua - whether there is anything to gain, how much, and where, in a sentence.
-- The judgement is core/timeline/verdict.c's.

local _, core = ...
local say, duration, percent = core.words.say, core.duration, core.words.units.percent

-- "4.56 ms of 17.4 ms (1.36 x)"; from 10 times on without decimals
local function gain(v)
    local text = duration(v.gain_ns) .. " of " .. duration(v.makespan_ns)
    local left_ns = v.makespan_ns - v.gain_ns
    if left_ns <= 0 then return text end
    local hundredths = core.ratio(v.makespan_ns, left_ns, 100)
    if hundredths >= 1000 then return ("%s (%d x)"):format(text, (hundredths + 50) // 100) end
    return ("%s (%d.%02d x)"):format(text, hundredths // 100, hundredths % 100)
end

local function clause(e, i) return say(e.finding(i), "clause") end

-- What else is worth a word: another cause, or, where the first is not known, one that is.
local function also(e, v)
    if not v.also then return "" end
    if v.joint then return "; " .. clause(e, v.also) end
    local _, gain_ns = e.loss(v.also)
    if v.cause ~= "unknown" then
        return ("; besides, %s to gain with fewer and larger operations: %s"):format(
            duration(gain_ns), clause(e, v.also))
    end
    return ("; of what is known at most %s: %s"):format(duration(gain_ns), clause(e, v.also))
end

-- What all causes gain together that a program can end, where that is much more.
local function most(v)
    if v.joint or v.most_ns - v.gain_ns < v.makespan_ns // 20 then return "" end
    return ("; with all other causes at most %s"):format(duration(v.most_ns))
end

-- A graph ends launch latency together with issuing, where that is much more.
local function as_graph(e, v)
    local found = v.cause == "host_issuing" and not v.joint
        and core.words.graphs.instead(e.finding(1))
    local gain_ns = found and v.makespan_ns - found.makespan_ns or 0
    if gain_ns - v.gain_ns < v.makespan_ns // 20 then return "" end
    return ("; a graph would gain about %s"):format(duration(gain_ns))
end

-- Latency is no cause that a program can end: it leads where nothing else gains anything.
local function to_gain(v)
    if v.joint then
        return ("To gain: at most %s, if several causes end together"):format(gain(v))
    end
    return (v.cause == "latency" and "To gain with fewer and larger operations: %s"
            or "To gain by this cause alone: %s"):format(gain(v))
end

-- Much was lost, and the replay does not say how much of it can be gained.
local function not_known(e, v)
    local lost = ("%s of %s (%s)"):format(duration(v.lost_ns), duration(v.makespan_ns),
                                          percent(v.lost_ns, v.makespan_ns))
    if not v.lead then return ("Gain not known: nothing ran for %s."):format(lost) end
    return ("Gain not known: %s were lost: %s."):format(lost, clause(e, v.lead))
end

-- Of kernels without grids, or of an unknown GPU.
local function room(e)
    return e.room_unknown and " Kernels beside others of their stream are not modelled: the trace "
                              .. "does not say how much room they leave." or ""
end

local ran <const> = {
    compute = "kernels ran", comm = "collectives ran", h2d = "H2D copies ran",
    d2h = "D2H copies ran",
    p2p = "P2P copies ran", copy = "copies ran", host = "host functions ran",
}

-- Why a large loss gains next to nothing: an engine had work all that time.
local function explained(v)
    if not v.busiest then return "" end
    return (": %s for %s of it"):format(ran[v.busiest], percent(v.busiest_ns, v.makespan_ns))
end

-- verdict(explanation): a sentence
return function(e)
    local v = e.verdict
    if e.trace.n_spans == 0 then
        return "The timeline is empty: nothing ran on the device, so nothing waited."
    elseif v.unknown then
        return not_known(e, v)
    elseif v.good and v.gain_ns == 0 then
        return ("Nothing to gain: no wait made the makespan of %s longer%s."):format(
            duration(v.makespan_ns), explained(v)) .. room(e)
    elseif v.good then
        return ("Little to gain: ending the largest cause would save %s of %s, %s%s."):format(
            duration(v.gain_ns), duration(v.makespan_ns), percent(v.gain_ns, v.makespan_ns),
            explained(v)) .. room(e)
    end
    return ("%s: %s%s%s%s."):format(to_gain(v), clause(e, 1), also(e, v), as_graph(e, v), most(v))
end
