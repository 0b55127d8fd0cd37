-- 57-whatif-comm.t.lua - changes of lab.whatif that are about collectives: compared with the
-- changed program, run on two simulated GPUs, and with recordings of two H200s.
require "lua.quiet" ()

local tap = require "tap"
local lab = require "streamlab"
local changes = require "lua.changes"
local record, times, changed, compare = changes.record, changes.times, changes.changed,
    changes.compare

local gpus, streams = {}, {}
for i = 1, 2 do
    gpus[i] = lab.open{ backend = "sim", profile = "textbook", index = i - 1 }
    streams[i] = lab.stream{ device = gpus[i], non_blocking = true }
end
local comm = lab.comm{ devices = { 0, 1 } }

local function tensors(n)
    return { lab.empty(n, { device = "cuda:0" }), lab.empty(n, { device = "cuda:1" }) }
end

local function spin(ms)
    for i = 1, 2 do lab.with(streams[i], lab.spin, ms) end
end

local function wait()
    for i = 1, 2 do streams[i]:synchronize() end
end

-- ---- async --------------------------------------------------------------------------------

local gradients = tensors(16 << 20) -- 64 MiB

-- An all-reduce that the kernels behind it need not, until the host waits for all.
local function steps(async)
    return times(3, function()
        spin(0.5)
        local work = comm:all_reduce(gradients, { streams = streams, async = async })
        spin(1)
        if async then lab.with(streams[1], work.wait, work) end
        wait()
    end)
end

compare("async", steps(false), steps(true), { { "async", "*AllReduce*" } }, 0.03)

local tl = record(steps(false))
tap.is(changed(tl, { "async", "*AllReduce*" }):changes()[1].changed, 6,
    "async: of both ranks")
tap.throws_like(function() lab.whatif(tl):async("*spin*") end,
    "async: no collective or copy from the GPU matches '%*spin%*'", "a kernel is no result")

-- A trace of PyTorch's profiler, of kernels of 20 blocks in one stream: of each its name, how long
-- it took in us, its step, and what else it has.
local nccl <const> = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
local function trace(works)
    local events, at_us, step = {}, 20, 0
    local function add(...) events[#events + 1] = string.format(...) end
    for k, work in ipairs(works) do
        local call_us = 10 * k
        if work.step and work.step ~= step then
            step = work.step
            add('{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%d","pid":1,"tid":1,'
                .. '"ts":%d,"dur":%d}', step, call_us - 2, 10 * #works)
        end
        if work.node then
            add('{"ph":"X","cat":"cpu_op","name":"MmBackward0","pid":1,"tid":1,"ts":%d,"dur":4,'
                .. '"args":{"Sequence number":%d,"Fwd thread id":1}}', call_us - 1, work.node)
        end
        add('{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%d,'
            .. '"dur":2,"args":{"correlation":%d}}', call_us, k)
        add('{"ph":"X","cat":"kernel","name":"%s","pid":0,"tid":7,"ts":%d,"dur":%d,"args":'
            .. '{"device":0,"stream":7,"correlation":%d,"grid":[20,1,1],"block":[128,1,1]%s}}',
            work[1], at_us, work[2], k, not work.elements and ""
            or (',"Collective name":"allreduce","In msg nelems":%d,"Out msg nelems":%d,'
                .. '"dtype":"Float","Group size":2'):format(work.elements, work.elements))
        at_us = at_us + work[2] + 1
    end
    local path = os.tmpname()
    local file <close> = assert(io.open(path, "w"))
    file:write('{"deviceProperties":[{"id":0,"name":"H200","numSms":132}],"traceEvents":[',
        table.concat(events, ","), "]}")
    file:close()
    local loaded = lab.load(path)
    os.remove(path)
    return loaded
end

local function is_about(found, expected, name)
    tap.ok(math.abs(found / expected - 1) < 0.01, name)
    if math.abs(found / expected - 1) >= 0.01 then
        tap.diag(("%.1f us, and not %.1f"):format(found, expected))
    end
end

-- The next step's first kernel waits for the all-reduce, beside which the last one runs.
local two_steps = {}
for step = 1, 2 do
    for _, work in ipairs{ { "first", 500 }, { nccl, 1000 }, { "last", 100 } } do
        work.step = step
        two_steps[#two_steps + 1] = work
    end
end
local found = changed(trace(two_steps), { "async", "*AllReduce*" }):predict()
is_about(found.after_us, 2 * (500 + 1000), "async: it is waited for before the next step")

-- Walls of 6.960 and 5.733 ms (tests/timeline/data/pairs/README.md).
local recorded = lab.load "tests/timeline/data/pairs/all_reduce_async-before.json.gz"
found = changed(recorded, { "async", "*AllReduce*" }):predict()
tap.ok(math.abs(found.after_us / found.before_us / (5.733 / 6.960) - 1) < 0.02,
    "async: a recording of two H200s, as its twin")

-- ---- buckets ------------------------------------------------------------------------------

-- Eight parts of a backward pass, in a stream beside which gradients are added as they come.
local beside = {}
for i = 1, 2 do beside[i] = lab.stream{ device = gpus[i], non_blocking = true } end
local idle = lab.stream{ device = gpus[1], non_blocking = true }
local million <const> = 250000 -- elements of a million bytes
local sizes <const> = { 1, 1, 1, 4, 1, 1, 1, 4 }
local buffers = {}
for megabytes = 1, 4 do buffers[megabytes] = tensors(megabytes * million) end

local function backward(buckets)
    return function()
        for part = 1, #sizes do
            spin(0.3)
            if buckets[part] then
                for i = 1, 2 do beside[i]:wait_stream(streams[i]) end
                comm:all_reduce(buffers[buckets[part]], { streams = beside })
                idle:wait_stream(beside[1]) -- as NCCL has streams wait that run nothing
            end
        end
        for i = 1, 2 do streams[i]:wait_stream(beside[i]) end
        spin(0.2)
        wait()
    end
end
local fewer <const> = { [3] = 3, [4] = 4, [7] = 3, [8] = 4 }
compare("buckets", times(2, backward(sizes)), times(2, backward(fewer)),
    { { "buckets", 3e6 } }, 0.01)
tap.is(changed(record(times(2, backward(sizes))), { "buckets", 3e6 }):changes()[1].changed, 16,
    "buckets: of two ranks and steps four all-reduces each are gone")

-- The ranking tries them for all at once, without a selection.
local tiny = tensors(million // 10)
local in_small_ones = record(function()
    for _ = 1, 40 do
        spin(0.01)
        for i = 1, 2 do beside[i]:wait_stream(streams[i]) end
        comm:all_reduce(tiny, { streams = beside })
    end
    wait()
end)
local ranked
for _, row in ipairs(lab.whatif(in_small_ones):rank()) do
    if row.edit == "buckets" then ranked = row end
end
tap.ok(ranked and not ranked.selection and ranked.argument > 1e6, "larger buckets are tried")
tap.is(ranked and changed(in_small_ones, { "buckets", ranked.argument }):predict().after_us,
    ranked and ranked.after_us, "and gain what they do by hand")
local page <const> = os.tmpname() .. ".html"
in_small_ones:save(page)
local file <close> = io.open(page)
tap.ok(file:read "a":find("streamlab whatif --buckets " .. ranked.argument .. " FILE", 1, true),
    "a page has the command that tries them")
os.remove(page)

-- 80 MB in 800 us, of which 18 are taken to be its start: 20 MB in 213.5. Three of these are done
-- while the backward pass makes the rest.
local parts = {}
for k = 1, 4 do parts[k] = { "gemm", 1000, node = k } end
parts[5] = { nccl, 800, elements = 20000000 }
parts[6] = { "update", 100 }
found = changed(trace(parts), { "buckets", 20e6 }):predict()
is_about(found.after_us, found.before_us - 800 + 213.5, "buckets: one that is too large is several")
for k = 1, 4 do parts[k].node = nil end
tap.throws_like(function() lab.whatif(trace(parts)):buckets(20e6) end,
    "buckets: an all%-reduce has 80000000 bytes, and when parts of it were there is not known",
    "buckets: not without a backward pass")
parts[5].elements = nil
tap.throws_like(function() lab.whatif(trace(parts)):buckets(20e6) end,
    "buckets: of no all%-reduce the records have the size", "buckets: not without sizes")
tap.throws_like(function() lab.whatif(tl):buckets(0) end, "buckets: it needs bytes from 1 to",
    "buckets of nothing")
local none = lab.profile(function() lab.spin(0.1) lab.synchronize() end)
tap.throws_like(function() lab.whatif(none):buckets(1e6) end, "buckets: there is no collective",
    "buckets without collectives")

-- ---- channels -----------------------------------------------------------------------------

-- 80 MB with 20 blocks in 800 us: 5 blocks of 31 GB/s take 516, so that they are fast enough; but
-- if it was the blocks that were slow, four times as long.
parts[5].elements = 20000000
found = changed(trace(parts), { "channels", 5 }):predict()
is_about(found.after_us, found.before_us, "channels: as long, as far as is likely")
tap.ok(found.range_us.high - found.before_us >= 0.99 * 3 * 800,
    "channels: at worst four times as long")
-- One block of 31 GB/s takes 2581 us.
found = changed(trace(parts), { "channels", 1 }):predict()
is_about(found.after_us, found.before_us - 800 + 2581, "channels: too few")
tap.throws_like(function() lab.whatif(tl):channels(0.5) end,
    "channels: it needs how many blocks a collective has, from 1 to 1024, got 0.5",
    "half a channel")

comm:free()
gradients, streams, gpus, comm = nil, nil, nil, nil
beside, buffers, tiny, idle = nil, nil, nil, nil
tap.done()
