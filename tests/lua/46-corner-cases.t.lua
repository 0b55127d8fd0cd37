-- Corner cases of the simulator, each of which went wrong once.

local T = require "tap"
local ideal = require "lua.ideal"

local function first_start_us(tl)
    local first = math.huge
    for _, span in ipairs(tl:spans()) do first = math.min(first, span.start_us) end
    return first
end

-- Host functions of many streams, called a little apart: one does not put off another.
do
    ideal.open{ host_func_in_us = 10, ["host.host_func_us"] = 2 }
    local streams = ideal.streams(64)
    local tl = lab.profile(function()
        for _, s in ipairs(streams) do s:launch_host_func(function() end) end
    end)
    -- The first is called at 2 us and reaches the helper thread 10 us later.
    T.near(first_start_us(tl), 12, 1e-6, "later host functions do not postpone an earlier one")
    ideal.open()
    local late, early = table.unpack(ideal.streams(2))
    local order = {}
    lab.spin(5, { stream = late })
    late:launch_host_func(function() order[#order + 1] = "late" end)
    lab.spin(1, { stream = early })
    early:launch_host_func(function() order[#order + 1] = "early" end)
    lab.synchronize()
    T.is(table.concat(order, " "), "early late", "they run in the order of their streams' arrival")
    -- Two at once: one helper thread, so the second waits for the first's work.
    local tl2 = lab.profile(function()
        late:launch_host_func(function() lab.host_work(1) end)
        early:launch_host_func(function() lab.host_work(1) end)
    end)
    T.near(tl2.makespan_us, 2000, 1e-6, "and one at a time")
end

-- The NULL stream's synchronize and query take in the blocking streams.
do
    ideal.open()
    local blocking, exempt = lab.stream{}, lab.stream{ non_blocking = true }
    local function host_us(s)
        local start = lab.now_us()
        lab.spin(3, { stream = s })
        lab.default_stream():synchronize()
        local us = lab.now_us() - start
        lab.synchronize()
        return us
    end
    T.near(host_us(blocking), 3000, 1e-6,
           "synchronizing the NULL stream waits for blocking streams")
    T.near(host_us(exempt), 0, 1e-6, "and not for non-blocking ones")
    lab.spin(3, { stream = blocking })
    T.is(lab.default_stream():query(), false, "nor is it done while they are not")
    lab.synchronize()
    T.is(lab.default_stream():query(), true, "but after them it is")
end

-- Staging buffers are bytes, not copies.
do
    ideal.open{ stage_bytes = 1000000, stage_buffers = 2, h2d_async_bytes = 1e9 }
    local s = ideal.streams(1)[1]
    local tiny, dev = lab.empty(16, { device = "cpu" }), lab.empty(16)
    lab.spin(5, { stream = s })
    local start = lab.now_us()
    for _ = 1, 100 do dev:copy_(tiny, { non_blocking = true, stream = s }) end
    T.ok(lab.now_us() - start < 1, "a hundred copies of 64 bytes fit into the staging buffers")
    local empty, none = lab.empty(0, { device = "cpu" }), lab.empty(0)
    for _ = 1, 10 do none:copy_(empty, { non_blocking = true, stream = s }) end
    lab.synchronize()
    local mb, mb_dev = lab.empty(250000, { device = "cpu" }), lab.empty(250000)
    lab.spin(5, { stream = s })
    start = lab.now_us()
    for _ = 1, 2 do mb_dev:copy_(mb, { non_blocking = true, stream = s }) end
    T.ok(lab.now_us() - start < 1000, "two copies of a megabyte do, also after copies of nothing")
    mb_dev:copy_(mb, { non_blocking = true, stream = s })
    T.ok(lab.now_us() - start >= 5000, "a third waits for the first to have left")
    lab.synchronize()
end

-- Sharing of the memory's bandwidth, after a product of nothing.
do
    local function two_streams(nothing)
        ideal.open{ ["gemm_us.float32"] = {} }
        local big = { lab.empty(8192, 8192), lab.empty(8192, 8192) }
        local s = ideal.streams(3)
        return lab.profile(function()
            lab.spin(1, { stream = s[3] })
            if nothing then lab.matmul(lab.empty(0, 0), lab.empty(0, 0), { stream = s[3] }) end
            for i = 1, 2 do big[i]:pow(2, { out = big[i], stream = s[i] }) end
        end).makespan_us
    end
    T.near(two_streams(true), two_streams(false), 0.01, "a 0 x 0 product leaves the sharing alone")
end

-- A wait for what the own stream recorded adds nothing.
do
    ideal.open{ stream_gap_us = 1, cross_stream_us = 7 }
    local s, e = ideal.streams(1)[1], lab.event{ timing = false }
    local tl = lab.profile(function()
        ideal.spin(s, 1)
        e:record(s)
        s:wait_event(e)
        ideal.spin(s, 1)
    end)
    T.near(tl.makespan_us, 2001, 1e-6, "a stream's wait for its own record costs only the gap")
end

-- An urgent kernel is not behind the others when too many grids are resident.
do
    ideal.open{ max_grids = 4 }
    local streams, urgent = ideal.streams(8), ideal.streams(1, { priority = -1 })[1]
    local tl = lab.profile(function()
        for _, s in ipairs(streams) do ideal.spin(s, 1) end
        ideal.spin(urgent, 1)
    end)
    local spans = ideal.spans(tl)
    T.near(spans[9].from_us, 1000, 1e-6, "an urgent kernel gets the first grid that ends")
    T.near(spans[8].from_us, 2000, 1e-6, "and a less urgent one the last")
end

-- A block's threads come in warps of 32: of 682 only two fit into an SM's 2048.
do
    ideal.open{ sm_count = 1 }
    local s = ideal.streams(1)[1]
    local tl = lab.profile(function() ideal.spin(s, 1, 3, { threads = 682 }) end)
    T.near(tl.makespan_us, 2000, 1e-6, "three blocks of 682 threads take two waves on one SM")
    T.is(tl:spans()[1].threads, 682, "and are reported with the threads that they were given")
end

-- The end of virtual time, and durations that no clock can hold.
do
    ideal.open()
    for _ = 1, 12 do lab.spin(0.9e9) end
    T.throws_like(lab.synchronize, "46 days", "virtual time ends with a sentence")
    lab.open{ backend = "sim", overrides = { memory_bytes = "unlimited",
                                          ["calls.cudaMallocHost.us_per_mib"] = 0 } }
    local huge, far = lab.empty(1 << 30, 1 << 29, { device = "cpu", pinned = true }),
        lab.empty(1 << 30, 1 << 29)
    T.throws_like(function() far:copy_(huge, { non_blocking = true }) end, "eleven days",
                  "so does a copy that would take longer than a kernel may")
    T.lives(function() lab.synchronize() end, "and the device is as before")
end

-- Host memory belongs to no GPU.
do
    ideal.open()
    local host, other = lab.full(3, 2, 2, { device = "cpu" }), lab.empty(2, 2, { device = "cpu" })
    local on_first = lab.empty(2, 2)
    lab.open{ backend = "sim", profile = "a100" }
    local on_second = lab.empty(2, 2)
    on_second:copy_(host)
    T.is_deeply(on_second:totable(), { { 3, 3 }, { 3, 3 } },
                "a host tensor can be copied to any GPU")
    other:copy_(on_second)
    T.is(other:get(2, 2), 3.0, "and from any")
    lab.cuda.memcpy(on_second, other, 4)
    T.lives(function() lab.synchronize() end, "also by the plain calls")
    T.throws_like(function() on_second:copy_(on_first) end, "another machine",
                  "but GPUs of two machines do not copy to each other")
    lab.cuda.free(lab.cuda.malloc(4))
    local pinned = lab.cuda.malloc_host(4)
    lab.cuda.memset(pinned, 7)
    T.is(pinned:get(4), 7.0, "cudaMemset of pinned memory waits: the host sees it")
    lab.cuda.free_host(pinned)
end

-- Of several host functions that fail, the first is reported, and how many more.
do
    ideal.open()
    local s = ideal.streams(1)[1]
    for i = 1, 3 do s:launch_host_func(function() error("bad " .. i) end) end
    T.throws_like(function() s:synchronize() end, "bad 1 %(and 2 more failed%)",
                  "of several failing host functions none is lost without a word")
end

-- cudaMalloc gives out what there is, and costs nothing when it fails.
do
    lab.open{ backend = "sim", profile = "t4" }
    local blocks, start = {}, nil
    repeat
        start = lab.now_us()
        local ok, memory = pcall(lab.cuda.malloc, 4 << 30)
        blocks[#blocks + 1] = ok and memory or nil
    until not ok or not memory
    T.is(#blocks, 4, "four blocks of 4 GiB fit into a T4's 16 GiB")
    T.is(lab.now_us() - start, 0.0, "the fifth fails and takes no time")
    lab.cuda.free(table.remove(blocks))
    T.ok(lab.cuda.malloc(4 << 30), "what is freed can be had again")
end
T.done()
