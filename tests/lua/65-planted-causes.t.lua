-- 65-planted-causes.t.lua - traces that PyTorch recorded on an H200, with one cause planted in
-- each: it leads, and its gain is what mending it gained. Good schedules are called good.
-- What mending gained was measured: the makespan of the trace less that of its mended twin
-- (tests/timeline/data/README.md).

local T = require "tap"

local folder <const> = "tests/timeline/data/planted/"
local allowed <const> = 0.25        -- of what mending gained

local planted = {
    { "needless_waits", "event_wait", 12.210, 6.277, "wait_stream in both directions" },
    { "empty_cache_each_step", "host_blocked", 6.133, 4.128, "cudaFree in each step" },
    { "host_prepares", "host_work", 29.606, 13.406, "a host that prepares each batch" },
    { "pin_memory_in_loop", "host_blocked", 54.049, 5.359, "cudaHostAlloc in each step" },
    { "results_with_cpu", "host_blocked", 400.937, 12.875, "results to pageable memory" },
    { "one_stream_for_two", "stream_order", 16.024, 8.079, "small kernels in one stream" },
    { "pageable_copies", "host_blocked", 97.358, 29.621, "copies from pageable memory" },
    { "copies_in_compute_stream", "stream_order", 33.465, 20.279, "copies in the kernels' stream" },
    { "item_each_step", "host_blocked", 22.176, 16.294, "item() in each step" },
    { "launch_bound", "host_issuing", 5.781, 0.864, "tiny kernels" },
    { "event_synchronize_each_step", "host_blocked", 21.647, 16.300, "event.synchronize()" },
}

T.like(lab.load(folder .. "one_stream_for_two.json.gz"):causes()[1].remedy,
    "if they do not depend on one another", "what nobody knows is left to the reader")

local good = { "big_matmuls", "copy_bound", "double_buffered", "graph", "item_costs_nothing" }

for _, case in ipairs(planted) do
    local name, cause, before_ms, after_ms, what = table.unpack(case)
    local tl = lab.load(folder .. name .. ".json.gz")
    local verdict, lead = tl:verdict(), tl:causes()[1]
    T.is(lead.cause, cause, what .. ": leads")
    T.is(verdict.cause .. " " .. tostring(verdict.good), cause .. " false", what .. ": the verdict")
    local gained = before_ms - after_ms
    local error = math.abs(verdict.gain_us / 1000 - gained) / gained
    T.ok(error <= allowed, ("%s: %.2f ms to gain, and mending gained %.2f"):format(what,
        verdict.gain_us / 1000, gained))
end

for _, name in ipairs(good) do
    local verdict = lab.load(folder .. name .. ".json.gz"):verdict()
    T.ok(verdict.good, name .. " is called good: " .. verdict.sentence)
    T.like(verdict.sentence, "^Little to gain: ", "in words")
end

T.done()
