-- checked.lua [PATTERN [STREAMS [KIND [CALLS]]]] - what the race checker costs a call on the
-- simulator: a line for each of the patterns of calls.lua, in so many streams (all: 1, 8, 64),
-- blocking ones and others. A work-load for bench.lua, not a test.
--
-- Batches with the checker on and off alternate in one process; of each batch the processor's
-- time is taken, from the first call until the device is idle. Prints the pattern, streams,
-- kind, us a call off and on (medians), and the median of the pairs' ratios.
local calls = dofile((arg[0]:match("^.*/") or "./") .. "calls.lua")
local pairs_of_batches <const> = 9
local n_calls <const> = tonumber(arg[4]) or 20000

local function median(list)
    table.sort(list)
    return (list[(#list + 1) // 2] + list[#list // 2 + 1]) / 2
end

local function batch(round, rounds, mode)
    lab.check(mode)
    round()                 -- the first access to everything
    lab.synchronize()
    local began = os.clock()
    for _ = 1, rounds do round() end
    lab.synchronize()
    return os.clock() - began
end

local function measure(pattern, n_streams, kind)
    lab.open { backend = "sim", profile = "textbook" }
    local streams = {}
    for i = 1, n_streams do streams[i] = lab.stream { non_blocking = kind == "non-blocking" } end
    local round, a_round = pattern.make(lab, streams), pattern.calls(n_streams)
    local rounds = math.max(1, n_calls // a_round)
    local off, on, ratios = {}, {}, {}
    collectgarbage()
    collectgarbage("stop")
    batch(round, rounds, "warn")
    for i = 1, pairs_of_batches do
        if i % 2 == 0 then off[i] = batch(round, rounds, "off") end
        on[i] = batch(round, rounds, "warn")
        assert(#lab.races() == 0, pattern.name)
        if i % 2 == 1 then off[i] = batch(round, rounds, "off") end
        ratios[i] = on[i] / off[i]
    end
    collectgarbage("restart")
    lab.check("off")
    local us = 1e6 / (rounds * a_round)
    print(("%-28s %5d %-12s %7.3f %7.3f %6.2f"):format(pattern.name, n_streams, kind,
          median(off) * us, median(on) * us, median(ratios)))
    io.stdout:flush()
end

for _, pattern in ipairs(calls.list) do
    if not arg[1] or arg[1] == "all" or arg[1] == pattern.name then
        for _, n in ipairs(arg[2] and { tonumber(arg[2]) } or { 1, 8, 64 }) do
            for _, kind in ipairs(arg[3] and { arg[3] } or { "blocking", "non-blocking" }) do
                measure(pattern, n, kind)
            end
        end
    end
end
