-- 51-communication.t.lua - kernels that communicate are an engine of their own, in traces of other
-- programs and in timelines of the laboratory.

local T = require "tap"
local lab = require "streamlab"
local core = debug.getregistry()["streamlab.internals"]

lab.open{ backend = "sim" }

local slice <const> = '{"ph":"X","cat":"kernel","name":"%s","pid":0,"tid":%d,"ts":%d,"dur":%d,'
                      .. '"args":{"stream":%d,"device":0,"grid":[%d,1,1],"block":[256,1,1]%s}}'

-- Kernels {name, stream, from, to, blocks, more args}, in us.
local function load(kernels)
    local path, list = os.tmpname(), {}
    for i, k in ipairs(kernels) do
        list[i] = slice:format(k[1], k[2], k[3], k[4] - k[3], k[2], k[5] or 132, k[6] or "")
    end
    local file = assert(io.open(path, "w"))
    file:write('{"traceEvents":[', table.concat(list, ","), "]}")
    file:close()
    local tl = lab.load(path)
    os.remove(path)
    return tl
end

-- ---- which kernels communicate -------------------------------------------------------------

local names <const> = {
    { "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)", "comm" },
    { "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", "comm" },
    { "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", "comm" },
    { "rcclGenericKernel<4, false>(ncclDevKernelArgsStorage<4096ul>)", "comm" },
    { "mscclKernel_Sum_float_LL", "comm" },
    { "gemm_after_nccl", "compute" },
    { "Memory_reduce_kernel", "compute" },
}
for _, case in ipairs(names) do
    local tl = load{ { case[1], 7, 0, 10 } }
    T.is(tl:spans()[1].engine, case[2], ("%s is work of the engine %s"):format(case[1], case[2]))
end
local named = load{ { "cross_device_reduce_1stage", 7, 0, 10, 36,
                      ',"Collective name":"allreduce"' } }
T.is(named:spans()[1].kind, "collective", "a kernel that the file calls a collective is one")

-- ---- covered and not covered ---------------------------------------------------------------

-- stream 7    |gemm 0..100|              |step 200..230|
-- stream 20          |all-reduce 60..200|
local function step()
    return load{ { "gemm", 7, 0, 100 },
                 { "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 20, 60, 200, 24 },
                 { "step", 7, 200, 230 } }
end

local tl = step()
T.is(tl:busy_us("compute"), 130, "computation lasts 100 + 30 us")
T.is(tl:busy_us("kernel"), 130, "of kernels that are no collectives")
T.is(tl:busy_us("comm"), 140, "communication 60 to 200")
T.is(tl:busy_us("collective"), 140, "of one collective")
T.is(tl:overlap_us("comm", "compute"), 40, "computation covers 60 to 100 of it")
T.is(tl:bounds().busiest_engine, "comm", "it is the engine with the most work")
T.is(tl:bounds().serial_us, 270, "and counts in the sum of all work")
local json <const> = tl:json()
T.like(json, '"busy_us": {"kernel": 130.000, "collective": 140.000}', "JSON has both by kind")
T.like(json, '"compute&comm": 40.000', "the time of both")
T.like(json, '"communication_us": {"covered": 40.000, "not_covered": 100.000}',
       "and what is covered")

local function has(text, part, name)
    if not T.ok(text:find(part, 1, true), name) then T.diag(part .. "\nis not in\n" .. text) end
end

has(core.words.summary(core.figures(tl)), [[
compute                        130 us        56.5 %         2
comm                           140 us        60.9 %         1

communication                    time   of makespan     of it
covered by kernels            40.0 us        17.4 %    28.6 %
not covered                    100 us        43.5 %    71.4 %
]], "the summary has a row of it, and what is covered")
has(core.words.explain(core.explanation(tl), 80), [[
Communication: 140 us; kernels run beside it for 40.0 us (28.6 %), and not for
100 us.
]], "so has an explanation in a sentence")
local a, b, moved = core.moves(tl, load{ { "gemm", 7, 0, 100 },
                                         { "ncclDevKernel_AllReduce", 20, 0, 100 } })
has(core.words.diff(a, b, moved, nil, { "", "" }), [[
communication                     A          B    change
covered by kernels          40.0 us     100 us  +150.0 %
not covered                  100 us          0  -100.0 %
]], "two timelines are compared by it")
T.is(core.figures(load{ { "gemm", 7, 0, 100 } }).communication, nil,
     "and nothing of it where there is none")

-- ---- files ---------------------------------------------------------------------------------

-- A file of ours has what names do not say, also of a kernel whose name would say otherwise.
local function again(timeline)
    local path = os.tmpname()
    timeline:save(path .. ".json")
    local back = lab.load(path .. ".json")
    os.remove(path)
    os.remove(path .. ".json")
    return back
end

T.is_deeply(again(tl):spans(), tl:spans(), "a trace file keeps the engines")
T.is_deeply(again(named):spans(), named:spans(), "also where the name does not tell")

-- ---- what nothing covers is a cause ------------------------------------------------------------

-- Calls and kernels of a stream each {name, stream, launched, from, to}; `joins`: a kernel before
-- which its stream waited for an event of the one before it.
local function traced(kernels)
    local path, list = os.tmpname(), {}
    local function put(form, ...) list[#list + 1] = form:format(...) end
    put('{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":9,"tid":9,"ts":8,"dur":5,"args":{}}')
    for i, k in ipairs(kernels) do
        local from = k[3]
        if k.joins then
            local other = kernels[i - 1][2]
            put('{"ph":"X","cat":"cuda_runtime","name":"cudaEventRecord","pid":9,"tid":9,"ts":%d,\z
                "dur":1,"args":{"correlation":%d}}',
                from - 6, 100 + i)
            put('{"ph":"X","cat":"cuda_runtime","name":"cudaStreamWaitEvent","pid":9,"tid":9,\z
                "ts":%d,"dur":1,"args":{"correlation":%d}}',
                from - 3, 200 + i)
            put('{"ph":"X","cat":"cuda_sync","name":"Stream Wait Event","pid":0,"tid":%d,"ts":%d,\z
                "dur":0,"args":{"correlation":%d,"stream":%d,"device":0,\z
                "cuda_sync_kind":"Stream Wait Event","wait_on_stream":%d,\z
                "wait_on_cuda_event_record_corr_id":%d,\z
                "wait_on_cuda_event_id":%d}}',
                k[2], from - 3, 200 + i, k[2], other, 100 + i, i)
        end
        put('{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":%d,\z
            "dur":2,"args":{"correlation":%d}}', from, i)
        put('{"ph":"X","cat":"kernel","name":"%s","pid":0,"tid":%d,"ts":%d,"dur":%d,\z
            "args":{"correlation":%d,"stream":%d,"device":0,"grid":[%d,1,1],"block":[256,1,1]}}',
            k[1], k[2], k[4], k[5] - k[4], i, k[2], k[1]:find "nccl" and 24 or 1000)
    end
    local file = assert(io.open(path, "w"))
    file:write('{"traceEvents":[', table.concat(list, ","), "]}")
    file:close()
    local found = lab.load(path)
    os.remove(path)
    return found
end

-- As PyTorch has it: the all-reduce of gradients in NCCL's stream, for which the step waits.
--   stream 7    |backward 20..1020|                     |step 1770..2770|
--   stream 20                      |all-reduce 1023..1767|
-- Without the last wait the step follows backward at 1022 or so: 748 us less.
local late = traced{ { "backward", 7, 10, 20, 1020 },
                     { "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, 20, 1023,
                       1767, joins = true },
                     { "step", 7, 40, 1770, 2770, joins = true } }
local cause <const> = late:causes()[1]
T.is(cause.cause, "event_wait", "an all-reduce that nothing covers holds up what waits for it")
T.is(cause.engine, "compute", "and computation stands still")
T.like(cause.sentence, "^No kernel ran for .*: step in stream 7 waited for "
    .. ".*ncclDevKernel_AllReduce",
       "the sentence names both")
T.near(cause.gain_us, 748, 30, "the gain is the time that it would be covered")
T.like(cause.remedy, "async_op=True", "the remedy is to let it run beside")

local function gain(async)
    local gpus = { lab.open{ backend = "sim", index = 0 }, lab.open{ backend = "sim", index = 1 } }
    local comm, train, sums = lab.comm{ devices = gpus }, {}, {}
    for k = 1, 2 do
        train[k] = lab.stream{ device = gpus[k], name = "train" }
        sums[k] = lab.ones(1 << 23, { device = gpus[k] })
    end
    local function backward()
        local works = {}
        for _ = 1, 4 do
            for k = 1, 2 do lab.spin(0.3, { stream = train[k], blocks = 96 }) end
            works[#works + 1] = comm:all_reduce(sums, { streams = train, async = async })
        end
        for k = 1, 2 do
            for _, work in ipairs(async and works or {}) do lab.with(train[k], work.wait, work) end
            lab.spin(0.1, { stream = train[k], blocks = 96 })
        end
    end
    backward()
    local found = lab.profile(backward)
    comm:free()
    local first = found:causes()[1]
    return found.makespan_us, first
end
local before_us, told = gain(false)
local after_us = gain(true)
collectgarbage()
T.is(told.cause, "stream_order", "sums in the kernels' stream hold them up")
T.like(told.remedy, "`async = true`", "the remedy names the option")
T.ok(math.abs(told.gain_us - (before_us - after_us)) < 0.25 * (before_us - after_us),
     "with the gain that it has, within 25 %", told.gain_us, before_us - after_us)

-- ---- collectives behind the last kernel --------------------------------------------------------

-- A tail: both all-reduces wait for the last kernel, and nothing comes behind them.
--   stream 7    |a 20..1020|b 1021..2021|
--   stream 20                           |one 2024..2424|two 2426..2826|
-- If one begins behind a, at 1023, it ends beside b, and two begins when one does now: 402 less.
-- (The trace does not tell how many SMs there are, and so not that b lacks some.)
local function tail(more, stream)
    local list = { { "a", 7, 10, 20, 1020 }, { "b", 7, 13, 1021, 2021 },
                   { "ncclDevKernel_AllReduce_Sum_f32_RING_LL", stream or 20, 30, 2024, 2424,
                     joins = not stream },
                   { "ncclDevKernel_AllReduce_Sum_f32_RING_LL", stream or 20, 34, 2426, 2826 } }
    for _, k in ipairs(more or {}) do list[#list + 1] = k end
    return traced(list)
end

local function last_of(timeline)
    for _, c in ipairs(timeline:causes()) do if c.cause == "comm_last" then return c end end
end

local at_end <const> = tail():causes()[1]
T.is(at_end.cause, "comm_last", "all-reduces behind the last kernel are a cause")
T.is(at_end.lost_us, 800, "which costs what nothing covers")
T.near(at_end.gain_us, 402, 2,
       "of two, the first can run beside the second half of the computation")
T.is(at_end.count, 2, "it counts the collectives")
T.like(at_end.remedy, "as soon as its part is there.*async_op=True",
       "the remedy is to begin with a part")
T.ok(not tail():verdict().good, "and the schedule is not called good")
T.near(last_of(tail(nil, 7)).gain_us, 402, 2, "in the kernels' stream they are as well")
T.is(last_of(tail{ { "step", 7, 40, 2830, 2840, joins = true } }), nil,
     "where a kernel comes behind them, what it waited for is the cause")
T.is(last_of(traced{ { "a", 7, 10, 20, 1020 },
                     { "ncclDevKernel_AllReduce", 20, 30, 1024, 1424, joins = true } }), nil,
     "one collective alone has no parts")
T.is(last_of(traced{ { "a", 7, 10, 20, 1020 }, { "b", 7, 15, 1021, 2021 },
                     { "ncclDevKernel_AllReduce", 20, 20, 1024, 2424 },
                     { "ncclDevKernel_AllReduce", 20, 30, 2426, 2826 },
                     { "ncclDevKernel_AllReduce", 20, 34, 2828, 3228 } }), nil,
     "collectives that other ones kept waiting began as soon as they could")
T.is(last_of(traced{ { "a", 7, 10, 20, 1020 }, { "ncclDevKernel_AllReduce", 20, 2010, 2020, 2424 },
                     { "ncclDevKernel_AllReduce", 20, 2014, 2426, 2826 } }), nil,
     "nor is it the last kernel where the host issued them late")

-- Four layers and their sums: all behind the last layer, or each behind its own.
local function sums_at_end(is_at_end, blocks)
    local gpus = { lab.open{ backend = "sim", index = 0 }, lab.open{ backend = "sim", index = 1 } }
    local comm, train, sums = lab.comm{ devices = gpus }, {}, {}
    for k = 1, 2 do
        train[k] = lab.stream{ device = gpus[k], name = "train" }
        sums[k] = lab.ones(1 << 23, { device = gpus[k] })
    end
    local function all_reduce() comm:all_reduce(sums, { streams = train, async = true }) end
    local function backward()
        for _ = 1, 4 do
            for k = 1, 2 do lab.spin(0.3, { stream = train[k], blocks = blocks }) end
            if not is_at_end then all_reduce() end
        end
        for _ = 1, is_at_end and 4 or 0 do all_reduce() end
    end
    backward()
    for k = 1, 2 do train[k]:synchronize() end
    local found = lab.profile(backward)
    comm:free()
    return found
end
for _, blocks in ipairs{ 96, 132 } do    -- that leave SMs to the sums, and that do not
    local before <const>, after <const> = sums_at_end(true, blocks), sums_at_end(false, blocks)
    local found <const>, gained = before:causes()[1], before.makespan_us - after.makespan_us
    T.is(found.cause, "comm_last", "sums behind the last layer of two GPUs are one cause")
    T.like(found.remedy, "`async = true`", "with the remedy of the laboratory")
    T.ok(gained > 0.05 * before.makespan_us and math.abs(found.gain_us - gained) < 0.25 * gained,
         "each begun behind its layer they gain what was told, within 25 %", found.gain_us, gained)
    T.is(last_of(after), nil, "and then only one is behind the last kernel: no cause")
end
collectgarbage()

-- ---- of the laboratory --------------------------------------------------------------------

local function recorded()
    local gpus = { lab.open{ backend = "sim", index = 0 }, lab.open{ backend = "sim", index = 1 } }
    local comm, grads = lab.comm{ devices = gpus }, {}
    for k = 1, 2 do grads[k] = lab.ones(1 << 20, { device = gpus[k] }) end
    local ours = lab.profile(function()
        for k = 1, 2 do
            gpus[k]:make_current()
            lab.spin(0.1)
        end
        comm:all_reduce(grads)
    end)
    local spans = {}
    for _, span in ipairs(ours:spans()) do spans[span.engine] = (spans[span.engine] or 0) + 1 end
    T.is_deeply(spans, { compute = 2, comm = 2 },
                "each rank's part of a collective is communication")
    for _, c in ipairs(core.figures(ours).communication) do
        T.is(c.covered_ns, 0, c.prefix .. "in the kernels' own stream nothing covers it")
    end
    local path = os.tmpname()
    ours:save(path .. ".html")
    local page <close> = assert(io.open(path .. ".html"))
    T.like(page:read("a"), '"gpus":%["gpu1: ","gpu0: "%],\n"gpu_order":%[1,0%]',
           "the page has that order for its rows, too")
    os.remove(path .. ".html")
    ours:save(path .. ".svg", { rows = "engines" })
    local file <close> = assert(io.open(path .. ".svg"))
    local picture = file:read("a")
    os.remove(path)
    os.remove(path .. ".svg")
    T.is(ours.device_index, 1, "the second GPU is the current one")
    local prefixes = {}
    for _, list in ipairs{ core.figures(ours).devices, core.figures(ours).communication } do
        for _, device in ipairs(list) do prefixes[#prefixes + 1] = device.prefix end
    end
    T.is(table.concat(prefixes), "gpu0: gpu1: gpu0: gpu1: ",
         "a summary has the GPUs in the order of their numbers nevertheless")
    T.ok(picture:find("gpu0: communication", 1, true) < picture:find("gpu1: compute", 1, true),
         "rows are in the order of the GPUs' numbers nevertheless")
    T.is_deeply(again(ours):spans(), ours:spans(), "a file keeps those of the laboratory as well")
    comm:free()
end
recorded()
collectgarbage()

T.done()
