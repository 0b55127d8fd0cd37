-- observed.lua - what the facts of docs/facts look like when they are run: for the id of a fact a
-- function that gives what was seen and what the fact says. facts.t.lua runs them.
--
-- Host waits and order between streams are asked as lab.probe does: beside kernels that are long
-- enough for either answer to be clear on a GPU too. observed_graphs.lua has those of graphs,
-- observed_gpus.lua those of several GPUs.

local observed = {}

local function pinned(n, value)
    return lab.full(value or 0, n, { device = "cpu", pinned = true })
end
local function pageable(n, value) return lab.full(value or 0, n, { device = "cpu" }) end

local mib <const> = 2^18            -- float32 elements

-- "host waits", "apart" or "together": what a call between two kernels does.
local function effect(f, options)
    local r = lab.probe(f, options)
    return r.host_blocked and "host waits" or r.serialised and "apart" or "together"
end

local exempt <const> = { non_blocking = true }

local function streams(...)
    local list = {}
    for i, name in ipairs{ ... } do list[i] = lab.stream{ name = name, non_blocking = true } end
    return table.unpack(list)
end

-- Runs it once unmeasured, since first times load kernels and find memory, then records it.
local function record(f)
    f()
    lab.synchronize()
    return lab.profile(f)
end

-- Whether two streams of a recording ran at the same time, for a fifth of the shorter one's work.
local function beside(tl, a, b)
    local shorter = math.min(tl:busy_us{ stream = a }, tl:busy_us{ stream = b })
    return tl:overlap_us({ stream = a }, { stream = b }) > 0.2 * shorter
end

local function starts_behind(tl, later, earlier)
    local function of(stream)
        for _, span in ipairs(tl:spans()) do
            if span.stream == stream then return span end
        end
    end
    return of(later).start_us >= of(earlier).end_us
end

-- ---- streams -------------------------------------------------------------------------------

observed["stream-order"] = function()
    local one = streams("one")
    local tl = record(function() for _ = 1, 3 do lab.spin(2, { stream = one }) end end)
    local last, in_order = -math.huge, true
    for _, span in ipairs(tl:spans()) do
        in_order, last = in_order and span.start_us >= last, span.end_us
    end
    return in_order, true
end

local function two_kernels(blocks)
    local one, two = streams("one", "two")
    return beside(record(function()
        lab.spin(5, { blocks = blocks, threads = 1024, stream = one })
        lab.spin(5, { blocks = blocks, threads = 1024, stream = two })
    end), "one", "two")
end

observed["streams-permit"] = function() return two_kernels(1), true end

observed["room-decides"] = function()
    return two_kernels(2 * lab.device().sm_count), false
end

-- How many of 160 kernels have begun by the middle of the first.
observed["resident-grids"] = function()
    local all = {}
    for i = 1, 160 do all[i] = lab.stream{ non_blocking = true } end
    local spans = record(function()
        for _, s in ipairs(all) do lab.spin(20, { stream = s, threads = 32 }) end
    end):spans()
    local middle, begun = (spans[1].start_us + spans[1].end_us) / 2, 0
    for _, span in ipairs(spans) do begun = begun + (span.start_us < middle and 1 or 0) end
    return begun, 128
end

observed["channels"] = function()
    local all = {}
    for i = 1, 9 do all[i] = lab.stream{ name = tostring(i), non_blocking = true } end
    local function makespan(stream_of)
        return record(function()
            for i = 0, 26 do lab.spin(5, { stream = all[stream_of(i)] }) end
        end).makespan_us
    end
    local by_stream = makespan(function(i) return i // 3 + 1 end)
    return by_stream > 1.2 * makespan(function(i) return i % 9 + 1 end), true
end

observed["tensor-cores"] = function()
    local gate, tensor, cuda = streams("gate", "tensor", "cuda")
    local a, product, power = lab.rand(1024, 1024), lab.empty(1024, 1024), lab.empty(1024, 1024)
    return beside(record(function()
        lab.spin(30, { stream = gate })
        tensor:wait_stream(gate)
        cuda:wait_stream(gate)
        for _ = 1, 200 do lab.matmul(a, a, { tf32 = true, out = product, stream = tensor }) end
        for _ = 1, 200 do lab.pow(a, 3, { out = power, stream = cuda }) end
    end), "tensor", "cuda"), true
end

-- ---- kernels -------------------------------------------------------------------------------

-- Whether two grids of a small block for each SM run at the same time, each with so much shared
-- memory.
local function two_with_shared(bytes)
    local one, two = streams("one", "two")
    local shape = { blocks = lab.device().sm_count, threads = 64, shared_bytes = bytes }
    local function spin(stream)
        shape.stream = stream
        lab.spin(5, shape)
    end
    return beside(record(function()
        spin(one)
        spin(two)
    end), "one", "two")
end

observed["kernel-room"] = function()
    local most = lab.device().max_shared_bytes_per_block
    return tostring(two_with_shared(0)) .. " " .. tostring(two_with_shared(most)), "true false"
end

-- ---- copies --------------------------------------------------------------------------------

local function two_copies(first, second)
    local one, two = streams("one", "two")
    local function start(kind, s)
        local host, gpu = pinned(64 * mib), lab.empty(64 * mib)
        lab.synchronize()
        return function()
            local to, from = host, gpu
            if kind == "h2d" then to, from = gpu, host end
            if kind == "d2d" then to, from = gpu, lab.empty(64 * mib) end
            to:copy_(from, { non_blocking = true, stream = s })
        end
    end
    local a, b = start(first, one), start(second, two)
    return beside(record(function() a() b() end), "one", "two")
end

observed["one-direction"] = function()
    return two_copies("h2d", "h2d") or two_copies("d2h", "d2h"), false
end

observed["both-directions"] = function()
    return two_copies("h2d", "d2h"), lab.device().async_engine_count >= 2
end

local function copy_and_kernel(copy)
    local one, two = streams("one", "two")
    return beside(record(function()
        lab.spin(20, { blocks = 1, threads = 32, stream = two })
        copy(one)
    end), "one", "two")
end

observed["copies-beside-kernels"] = function()
    local host, gpu = pinned(64 * mib), lab.empty(64 * mib)
    local function either_way(to, from)
        return copy_and_kernel(function(s) to:copy_(from, { non_blocking = true, stream = s }) end)
    end
    local to_gpu, to_host = either_way(gpu, host), either_way(host, gpu)
    local overlaps = lab.device().async_engine_count >= 1
    return ("%s, %s"):format(to_gpu, to_host), ("%s, %s"):format(overlaps, overlaps)
end

observed["copies-within"] = function()
    local from, to = lab.empty(256 * mib), lab.empty(256 * mib)
    return copy_and_kernel(function(s) to:copy_(from, { non_blocking = true, stream = s }) end),
        true
end

-- What a copy behind a kernel in its stream does to the host.
local function behind(to, from)
    return effect(function(first)
        to:copy_(from, { non_blocking = true, stream = first })
    end, exempt)
end

observed["pinned-async"] = function()
    local host, gpu = pinned(64 * mib), lab.empty(64 * mib)
    return behind(gpu, host) .. ", " .. behind(host, gpu), "together, together"
end

observed["pageable-to-host"] = function()
    return behind(pageable(1), lab.empty(1)), "host waits"
end

observed["pageable-staging"] = function()
    return behind(lab.empty(mib), pageable(mib)) .. " at 1 MiB, "
        .. behind(lab.empty(64 * mib), pageable(64 * mib)) .. " at 64",
        "together at 1 MiB, host waits at 64"
end

observed["memcpy-waits"] = function()
    local gpu, host, locked = lab.cuda.malloc(1024), pageable(256), pinned(256)
    local seen = {}
    for i, case in ipairs{ { gpu, host }, { gpu, locked }, { host, gpu }, { locked, gpu } } do
        seen[i] = effect(function() lab.cuda.memcpy(case[1], case[2], 1024) end)
    end
    return table.concat(seen, ", "), "host waits, host waits, host waits, host waits"
end
observed["64-kib"] = observed["memcpy-waits"]

observed["memcpy-within"] = function()
    local to, from = lab.cuda.malloc(4096), lab.cuda.malloc(4096)
    return effect(function() lab.cuda.memcpy(to, from) end) .. ", "
        .. effect(function(_, s) lab.cuda.memcpy_async(to, from, { stream = s }) end),
        "apart, together"
end

observed["memset-device"] = function()
    local memory = lab.cuda.malloc(4096)
    return effect(function() lab.cuda.memset(memory, 0) end) .. ", "
        .. effect(function(_, s) lab.cuda.memset_async(memory, 0, { stream = s }) end),
        "apart, together"
end

observed["memset-pinned"] = function()
    local memory = lab.cuda.malloc_host(4096)
    return effect(function() lab.cuda.memset(memory, 0) end), "host waits"
end

observed["read-when"] = function()
    local s = streams("s")
    local host, other, a, b = pinned(4, 1), pageable(4, 1), lab.zeros(4), lab.zeros(4)
    lab.synchronize()
    lab.spin(50, { stream = s })
    a:copy_(host, { non_blocking = true, stream = s })
    b:copy_(other, { non_blocking = true, stream = s })
    host:fill_(2)
    other:fill_(2)
    s:synchronize()
    return a:get(1) .. " from pinned, " .. b:get(1) .. " from pageable",
        "2.0 from pinned, 1.0 from pageable"
end

observed["to-cpu-pinned"] = function()
    local x = lab.ones(4)
    local kept, copied = x:to("cpu", { non_blocking = true }), x:to("cpu")
    lab.synchronize()
    return ("%s, %s"):format(kept.pinned, copied.pinned), "true, false"
end

observed["pin-in-place"] = function()
    local t = pageable(4, 1)
    local copy = t:pin_memory()
    local locked = t:pin()
    local seen = ("%s, %s"):format(rawequal(copy, t), rawequal(locked, t))
    t:unpin()
    return seen, "false, true"
end

observed["pinned-faster"] = function()
    local locked, other, gpu = pinned(64 * mib), pageable(64 * mib), lab.empty(64 * mib)
    local function time(from)
        return lab.measure(function() gpu:copy_(from) end, { warmup = 1, reps = 5 }).median_us
    end
    return time(locked) < time(other), true
end

observed["pinning-costs"] = function()
    local t, gpu = pageable(64 * mib), lab.empty(64 * mib)
    local function time(f)
        local before = lab.now_us()
        f()
        return lab.now_us() - before
    end
    gpu:copy_(t)
    local copy = time(function() gpu:copy_(t) end)
    local in_place = time(function() t:pin() end)
    local memory
    local new = time(function() memory = lab.cuda.malloc_host(t:nbytes()) end)
    t:unpin()
    lab.cuda.free_host(memory)
    return ("%s, %s"):format(new > copy, in_place < new), "true, true"
end

observed["engine-channel"] = function()
    local long, short = streams("long", "short")
    local host, gpu, other = pinned(8 * mib), lab.empty(8 * mib), lab.empty(8 * mib)
    local tl = record(function()
        for _ = 1, 16 do gpu:copy_(host, { non_blocking = true, stream = long }) end
        other:copy_(host, { non_blocking = true, stream = short })
    end)
    local last, first = 0, nil
    for _, span in ipairs(tl:spans()) do
        if span.stream == "long" then last = math.max(last, span.start_us) end
        if span.stream == "short" then first = span.start_us end
    end
    return first > last, true
end

-- The most bytes that rounds of making and freeing hold, in sizes of a round's: in one stream, and
-- in turns in four.
local function most_held(count)
    local all = {}
    for i = 1, count do all[i] = lab.stream{ non_blocking = true } end
    lab.synchronize()
    collectgarbage()
    local before, most = lab.live().device_bytes, 0
    for i = 1, 8 do
        lab.with(all[i % count + 1], function()
            local t = lab.empty(mib)
            lab.spin(5)
            t:fill_(i)
            most = math.max(most, lab.live().device_bytes - before)
            t:free()
        end)
    end
    lab.synchronize()
    return most / (4 * mib)
end

observed["stream-reuse"] = function()
    return ("%g, %g"):format(most_held(1), most_held(4)), "1, 4"
end

-- ---- the NULL stream, and calls --------------------------------------------------------------

local function null_kernel() lab.spin(0.01, { stream = lab.default_stream() }) end
local function null_event() lab.default_stream():record_event() end

observed["null-stream"] = function()
    return effect(null_kernel) .. ", " .. effect(null_event), "apart, apart"
end

observed["non-blocking"] = function()
    return effect(null_kernel, exempt) .. ", " .. effect(null_event, exempt), "together, together"
end

observed["per-thread"] = function()
    return effect(function() lab.spin(0.01, { stream = lab.per_thread_stream() }) end), "together"
end

observed["frees"] = function()
    local cuda, t = lab.cuda, pageable(mib):pin()
    local device, host = cuda.malloc(4096), cuda.malloc_host(4096)
    return table.concat({ effect(function() cuda.free(device) end),
        effect(function() cuda.free_host(host) end),
        effect(function() cuda.host_unregister(t) end) }, ", "),
        "host waits, host waits, host waits"
end

observed["free-ordered"] = function()
    local function freed(own)
        local s = streams("work")
        local m = lab.cuda.malloc_async(1 << 20, s)
        s:synchronize()
        local busy = own and s or streams("other")
        lab.spin(20, { stream = busy })
        lab.cuda.free(m)
        local goes_on = not busy:query()
        lab.synchronize()
        return goes_on
    end
    return ("%s, %s"):format(freed(false), freed(true)), "true, true"
end

-- By far: the pool has nothing after a synchronisation, and gives all back at the next one.
observed["pool-trimmed"] = function()
    local s, memory = streams("work"), nil
    local function us(f)
        local before = lab.now_us()
        f()
        return lab.now_us() - before
    end
    local function malloc() memory = lab.cuda.malloc_async(1 << 30, s) end
    local function free() lab.cuda.free_async(memory, s) end
    local function synchronize() s:synchronize() end
    for _, f in ipairs{ malloc, free, synchronize } do f() end
    local new = us(malloc)
    free()
    local again = us(malloc)
    free()
    local trims, idle = us(synchronize), us(synchronize)
    return ("%s, %s"):format(new > 3 * again, trims > 3 * idle), "true, true"
end

observed["allocations"] = function()
    local cuda, t = lab.cuda, pageable(mib)
    local seen = table.concat({ effect(function() cuda.malloc(4096) end),
        effect(function() cuda.malloc_host(4096) end),
        effect(function() cuda.host_register(t) end) }, ", ")
    cuda.host_unregister(t)
    return seen, "together, together, together"
end

observed["malloc-async"] = function()
    local function both(s) lab.cuda.free_async(lab.cuda.malloc_async(4096, s), s) end
    return effect(both), "together"
end

observed["cache-config"] = function()
    return effect(lab.cuda.func_set_cache_config), "together"
end

-- ---- events ----------------------------------------------------------------------------------

-- What a consumer reads of a tensor that a producer sets from 1 to 7 after 20 ms.
local function consumed(arrange)
    local producer, consumer = streams("producer", "consumer")
    local x, event = lab.full(1, 4), lab.event()
    lab.mul(x, x)
    lab.spin(0.01)
    lab.synchronize()
    local function produce()
        lab.spin(20, { stream = producer })
        x:fill_(7, { stream = producer })
        event:record(producer)
    end
    arrange(event, producer, consumer, produce)
    return lab.with(consumer, function() return lab.mul(x, x):get(1) end)
end

observed["record-captures"] = function()
    return consumed(function(event, producer, consumer, produce)
        produce()
        consumer:wait_event(event)
        lab.spin(100, { stream = producer })
        event:record(producer)
    end), 49.0
end

observed["unrecorded-event"] = function()
    return consumed(function(event, _, consumer, produce)
        consumer:wait_event(event)
        produce()
    end), 1.0
end

observed["value-before-write"] = function()
    local ready = lab.zeros(1, { dtype = "int32", device = "cpu", pinned = true })
    return consumed(function(_, producer, consumer, produce)
        consumer:wait_value(ready, 1, 1)
        produce()
        producer:write_value(ready, 1, 1)
    end), 49.0
end

observed["value-by-host"] = function()
    local ready = lab.zeros(1, { dtype = "int32", device = "cpu", pinned = true })
    return consumed(function(_, producer, consumer, produce)
        consumer:wait_value(ready, 1, 1)
        produce()
        producer:synchronize()
        ready:set(1, 1)
    end), 49.0
end

observed["no-implied-order"] = function()
    return consumed(function(_, _, _, produce) produce() end), 1.0
end

observed["wait-on-device"] = function()
    return effect(function(first, second) second:wait_event(first:record_event()) end, exempt),
        "apart"
end

observed["event-timed"] = function()
    local s = streams("s")
    local from, to = s:record_event(), s:record_event()
    to:synchronize()
    local untimed = s:record_event(lab.event{ timing = false })
    untimed:synchronize()
    return ("%s, %s"):format(pcall(from.elapsed_time, from, to) and "a time" or "none",
        pcall(from.elapsed_time, from, untimed) and "a time" or "none"), "a time, none"
end

observed["event-interval"] = function()
    local s, other = streams("s", "other")
    local full = { blocks = 2 * lab.device().sm_count, threads = 1024 }
    local function time(before_ms)
        lab.synchronize()
        if before_ms then
            lab.spin(before_ms, { blocks = full.blocks, threads = 1024, stream = other })
        end
        local from = s:record_event()
        lab.spin(10, { blocks = full.blocks, threads = 1024, stream = s })
        local to = s:record_event()
        to:synchronize()
        return from:elapsed_time(to)
    end
    time()
    return time(50) > 2 * time(), true
end

observed["event-cost"] = function()
    local s = streams("s")
    local function gaps(event)
        local tl = record(function()
            for _ = 1, 200 do
                lab.spin(0.02, { stream = s })
                event:record(s)
            end
        end)
        return tl.makespan_us - tl:busy_us()
    end
    return gaps(lab.event()) > gaps(lab.event{ timing = false }), true
end

-- What the race checker finds of two rounds through one buffer, with or without the event from its
-- reader to the next copy.
local function races_of_rounds(guarded)
    local copies, kernels = streams("copies", "kernels")
    local host, buffer = pinned(4, 1), lab.zeros(4)
    lab.synchronize()
    local before = lab.check("warn")
    for _ = 1, 2 do
        if guarded then copies:wait_stream(kernels) end
        buffer:copy_(host, { non_blocking = true, stream = copies })
        kernels:wait_stream(copies)
        lab.sum(buffer, { stream = kernels })
    end
    lab.synchronize()
    local found = #lab.races()
    lab.check(before)
    return found
end

observed["order-both-ways"] = function()
    return ("%d, %d"):format(races_of_rounds(false), races_of_rounds(true)), "1, 0"
end

-- ---- the host -----------------------------------------------------------------------------------

observed["launch-returns"] = function()
    return effect(function(first) lab.spin(0.01, { stream = first }) end), "together"
end

observed["launch-queue"] = function()
    local s = streams("s")
    lab.spin(0.01, { stream = s })
    lab.synchronize()
    lab.spin(500, { stream = s })
    local long_done = s:record_event()
    local function issue(count)
        for _ = 1, count do lab.spin(0.001, { stream = s }) end
        return long_done:query()
    end
    return ("%s, %s"):format(issue(900), issue(300)), "false, true"
end

observed["item-waits"] = function()
    local x = lab.ones(4)
    local y = lab.sum(x)
    lab.synchronize()
    return effect(function(first)
        lab.with(first, function() return lab.sum(x, { out = y }):item() end)
    end, exempt), "host waits"
end

observed["stream-synchronize"] = function()
    local one, two = streams("one", "two")
    lab.spin(0.01)
    lab.synchronize()
    lab.spin(10, { stream = one })
    lab.spin(500, { stream = two })
    one:synchronize()
    local seen = ("%s, %s"):format(one:query(), two:query())
    lab.synchronize()
    return seen, "true, false"
end

observed["host-function-order"] = function()
    local s = streams("s")
    local x, seen = pinned(1, 1), nil
    local gpu = lab.full(5, 1)
    lab.synchronize()
    x:copy_(gpu, { non_blocking = true, stream = s })
    s:launch_host_func(function()
        seen = x:get(1)
        x:set(1, 9)
    end)
    gpu:copy_(x, { non_blocking = true, stream = s })
    s:synchronize()
    return ("%g, %g"):format(seen, gpu:get(1)), "5, 9"
end

observed["host-function-calls"] = function()
    local s = streams("s")
    local code
    s:launch_host_func(function()
        local fine, err = pcall(lab.synchronize)
        code = fine or err.code
    end)
    s:synchronize()
    return code, "SL_ESTATE"
end

-- ---- priorities ----------------------------------------------------------------------------

-- A long grid of 40 ms, in blocks that last block_ms, and an urgent one 5 ms behind it: their
-- spans.
local function two_grids(priority, block_ms)
    local long = lab.stream{ name = "long", non_blocking = true }
    local urgent = lab.stream{ name = "urgent", priority = priority, non_blocking = true }
    local wave = 2 * lab.device().sm_count
    local tl = record(function()
        lab.spin(block_ms, { blocks = 40 / block_ms * wave // 1, threads = 1024, stream = long })
        lab.host_work(5)
        lab.spin(1, { blocks = wave, threads = 1024, stream = urgent })
    end)
    local spans = {}
    for _, span in ipairs(tl:spans()) do spans[span.stream] = span end
    return spans.long, spans.urgent
end

observed["priority-order"] = function()
    local function overtakes(priority)
        local long, urgent = two_grids(priority, 1)
        return urgent.end_us < long.end_us
    end
    return ("%s, %s"):format(overtakes(0), overtakes(-1)), "false, true"
end

observed["priority-blocks"] = function()
    local long, urgent = two_grids(-1, 40)
    return urgent.start_us - long.start_us > 39000, true
end

observed["priority-clamped"] = function()
    local range = lab.device().priority_range
    local low, high = lab.stream{ priority = 1000 }, lab.stream{ priority = -1000 }
    return ("%d, %d"):format(low.priority, high.priority),
        ("%d, %d"):format(range.least, range.greatest)
end

observed["priority-default"] = function() return lab.stream().priority, 0 end

observed["priority-copies"] = function()
    local low = lab.stream{ name = "low", priority = "low", non_blocking = true }
    local high = lab.stream{ name = "high", priority = "high", non_blocking = true }
    local large, small = pinned(64 * mib), pinned(mib)
    local a, b = lab.empty(64 * mib), lab.empty(mib)
    return starts_behind(record(function()
        a:copy_(large, { non_blocking = true, stream = low })
        b:copy_(small, { non_blocking = true, stream = high })
    end), "high", "low"), true
end

for _, name in ipairs{ "graphs", "gpus" } do
    for id, f in pairs(require("both.observed_" .. name)) do observed[id] = f end
end

return observed
