-- 57-bounds.t.lua - schedules that differ in nothing but how the host waits have the same bounds,
-- and no bound is above what ending the first cause gives.
local T = require "tap"

local ways = {
    { "a:synchronize()", function(a) a:synchronize() end },
    { "lab.default_stream():synchronize()", function() lab.default_stream():synchronize() end },
    { "lab.synchronize()", function() lab.synchronize() end },
    { "event:synchronize()", function(a) a:record_event():synchronize() end },
}

-- A kernel of 5 ms, a wait for it, and a copy of 4.9 ms in another stream, which does not need it:
-- 55 GB/s.
local function timeline(wait)
    lab.open{ backend = "sim", profile = "textbook" }
    local a, b = lab.stream(), lab.stream()
    local host = lab.empty(269500000 // 4, { device = "cpu", pinned = true })
    local device = lab.empty(269500000 // 4)
    lab.synchronize()
    return lab.profile(function()
        lab.spin(5, { stream = a })
        wait(a)
        device:copy_(host, { non_blocking = true, stream = b })
    end)
end

for _, way in ipairs(ways) do
    local bounds = timeline(way[2]):bounds()
    T.ok(math.abs(bounds.lower_us - 9900) < 5,
        ("%s: 5 ms and 4.9 ms follow each other: %.0f us"):format(
        way[1], bounds.lower_us))
    T.ok(math.abs(bounds.unblocked_us - 5000) < 5,
        ("%s: without the wait they need not: %.0f us"):format(
        way[1], bounds.unblocked_us))
end

-- A batch from pageable memory, and work on it: pinned, it takes a fraction.
local function batches(pinned)
    lab.open{ backend = "sim", profile = "textbook" }
    local host = lab.empty(1 << 22, { device = "cpu", pinned = pinned })
    local device, s = lab.empty(1 << 22), lab.stream()
    lab.synchronize()
    return lab.profile(function()
        for _ = 1, 4 do
            device:copy_(host, { non_blocking = true, stream = s })
            lab.spin(0.1, { stream = s })
        end
    end)
end

local before, after = batches(false), batches(true)
local lead = before:causes()[1]
T.is(lead.cause, "host_blocked", "copies from pageable memory hold the host")
for _, name in ipairs{ "lower_us", "unblocked_us" } do
    local bound = before:bounds()[name]
    T.ok(bound <= before.makespan_us - lead.gain_us,
        ("%s is not above what pinned memory gives: %.0f of %.0f")
        :format(name, bound, before.makespan_us - lead.gain_us))
    T.ok(bound <= after.makespan_us,
         ("nor above what the pinned program took: %.0f us"):format(after.makespan_us))
end

T.done()
