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

-- Two steps without a wait of the host: a kernel of 500 us, an all-reduce of 1 ms, a kernel of 100.
-- The next step's first kernel waits for the all-reduce, beside which the last one runs.
local events, at_us = {}, 20
local function add(...) events[#events + 1] = string.format(...) end
for step = 1, 2 do
    add('{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%d","pid":1,"tid":1,"ts":%d,'
        .. '"dur":100}', step, 100 * (step - 1))
    for k, work in ipairs{ { "first", 500 }, { "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 1000 },
                           { "last", 100 } } do
        local id = 10 * step + k
        add('{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%d,'
            .. '"dur":2,"args":{"correlation":%d}}', 100 * (step - 1) + 10 * k, id)
        add('{"ph":"X","cat":"kernel","name":"%s","pid":0,"tid":7,"ts":%d,"dur":%d,"args":'
            .. '{"device":0,"stream":7,"correlation":%d,"grid":[20,1,1],"block":[128,1,1]}}',
            work[1], at_us, work[2], id)
        at_us = at_us + work[2] + 1
    end
end
local path = os.tmpname()
local file <close> = assert(io.open(path, "w"))
file:write('{"deviceProperties":[{"id":0,"name":"H200","numSms":132}],"traceEvents":[',
    table.concat(events, ","), "]}")
file:close()
local found = changed(lab.load(path), { "async", "*AllReduce*" }):predict()
os.remove(path)
tap.ok(math.abs(found.after_us / (2 * (500 + 1000)) - 1) < 0.01,
    "async: it is waited for before the next step")

-- Walls of 6.960 and 5.733 ms (tests/timeline/data/pairs/README.md).
local recorded = lab.load "tests/timeline/data/pairs/all_reduce_async-before.json.gz"
found = changed(recorded, { "async", "*AllReduce*" }):predict()
tap.ok(math.abs(found.after_us / found.before_us / (5.733 / 6.960) - 1) < 0.02,
    "async: a recording of two H200s, as its twin")

comm:free()
gradients, streams, gpus, comm = nil, nil, nil, nil
tap.done()
