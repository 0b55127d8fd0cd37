-- cause_tables.lua - where time was lost, as tables for scripts: what tl:causes, tl:verdict and
-- tl:makespan_parts return.

local _, core = ...
local say, verdict, graphs = core.words.say, core.words.verdict, core.words.graphs

local function known(text) return text ~= "" and text or nil end

-- The table of a record; of a part of the makespan that is no wait, the cause is "running".
local function finding(r)
    return {
        cause = r.cause == "none" and "running" or r.cause, engine = known(r.engine),
        guess = r.guess or false, count = r.count,
        lost_us = r.lost_ns / 1000, gain_us = r.gain_ns and r.gain_ns / 1000,
        from_us = r.from_us, to_us = r.to_us, waiter = r.waiter_id, by = r.by_id,
        waiter_where = r.waiter and known(r.waiter.where), by_where = r.by and known(r.by.where),
    }
end

-- What all would take as a graph, where the sentence says so.
local says_graph <const> = { host_issuing = true, latency = true }

local function as_graph_us(r)
    local found = says_graph[r.cause] and graphs.instead(r)
    return found and found.makespan_ns / 1000 or nil
end

local least_pause_ns <const> = 100000000

local tables = {}

-- A list, the largest gain first.
function tables.causes(e, with_waits)
    local list, waits = {}, with_waits and e.waits()
    for i = 1, e.n_findings do
        local r = e.finding(i)
        local f = finding(r)
        f.idle, f.inferred = r.idle or false, e.inferred or false
        f.sentence, f.remedy = say(r, "sentence"), say(r, "remedy")
        f.as_graph_us = as_graph_us(r)
        f.waits = waits and waits[i] or nil
        list[i] = f
    end
    return list
end

-- A considerable part of another program's makespan in which nothing ran, most often its start;
-- else nil.
local function pause(e)
    local ns = e.verdict.pause_ns
    if e.trace.language == "lua" or ns < least_pause_ns or ns * 4 < e.trace.makespan_ns then
        return nil
    end
    return ("Nothing ran for %s at a stretch"):format(core.duration(ns))
end

-- Whether there is anything to gain.
function tables.verdict(e)
    local v = e.verdict
    local left_ns = v.makespan_ns - v.gain_ns
    return {
        sentence = verdict(e), good = v.good or false, joint = v.joint or false,
        gain_known = not v.unknown, gain_us = not v.unknown and v.gain_ns / 1000 or nil,
        most_us = v.most_ns / 1000, lost_us = v.unknown and v.lost_ns / 1000 or nil,
        ratio = not v.unknown and left_ns > 0 and v.makespan_ns / left_ns or nil,
        cause = (v.gain_ns > 0 or v.unknown) and v.cause or nil,
        pause = pause(e),
        recording = core.words.recording(v, e.trace.makespan_ns),
        recording_us = v.n_recorded and v.recording_ns / 1000 or nil,
        recorded_calls = v.n_recorded,
        recording_host_us = v.n_recorded and v.recording_host_ns / 1000 or nil,
    }
end

-- What the makespan consists of: the lost_us of all add up to it.
function tables.makespan_parts(e)
    local list = {}
    for i = 1, e.n_parts do
        local r = e.part(i)
        list[i] = finding(r)
        if r.engineless then list[i].engine = nil end
    end
    return list
end

return tables
