-- 32-through-host.t.lua - copies between two GPUs without access to each other's memory: pieces go on the
-- source's engine to the host's memory, and from there on the destination's engine.
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
    gpus, streams, memory, pinned = {ideal.open(keys)}, {}, {}, {}
    for i = 2, n or 2 do gpus[i] = lab.open{backend = "sim", index = i - 1} end
    for i, gpu in ipairs(gpus) do
        streams[i] = {}
        for j = 1, 3 do streams[i][j] = lab.stream{device = gpu, non_blocking = true} end
        memory[i] = {lab.zeros(ten_mb, {device = gpu}), lab.zeros(ten_mb, {device = gpu})}
        pinned[i] = lab.zeros(ten_mb, {device = "cpu", pinned = true})
        gpu:make_current()
        lab.synchronize()
    end
    gpus[1]:make_current()
end

-- In a stream of the source unless another one is given.
local function copy(from, to, stream)
    memory[to][2]:copy_(memory[from][1], {non_blocking = true, stream = stream or streams[from][1]})
end

local function download(gpu) pinned[gpu]:copy_(memory[gpu][2], {non_blocking = true, stream = streams[gpu][3]}) end
local function upload(gpu) memory[gpu][1]:copy_(pinned[gpu], {non_blocking = true, stream = streams[gpu][2]}) end

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
    open{["peer.host_piece_bytes"] = 1e9}
    T.is(times(function() copy(1, 2) end), "p2p 0 2000", "in one piece there and back do not overlap")
    open{["peer.host_latency_us"] = 50}
    T.is(times(function() copy(1, 2) copy(1, 2) end), "p2p 0 1150, p2p 1150 2300", "the latency is a part of each copy")
    open{["peer.host_call_us_per_mib"] = 10}
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
    local before, after = lab.sum(memory[2][2], {stream = streams[2][2]}), lab.sum(memory[2][2], {stream = t})
    for _, stream in ipairs{t, streams[2][2]} do stream:synchronize() end
    T.is(after:item(), 7 * ten_mb, "what waits for the copy has its values")
    T.is(before:item(), 0, "what does not wait has what was there before")
end

-- ---- several ----------------------------------------------------------------------------

local function engines_are_shared()
    open()
    T.is(times(function() copy(1, 2) copy(1, 2, streams[1][2]) end), "p2p 0 1100, p2p 1000 2100",
        "the second of two in one direction begins when the source's engine is free")
    T.is(times(function() copy(1, 2) copy(2, 1) end), "p2p 0 1100, p2p 0 1100", "two in both directions share none")
    T.is(times(function() copy(1, 2) download(1) end), "p2p 0 1100, d2h 1000 2000",
        "a download from the source waits for the source's engine")
    T.is(times(function() copy(1, 2) download(2) end), "p2p 0 1100, d2h 0 1000",
        "one from the destination does not")
    T.is(times(function() copy(1, 2) upload(1) end), "p2p 0 1100, h2d 0 1000",
        "nor does an upload to the source")
    -- The upload has the destination's engine first. Two pieces come to the host meanwhile.
    T.is(times(function() upload(2) copy(1, 2) end), "h2d 0 1000, p2p 0 2000",
        "a copy waits behind an upload to the destination, with two pieces in the host's memory")
    T.is(times(function() upload(2) copy(1, 2) download(1) end), "h2d 0 1000, p2p 0 2100, d2h 200 1200",
        "and the source's engine is free for others meanwhile")
end

local function both_ways_are_slower()
    open{["peer.host_duplex_factor"] = 0.5, duplex_factor = 1}
    T.is(times(function() copy(1, 2) download(2) end), "p2p 0 2000, d2h 0 1900",
        "a leg and a copy the other way take turns at the rate for both ways")
    T.is(times(function() download(1) upload(1) end), "d2h 0 1000, h2d 0 1000", "which other copies do not have")
end

local function with_access_they_are_not_shared()
    open()
    lab.cuda.device_enable_peer_access(gpus[2])
    T.is(times(function() copy(1, 2) download(1) upload(2) end), "p2p 0 100, d2h 0 1000, h2d 0 1000",
        "with access copies between GPUs have an engine of their own")
    lab.cuda.device_disable_peer_access(gpus[2])
    T.is(times(function() copy(1, 2) end), "p2p 0 1100", "and go through the host when it is taken away")
end

-- GPUs with one copy engine wait for each other's pieces, not for ever.
local function few_engines()
    open{async_engine_count = 1}
    local _, tl = times(function() copy(1, 2) copy(2, 1) end)
    T.is(tl.span_count, 2, "with one engine a GPU, copies in both directions end")
    T.near(tl.makespan_us, 2100, 200, "each engine has the pieces of both")
    open{async_engine_count = 0}
    _, tl = times(function() copy(1, 2) copy(2, 1) lab.spin(1, {stream = streams[1][2]}) end)
    T.is(tl.span_count, 3, "without engines they end as well, beside a kernel")
    T.ok(tl:overlap_us({device = 0, engine = "compute"}, {device = 1}) >= 0, "which takes turns with them")
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
        for _ = 1, 2 do lab.cuda.memcpy_async(memory[2][2], memory[1][1], 4 * ten_mb, lab.current_stream()) end
    end)
    graph:launch(s)
    s:synchronize()
    local got = times(function()
        graph:launch(s)
        graph:launch(s)
    end)
    T.like(got, "^p2p 0 1100, p2p 1%d+ 2%d+, p2p 2%d+ 3%d+, p2p 3%d+ 4%d+$", "nodes go through the host as well")
    lab.cuda.device_enable_peer_access(gpus[2])
    T.like(times(function() graph:launch(s) end), "^p2p 0 100, p2p 1%d%d 2%d%d$",
        "unless there is access when they run")
end

-- ---- as measured ------------------------------------------------------------------------

-- Two H200s (NVLink), CUDA 13.0, 28 November 2026, a program in C: from before the first call until the
-- streams are synchronised. Its calls are quicker than a script's.
local measured <const> = {
    {4, {peer = 138, both = 169, download = 203, upload = 151, d2h = 84, h2d = 84}},
    {16, {peer = 459}},
    {64, {peer = 1759, both = 2226, download = 2976, upload = 1950, d2h = 1217, h2d = 1217}},
}

local function measured_us(what, bytes)
    local own = {streams[1][1], streams[2][1], streams[1][3]}
    local start_us = lab.now_us()
    local cp = lab.cuda.memcpy_async
    if what ~= "d2h" and what ~= "h2d" then cp(memory[2][1], memory[1][1], bytes, own[1]) end
    if what == "both" then cp(memory[1][2], memory[2][2], bytes, own[2]) end
    if what == "download" or what == "d2h" then cp(pinned[1], memory[1][1], bytes, own[3]) end
    if what == "upload" or what == "h2d" then cp(memory[1][2], pinned[1], bytes, own[3]) end
    for _, stream in ipairs(own) do stream:synchronize() end
    return lab.now_us() - start_us
end

local function as_measured()
    lab.synchronize()
    gpus = {lab.open{backend = "sim", profile = "h200", overrides = {
        ["host.memcpy_async_us"] = 1.5, ["host_cold.memcpy_async_us"] = 0, ["host.synchronize_us"] = 0.5}}}
    gpus[2] = lab.open{backend = "sim", index = 1}
    local large <const> = 64 << 20
    for i, gpu in ipairs(gpus) do
        streams[i] = {}
        for j = 1, 3 do streams[i][j] = lab.stream{device = gpu, non_blocking = true} end
        for j = 1, 2 do memory[i][j] = lab.zeros(large, {dtype = "uint8", device = gpu}) end
        gpu:make_current()
        lab.synchronize()
    end
    pinned[1] = lab.zeros(large, {dtype = "uint8", device = "cpu", pinned = true})
    measured_us("h2d", large)           -- what the host has just written comes more slowly
    for _, row in ipairs(measured) do
        for what, us in pairs(row[2]) do
            local got = measured_us(what, row[1] << 20)
            T.ok(math.abs(got / us - 1) < 0.04,
                ("%d MiB, %s: %.0f us, measured %d"):format(row[1], what, got, us))
        end
    end
end

one_copy_is_a_pipeline_of_two_legs()
values_arrive()
engines_are_shared()
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
