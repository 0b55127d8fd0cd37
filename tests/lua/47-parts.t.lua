-- 47-parts.t.lua - tl:part by time, for scripts; wrong use of tl:part.
local tap = require "tap"
require "streamlab"
local made = require "lua.made"
local ms <const> = 1000000

local tl = made { { "kernel", 1, 2 * ms, 6 * ms }, { "memcpy_h2d", 2, 7 * ms, 9 * ms } }
local part = tl:part{ from_us = 1000, to_us = 6000 }
tap.is(part.makespan_us, 5000, "a part by time counts from the first operation")
tap.is(part:busy_us("kernel"), 3000, "what reaches beyond is cut")
tap.is(part:busy_us("memcpy_h2d"), 1000, "at both ends")
tap.is(tl:part{ from_us = 4000 }.span_count, 1, "without an end it goes to the last one")
tap.is(tl:part{ to_us = 4000 }.span_count, 1, "without a beginning from the first one on")
tap.is(part:part{ from_us = 4000 }:busy_us(), 1000, "a part of a part counts from that one's first")
for _, case in ipairs {
    { {}, "needs option 'step', option 'range', options 'skip' and 'count', or" },
    { { step = 1, from_us = 1 }, "needs option 'step'" },
    { { from_us = 2, to_us = 2 }, "the time is empty: from_us is 2, to_us is 2" },
    { { from_us = -1 }, "option 'from_us' must be from 0 to 9e15, got %-1" },
    { { to_us = 1e16 }, "option 'to_us' must be from 0 to 9e15, got 1e%+16" },
    { { from_us = "x" }, "from_us.*number" },
    { { from_us = 8000 }, "nothing runs from 8000%.000 us on; operations run from 0%.000" },
} do
    tap.throws_like(function() tl:part(case[1]) end, case[2], "refused: " .. case[2])
end
tap.done()
