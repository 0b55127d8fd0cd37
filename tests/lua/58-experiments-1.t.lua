-- 58-experiments-1.t.lua - what the experiments find on the simulator is what follows from its
-- profile, and they run on the other profiles and traced: in make check two of
-- them, in check-long all.
--
-- The figures expected are worked out from scripts/profiles/textbook.lua in the comments, with an
-- allowance for latencies of a few us.

local T = require "tap"
local ideal = require "lua.ideal"
local kineto_check = require "kineto_check"

local words <const> = { holds = true, ["no longer holds"] = true, depends = true }

-- What is not there compares with nothing.
local nothing <const> = setmetatable({}, { __index = function() return 0 / 0 end })

-- Checks the words of an experiment's verdicts; gives the numbers in each one's text.
local function found(name, ...)
    local list, text, status = ideal.verdicts(T, name)
    local got, numbers = {}, setmetatable({}, { __index = function() return nothing end })
    for i, verdict in ipairs(list) do
        got[i], numbers[i] = verdict[1], setmetatable({}, getmetatable(nothing))
        for number in verdict[2]:gmatch("%-?%d+%.?%d*") do
            table.insert(numbers[i], tonumber(number))
        end
    end
    T.is(status, 0, name .. ".lua runs")
    T.is_deeply(got, { ... }, name .. ": " .. table.concat({ ... }, ", "))
    return numbers, text
end

local function answer()
    local n = found("answer", "depends", "no longer holds")
    -- A product of 1024 x 1024 has at most 64 tiles of 128 x 128, half as many as there are SMs:
    -- pow finds room. One of 4096 x 4096 has more than 132.
    T.ok(n[1][1] > 50, "answer: small pows find room beside small matmuls")
    T.ok(n[1][3] < 50, "answer: large ones do not")
    T.is_deeply({ n[2][2], n[2][5], n[2][8] }, { 0, 0, -5 }, "answer: priority 1 is priority 0")
    -- A matmul of 8192 x 8192 takes 21.4 ms in many waves; pow arrives after 1 ms.
    T.ok(n[2][3] > 21 and n[2][6] > 21, "answer: there pow waits for a long matmul")
    T.ok(n[2][9] < 2, "answer: with the greatest priority for some of its blocks")
end

local function matmul_streams()
    local n = found("matmul_streams", "holds", "depends")
    T.near(n[1][2], 1, 0.005, "matmul_streams: 10000 x 10000 fills the GPU")
    -- 4 calls take the host 31.2 us, and one product 9 us: at most (31.2 + 9 + 9) / (31.2 + 9).
    T.ok(n[2][2] > 1 and n[2][2] < 1.22, "matmul_streams: the host is too slow for small products")
    T.ok(n[2][3] > 2 and n[2][3] < 4, "matmul_streams: once queued, four run side by side")
end

local function single_stream()
    local n = found("single_stream", "depends", "holds")
    -- The calls: 0.65 us for the memory, 1.4 for the copy, and the bytes at 14 and 15.1 GB/s.
    T.near(n[1][1], 2.05 + 16384 / 14e3, 0.06, "single_stream: 16 KiB are staged in a us")
    T.near(n[1][4], 2.05 + 2 ^ 24 / 15.1e3, 2, "single_stream: 16 MiB hold the host 1.1 ms")
    T.near(n[1][#n[1]], 2.05, 0.06, "single_stream: a pinned copy does not")
    -- B at 55 GB/s, a small C, latencies of 1 us each and three gaps of 1.1.
    T.near(n[2][1], 2 ^ 24 / 55e3 + 16384 / 55e3 + 2 + 3.3, 0.1,
           "single_stream: the matmul waits for the copies of B and C")
    T.near(n[2][#n[2]], 1.4, 0.06, "single_stream: in its own stream for A's event only")
end

local function pipeline()
    local n = found("pipeline", "depends", "holds", "holds", "holds")
    -- 16 MiB take 305 us at 55 GB/s, 303 at 55.3, a product 342. At best only products count.
    local item_us, copies_us = 305 + 342 + 303, 305 + 303
    T.ok(n[1][1] > 0.9 * item_us / 342 and n[1][1] <= item_us / 342 + 0.05,
         "pipeline: the speed-up is near that of the longest of three stages")
    T.near(n[1][3], n[1][1], 0.02, "pipeline: three streams do as well as twenty")
    T.near(n[1][4], 1, 0.01, "pipeline: pageable memory gains nothing")
    T.near(n[2][1], 100 * copies_us / item_us, 2, "pipeline: the copies' part")
    T.is(n[3][1], 0, "pipeline: no two copies in one direction at a time")
    -- Two of 16 MiB for each item that is in flight, and for one item if each is waited for.
    T.is_deeply({ n[4][1], n[4][3] }, { 640, 32 }, "pipeline: what is in flight keeps its memory")
end

local function pinned_memory()
    local n, text = found("pinned_memory", "holds", "depends", "no longer holds")
    T.like(text, "simulator", "pinned_memory: it says whose figures these are")
    T.is(n[1][1], 512, "pinned_memory: in advance as much as the tensor")
    -- 378.8 us a MiB for new memory, then the copy at 12 GB/s; or 34.1 us a MiB in place.
    T.is(n[2][1], 1024, "pinned_memory: by copy twice as much")
    T.near(n[2][2], 0.3788 * 512 + 2 ^ 29 / 12e6, 1, "pinned_memory: new memory and a copy")
    T.is(n[2][3], 512, "pinned_memory: in place no more than before")
    T.near(n[2][4], 0.0341 * 512, 1, "pinned_memory: and soon")
end

local function concurrent_kernels()
    local n, text = found("concurrent_kernels", "holds", "holds", "holds")
    T.is_deeply({ n[1][1], n[1][3], n[2][1], n[2][2] }, { 128, 1, 128, 6 },
                "concurrent_kernels: 128 at once, and the 129th waits")
    -- 10 ms a kernel: 128 on one stream one after the other, on eight streams in sixteen rounds.
    T.like(text, "128%s+1%s+1%s+127%s+1280", "concurrent_kernels: one stream runs one at a time")
    T.like(text, "128%s+8%s+8%s+120%s+160", "concurrent_kernels: eight run eight")
end

local function launch_queue()
    local n = found("launch_queue", "depends")
    -- The queue holds 1022 operations, of which the long kernel is one; a launch costs 3.8 us.
    T.is(n[1][1], 1021, "launch_queue: as many launches as the queue has room for")
    T.is(n[1][2], 3.8, "launch_queue: which cost what a launch costs")
    T.near(n[1][3], 200 - 1021 * 0.0038, 1, "launch_queue: the next waits for the long kernel")
end

local function explicit_sync()
    local n = found("explicit_sync", "holds", "holds", "holds", "holds")
    T.near(n[1][1], 6, 0.01, "explicit_sync: the device is idle after the longest kernel")
    T.near(n[2][1], 2, 0.01, "explicit_sync: the stream after its own")
    T.near(n[3][2], 0.5 + 1.23 + 0.27, 0.06, "explicit_sync: an event costs three calls")
    T.ok(n[3][1] >= 1.4 and n[3][1] < 5, "explicit_sync: and the GPU its latency")
    T.is(n[4][1], 0.3, "explicit_sync: a query costs one")
    T.ok(n[4][2] > 0, "explicit_sync: whoever asks now and then is later than the GPU itself")
end

local function value_waits()
    local n = found("value_waits", "holds", "no longer holds")
    -- Two spins of 1 ms. A write and a wait come a gap of 1.1 us behind what is before them, an
    -- event's record and wait behind nothing: 1.4 us from stream to stream.
    T.near(n[1][1], 2, 0.05, "value_waits: the others ran while the stream waited")
    T.near(n[1][3], 2 * 1.1, 0.06, "value_waits: a wait before the write ends with it")
    T.near(n[2][1], 2 * 1.1, 0.06, "value_waits: a value takes two gaps")
    T.near(n[2][2], 1.4, 0.06, "value_waits: an event is quicker")
end

local function store_starts()
    local n = found("store_starts", "holds")
    -- A launch takes the host 3.8 us and the way to the GPU 2.6; a store neither.
    T.ok(n[1][3] - n[1][2] > 3.8 and n[1][3] - n[1][2] < 3.8 + 2.6,
         "store_starts: what is queued needs no launch")
end

local function puzzler_answer()
    local n, text = found("puzzler_answer", "holds", "holds", "no longer holds", "no longer holds")
    -- 100 copies of 4 MiB: to pinned memory at 55.3 GB/s, with 1 us and a gap of 1.1 each.
    T.near(n[1][1], 100 * (2 ^ 22 / 55.3e6 + 0.001), 0.3, "puzzler_answer: the link's speed")
    T.ok(n[1][2] > 2 * n[1][1], "puzzler_answer: the host is slower")
    T.like(text, "blocking%s+no%s", "puzzler_answer: blocking copies land in pageable memory")
    T.like(text, "and pinned%s+yes%s", "puzzler_answer: others in pinned memory")
    T.near(n[4][4], 100, 10, "puzzler_answer: pinned copies of both directions overlap")
end

local experiments <const> = {
    { "answer", answer, 2 }, { "concurrent_kernels", concurrent_kernels, 3 },
    { "explicit_sync", explicit_sync, 4 }, { "launch_queue", launch_queue, 1 },
    { "matmul_streams", matmul_streams, 2 }, { "pinned_memory", pinned_memory, 3 },
    { "pipeline", pipeline, 4 }, { "puzzler_answer", puzzler_answer, 4 },
    { "single_stream", single_stream, 2 }, { "store_starts", store_starts, 1 },
    { "value_waits", value_waits, 2 },
}

-- As many verdicts as on the H200, each beginning with one of the three words, and no figure
-- that is none.
local function elsewhere(name, count)
    for _, profile in ipairs{ "a100", "t4", "rtx4060_laptop" } do
        local list, text = ideal.verdicts(T, name, "--backend sim --profile " .. profile)
        local sound = #list == count and not text:find("[^%a]nan") and not text:find("[^%a]inf")
        for _, verdict in ipairs(list) do sound = sound and words[verdict[1]] end
        if not sound then T.diag(text) end
        T.ok(sound, name .. " has sound verdicts on " .. profile)
    end
end

local function traced(name)
    local path = ideal.temporary(".json")
    local _, _, status = ideal.verdicts(T, name,
        "--backend sim --profile textbook --trace " .. path)
    T.is(status, 0, name .. " runs traced")
    -- Reading megabytes of JSON takes minutes when the collector runs all the time.
    if not os.getenv("TAP_GC") then
        T.is_deeply(kineto_check.complaints(ideal.read(path)), {}, "and its trace is one")
    end
    os.remove(path)
end

for i, experiment in ipairs(experiments) do
    local name, check, count = table.unpack(experiment)
    check()
    if i <= T.sized(2, #experiments) then
        elsewhere(name, count)
        traced(name)
    end
end
T.done()
