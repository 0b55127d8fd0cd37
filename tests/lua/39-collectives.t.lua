-- 39-collectives.t.lua - simulated collectives: when they begin and end, by hand, on GPUs without
-- latencies whose figures are round; what they do to work beside them; ranks that do not come;
-- races across ranks.

require "lua.quiet" ()

local T = require "tap"
local ideal = require "lua.ideal"

local KB <const> = 250 -- elements of float32

-- Only the ring with the protocol Simple is ever the fastest: a base of 10 us, 1 us a step, and
-- links of 10 GB/s.
local figures <const> = {
    ["comm.channels"] = 4, ["comm.channel_gb_per_s"] = 1e6, ["comm.link_gb_per_s"] = 10,
    ["comm.base_us"] = 10, ["comm.step_us"] = 1, ["comm.ll_base_us"] = 1e5,
    ["comm.ll128_base_us"] = 1e5, ["comm.cluster"] = 1, ["comm.host_us"] = 0,
    ["comm.memory_slowdown"] = 0, ["comm.tensor_slowdown"] = 0, ["comm.gpus_per_node"] = 64,
    ["comm_us.all_reduce"] = {}, ["comm_us.all_gather"] = {}, ["comm_us.reduce_scatter"] = {},
    ["comm_us.broadcast"] = {}, ["peer.event_us"] = 0,
}

local function overrides(more)
    local keys = {}
    for _, table in ipairs{ ideal.no_latency, figures, more or {} } do
        for key, value in pairs(table) do keys[key] = value end
    end
    return keys
end

local function numbers(n)
    local list = {}
    for i = 1, n do list[i] = i - 1 end
    return list
end

-- n GPUs, a communicator of all, and a stream on each.
local function open(n, more, options)
    local lot = { gpu = {}, stream = {} }
    for i = 1, n do
        lot.gpu[i] = lab.open{ backend = "sim", profile = "textbook", index = i - 1,
                               overrides = overrides(more) }
        lot.stream[i] = lab.stream{ device = lot.gpu[i], non_blocking = true }
    end
    options = options or {}
    options.devices = numbers(n)
    lot.comm = lab.comm(options)
    return lot
end

local function on(lot, i, f, ...)
    lot.gpu[i]:make_current()
    return f(...)
end

local function tensors(n, elements)
    local list = {}
    for i = 1, n do list[i] = lab.empty(elements, { device = "cuda:" .. i - 1 }) end
    return list
end

local function synchronize(lot)
    for i = #lot.gpu, 1, -1 do on(lot, i, lab.synchronize) end
end

local function close(lot)
    lot.comm:free()
    synchronize(lot)
end

-- The first rank's spans while f runs, from the beginning of the first.
local function spans_of(lot, f)
    on(lot, 1, function() end)
    local tl = lab.record()
    f()
    synchronize(lot)
    tl:stop()
    local own = {}
    for _, span in ipairs(ideal.spans(tl)) do
        if not span.device or span.device == 0 then own[#own + 1] = span end
    end
    return own
end

local function us(lot, f)
    local spans = spans_of(lot, f)
    return spans[#spans].to_us - spans[#spans].from_us
end

local function near(got, expected, name) T.ok(math.abs(got - expected) < 0.01, name, got) end

-- ---- time ------------------------------------------------------------------------------

-- 1 MB. A ring of n: all_reduce 2 (n - 1) steps and 2 (n - 1) / n of the bytes over each link, a
-- gather or scatter half of both, a broadcast n - 1 steps and all bytes.
local function durations(n, all_reduce, half, broadcast)
    local lot = open(n)
    local comm, streams = lot.comm, { streams = lot.stream }
    local large, small = tensors(n, 1000 * KB), tensors(n, 1000 * KB // n)
    local function with(out) return { streams = lot.stream, out = out } end
    near(us(lot, function() comm:all_reduce(large, streams) end), all_reduce,
         ("all_reduce of %d ranks"):format(n))
    near(us(lot, function() comm:all_gather(small, with(large)) end), half,
         ("all_gather of %d ranks"):format(n))
    near(us(lot, function() comm:reduce_scatter(large, with(small)) end), half,
         ("reduce_scatter of %d ranks"):format(n))
    near(us(lot, function() comm:broadcast(large, streams) end), broadcast,
         ("broadcast to %d ranks"):format(n))
    close(lot)
end
durations(2, 10 + 2 + 100, 10 + 1 + 50, 10 + 1 + 100)
durations(4, 10 + 6 + 150, 10 + 3 + 75, 10 + 3 + 100)

do -- one way each, at once
    local lot = open(2)
    local t, r = tensors(2, 1000 * KB), tensors(2, 1000 * KB)
    local spans = spans_of(lot, function()
        lot.comm:group(function()
            for i = 1, 2 do
                lot.comm:send(t[i], { dst = 2 - i, stream = lot.stream[i] })
                lot.comm:recv(r[i], { src = 2 - i, stream = lot.stream[i] })
            end
        end)
    end)
    near(spans[1].to_us - spans[1].from_us, 111, "send and recv of a group are one kernel")
    near(spans[2].to_us, spans[1].to_us, "both are over at once")
    close(lot)
end

do -- what passes through a block: 1.5 MB at 3 GB/s
    local lot = open(2, { ["comm.channel_gb_per_s"] = 3, ["comm.link_gb_per_s"] = 1e6 },
                     { channels = 1 })
    near(us(lot, function()
        lot.comm:all_reduce(tensors(2, 1000 * KB), { streams = lot.stream })
    end),
         10 + 2 + 500, "with one channel the blocks' rate counts")
    close(lot)
end

do -- two nodes of two: 2 x 2 of the 6 steps cross, with half of the link
    local lot = open(4, { ["comm.gpus_per_node"] = 2, ["comm.net_gb_per_s"] = 5,
                          ["comm.net_step_us"] = 20 })
    near(us(lot, function()
        lot.comm:all_reduce(tensors(4, 1000 * KB), { streams = lot.stream })
    end),
         10 + 2 * 1 + 4 * 20 + 300, "from node to node a step takes longer, and bytes too")
    close(lot)
end

do -- 110 us between two GPUs for 112: more of them are corrected in proportion
    local lot = open(4, { ["comm_us.all_reduce"] = { { 1e6, 56 }, { 4e6, 206 } } })
    near(us(lot, function()
        lot.comm:all_reduce(tensors(4, 1000 * KB), { streams = lot.stream })
    end),
         166 / 2, "what was measured between two GPUs corrects the model of more")
    close(lot)
end

-- ---- blocks ----------------------------------------------------------------------------

do -- as NCCL 2.28 had them on two H100s
    local lot = open(2, {}, {})
    close(lot)
    for i = 1, 2 do
        lot.gpu[i] = lab.open{ backend = "sim", profile = "textbook", index = i - 1 }
        lot.stream[i] = lab.stream{ device = lot.gpu[i], non_blocking = true }
    end
    lot.comm = lab.comm{ devices = { 0, 1 } }
    for _, row in ipairs{ { 1, 1, 128 }, { 4, 1, 256 }, { 16, 2, 512 }, { 64, 8, 512 },
                          { 1024, 24, 512 },
                          { 4096, 24, 544 } } do
        local span = spans_of(lot, function()
            lot.comm:all_reduce(tensors(2, row[1] * 256), { streams = lot.stream })
        end)[1]
        T.is(("%d x %d"):format(span.blocks, span.threads), ("%d x %d"):format(row[2], row[3]),
             ("blocks of an all_reduce of %d KiB"):format(row[1]))
    end
    close(lot)
end

-- ---- meeting ---------------------------------------------------------------------------

do
    local lot = open(2)
    local t = tensors(2, 1000 * KB)
    local spans = spans_of(lot, function()
        on(lot, 2, lab.spin, 1, { stream = lot.stream[2] })
        lot.comm:all_reduce(t, { streams = lot.stream })
    end)
    near(spans[1].to_us - spans[1].from_us, 1000 + 112, "a rank waits on its SMs for a late one")

    -- 4 of 132 SMs are held, for 100 us at least: of 132 blocks that need an SM each, 4 come later.
    spans = spans_of(lot, function()
        on(lot, 2, lab.spin, 0.1, { stream = lot.stream[2] })
        lot.comm:all_reduce(t, { streams = lot.stream })
        on(lot, 1, lab.spin, 0.02, { blocks = 132, shared_bytes = 200000,
                                     stream = on(lot, 1, lab.stream, { non_blocking = true }) })
    end)
    near(spans[2].to_us - spans[2].from_us, 40, "its blocks take SMs from other kernels")

    spans = spans_of(lot, function()
        on(lot, 1, lab.spin, 0.5, { blocks = 132, shared_bytes = 200000, stream = lot.stream[1] })
        local side = {}
        for i = 1, 2 do side[i] = on(lot, i, lab.stream, { non_blocking = true }) end
        lot.comm:all_reduce(t, { streams = side })
    end)
    near(spans[2].from_us, 500, "it waits for SMs with enough shared memory")
    close(lot)
end

-- ---- why it waited ------------------------------------------------------------------------

do
    local lot = open(2)
    local t = tensors(2, 1000 * KB)
    local tl = on(lot, 1, lab.record)
    on(lot, 1, lab.spin, 0.25, { blocks = 132, shared_bytes = 200000,
                                 stream = on(lot, 1, lab.stream, { non_blocking = true }) })
    lot.comm:all_reduce(t, { streams = lot.stream })
    synchronize(lot)
    tl:stop()
    local lost, sentence = {}, {}
    for _, cause in ipairs(tl:causes()) do
        lost[cause.cause] = (lost[cause.cause] or 0) + cause.lost_us
        sentence[cause.cause] = cause.sentence
    end
    near(lost.late_rank or 0, 250, "the other rank waited for it from its own start on")
    near(lost.no_sm_room or 0, 250, "since it waited for room on the SMs")
    T.like(sentence.no_sm_room or "", "which left no room on the SMs: no SM had 104 kB of shared "
           .. "memory free$", "and of what it found too little")
    T.like(sentence.late_rank or "", "gpu1: .*waited 250 us for rank 0 %(late because of spin in "
           .. "stream \"gpu0: stream %d\" at [^)]*%), and held its SMs meanwhile",
           "the sentence names both, and the kernel that made rank 0 late")
    close(lot)
end

-- An all-reduce of 1 MB takes 112 us, and has four blocks: base 10, two steps of 1, 1 MB at 10
-- GB/s.
-- The spin's blocks do not fit beside them.
do
    local lot = open(2)
    local t = tensors(2, 1000 * KB)
    local tl = on(lot, 1, lab.record)
    lot.comm:all_reduce(t, { streams = lot.stream })
    on(lot, 1, lab.spin, 0.25, { blocks = 132, shared_bytes = 200000,
                                 stream = on(lot, 1, lab.stream, { non_blocking = true }) })
    synchronize(lot)
    tl:stop()
    local found
    for _, cause in ipairs(tl:causes()) do found = cause.cause == "fewer_sms" and cause or found end
    near(found and found.lost_us or 0, 112, "a kernel beside it has fewer SMs until it is over")
    T.like(found and found.sentence or "", "spin in stream \"gpu0: stream %d\" at [^ ]* ran on 128 "
           .. "of 132 SMs for 112 us: ncclDevKernel_AllReduce_Sum_f32", "it is said how many")
    close(lot)
end

-- ---- values and order ------------------------------------------------------------------

do
    local lot = open(3)
    local t = {}
    for i = 1, 3 do t[i] = lab.full(i, 4, { device = "cuda:" .. i - 1, stream = lot.stream[i] }) end
    lot.comm:all_reduce(t, { streams = lot.stream })
    t[1]:fill_(100, { stream = lot.stream[1] })
    lot.comm:all_reduce(t, { op = "max", streams = lot.stream })
    synchronize(lot)
    for i = 1, 3 do
        T.is(t[i]:sum():item(), 400, ("rank %d has the result of both"):format(i - 1))
    end
    close(lot)
end

-- ---- ranks that do not come ------------------------------------------------------------

local function refuses(lot, pattern, name)
    local fine, err = pcall(on, lot, 1, lab.synchronize)
    T.ok(not fine and tostring(err):find(pattern) ~= nil, name, tostring(err))
end

do
    local lot = open(4)
    local t = tensors(4, KB)
    lot.comm:all_reduce(t)
    for _, i in ipairs{ 1, 2, 4 } do lot.comm:all_reduce(t[i]) end
    refuses(lot, "all_reduce number 2 of this communicator: ranks 0, 1 and 3 wait in "
                 .. "[^ ]*39%-collectives.t.lua:%d+, rank 2 has not called it",
            "who waits where, and who has not called")
    refuses(lot, "number 2", "and again")
    lot.comm:all_reduce(t[3])
    T.ok(pcall(synchronize, lot), "when the rank comes, all go on")

    lot.comm:send(t[1], { dst = 3 })
    refuses(lot, "send number 1 from rank 0 to rank 3: rank 0 waits in .-, rank 3 has not called "
                 .. "recv", "a send without recv")
    lot.comm:abort()
    T.ok(pcall(synchronize, lot), "abort ends it")
end

do -- rank 1 calls it behind a wait for rank 0's
    local lot = open(2)
    local t = tensors(2, KB)
    lot.comm:all_reduce(t[1], { stream = lot.stream[1] })
    lot.stream[2]:wait_event(lot.stream[1]:record_event())
    lot.comm:all_reduce(t[2], { stream = lot.stream[2] })
    refuses(lot, "rank 0 waits in .-, rank 1 has called it in .-, behind other work",
            "a rank that is behind a wait for the other")
    lot.comm:abort()
    T.ok(pcall(synchronize, lot), "abort ends that too")
end

do
    local lot = open(2)
    local t = tensors(2, KB)
    lot.comm:all_reduce(t[1])
    local fine, err = pcall(lot.comm.broadcast, lot.comm, t[2])
    T.ok(not fine and tostring(err):find("call 1 of rank 1 is broadcast, and of rank 0 all_reduce"),
         "two collectives in different orders are refused", tostring(err))
    lot.comm:abort()
    synchronize(lot)
end

-- ---- races -----------------------------------------------------------------------------

do
    local lot = open(2)
    local t = tensors(2, KB)
    local function races(wait)
        lab.check("warn")
        local side = on(lot, 2, lab.stream, { non_blocking = true })
        lot.comm:all_reduce(t, { streams = lot.stream })
        if wait then side:wait_stream(lot.stream[2]) end
        t[2]:fill_(0, { stream = side })
        synchronize(lot)
        local found = on(lot, 2, lab.races)
        lab.check("off")
        return found
    end
    T.is(#races(false), 1, "a buffer used before its all_reduce has ended is a race, on any rank")
    T.is(#races(true), 0, "not behind a wait for it")
    close(lot)
end

-- ---- turns -----------------------------------------------------------------------------

-- Three all-reduces of 1 MB, 112 us each, in three streams. When each begins on rank 0.
local function begins(lot, comms)
    local tl = on(lot, 1, lab.record)
    for k, comm in ipairs(comms) do
        local side = {}
        for i = 1, 2 do
            side[i] = k == 1 and lot.stream[i] or on(lot, i, lab.stream, { non_blocking = true })
        end
        comm:all_reduce(tensors(2, 1000 * KB), { streams = side })
    end
    synchronize(lot)
    tl:stop()
    local from, lost = {}, 0
    for _, span in ipairs(ideal.spans(tl)) do
        if (span.device or 0) == 0 then from[#from + 1] = ("%.0f"):format(span.from_us) end
    end
    for _, cause in ipairs(tl:causes()) do
        lost = lost + (cause.cause == "comm_busy" and cause.engine == "comm" and cause.lost_us or 0)
    end
    return table.concat(from, " "), lost
end

do
    local lot = open(2)
    local comm, other = lot.comm, lab.comm{ devices = { 0, 1 } }
    local from, lost = begins(lot, { comm, comm, comm })
    T.is(from, "0 112 224", "collectives of one communicator take turns, in whichever streams")
    near(lost, 2 * 224, "that is why the second and the third waited, on each rank until the third "
        .. "began")
    from, lost = begins(lot, { comm, other })
    T.is(from, "0 0", "those of two communicators run at the same time")
    T.is(lost, 0, "and wait for nothing")
    comm:all_reduce(tensors(2, KB)[1], { stream = lot.stream[1] })
    comm:all_reduce(tensors(2, KB)[1], { stream = on(lot, 1, lab.stream) })
    comm:abort()
    T.ok(pcall(synchronize, lot), "abort ends one that waits for its turn")
    other:free()
end

-- ---- many ------------------------------------------------------------------------------

do
    local lot = open(64)
    local t = {}
    for i = 1, 64 do t[i] = lab.full(i, 4, { device = "cuda:" .. i - 1 }) end
    for _ = 1, 20 do lot.comm:all_reduce(t, { op = "max" }) end
    synchronize(lot)
    T.is(t[1]:sum():item() + t[64]:sum():item(), 2 * 4 * 64, "64 ranks")
    close(lot)
end

T.done()
