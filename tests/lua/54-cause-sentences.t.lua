-- 54-cause-sentences.t.lua - the sentences, remedies and clauses of causes.lua, word for word, from
-- records made by hand.
local tap = require "tap"
require "streamlab"

local core = debug.getregistry()["streamlab.internals"]
local say = core.words.say

-- ---- records -----------------------------------------------------------------------------

local function operation(kind, stream_id, name, more)
    local side = { kind = kind, engine = kind == "kernel" and "compute" or kind:match("_(.*)"),
                   stream_id = stream_id, stream_name = "", name = name, where = "", source = "",
                   priority = 0, bytes = 0, correlation = 1 }
    for key, value in pairs(more or {}) do side[key] = value end
    return side
end

local function call(kind, name, more)
    local side = { is_call = true, kind = kind, name = name, where = "", source = "" }
    for key, value in pairs(more or {}) do side[key] = value end
    return side
end

local function trace(language, more)
    local t = { language = language, default_stream = "" }
    for key, value in pairs(more or {}) do t[key] = value end
    return t
end

local function record(cause, waiter, by, more)
    local r = { cause = cause, idle = true, engine = waiter and waiter.engine or "compute",
                count = 1, lost_ns = 96000, by_host_ns = 96000, waiter = waiter, by = by,
                by_itself = waiter == by, trace = trace("cuda") }
    for key, value in pairs(more or {}) do r[key] = value end
    return r
end

-- ---- one that the laboratory recorded -------------------------------------------------------

local kernel = operation("kernel", 1, "matmul_f32", { stream_name = "first", where = "a.lua:1" })
local h2d = operation("memcpy_h2d", 2, "Memcpy HtoD", { stream_name = "stream 2", where = "a.lua:2",
    source = "x = data_on_cpu:cuda()", from_pageable = true })
local d2h = operation("memcpy_d2h", 0, "Memcpy DtoH", { where = "a.lua:3", host_waited = true,
    source = "y = result:cpu()", to_pageable = true })
local sync_copy = operation("memcpy_h2d", 5, "Memcpy HtoD",
                            { where = "a.lua:4", host_waited = true })
local host_func = operation("host_func", 1, "host_func", { engine = "host", stream_name = "first",
    where = "a.lua:5" })
local free = call("plain", "cudaFree", { where = "a.lua:6", waited_for_device = true })
local malloc = call("plain", "cudaMalloc", { where = "a.lua:7" })
local sync = call("device_sync", "cudaDeviceSynchronize", { where = "a.lua:8" })
local stream_sync = call("stream_sync", "cudaStreamSynchronize", { where = "a.lua:9" })
local event_sync = call("event_sync", "cudaEventSynchronize", { where = "a.lua:10" })
local work = call("host_work", "host_work", { where = "a.lua:11" })
local copy_out = operation("memcpy_d2h", 1, "Memcpy DtoH", { stream_name = "first",
    where = "a.lua:12", source = "host:copy_(result)", to_pageable = true })
local mystery = operation("kernel", 7, "")          -- no name, no line, no note

for _, case in ipairs {
    { "stream_order", true, kernel, h2d,
      'No kernel ran for 3.00 ms: matmul_f32 in stream "first" at a.lua:1 waited for Memcpy '
        .. 'HtoD in stream 2 at a.lua:2, which comes before it in its stream',
      "In one stream nothing runs beside a copy or a memset: put work that does not depend on "
        .. "the other into another stream, or cut both into pieces that take turns; with a second "
        .. "buffer, used in turns, a copy fills one while a kernel works on the other" },
    { "stream_order", true, kernel, mystery,
      'No kernel ran for 3.00 ms: matmul_f32 in stream "first" at a.lua:1 waited for kernel in '
        .. 'stream 7, which comes before it in its stream',
      "One stream runs one thing at a time, unless a launch asks for an early start (compute "
        .. "capability 9.0 on): put work that does not depend on the other into another stream, or "
        .. "cut both into pieces that take turns" },
    { "event_wait", true, kernel, h2d,
      'No kernel ran for 3.00 ms: matmul_f32 in stream "first" at a.lua:1 waited for an event '
        .. 'that was recorded behind Memcpy HtoD in stream 2 at a.lua:2',
      "Record the event directly after the one operation whose result is used; if none is "
        .. "used, do without the wait; with a second buffer, used in turns, a copy fills one while "
        .. "a kernel works on the other" },
    { "null_stream", false, kernel, d2h,
      'matmul_f32 in stream "first" at a.lua:1 waited 3.00 ms for Memcpy DtoH in the default '
        .. 'stream at a.lua:3: work in the default stream and work in blocking streams wait for '
        .. 'each other',
      "Keep work out of the default stream: lab.with(stream, ...); or give the stream "
        .. "non_blocking = true, and wait where an order is needed" },
    { "channel_alias", false, kernel, mystery,
      'matmul_f32 in stream "first" at a.lua:1 waited 3.00 ms for kernel in stream 7, whose '
        .. 'stream shares a hardware channel with its own',
      "Use fewer streams, or more channels: CUDA_DEVICE_MAX_CONNECTIONS, from 8 up to 32, set "
        .. "before the program starts" },
    { "engine_busy", false, h2d, sync_copy,
      "Memcpy HtoD in stream 2 at a.lua:2 waited 3.00 ms for Memcpy HtoD in stream 5 at "
        .. "a.lua:4: a copy engine does one copy at a time",
      "Issue first the copy that other work waits for; all of them end sooner only with fewer "
        .. "bytes" },
    { "engine_busy", true, kernel, host_func,
      'No kernel ran for 3.00 ms: matmul_f32 in stream "first" at a.lua:1 waited for host_func '
        .. 'in stream "first" at a.lua:5: one thread runs all host functions, one after the other',
      "Keep host functions short, and have few of them" },
    { "no_sm_room", false, kernel, mystery,
      'matmul_f32 in stream "first" at a.lua:1 waited 3.00 ms for kernel in stream 7, which '
        .. 'left no room on the SMs',
      "A kernel that fills the GPU runs alone: only smaller grids overlap, and a higher "
        .. "priority lets a stream go first" },
    { "no_sm_room", false, kernel, nil,
      'matmul_f32 in stream "first" at a.lua:1 waited 3.00 ms for other work, which left no '
        .. 'room on the SMs',
      "A kernel that fills the GPU runs alone: only smaller grids overlap, and a higher "
        .. "priority lets a stream go first" },
    { "priority", false, kernel, mystery,
      'matmul_f32 in stream "first" at a.lua:1 waited 3.00 ms for kernel in stream 7, which '
        .. 'came later but whose stream has the higher priority',
      "That is what the priority asks for; give both streams the same to have them in order of "
        .. "arrival" },
    { "launch_queue_full", true, h2d, kernel,
      'No H2D copy ran for 3.00 ms: the host waited for room in the launch queue to issue '
        .. 'matmul_f32 in stream "first" at a.lua:1, and Memcpy HtoD in stream 2 at a.lua:2 came '
        .. 'after that',
      "Issue fewer and larger operations, or the other streams' work before this stream's "
        .. "queue is full; CUDA_SCALE_LAUNCH_QUEUES=4x in the environment makes the queue longer "
        .. "(CUDA 12 and later)" },
    { "host_blocked", true, kernel, h2d,
      "No kernel ran for 3.00 ms: the host was blocked in Memcpy HtoD at a.lua:2: the CPU "
        .. "copies pageable memory into the driver's buffers itself, so the call returns only near "
        .. "its end",
      "Pin `data_on_cpu` (t:pin_memory(), or pinned = true): H2D from pageable memory blocks "
        .. "the host 41.0 ms" },
    { "host_blocked", true, h2d, d2h,
      "No H2D copy ran for 3.00 ms: the host was blocked in Memcpy DtoH at a.lua:3: a copy to "
        .. "pageable memory returns when the data has arrived",
      'Copy `result` into pinned memory: t:to("cpu", { non_blocking = true }) does, or copy_ '
        .. 'into a pinned tensor, and wait for the copy before you read it; D2H to pageable memory '
        .. 'blocks the host 41.0 ms' },
    { "host_blocked", true, h2d, copy_out,
      "No H2D copy ran for 3.00 ms: the host was blocked in Memcpy DtoH at a.lua:12: a copy to "
        .. "pageable memory returns when the data has arrived",
      "Pin `host` (pinned = true, or t:pin()) and copy with non_blocking = true, and wait for "
        .. "the copy before you read it; D2H to pageable memory blocks the host 41.0 ms" },
    { "host_blocked", true, kernel, sync_copy,
      "No kernel ran for 3.00 ms: the host was blocked in Memcpy HtoD at a.lua:4: the call "
        .. "returns when the copy has ended",
      "Give the copy non_blocking = true: what its stream runs behind it waits for it anyway; "
        .. "change the memory on the host only when it has ended" },
    { "host_blocked", true, kernel, free,
      "No kernel ran for 3.00 ms: the host was blocked in cudaFree at a.lua:6, which waits for "
        .. "all work of the device",
      "Allocate before and free after the part that counts, or use the stream-ordered "
        .. "malloc_async and free_async" },
    { "host_blocked", true, kernel, malloc,
      "No kernel ran for 3.00 ms: the host was busy in cudaMalloc at a.lua:7",
      "Call it before the part that counts" },
    { "host_blocked", true, kernel, sync,
      "No kernel ran for 3.00 ms: the host was blocked in cudaDeviceSynchronize at a.lua:8, "
        .. "which waits for all work of the device",
      "Issue what is to run next before the host waits; for order on the device "
        .. "s:wait_event(e) does not hold the host" },
    { "host_blocked", true, kernel, stream_sync,
      "No kernel ran for 3.00 ms: the host was blocked in cudaStreamSynchronize at a.lua:9, "
        .. "which waits for all that the stream holds",
      "Issue what is to run next before the host waits; for order on the device "
        .. "s:wait_event(e) does not hold the host" },
    { "host_blocked", true, kernel, event_sync,
      "No kernel ran for 3.00 ms: the host was blocked in cudaEventSynchronize at a.lua:10, "
        .. "which waits for the event",
      "Issue what is to run next before the host waits; for order on the device "
        .. "s:wait_event(e) does not hold the host" },
    { "host_work", true, kernel, work,
      "No kernel ran for 3.00 ms: the host was busy in lab.host_work at a.lua:11",
      "Issue the GPU's work first, and let the host work while it runs" },
    { "host_work", true, kernel, h2d,
      "No kernel ran for 3.00 ms: the host did something other than issuing work, after the "
        .. "call at a.lua:2",
      "Issue the GPU's work first, and let the host work while it runs" },
    { "host_work", true, kernel, nil,
      "No kernel ran for 3.00 ms: the host did something other than issuing work",
      "Issue the GPU's work first, and let the host work while it runs" },
    { "host_issuing", true, h2d, kernel,
      'No H2D copy ran for 3.00 ms: the host was still issuing matmul_f32 in stream "first" at '
        .. 'a.lua:1, and Memcpy HtoD in stream 2 at a.lua:2 came after that',
      "Issue the two alternately, or first the one that came too late" },
    { "host_issuing", true, kernel, kernel,
      'No kernel ran for 3.00 ms: the host was still issuing matmul_f32 in stream "first" at '
        .. 'a.lua:1, and the GPU had to wait for that',
      "The GPU waits for launches: fewer and larger operations keep it busy, or a CUDA graph "
        .. "(lab.graph)" },
    { "latency", true, kernel, nil,
      'No kernel ran for 3.00 ms: the usual gap until matmul_f32 in stream "first" at a.lua:1 '
        .. 'starts',
      "Each operation costs its start-up: make fewer and larger ones" },
    { "unknown", true, kernel, nil,
      'No kernel ran for 3.00 ms: matmul_f32 in stream "first" at a.lua:1 waited for something '
        .. 'that the records do not tell',
      "" },
    { "unknown", true, kernel, h2d,
      'No kernel ran for 3.00 ms: matmul_f32 in stream "first" at a.lua:1 waited for something '
        .. 'that the records do not tell, perhaps Memcpy HtoD in stream 2 at a.lua:2',
      "" },
    { "event_wait", true, nil, nil,
      "No kernel ran for 3.00 ms: an operation waited for an event that was recorded behind "
        .. "other work",
      "Record the event directly after the one operation whose result is used; if none is "
        .. "used, do without the wait" },
} do
    local cause, idle, waiter, by, sentence, remedy = table.unpack(case, 1, 6)
    local r = record(cause, waiter, by, { idle = idle, lost_ns = 3000000, by_host_ns = 41000000,
                                          guess = cause == "unknown", trace = trace("lua") })
    local name = ("%s by %s"):format(cause, by and by.name or "nothing known")
    tap.is(say(r, "sentence"), sentence, name .. " in a sentence")
    tap.is(say(r, "remedy") or "", remedy, "and what helps")
end
tap.is(say(record("stream_order", kernel, h2d, { count = 7, trace = trace("lua") }), "sentence"),
    'No kernel ran for 96.0 us: matmul_f32 in stream "first" at a.lua:1 waited (7 times) for '
        .. 'Memcpy '
    .. "HtoD in stream 2 at a.lua:2, which comes before it in its stream",
    "several waits are counted")

local long = operation("kernel", 1, "long")
local urgent = operation("kernel", 2, "urgent", { priority = -5 })
tap.is(say(record("no_sm_room", urgent, long, { trace = trace("lua") }), "remedy"),
    "A kernel that fills the GPU runs alone: only smaller grids overlap, and a priority acts when "
    .. "blocks end, so make them shorter", "nobody with the higher priority is advised to take one")

for _, case in ipairs {
    { { shared_bytes = 103808 }, "104 kB of shared memory" },
    { { registers = 52224, shared_bytes = 103808 }, "104 kB of shared memory and 52224 registers" },
    { { threads = 1024, registers = 65536, shared_bytes = 8192 },
      "8.19 kB of shared memory, 65536 registers and 1024 thread slots" },
    { { block_slot = true }, "a block slot" },
} do
    tap.is(say(record("no_sm_room", urgent, long, { idle = false, lack = case[1] }), "sentence"),
        "urgent in stream 2 waited 96.0 us for long in stream 1, which left no room on the SMs: no "
        .. "SM had " .. case[2] .. " free", "what no SM had: " .. case[2])
end
local turn = record("comm_busy", urgent, long, { idle = false, trace = trace("lua") })
tap.is(say(turn, "sentence"), "urgent in stream 2 waited 96.0 us for long in stream 1: the "
    .. "collectives of one communicator run one after the other, in whichever streams",
    "a communicator's turn in a sentence")
tap.is(say(turn, "clause"),
    "urgent in stream 2 waits for long in stream 1, of the same communicator",
    "and in a verdict")
tap.is(say(turn, "remedy"), "Collectives of two communicators may run at the same time: make one "
    .. "for each stream with lab.comm", "and what one can do")
local squeezed = record("fewer_sms", urgent, long, { idle = false, sms = 108, sm_count = 132,
                                                     trace = trace("lua") })
tap.is(say(squeezed, "sentence"), "urgent in stream 2 ran on 108 of 132 SMs for 96.0 us: long in "
    .. "stream 1 held the others, and no block of it fits beside one of these",
    "fewer SMs in a sentence")
tap.is(say(squeezed, "clause"), "urgent in stream 2 runs on 108 of 132 SMs beside long in stream 1",
    "and in a verdict")
tap.is(say(squeezed, "remedy"), "A collective with fewer channels leaves more SMs and takes "
    .. "longer: lab.comm{ channels = n }; copies between GPUs need no SMs", "and what one can do")
tap.ok(not say(record("no_sm_room", urgent, long, { many_by = true, lack = { threads = 32 } }),
    "sentence"):find("no SM had"), "what is known of one kernel is not said of several")

local sum = operation("collective", 3, "sum")
for language, remedy in pairs{ lua = "`async = true`", pytorch = "`async_op=True`",
                               cuda = "stream of its own" } do
    local last = record("comm_last", sum, long,
                        { idle = false, count = 3, trace = trace(language) })
    tap.like(say(last, "remedy"), "^Start each as soon as its part is there.*" .. remedy,
        "collectives that come last: a remedy in " .. language)
    tap.is(say(last, "sentence"), "sum in stream 3 ran for 96.0 us (3 times), and no kernel beside "
        .. "them: they began only behind the last kernel", "and a sentence")
    tap.is(say(last, "clause"), "sum in stream 3 begins only behind the last kernel (3 times)",
           "and a clause")
end

-- ---- several operations on a side -----------------------------------------------------------

local up = operation("memcpy_h2d", 7, "up", { stream_name = "stream 7" })
local k = operation("kernel", 7, "K", { stream_name = "stream 7" })
for _, case in ipairs {
    { "stream_order", false, true,
      "No kernel ran for 96.0 us: K in stream 7 waited (2 times) for up in stream 7 and other "
      .. "operations, which come before it in its stream",
      "K in stream 7 waits for up in stream 7 and other operations, which come before it in its "
      .. "stream (2 times)" },
    { "stream_order", true, false,
      "No kernel ran for 96.0 us: K in stream 7 and other operations waited (2 times) for up in "
      .. "stream 7, which comes before them in their stream",
      "K in stream 7 and other operations wait for up in stream 7, which comes before them in "
      .. "their stream (2 times)" },
    { "engine_busy", true, true,
      "No kernel ran for 96.0 us: K in stream 7 and other operations waited (2 times) for up in "
      .. "stream 7 and other operations: a copy engine does one copy at a time",
      "K in stream 7 and other operations wait for up in stream 7 and other operations, which keep "
      .. "the engine busy (2 times)" },
    { "latency", true, false,
      "No kernel ran for 96.0 us (2 times): the usual gap until K in stream 7 and other operations "
      .. "start", "launch latency between operations (2 gaps)" },
} do
    local r = record(case[1], k, up, { many_waiters = case[2], many_by = case[3], count = 2 })
    tap.is(say(r, "sentence"), case[4], case[1] .. ": others are other operations")
    tap.is(say(r, "clause"), case[5], "also in a clause")
end

-- ---- clauses and parts -------------------------------------------------------------------------

for _, case in ipairs {
    { "stream_order", { idle = false }, "K in stream 7 waits for up in stream 7, which comes "
      .. "before it in its stream and leaves room beside it", "waiting for up in stream 7" },
    { "event_wait", { guess = true }, "K in stream 7 waits for an event that was probably recorded "
      .. "behind up in stream 7", "waiting for up in stream 7" },
    { "null_stream", {}, "K in stream 7 waits for up in stream 7, as the default stream and "
      .. "blocking streams do", "waiting for up in stream 7" },
    { "channel_alias", { guess = true }, "K in stream 7 waits for up in stream 7, whose stream "
      .. "probably shares a hardware channel with its own",
      "same hardware channel as up in stream 7" },
    { "no_sm_room", {}, "K in stream 7 waits for up in stream 7, which leaves no room on the SMs",
      "no room beside up in stream 7" },
    { "priority", {}, "K in stream 7 waits for up in stream 7, whose stream has the higher "
        .. "priority",
      "overtaken by up in stream 7" },
    { "engine_busy", {}, "K in stream 7 waits for up in stream 7, which keeps the engine busy",
      "the engine busy with up in stream 7" },
    { "launch_queue_full", { guess = true }, "the host probably waits for room in the launch queue "
      .. "to issue up in stream 7", "the launch queue full, issuing up in stream 7" },
    { "host_issuing", {}, "the host is still issuing up in stream 7",
      "the host issuing up in stream 7" },
    { "host_blocked", { count = 3 }, "the host is blocked in up (3 times)",
      "the host blocked in up in stream 7" },
    { "host_work", {}, "the host issues no work", "the host issuing no work" },
    { "host_work", { trace = trace("lua") }, "the host does something other than issuing work",
      "the host busy with something else" },
    { "unknown", { guess = true }, "K in stream 7 waits for something that the records do not tell",
      "unknown" },
    { "latency", {}, "launch latency between operations", "launch latency between operations" },
} do
    local r = record(case[1], k, up, case[2])
    tap.is(say(r, "clause"), case[3], case[1] .. " in a clause")
    tap.is(say(r, "part"), case[4], "and as a part of the makespan")
end
tap.is(say(record("none", k), "part"), "K in stream 7 running", "what ran is a part, too")

local stall = record("host_blocked", k, call("host_work", "Activity Buffer Request"), { count = 3 })
tap.is(say(stall, "clause"),
    "the host is busy in the profiler's own work (Activity Buffer Request) (3 times)",
    "in a trace of another program work of the host is its profiler's")
tap.is(say(stall, "part"), "the host busy in the profiler's own work (Activity Buffer Request)",
    "as a part of the makespan")
tap.is(say(stall, "sentence"), "No kernel ran for 96.0 us (3 times): the host was busy in the "
    .. "profiler's own work (Activity Buffer Request)", "and in a sentence")
tap.is(say(stall, "remedy"), "That is no part of the program: without the profiler it is not there",
    "for which the program is not blamed")
stall = record("host_work", k, call("host_work", "Activity Buffer Request"))
tap.is(say(stall, "clause"), "the host issues no work", "what the host did behind it is its own")

local launch = record("host_blocked", up, k)
tap.is(say(launch, "clause"), "the host is blocked in the launch of K",
    "a kernel is no call: its launch is")
tap.is(say(launch, "sentence"), "No H2D copy ran for 96.0 us: the host was blocked in the launch "
    .. "of K: its call took that long, probably as the first one of its kind", "in a sentence, too")
launch.trace = trace("lua")
tap.is(say(launch, "sentence"), "No H2D copy ran for 96.0 us: the host was blocked in the launch "
    .. "of K: its call took that long, as the first one of its kind does that loads code",
    "and is known to have loaded code where the laboratory recorded it")
launch.gain_ns = 200000
tap.like(say(launch, "sentence"), "; what comes next is issued only then$",
    "what a wait of the host delays beyond itself is said")
local plain = call("plain", "")
tap.is(say(record("host_blocked", up, plain), "remedy"), "Call it before the part that counts",
    "of a call that came once")
tap.is(say(record("host_blocked", up, plain, { count = 2 }), "remedy"),
    "Call it less often, or before the part that counts", "and of one that came again")

-- ---- what the program wrote ---------------------------------------------------------------------

-- A copy that blocks is two calls of CUDA: the second one holds the host.
local up_and_wait = record("host_blocked", kernel, call("stream_sync", "cudaStreamSynchronize",
    { where = "a.lua:4" }), { trace = trace("lua"), copy = operation("memcpy_h2d", 5, "Memcpy HtoD",
    { where = "a.lua:4", source = "batch:to('cuda')" }) })
tap.is(say(up_and_wait, "sentence"), "No kernel ran for 96.0 us: the host was blocked in the "
    .. "synchronisation of Memcpy HtoD at a.lua:4: a copy that blocks the host waits for all that "
    .. "its stream holds", "a synchronisation that a copy makes has the copy's name")
tap.is(say(up_and_wait, "clause"),
    "the host is blocked in the synchronisation of Memcpy HtoD at a.lua:4",
    "also in a verdict")
tap.like(say(up_and_wait, "remedy"), "^Give the copy non_blocking = true: ",
         "and the copy's remedy")
up_and_wait.copy.kind = "memcpy_d2h"
tap.is(say(up_and_wait, "remedy"), "Give the copy non_blocking = true and wait for it where its "
    .. "result is needed", "of results one has to wait for the copy")
up_and_wait.copy.source = "loss:item()"
tap.like(say(up_and_wait, "remedy"), "^Reading a value ", "and item() reads a value")

-- Two buffers.
for _, case in ipairs {
    { "memcpy_h2d", "kernel", "copy into a second one, in turns$" },
    { "kernel", "memcpy_h2d", "with a second buffer, used in turns" },
    { "kernel", "memcpy_d2h", "let it write to a second one, in turns$" },
} do
    for _, cause in ipairs { "stream_order", "event_wait" } do
        local r = record(cause, operation(case[1], 1, "a"), operation(case[2], 1, "b"))
        tap.like(say(r, "remedy"), case[3], ("%s: %s behind %s, as a buffer has it"):format(cause,
            case[1], case[2]))
    end
end
for _, cause in ipairs { "stream_order", "event_wait" } do
    local r = record(cause, operation("memcpy_d2h", 1, "a"), operation("kernel", 1, "b"))
    tap.ok(not say(r, "remedy"):find("buffer"),
           cause .. ": a copy that waits for its data needs it")
end

-- A few calls that are long.
local few = record("host_blocked", nil, call("plain", "cudaGetDevice"),
                   { count = 2, by_calls = 5000 })
tap.is(say(few, "remedy"), "Only 2 of its 5000 calls took long, as first ones do: make these "
    .. "before the part that counts", "nobody is advised to call less often what is quick")
few.by_calls = 19
tap.is(say(few, "remedy"), "Call it less often, or before the part that counts",
       "but of what is long as a rule")

-- Launches, and the time between them.
local g = call("plain", "cudaGraphLaunch", { nodes = 9, graph = "step" })
local between = record("host_issuing", kernel, g,
                       { gain_ns = 9000, by_host_ns = 47999, by_calls = 12 })
tap.like(say(between, "sentence"),
    "; the calls there take 48.0 us, and the time between calls the rest$",
    "what calls do not take is not said of them")
between.by_host_ns = 48000
tap.ok(not say(between, "sentence"):find("between calls"), "half of it is enough")

local firsts = record("host_blocked", k, k, { many_by = true, count = 5, trace = trace("lua") })
tap.like(say(firsts, "clause"),
    "the host is blocked in the launch of K and of other kernels %(5 times%)",
    "first launches are told together")

-- ---- traces of others: no Lua in their remedies -------------------------------------------------

local pageable_up = operation("memcpy_h2d", 1, "up", { from_pageable = true })
local pageable_down = operation("memcpy_d2h", 1, "down", { to_pageable = true, bytes = 4096 })
local one_value = operation("memcpy_d2h", 1, "down", { to_pageable = true, bytes = 4 })
local blocking = operation("memcpy_d2h", 1, "down", { host_waited = true })
local waited = call("plain", "", { waited_for_device = true })
local other_sync = call("stream_sync", "cudaStreamSynchronize")
local read_later = ", and wait for the copy before you read it; D2H to pageable memory blocks the "
    .. "host 96.0 us"
local issue_first = "Issue what is to run next before the host waits; for order on the device %s "
    .. "does not hold the host"
for _, case in ipairs {
    { pageable_up, "Pin the memory on the host (cudaMallocHost, or cudaHostRegister): H2D from "
      .. "pageable memory blocks the host 96.0 us",
      "Pin the tensor on the CPU (t.pin_memory(), DataLoader(pin_memory=True)): H2D from pageable "
      .. "memory blocks the host 96.0 us" },
    { pageable_down, "Copy into pinned memory: cudaMallocHost and cudaMemcpyAsync" .. read_later,
      'Copy into pinned memory: t.to("cpu", non_blocking=True)' .. read_later },
    { one_value, "Copy into pinned memory: cudaMallocHost and cudaMemcpyAsync" .. read_later,
      "Reading a value (t.item(), or an if, a print or a float() of it) waits for all work before "
      .. "it in its stream: read it after the other work has been issued, and not in every round" },
    { waited, "Allocate before and free after the part that counts, or use the stream-ordered "
      .. "cudaMallocAsync and cudaFreeAsync",
      "Run a round before the part that counts, so that PyTorch has its memory, and do not empty "
      .. "its cache in between" },
    { other_sync, issue_first:format("cudaStreamWaitEvent"),
      issue_first:format("stream.wait_event(e)") },
    { blocking, "Use cudaMemcpyAsync and wait for it where its result is needed",
      "Give the copy non_blocking=True and wait for it where its result is needed" },
} do
    local name = ("%s (%s)"):format(case[1].name, case[1].kind)
    for i, language in ipairs { "cuda", "pytorch" } do
        local r = record("host_blocked", pageable_down, case[1], { trace = trace(language) })
        tap.is(say(r, "remedy"), case[i + 1],
               ("the remedy for %s speaks %s"):format(name, language))
    end
end

local guessed = record("host_blocked", nil, waited, { guess = true })
tap.is(say(guessed, "sentence"), "No kernel ran for 96.0 us: the host was blocked in a call, which "
    .. "probably waited for all work of the device", "what was inferred is said to be probable")
tap.is(say(guessed, "clause"), "the host is blocked in a call", "in a clause, too")
local pause = record("host_work", nil, waited, { trace = trace("pytorch") })
tap.is(say(pause, "sentence"), "No kernel ran for 96.0 us: the host issued no work then",
    "what the host did between its calls is not claimed")
tap.is(say(pause, "remedy"), "Issue the GPU's work first, and let the host work while it runs",
    "one long pause is the host's work")
pause.count = 2
tap.is(say(pause, "remedy"), "Python takes that time between the operations: make fewer and larger "
    .. 'ones, or a CUDA graph (torch.compile(mode="reduce-overhead"))',
    "many short ones are Python's")

local pinned = record("host_blocked", nil, call("plain", "cudaHostAlloc"))
tap.is(say(pinned, "sentence"), "No kernel ran for 96.0 us: the host was busy in cudaHostAlloc",
    "nor that a call waited that did not")
tap.is(say(pinned, "clause"), "the host is busy in cudaHostAlloc", "in a clause, either")
tap.is(say(pinned, "remedy"), "Allocate pinned memory once, before the part that counts, and use "
    .. "it again", "and pinned memory is used again")
local unknown_sync = record("host_blocked", nil, call("plain", "cudaStreamSynchronize"))
tap.is(say(unknown_sync, "sentence"), "No kernel ran for 96.0 us: the host was blocked in "
    .. "cudaStreamSynchronize", "a synchronisation with nobody knows what still waits")
tap.is(say(unknown_sync, "remedy"), issue_first:format("cudaStreamWaitEvent"),
    "and is no call for another time")

-- ---- streams ------------------------------------------------------------------------------------

local a, down = operation("kernel", 1, "a"),
    operation("memcpy_d2h", 1, "down", { engine = "compute" })
tap.is(say(record("host_issuing", down, a), "remedy"),
       "The GPU waits for launches: fewer and larger "
    .. "operations keep it busy, or a CUDA graph",
    "what is in one stream cannot be issued in turns")
down = operation("memcpy_d2h", 1, "down")
tap.is(say(record("no_sm_room", down, a, { guess = true }), "sentence"),
       "No D2H copy ran for 96.0 us: "
    .. "down in stream 1 waited for a in stream 1, which probably left no room on the SMs for a "
    .. "kernel before it", "a copy needs no room itself")
tap.is(say(record("unknown"), "sentence"), "No kernel ran for 96.0 us: an operation waited for "
    .. "something that the records do not tell", "what is not known is said to be unknown")
local turns = record("unknown", k, nil, { trace = trace("cuda", { recorded = true }), count = 4,
                                          lost_ns = 8000000 })
tap.is(say(turns, "sentence"), "No kernel ran for 8.00 ms: K in stream 7 waited (4 times) for "
    .. "something that the records do not tell, perhaps another program on this GPU",
    "2 ms at a time, in a recording, may be the turns of another program")
tap.is(say(turns, "remedy"), "nvidia-smi lists the programs that use the GPU", "how to find it")
turns.lost_ns = 400000
tap.is(say(turns, "remedy"), nil, "0.1 ms at a time are none of these")
tap.is(say(record("unknown", nil, nil, { trace = trace("cuda", { several_gpus = true }) }),
           "sentence"),
    "No kernel ran for 96.0 us: an operation waited for something that the records do not tell, "
    .. "perhaps another GPU", "where there is another GPU it is named")

local first = operation("kernel", 0, "a", { stream_name = "stream 7" })
local second = operation("kernel", 2, "b", { stream_name = "stream 9" })
local rows = record("null_stream", second, first,
    { trace = trace("cuda", { default_stream = "stream 7" }) })
tap.is(say(rows, "sentence"), "No kernel ran for 96.0 us: b in stream 9 waited for a in stream 7: "
    .. "work in the default stream (stream 7) and work in blocking streams wait for each other "
    .. "(the trace does not say whether its stream is one)", "streams have the names of their rows")
tap.is(say(rows, "remedy"), "Keep work out of the default stream, or create the stream with "
    .. "cudaStreamNonBlocking, and wait where an order is needed",
    "nor does the remedy for the default stream speak Lua")
rows.cause = "event_wait"
tap.is(say(rows, "sentence"), "No kernel ran for 96.0 us: b in stream 9 waited for an event that "
    .. "was recorded behind a in stream 7", "what a trace says is not called probable")

-- ---- names as nobody should give them -----------------------------------------------------------

local hostile = operation("kernel", 1, "a\27[2J\r\n" .. ("x"):rep(200),
    { stream_name = "s\27]0;\7" .. ("y"):rep(90), where = "p\n" .. ("z"):rep(90) .. ":1" })
for _, cause in ipairs(core.cause_codes()) do
    for _, what in ipairs { "sentence", "remedy", "clause", "part" } do
        local text = say(record(cause, hostile, hostile), what) or ""
        tap.is(text:find("%c") == nil and #text < 700, true,
            ("%s, %s: nothing that a terminal obeys, and no endless names"):format(cause, what))
    end
end

tap.done()
