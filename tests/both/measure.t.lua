-- measure.t.lua - lab.measure with streams held, and lab.sweep: no exact times, only what is
-- beside what.

local T = require "tap"
local ideal = require "lua.ideal"
T.open()
local lab = require "streamlab"

local function beside_and_behind()
    local a, b = lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true }
    local function pair(second)
        return lab.measure(function()
            lab.spin(2, { stream = a })
            lab.spin(2, { stream = second })
        end, { hold = { a, b }, reps = 5 }).median_us
    end
    if T.launches_block then
        T.skip("launches block", 2)
    else
        T.ok(pair(b) > 1900 and pair(b) < 3000, "held kernels in two streams run beside each other")
        T.ok(pair(a) > 3900, "in one stream they do not")
    end
end

local function what_waits()
    local s = lab.stream{ non_blocking = true }
    ideal.refuses(T, function()
        lab.measure(function()
            lab.spin(1, { stream = s })
            s:synchronize()
        end, { hold = { s }, reps = 1 })
    end, "SL_EINVAL", "waits for the device", "what synchronises cannot be held")
    T.lives(lab.synchronize, "and leaves nothing broken")
end

local function swept()
    local r = lab.sweep({ { "ms", { 1, 2 } }, { "kind", { "spin" } } }, function(point)
        return function() lab.spin(point.ms) end
    end, { reps = 3 })
    T.is(#r.rows, 2, "a sweep has a row for each point")
    T.ok(r.rows[1].median_us >= 990 and r.rows[2].median_us >= 1990, "with what was measured")
    T.ok(r.rows[1].spread >= 0, "and its spread")
end

beside_and_behind()
what_waits()
swept()
T.done()
