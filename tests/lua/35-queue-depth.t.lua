-- 35-queue-depth.t.lua - the launch queue is finite: then launches run at the GPU's speed.
--
-- Micro-experiment 19. A call waits while its channel holds launch_queue_depth
-- unfinished operations.

local T = require "tap"
local ideal = require "lua.ideal"

-- Launches n kernels in turn over the streams; the spans in issue order.
local function launch(n, ms, streams)
    local tl = lab.profile(function()
        for i = 1, n do lab.spin(ms, { stream = streams[(i - 1) % #streams + 1] }) end
    end)
    return ideal.spans(tl), tl
end

-- How many of the first launches returned before the first kernel had ended.
local function launched_at_once(spans)
    local n = 0
    while n < #spans and spans[n + 1].host_end_us < spans[1].end_us do n = n + 1 end
    return n
end

local function the_queue_holds_its_depth()
    ideal.open{ launch_queue_depth = 10, ["host.launch_us"] = 1 }
    local spans, tl = launch(30, 1, ideal.streams(1))
    T.is(launched_at_once(spans), 10, "ten launches return at once where the queue holds ten")
    T.near(spans[12].host_end_us - spans[11].host_end_us, 1000, 1.001,
           "then one returns per kernel that ends")
    T.near(spans[30].host_end_us - spans[29].host_end_us, 1000, 1.001, "to the last one")
    -- Kernels are back to back all the same: the host is never late.
    T.near(tl.makespan_us, 30000, 1e-6, "the device loses no time by the full queue")
end

local function streams_have_queues_of_their_own()
    ideal.open{ launch_queue_depth = 10, ["host.launch_us"] = 1 }
    local spans = launch(60, 1, ideal.streams(3))
    T.is(launched_at_once(spans), 30, "three streams in three channels take three times as many")
    ideal.open{ launch_queue_depth = 10, ["host.launch_us"] = 1, connections = 1 }
    spans = launch(60, 1, ideal.streams(3))
    T.is(launched_at_once(spans), 10, "three streams in one channel share its queue")
end

local function waiting_for_the_queue_does_not_keep_other_streams()
    ideal.open{ launch_queue_depth = 4 }
    local a, b = table.unpack(ideal.streams(2))
    local tl = lab.profile(function()
        for _ = 1, 4 do lab.spin(1, { stream = a }) end
        lab.spin(1, { stream = b })
    end)
    T.near(ideal.spans(tl)[5].from_us, 0, 1e-6,
           "a full queue of one stream does not delay a launch in another")
end

local function fifteen_hundred_launches_of_190_us()
    local depth, kernel, call, n = 1022, 190, 4, 1500
    ideal.open{ launch_queue_depth = depth, ["host.launch_us"] = call }
    local spans = launch(n, kernel / 1000, ideal.streams(1))
    -- By hand: call i may go on once kernel i - depth has ended.
    local host, finish, quick = 0, {}, 0
    for i = 1, n do
        local from = host
        if i > depth then host = math.max(host, finish[i - depth]) end
        host = host + call
        finish[i] = math.max(finish[i - 1] or 0, host) + kernel
        if host - from < 2 * call then quick = quick + 1 end
    end
    local seen = 0
    for _, span in ipairs(spans) do
        if ideal.host_us(span) < 2 * call then seen = seen + 1 end
    end
    T.near(seen, quick, 2,
           "of 1500 launches about 1022, and those that ended meanwhile, return at once")
    T.near(seen, 1044, 4, "that is 1022 / (1 - 4 / 190) of them")
    T.near(spans[n].host_end_us - spans[n - 100].host_end_us, 100 * kernel, 1e-3,
           "then one per 190 us")
end

local function the_textbook_gpu_holds_about_a_thousand()
    ideal.textbook()
    local s = ideal.streams(1)
    local spans = launch(1100, 100, s)      -- 100 ms each: none ends meanwhile
    -- Measured: 1022 launches behind a long kernel before the host blocks.
    T.near(launched_at_once(spans), 1022, 2,
           "about 1022 launches behind a long kernel before the host blocks")
end

the_queue_holds_its_depth()
streams_have_queues_of_their_own()
waiting_for_the_queue_does_not_keep_other_streams()
fifteen_hundred_launches_of_190_us()
the_textbook_gpu_holds_about_a_thousand()
T.done()
