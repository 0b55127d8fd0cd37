-- What do two events measure, and what do events cost?
--
-- It is often said: "two events around a kernel give the kernel's time". CUDA's manual says that
-- events without timing "will provide the best performance". Expected: events say when the stream
-- reached them, so they count what the kernel waited for; a timed record costs the host more, and
-- the GPU some time between two kernels, where an untimed one costs nothing.

local lab = require "streamlab"
local s, other = lab.stream{ name = "s" }, lab.stream{ name = "other" }
local full = { blocks = 2 * lab.device().sm_count, threads = 1024 }

local function elapsed_ms(kernel_ms, beside_ms)
    lab.synchronize()
    if beside_ms then lab.with(other, lab.spin, beside_ms, full) end
    local from = s:record_event()
    lab.with(s, lab.spin, kernel_ms, full)
    local to = s:record_event()
    to:synchronize()
    return from:elapsed_time(to)
end
elapsed_ms(1)                                   -- the first launch is different
local alone, beside = elapsed_ms(1), elapsed_ms(1, 3)
local function in_a_row(event)                  -- 200 kernels of 20 us, a record behind each
    for _ = 1, 200 do
        lab.spin(0.02, { stream = s })
        if event then event:record(s) end
    end
end
local rows = {}
for i, timing in ipairs{ "none", "untimed", "timed" } do
    local event = timing ~= "none" and lab.event{ timing = timing == "timed" } or nil
    local from_us = lab.now_us()
    for _ = 1, event and 500 or 0 do event:record(s) end
    local host_us = (lab.now_us() - from_us) / 500
    local tl = lab.profile(in_a_row, event)
    local between_us = (tl.makespan_us - tl:busy_us()) / 199
    rows[i] = { event = timing, host_us = event and host_us, between_us = between_us }
end
lab.table(rows, { columns = { "event", "host_us", "between_us" },
                  title = "A record: for the host, and between two kernels on the GPU" }):show()

local none, untimed, timed = table.unpack(rows)
print(string.format("Verdict: %s: two events give the kernel's time: around one of 1 ms %.3f ms, "
    .. "behind another kernel %.3f ms", beside < 1.5 * alone and "holds" or "depends", alone,
    beside))
print(string.format("Verdict: %s: untimed events are the best: a record takes the host %.2f us and "
    .. "the GPU %.2f, a timed one %.2f and %.2f", untimed.host_us < timed.host_us and "holds"
    or "no longer holds", untimed.host_us, untimed.between_us - none.between_us, timed.host_us,
    timed.between_us - none.between_us))
