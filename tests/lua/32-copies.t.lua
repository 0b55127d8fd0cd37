-- 32-copies.t.lua - copies: engines, pinned and pageable memory, and the host.
--
-- Micro-experiments 10 to 14 and 17. A pinned copy keeps its engine for
-- bytes / bandwidth; the overrides make that round: 1e7 bytes at 10 GB/s are 1 ms.

local T = require "tap"
local ideal = require "lua.ideal"

local ten_mb = 2500000          -- float32 elements: 1e7 bytes
local t_us = 1000

local round = { h2d_gb_per_s = 10, d2h_gb_per_s = 10, duplex_factor = 1 }
local function open(overrides)
    local keys = {}
    for key, value in pairs(round) do keys[key] = value end
    for key, value in pairs(overrides or {}) do keys[key] = value end
    ideal.open(keys)
end

local function pinned(n) return lab.empty(n, { device = "cpu", pinned = true }) end
local function pageable(n) return lab.empty(n, { device = "cpu" }) end

-- n chunks in turn over the given streams: in, 1 ms of kernel, out. `after` runs
-- at the end of every chunk.
local function pipeline(streams, n, host, after)
    local dev = {}
    for i = 1, #streams do dev[i] = lab.empty(ten_mb) end
    lab.synchronize()
    local tl = lab.profile(function()
        for i = 1, n do
            local s, d = streams[(i - 1) % #streams + 1], dev[(i - 1) % #streams + 1]
            d:copy_(host, { non_blocking = true, stream = s })
            ideal.spin(s, 1)
            host:copy_(d, { non_blocking = true, stream = s })
            if after then after() end
        end
    end)
    return tl
end

local function a_pinned_pipeline_of_three_streams_overlaps()
    open()
    local tl = pipeline(ideal.streams(3), 6, pinned(ten_mb))
    -- Every stage is 1 ms a chunk: chunk i goes in at i, so 6 + 2 for the fill.
    T.near(tl.makespan_us, 8 * t_us, 1e-6, "6 pinned chunks over 3 streams last max(stage) + fill")
    T.near(tl:busy_us("h2d"), 6 * t_us, 1e-6, "each engine is busy for 6 chunks")
    T.near(tl:overlap_us("h2d", "d2h"), 4 * t_us, 1e-6, "in and out overlap in chunks 3 to 6")
    T.near(tl:overlap_us("h2d", "compute"), 5 * t_us, 1e-6,
           "in and kernel overlap in chunks 2 to 6")
end

local function a_pageable_pipeline_is_serial()
    open()
    local tl = pipeline(ideal.streams(3), 6, pageable(ten_mb))
    T.near(tl:overlap_us("h2d", "compute"), 0, 1e-6,
           "pageable chunks: no copy in overlaps a kernel")
    T.near(tl:overlap_us("h2d", "d2h"), 0, 1e-6, "pageable chunks: the directions do not overlap")
    T.near(tl:overlap_us("d2h", "compute"), 0, 1e-6,
           "pageable chunks: no copy out overlaps a kernel")
    -- 18 stages of at least 1 ms
    T.ok(tl.makespan_us >= 18 * t_us - 1e-6,
         "pageable chunks last at least the sum of their stages")
    local blocked = 0
    for _, span in ipairs(tl:spans()) do
        if span.kind == "memcpy_d2h" and span.host_end_us >= span.end_us - 1e-3 then
            blocked = blocked + 1
        end
    end
    T.is(blocked, 6, "every pageable copy out blocked the host until its end")
end

local function blocking_streams_and_null_launches_are_serial()
    open()
    local streams = { lab.stream{}, lab.stream{}, lab.stream{} }
    local function null_launch() lab.spin(0.001, { stream = lab.default_stream() }) end
    local tl = pipeline(streams, 6, pinned(ten_mb), null_launch)
    -- The NULL stream's 1 us kernel waits for the chunk and the next chunk for it.
    T.near(tl.makespan_us, 6 * (3 * t_us + 1), 1e-6,
           "blocking streams and one NULL-stream launch per chunk: serial")
    tl = pipeline(ideal.streams(3), 6, pinned(ten_mb), null_launch)
    T.near(tl.makespan_us, 8 * t_us, 1e-6, "non-blocking streams do not mind NULL-stream launches")
end

local function the_directions_share_the_link()
    open{ duplex_factor = 0.5 }
    local a, b = table.unpack(ideal.streams(2))
    local host1, host2, host3 = pinned(ten_mb), pinned(ten_mb), pinned(2 * ten_mb)
    local dev1, dev2, dev3 = lab.empty(ten_mb), lab.empty(ten_mb), lab.empty(2 * ten_mb)
    lab.synchronize()
    local tl = lab.profile(function()
        dev1:copy_(host1, { non_blocking = true, stream = a })
        host2:copy_(dev2, { non_blocking = true, stream = b })
    end)
    -- Each at half its bandwidth: 2 ms.
    T.near(tl.makespan_us, 2 * t_us, 2e-3, "in and out together run at duplex * bandwidth")
    T.near(tl:overlap_us("h2d", "d2h"), 2 * t_us, 2e-3, "and all the time at once")
    tl = lab.profile(function()
        dev1:copy_(host1, { non_blocking = true, stream = a })
        host3:copy_(dev3, { non_blocking = true, stream = b })
    end)
    -- 2 ms together move 1e7 bytes each way; the other 1e7 out go alone in 1 ms.
    T.near(tl.makespan_us, 3 * t_us, 2e-3, "a copy left alone speeds up to the full bandwidth")
    tl = lab.profile(function()
        dev1:copy_(host1, { non_blocking = true, stream = a })
        dev2:copy_(host2, { non_blocking = true, stream = b })
    end)
    T.near(tl.makespan_us, 2 * t_us, 2e-3,
           "two copies of one direction last as long as in one stream")
    T.near(tl:overlap_us(a, b), 0, 1e-6, "one direction runs one copy at a time")
end

local function a_copy_costs_latency_and_bytes()
    open{ copy_latency_us = 5 }
    local s = ideal.streams(1)[1]
    local host, dev = pinned(250000), lab.empty(250000)
    lab.synchronize()
    local tl = lab.profile(function() dev:copy_(host, { non_blocking = true, stream = s }) end)
    -- 1e6 bytes at 10 GB/s: 100 us
    T.near(tl.makespan_us, 105, 1e-3, "a copy lasts its latency and its bytes over the bandwidth")
    local span = tl:spans()[1]
    T.is(span.kind, "memcpy_h2d", "its span's kind is memcpy_h2d")
    T.is(span.engine, "h2d", "its engine is h2d")
    T.is(span.bytes, 1000000, "its bytes are the tensor's")
end

local function async_copies_out_behind_a_long_kernel()
    ideal.textbook()
    local s = ideal.streams(1)[1]
    local function host_us_of_copy(n, host)
        local dev = lab.empty(n)
        lab.synchronize()
        local tl = lab.profile(function()
            lab.spin(500, { stream = s })
            host:copy_(dev, { non_blocking = true, stream = s })
        end)
        return ideal.host_us(ideal.spans(tl)[2])
    end
    -- The kernel's 500000 us, less a few us of launch; the copies themselves:
    -- 4 B a few us, 1 GiB at no more than the 16.2 GB/s of the profile (66 ms).
    local tiny = host_us_of_copy(1, pageable(1))
    T.near(tiny, 500000, 500, "4 B pageable to the host return after the 500 ms kernel")
    local huge = host_us_of_copy(2 ^ 28 | 0, pageable(2 ^ 28 | 0))
    T.ok(huge > 500000 and huge < 700000,
         "1 GiB pageable to the host returns after kernel and copy")
    T.ok(host_us_of_copy(1, pinned(1)) < 20, "4 B pinned return in microseconds")
    T.ok(host_us_of_copy(2 ^ 28 | 0, pinned(2 ^ 28 | 0)) < 20,
         "1 GiB pinned returns in microseconds")
end

-- How long a pageable copy in, behind a 20 ms kernel of its stream, keeps the host.
local function host_us_behind_kernel(bytes)
    local s = ideal.streams(1)[1]
    local host, dev = pageable(bytes // 4), lab.empty(bytes // 4)
    lab.synchronize()
    local tl = lab.profile(function()
        lab.spin(20, { stream = s })
        dev:copy_(host, { non_blocking = true, stream = s })
    end)
    return ideal.host_us(ideal.spans(tl)[2])
end

local function pageable_copies_in_behind_a_long_kernel()
    ideal.textbook{ h2d_async_bytes = 65536 }
    T.ok(host_us_behind_kernel(32768) < 1000, "documented rule: 32 KiB pageable in return at once")
    T.ok(host_us_behind_kernel(65536) < 1000, "documented rule: so do 64 KiB")
    T.ok(host_us_behind_kernel(1048576) > 19900, "documented rule: 1 MiB returns after the kernel")
    ideal.textbook()
    -- Measured: 1 KiB 6 us, 1 MiB 141 us, 16 MiB 21.9 ms.
    T.ok(host_us_behind_kernel(1024) < 1000, "measured rule: 1 KiB returns at once")
    T.ok(host_us_behind_kernel(1048576) < 1000, "measured rule: 1 MiB returns at once as well")
    T.ok(host_us_behind_kernel(16777216) > 19900, "measured rule: 16 MiB return after the kernel")
end

local function a_pinned_source_is_read_when_the_copy_starts()
    open()
    local s = ideal.streams(1)[1]
    local function arrived(host)
        local dev = lab.empty(1000)
        host:fill_(1)
        lab.synchronize()
        lab.spin(1, { stream = s })
        dev:copy_(host, { non_blocking = true, stream = s })
        host:fill_(2)                   -- long before the copy starts at 1 ms
        lab.synchronize()
        return dev:get(1)
    end
    T.is(arrived(pinned(1000)), 2,
         "a pinned source overwritten before the copy starts: the new data arrive")
    T.is(arrived(pageable(1000)), 1,
         "a small pageable source is captured at the call: the old data arrive")
end

local function a_pinned_target_is_old_until_the_copy_ends()
    open()
    local s = ideal.streams(1)[1]
    local host, dev = pinned(4), lab.full(7, 4)
    host:fill_(3)
    lab.synchronize()
    lab.spin(1, { stream = s })
    host:copy_(dev, { non_blocking = true, stream = s })
    T.is(host:get(1), 3, "reading a pinned target before the copy ends gives the old value")
    lab.host_work(2)
    T.is(host:get(1), 7, "and the new one once virtual time has passed its end")
    lab.synchronize()
end

local function synchronous_copies_keep_the_host()
    open()
    local s = ideal.streams(1)[1]
    local host, dev = pinned(ten_mb), lab.empty(ten_mb)
    lab.synchronize()
    local function host_us(non_blocking)
        lab.synchronize()
        ideal.spin(s, 1)
        local before = lab.now_us()
        dev:copy_(host, { non_blocking = non_blocking, stream = s })
        return lab.now_us() - before
    end
    T.near(host_us(false), 2 * t_us, 1e-3, "a blocking pinned copy keeps the host until it is done")
    T.near(host_us(true), 0, 1e-3, "a non-blocking pinned copy does not")
    T.near(host_us(nil), 2 * t_us, 1e-3, "copies block unless non_blocking is given")
end

local function copies_within_the_device_run_on_the_sms()
    -- Without a level-2 cache, which would speed up copies that fit into it.
    open{ d2d_gb_per_s = 100, memset_gb_per_s = 100, l2_bytes = 0 }
    local a, b = table.unpack(ideal.streams(2))
    local x, y = lab.empty(ten_mb), lab.empty(ten_mb)
    lab.synchronize()
    local tl = lab.profile(function() y:copy_(x, { non_blocking = true, stream = a }) end)
    -- 1e7 B at 100 GB/s
    T.near(tl.makespan_us, 100, 1e-2, "a copy within the device lasts its bytes over d2d_gb_per_s")
    T.is(tl:spans()[1].kind, "memcpy_d2d", "its kind is memcpy_d2d")
    T.is(tl:spans()[1].engine, "compute", "its engine is compute")
    tl = lab.profile(function()
        ideal.spin(a, 1, 132 * 32)
        y:copy_(x, { non_blocking = true, stream = b })
    end)
    T.near(ideal.spans(tl)[2].from_us, t_us, 1e-3,
           "a copy within the device waits while a kernel fills the SMs")
    tl = lab.profile(function() lab.cuda.memset_async(x, 0, 10000000, a) end)
    T.near(tl.makespan_us, 100, 1e-2, "a memset lasts its bytes over memset_gb_per_s")
    T.is(tl:spans()[1].kind, "memset", "its kind is memset")
end

local function an_engine_stays_with_a_channel()
    open()
    local low, high = lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true,
        priority = "high" }
    local host = pinned(ten_mb)
    local dev1, dev2, dev3 = lab.empty(ten_mb), lab.empty(ten_mb), lab.empty(ten_mb)
    lab.synchronize()
    local tl = lab.profile(function()
        dev1:copy_(host, { non_blocking = true, stream = low })
        dev2:copy_(host, { non_blocking = true, stream = low })
        lab.host_work(0.5)
        dev3:copy_(host, { non_blocking = true, stream = high })
    end)
    local spans = ideal.spans(tl)
    -- dev2's copy waits for nothing but dev1's, so the engine goes on with it, though dev3's
    -- has been ready since 0.5 ms, whatever the priority.
    T.near(spans[2].from_us, t_us, 1e-3, "an engine goes on with the next copy of the stream")
    T.near(spans[3].from_us, 2 * t_us, 1e-3, "and takes another stream's after that")
end

-- A copy behind an event of another stream waits for something, so that the engine goes on to the
-- next channel: the second piece is ready by then, and the third is not.
local function pieces_behind_events_let_others_in()
    open()
    local streams = ideal.streams(2)
    local request = lab.stream{ non_blocking = true }
    local host, to = pinned(ten_mb), lab.empty(ten_mb)
    local pieces = { lab.empty(ten_mb), lab.empty(ten_mb), lab.empty(ten_mb), lab.empty(ten_mb) }
    lab.synchronize()
    local tl = lab.profile(function()
        local before
        for i, piece in ipairs(pieces) do
            local s = streams[(i - 1) % 2 + 1]
            if before then s:wait_event(before) end
            piece:copy_(host, { non_blocking = true, stream = s })
            before = s:record_event()
        end
        lab.host_work(0.5)
        to:copy_(host, { non_blocking = true, stream = request })
    end)
    local spans = ideal.spans(tl)
    T.near(spans[5].from_us, 2 * t_us, 1e-3, "pieces behind each other's events let a copy in")
    T.near(spans[3].from_us, 3 * t_us, 1e-3, "and go on after it")
end

local function priority_does_not_reorder_copies()
    open()
    local a, b = lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true }
    local high = lab.stream{ non_blocking = true, priority = "high" }
    local host = pinned(ten_mb)
    local dev1, dev2, dev3 = lab.empty(ten_mb), lab.empty(ten_mb), lab.empty(ten_mb)
    lab.synchronize()
    local tl = lab.profile(function()
        dev1:copy_(host, { non_blocking = true, stream = a })
        dev2:copy_(host, { non_blocking = true, stream = b })
        lab.host_work(0.5)
        dev3:copy_(host, { non_blocking = true, stream = high })
    end)
    local spans = ideal.spans(tl)
    T.near(spans[2].from_us, t_us, 1e-3, "a copy of normal priority that arrived first goes first")
    T.near(spans[3].from_us, 2 * t_us, 1e-3, "a high-priority copy does not overtake it")
end

-- ---- how many engines ---------------------------------------------------------------------

local function one_copy_engine()
    open{ async_engine_count = 1 }
    T.is(lab.device().async_engine_count, 1, "the device tells how many it has")
    local tl = pipeline(ideal.streams(3), 6, pinned(ten_mb))
    T.is(tl:overlap_us("h2d", "d2h"), 0, "with one engine in and out never overlap")
    T.near(tl:busy_us("copy"), 12 * t_us, 1e-6, "all copies are that engine's")
    T.near(tl:busy_us("h2d"), 6 * t_us, 1e-6, "h2d are those to the device")
    T.near(tl:busy_us{ kind = "memcpy_d2h" }, 6 * t_us, 1e-6, "and d2h those to the host")
    T.is(tl:busy_us{ engine = "h2d" }, 0, "which have no engine of their own")
    local bounds = tl:bounds()
    T.is(bounds.busiest_engine, "copy", "it is the busiest one")
    T.near(bounds.lower_us, 12 * t_us, 1e-6, "so that 12 copies take 12 ms at least")
    local path = ideal.temporary(".json")
    tl:save(path)
    local again = lab.load(path)
    os.remove(path)
    T.near(again:bounds().busiest_engine_us, bounds.busiest_engine_us, 1e-6,
           "also when the timeline was saved")
    T.is(again:spans()[1].engine, "copy", "with its engine")
end

a_pinned_pipeline_of_three_streams_overlaps()
a_pageable_pipeline_is_serial()
blocking_streams_and_null_launches_are_serial()
the_directions_share_the_link()
a_copy_costs_latency_and_bytes()
async_copies_out_behind_a_long_kernel()
pageable_copies_in_behind_a_long_kernel()
a_pinned_source_is_read_when_the_copy_starts()
a_pinned_target_is_old_until_the_copy_ends()
synchronous_copies_keep_the_host()
copies_within_the_device_run_on_the_sms()
an_engine_stays_with_a_channel()
one_copy_engine()
pieces_behind_events_let_others_in()
priority_does_not_reorder_copies()
T.done()
