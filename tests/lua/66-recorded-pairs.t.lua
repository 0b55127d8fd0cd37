-- 66-recorded-pairs.t.lua - PyTorch programs before and after one change, recorded on an H200: what
-- leads and its remedy, whether its gain is what the change gained, and that nothing is called good
-- that gained more than 5 %.
-- What it gained was measured without the profiler (walls.json); where the host binds, the profiler
-- makes that part longer, and the gain is also right if it is what the two traces differ by.

local T = require "tap"
local json <const> = require "both.json"

local folder <const> = "tests/timeline/data/pairs/"
local allowed <const> = 0.25        -- of what the change gained

local function read(path)
    local file <close> = assert(io.open(path))
    return file:read("a")
end

local walls <const> = json.read(read(folder .. "walls.json"))

-- {pair, the cause that leads, what its remedy says, where the gain is not what was gained: why}
local pairs_of <const> = {
    { "pageable_input", "host_blocked", "[Pp]in" },
    { "blocking_to", "host_blocked", "non_blocking" },
    { "results_pageable", "host_blocked", "pinned" },
    { "prefetch", "stream_order", "another stream" },
    { "one_buffer", "event_wait", "second" },
    { "both_directions", "stream_order", "another stream" },
    { "many_small_copies", "host_issuing", "larger" },
    { "cpu_random", "host_work", "while it runs" },
    { "checkpoint", "stream_order", "another stream", "each copy still waits for its step" },
    { "item_each_step", "host_blocked", "read it after" },
    { "synchronize_each_step", "host_blocked", "before the host waits" },
    -- The wait is second: the host cannot keep up even without it.
    { "query_loop", "host_issuing", "graph" },
    { "boolean_mask", "host_issuing", "graph" },
    { "print_tensor", "host_blocked", "read it after" },
    { "host_prepares", "host_work", "while it runs" },
    { "empty_cache", "host_blocked", "do not empty" },
    { "growing_tensors", "host_blocked", "has its memory" },
    { "pin_each_batch", "host_blocked", "once" },
    { "tiny_kernels", "host_issuing", "graph" },
    { "small_model", "host_issuing", "graph" },
    { "optimizer_loop", "host_issuing", "larger" },
    { "needless_waits", "event_wait", "without the wait" },
    { "small_kernels_one_stream", "stream_order", "streams",
      "told for two streams, tried in four" },
    { "event_too_late", "event_wait", "the one operation whose result is used" },
    { "loader_thread", "host_issuing", "graph" },
    { "all_reduce_async", "stream_order", "async_op" },
    { "all_reduce_at_end", "comm_last", "as soon as its part is there" },
}

local function error_of(told, gained) return math.abs(told - gained) / gained end

for _, case in ipairs(pairs_of) do
    local name, cause, remedy, other = table.unpack(case)
    local before = lab.load(folder .. name .. "-before.json.gz")
    local after = lab.load(folder .. name .. "-after.json.gz")
    local verdict, lead = before:verdict(), before:causes()[1]
    T.is(verdict.cause .. " " .. tostring(verdict.good), cause .. " false", name .. ": the verdict")
    T.like(lead.remedy, remedy, name .. ": the remedy")
    local told = (verdict.gain_us or 0) / 1000
    local gained = walls[name .. "-before"].wall_ms - walls[name .. "-after"].wall_ms
    local traced = (before.makespan_us - after.makespan_us) / 1000
    local right = error_of(told, gained) <= allowed or error_of(told, traced) <= allowed
    T.ok(right == not other, ("%s: %.2f ms to gain; the change gained %.2f, in the traces %.2f%s")
        :format(name, told, gained, traced, other and ": " .. other or ""))
    local first = verdict.sentence:match("^%a+ to gain") or verdict.sentence
    T.ok(first ~= "Nothing to gain" and first ~= "Little to gain", name .. ": not called good")
end

T.done()
