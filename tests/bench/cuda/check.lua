-- check.lua - what the race checker adds to a call on a GPU. A section of bench.lua.
--
-- The calls are those of ../calls.lua, in 1, 8 and 64 streams. Batches with the checker off and
-- on alternate; the device is idle before each, and waiting for it is not in the time.

local turns <const>, calls_a_batch <const> = 41, 256
local stream_counts <const> = { 1, 8, 64 }
-- What waits for the device or holds the host itself says nothing about a call.
local left_out <const> = { ["host function waiting"] = true, ["synchronize behind each"] = true }

local function batch(b, round, rounds, mode)
    b.lab.check(mode)
    round()                 -- the first access to everything
    b.lab.synchronize()
    local began = b.raw.now_ns()
    for _ = 1, rounds do round() end
    local held = b.raw.now_ns() - began
    b.lab.synchronize()
    return held / 1000
end

-- us a call, off and on.
local function samples(b, pattern, n, kind)
    local streams = {}
    for i = 1, n do streams[i] = b.lab.stream { non_blocking = kind == "non-blocking" } end
    local round, a_round = pattern.make(b.lab, streams), pattern.calls(n)
    local rounds = math.max(1, calls_a_batch // a_round)
    local list = { off = {}, warn = {} }
    for i = 0, turns do
        for _, mode in ipairs(i % 2 == 0 and { "off", "warn" } or { "warn", "off" }) do
            local us = batch(b, round, rounds, mode) / (rounds * a_round)
            if #b.lab.races() > 0 then error(pattern.name .. " has a race", 0) end
            if i > 0 then table.insert(list[mode], us) end
        end
    end
    b.lab.check("off")
    for _, stream in ipairs(streams) do stream:close() end
    return list
end

return function(b)
    b.table:section("What the race checker costs", ([[
Time of a call from Lua with the checker off and on, in batches of at least %d calls on an idle
GPU, by turns; the wait after a batch is not in it. Median of %d batches (10 %% and 90 %% of them).
Blocking streams and, where the name says so, others.]])
        :format(calls_a_batch, turns), "not checked", "checked")
    for _, pattern in ipairs(dofile(b.folder .. "../calls.lua").list) do
        for _, n in ipairs(left_out[pattern.name] and {} or stream_counts) do
            for _, kind in ipairs { "blocking", "non-blocking" } do
                local list = samples(b, pattern, n, kind)
                collectgarbage()
                b.table:ratio(("%s, %d%s"):format(pattern.name, n,
                                                  kind == "blocking" and "" or ", non-blocking"),
                              b.report.summary(list.off, 0.1), b.report.summary(list.warn, 0.1),
                              "us", 2)
            end
        end
    end
end
