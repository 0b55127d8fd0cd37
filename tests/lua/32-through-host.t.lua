-- 32-through-host.t.lua - copies between two GPUs without access to each other's memory: pieces go
-- on the source's engine to the host's memory, and from there on the destination's engine.
--
-- At 10 GB/s a piece of 1e6 bytes takes 100 us; ten of them take 1000 us on each engine, and the
-- destination's is one piece behind: 1100 us in all.

local T = require "tap"
local ideal = require "lua.ideal"

local ten_mb <const> = 2500000          -- float32 elements: 1e7 bytes
local round <const> = {
    h2d_gb_per_s = 10, d2h_gb_per_s = 10, duplex_factor = 1, copy_gap_us = 0, engine_turn_us = 0,
    engine_switch_us = 0, ["peer.gb_per_s"] = 100, ["peer.latency_us"] = 0, ["peer.event_us"] = 0,
    ["peer.host_gb_per_s"] = 10, ["peer.host_latency_us"] = 0, ["peer.host_piece_bytes"] = 1e6,
    ["peer.host_duplex_factor"] = 1, ["peer.host_call_us_per_mib"] = 0,
}

local gpus, streams, memory, pinned

-- Opens GPUs, of each one a stream, two tensors and page-locked memory.
local function open(overrides, n)
    local keys = {}
    for key, value in pairs(round) do keys[key] = value end
    for key, value in pairs(overrides or {}) do keys[key] = value end
    gpus, streams, memory, pinned = { ideal.open(keys) }, {}, {}, {}
    for i = 2, n or 2 do gpus[i] = lab.open{ backend = "sim", index = i - 1 } end
    for i, gpu in ipairs(gpus) do
        streams[i] = {}
        for j = 1, 3 do streams[i][j] = lab.stream{ device = gpu, non_blocking = true } end
        memory[i] = { lab.zeros(ten_mb, { device = gpu }), lab.zeros(ten_mb, { device = gpu }) }
        pinned[i] = lab.zeros(ten_mb, { device = "cpu", pinned = true })
        gpu:make_current()
        lab.synchronize()
    end
    gpus[1]:make_current()
end

-- In a stream of the source unless another one is given.
local function copy(from, to, stream)
    memory[to][2]:copy_(memory[from][1],
                        { non_blocking = true, stream = stream or streams[from][1] })
end

local function download(gpu)
    pinned[gpu]:copy_(memory[gpu][2], { non_blocking = true, stream = streams[gpu][3] })
end
local function upload(gpu)
    memory[gpu][1]:copy_(pinned[gpu], { non_blocking = true, stream = streams[gpu][2] })
end

-- "from to" of each span in whole us, in the order of issue.
local function times(f)
    local list = {}
    local tl = lab.profile(f)
    for i, span in ipairs(ideal.spans(tl)) do
        list[i] = ("%s %.0f %.0f"):format(span.engine, span.from_us, span.to_us)
    end
    return table.concat(list, ", "), tl
end

-- ---- one copy ---------------------------------------------------------------------------

local function one_copy_is_a_pipeline_of_two_legs()
    open()
    local got, tl = times(function() copy(1, 2) end)
    T.is(got, "p2p 0 1100", "ten pieces take as long on one engine, and the last one on the other")
    T.is(tl:spans()[1].name, "Memcpy PtoP (Device -> Device)", "they are one copy in a recording")
    T.is(times(function() copy(1, 2, streams[2][1]) end), "p2p 0 1100",
        "in a stream of the destination it takes as long")
    open{ ["peer.host_piece_bytes"] = 1e9 }
    T.is(times(function() copy(1, 2) end), "p2p 0 2000",
         "in one piece there and back do not overlap")
    open{ ["peer.host_latency_us"] = 50 }
    T.is(times(function() copy(1, 2) copy(1, 2) end), "p2p 0 1150, p2p 1150 2300",
         "the latency is a part of each copy")
    open{ ["peer.host_call_us_per_mib"] = 10 }
    local _, long = times(function() copy(1, 2) end)
    local span = long:spans()[1]
    T.near(ideal.host_us(span), 1e8 / 2^20, 0.01, "the call holds the host by the bytes")
    T.near(span.end_us - span.start_us, 1100, 0.01, "while the copy moves")
    T.near(span.start_us, span.host_start_us, 0.01, "which has begun meanwhile")
end

local function values_arrive()
    open()
    memory[1][1]:fill_(7)
    lab.synchronize()
    local s, t = streams[1][1], streams[2][1]
    copy(1, 2, s)
    t:wait_stream(s)
    local before, after = lab.sum(memory[2][2], { stream = streams[2][2] }),
        lab.sum(memory[2][2], { stream = t })
    for _, stream in ipairs{ t, streams[2][2] } do stream:synchronize() end
    T.is(after:item(), 7 * ten_mb, "what waits for the copy has its values")
    T.is(before:item(), 0, "what does not wait has what was there before")
end

-- ---- several ----------------------------------------------------------------------------

local function engines_are_shared()
    open()
    T.is(times(function() copy(1, 2) copy(1, 2, streams[1][2]) end), "p2p 0 1100, p2p 1000 2100",
        "the second of two in one direction begins when the source's engine is free")
    T.is(times(function() copy(1, 2) copy(2, 1) end), "p2p 0 1100, p2p 0 1100",
         "two in both directions share none")
    T.is(times(function() copy(1, 2) download(1) end), "p2p 0 2100, d2h 100 1100",
        "a download from the source waits for one piece, and the other pieces for the download")
    T.is(times(function() copy(1, 2) download(1) download(1) end),
        "p2p 0 3100, d2h 100 1100, d2h 1100 2100", "and for those behind it in its stream")
    T.is(times(function() copy(1, 2) download(2) end), "p2p 0 1100, d2h 0 1000",
        "one from the destination does not")
    T.is(times(function() copy(1, 2) upload(1) end), "p2p 0 1100, h2d 0 1000",
        "nor does an upload to the source")
    -- The upload has the destination's engine first. Two pieces come to the host meanwhile.
    T.is(times(function() upload(2) copy(1, 2) end), "h2d 0 1000, p2p 0 2000",
        "a copy waits behind an upload to the destination, with two pieces in the host's memory")
    T.is(times(function() upload(2) copy(1, 2) download(1) end),
        "h2d 0 1000, p2p 0 2100, d2h 100 1100",
        "and the source's engine is free for others meanwhile")
end

-- The first one waits for a kernel of 500 us in its stream.
local function in_the_order_of_calls()
    open()
    local s = streams[1][1]
    local function late(to) lab.spin(0.5, { stream = s }) copy(1, to, s) end
    T.is(times(function() late(2) copy(1, 2, streams[1][2]) end),
        "compute 0 500, p2p 500 1600, p2p 1500 2600",
        "a copy that could begin waits for one that was called before it")
    T.is(times(function() late(2) copy(2, 1, streams[2][1]) end),
        "compute 0 500, p2p 500 1600, p2p 0 1100", "but not for one from another GPU")
    T.is(times(function() late(2) download(1) end), "compute 0 500, p2p 1000 2100, d2h 0 1000",
        "and downloads do not wait for copies that cannot begin")
end

-- A node is not known before its launch reaches it; what was called later may wait for the launch.
local function a_node_goes_before_later_calls()
    open()
    local s, other = streams[1][1], streams[1][2]
    local graph = lab.graph(function()
        local into = lab.current_stream()
        lab.spin(0.5, { stream = into })
        lab.cuda.memcpy_async(memory[2][2], memory[1][1], 4 * ten_mb, into)
    end)
    graph:launch(s)
    s:synchronize()
    local _, tl = times(function()
        graph:launch(s)
        other:wait_stream(s)
        copy(1, 2, other)
    end)
    local spans = tl:spans()
    T.is(tl.span_count, 3, "a copy that waits for a launch with a copy in it, both end")
    T.ok(spans[3].start_us >= spans[2].end_us, "one after the other")
end

local function both_ways_are_slower()
    open{ ["peer.host_duplex_factor"] = 0.5, duplex_factor = 1 }
    -- The second leg begins at 100 us, and has moved 450 us' worth when the download ends.
    T.is(times(function() copy(1, 2) download(2) end), "p2p 0 1550, d2h 0 1000",
        "a leg is slower beside a download")
    T.is(times(function() copy(1, 2) upload(1) end), "p2p 0 1600, h2d 0 1000",
         "and beside an upload")
    open{ ["peer.host_duplex_factor"] = 1, duplex_factor = 0.5 }
    T.is(times(function() copy(1, 2) upload(1) end), "p2p 0 1100, h2d 0 1500",
         "others are so by their own rate")
    open{ ["peer.host_duplex_factor"] = 0.5, duplex_factor = 1 }
    T.is(times(function() download(1) upload(1) end), "d2h 0 1000, h2d 0 1000",
         "which other copies do not have")
end

local function with_access_they_are_not_shared()
    open()
    lab.cuda.device_enable_peer_access(gpus[2])
    T.is(times(function() copy(1, 2) download(1) upload(2) end),
        "p2p 0 100, d2h 0 1000, h2d 0 1000",
        "with access copies between GPUs have an engine of their own")
    lab.cuda.device_disable_peer_access(gpus[2])
    T.is(times(function() copy(1, 2) end), "p2p 0 1100",
         "and go through the host when it is taken away")
end

-- GPUs with one copy engine wait for each other's pieces, not for ever.
local function few_engines()
    open{ async_engine_count = 1 }
    local _, tl = times(function() copy(1, 2) copy(2, 1) end)
    T.is(tl.span_count, 2, "with one engine a GPU, copies in both directions end")
    T.near(tl.makespan_us, 2100, 200, "each engine has the pieces of both")
    open{ async_engine_count = 0 }
    _, tl = times(function() copy(1, 2) copy(2, 1) lab.spin(1, { stream = streams[1][2] }) end)
    T.is(tl.span_count, 3, "without engines they end as well, beside a kernel")
    T.ok(tl:overlap_us({ device = 0, engine = "compute" }, { device = 1 }) >= 0,
         "which takes turns with them")
end

local function a_ring_of_four()
    open({}, 4)
    local _, tl = times(function()
        for i = 1, 4 do
            copy(i, i % 4 + 1)
            copy(i, (i + 1) % 4 + 1, streams[i][2])
        end
    end)
    T.is(tl.span_count, 8, "four GPUs that send to two others each come to an end")
    T.near(tl.makespan_us, 2100, 500, "when each engine has moved what two copies bring")
end

-- ---- graphs -----------------------------------------------------------------------------

local function nodes_of_a_graph()
    open()
    local s = streams[1][1]
    local graph = lab.graph(function()
        for _ = 1, 2 do
            lab.cuda.memcpy_async(memory[2][2], memory[1][1], 4 * ten_mb, lab.current_stream())
        end
    end)
    graph:launch(s)
    s:synchronize()
    local got = times(function()
        graph:launch(s)
        graph:launch(s)
    end)
    T.like(got, "^p2p 0 1100, p2p 1%d+ 2%d+, p2p 2%d+ 3%d+, p2p 3%d+ 4%d+$",
           "nodes go through the host as well")
    lab.cuda.device_enable_peer_access(gpus[2])
    T.like(times(function() graph:launch(s) end), "^p2p 0 100, p2p 1%d%d 2%d%d$",
        "unless there is access when they run")
end

-- ---- as measured ------------------------------------------------------------------------

-- Two H200s (NVLink), CUDA 13.0, 28 November 2026, a program in C (tests/bench/cuda/raw_comm.cu,
-- without a recording): a copy from the first GPU to the second and then another one in a stream of
-- its own, in us from before the first call until both have ended; `call`: how long that call holds
-- the host.
local measured <const> = {
    { 1, { nothing = 69, back = 88, more = 101 } },
    { 4, { call = 33, nothing = 148, back = 205, more = 268, d2h_1 = 225, h2d_1 = 165, d2h_2 = 175,
           h2d_2 = 223 } },
    { 16, { call = 106, nothing = 480, back = 661, more = 941, d2h_1 = 789, h2d_1 = 534,
            d2h_2 = 576, h2d_2 = 784 } },
    { 64, { call = 425, nothing = 1803, back = 2496, more = 3577,
            d2h_1 = 3014, h2d_1 = 2012, d2h_2 = 2192, h2d_2 = 3017 } },
}

-- A leg to a GPU is slower beside a download from there than any other copy beside another; and
-- calls.
local rough <const> = { d2h_2 = 0.1, call = 0.1 }

local function measured_us(what, bytes)
    local cp = lab.cuda.memcpy_async
    local gpu <const> = tonumber(what:sub(-1))
    local start_us <const> = lab.now_us()
    cp(memory[2][1], memory[1][1], bytes, streams[1][1])
    local call_us <const> = lab.now_us() - start_us
    if what == "call" then return call_us end
    if what == "back" then cp(memory[1][2], memory[2][2], bytes, streams[2][1]) end
    if what == "more" then cp(memory[2][2], memory[1][2], bytes, streams[1][3]) end
    if gpu and what:find("^d2h") then cp(pinned[gpu], memory[gpu][3], bytes, streams[gpu][3]) end
    if gpu and what:find("^h2d") then cp(memory[gpu][3], pinned[gpu], bytes, streams[gpu][3]) end
    for _, own in ipairs(streams) do
        for _, stream in ipairs(own) do stream:synchronize() end
    end
    return lab.now_us() - start_us
end

local function as_measured()
    lab.synchronize()
    gpus = { lab.open{ backend = "sim", profile = "h200", overrides = {
        ["peer.host_gb_per_s"] = 38.6, ["peer.host_latency_us"] = 18,
        ["host.memcpy_async_us"] = 10, ["host_cold.memcpy_async_us"] = 0,
        ["host.synchronize_us"] = 0.2 } } }
    gpus[2] = lab.open{ backend = "sim", index = 1 }
    local large <const> = 64 << 20
    for i, gpu in ipairs(gpus) do
        streams[i] = {}
        for j = 1, 3 do streams[i][j] = lab.stream{ device = gpu, non_blocking = true } end
        for j = 1, 3 do memory[i][j] = lab.zeros(large, { dtype = "uint8", device = gpu }) end
        gpu:make_current()
        lab.synchronize()
        pinned[i] = lab.zeros(large, { dtype = "uint8", device = "cpu", pinned = true })
    end
    -- What the host has just written comes more slowly.
    for i = 1, 2 do measured_us("h2d_" .. i, large) end
    for _, row in ipairs(measured) do
        for what, us in pairs(row[2]) do
            local got = measured_us(what, row[1] << 20)
            for _, own in ipairs(streams) do
                for _, stream in ipairs(own) do stream:synchronize() end
            end
            T.ok(math.abs(got / us - 1) < (rough[what] or 0.05),
                ("%d MiB, %s: %.0f us, measured %d"):format(row[1], what, got, us))
        end
    end
end

one_copy_is_a_pipeline_of_two_legs()
values_arrive()
engines_are_shared()
in_the_order_of_calls()
a_node_goes_before_later_calls()
both_ways_are_slower()
with_access_they_are_not_shared()
few_engines()
a_ring_of_four()
nodes_of_a_graph()
as_measured()
for i = #gpus, 1, -1 do
    gpus[i]:make_current()
    lab.synchronize()
end
streams, memory, pinned = nil, nil, nil
T.done()
