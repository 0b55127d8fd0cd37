-- capture_calls.lua - the calls that lab.capture_probes makes while a stream is captured.
--
-- An entry is {key =, group =, call =, of =, ready =, steps =, run =}: a name for tests, what it is
-- shown under, CUDA's name, and what the call is given. The functions get a table x: `ready` is
-- called before the capture begins, `steps` in it and must succeed, `run` is what is asked about.
-- x has streams: .captured, .blocking and .loose, which is non-blocking; .null, .per_thread;
-- events: .outside, which was recorded in .loose and has happened, .event, .second and .never,
-- which were not; and memory. What `run` or `ready` makes goes into x.made.

local lab, core = ...

local cuda, spin, empty, event, stream = lab.cuda, lab.spin, lab.empty, lab.event, lab.stream
local zeros, with, graph, synchronize = lab.zeros, lab.with, lab.graph, lab.synchronize
local matmul, ones = lab.matmul, lab.ones
local kib, mib <const> = 1024, 1024 * 1024

local calls, group = {}, nil
core.capture_calls = calls

local function add(key, call, of, entry)
    entry.key, entry.call, entry.of, entry.group = key, call, of, group
    calls[#calls + 1] = entry
end

local function run(key, call, of, f) add(key, call, of, { run = f }) end

-- The streams, by the names that keys have.
local streams = {
    captured = { "captured", "captured stream" }, other = { "loose", "other stream" },
    other_nonblocking = { "loose", "non-blocking stream" },
    other_blocking = { "blocking", "blocking stream" }, null = { "null", "NULL stream" },
    per_thread = { "per_thread", "per-thread stream" },
}

-- The call in each of the named streams; f gets x and the stream.
local function in_streams(prefix, call, names, f, ready)
    for _, name in ipairs(names) do
        local field, of = streams[name][1], streams[name][2]
        add(prefix .. "_" .. name, call, of,
            { ready = ready, run = function(x) return f(x, x[field]) end })
    end
end

local function launch(_, s) spin(0, { stream = s }) end
local function keep(x, object)
    x.made[#x.made + 1] = object
    return object
end

-- ---- launches --------------------------------------------------------------------------

group = "launches"
in_streams("launch", "cudaLaunchKernel",
           { "captured", "other_blocking", "other_nonblocking", "null", "per_thread" }, launch)
in_streams("host_func", "cudaLaunchHostFunc", { "captured", "other", "null" },
           function(_, s) s:launch_host_func(function() end) end)
run("cublas_sgemm_default_workspace", "cublasLtMatmul", "captured stream", function(x)
    with(x.captured, matmul, x.matrix, x.matrix)
end)

-- ---- memory ----------------------------------------------------------------------------

group = "memory"
-- Memory that a script frees itself: what is left is freed as a tensor.
local function allocate(x, f, ...)
    local memory, why = f(x.bytes, ...)
    if not memory then core.raise("SL_ENOMEM", "capture_probes", why) end
    x.memory = keep(x, memory)
end

run("malloc", "cudaMalloc", nil, function(x) allocate(x, cuda.malloc) end)
add("free", "cudaFree", nil, { ready = function(x) allocate(x, cuda.malloc) end,
                               run = function(x) cuda.free(x.memory) end })
run("malloc_host", "cudaMallocHost", nil, function(x) allocate(x, cuda.malloc_host) end)
add("free_host", "cudaFreeHost", nil, { ready = function(x) allocate(x, cuda.malloc_host) end,
                                        run = function(x) cuda.free_host(x.memory) end })
local function plain(x) x.memory = keep(x, zeros(x.bytes, { device = "cpu", dtype = "uint8" })) end
add("host_register", "cudaHostRegister", nil,
    { ready = plain, run = function(x) cuda.host_register(x.memory) end })
add("host_unregister", "cudaHostUnregister", nil, {
    ready = function(x)
        plain(x)
        cuda.host_register(x.memory)
    end,
    run = function(x) cuda.host_unregister(x.memory) end,
})
in_streams("malloc_async", "cudaMallocAsync",
           { "captured", "other_nonblocking", "other_blocking", "null" },
           function(x, s) allocate(x, cuda.malloc_async, s) end)
in_streams("free_async", "cudaFreeAsync", { "captured", "other" },
           function(x, s) cuda.free_async(x.memory, s) end, function(x)
    allocate(x, cuda.malloc_async, x.loose)
    x.loose:synchronize()
end)
run("mem_get_info", "cudaMemGetInfo", nil, function() cuda.mem_get_info() end)

-- ---- copies ----------------------------------------------------------------------------

group = "copies"
local kinds = {
    { "h2d_pinned", "device", "pinned", "pinned to device" },
    { "h2d_pageable", "device", "pageable", "pageable to device" },
    { "d2h_pinned", "pinned", "device", "device to pinned" },
    { "d2h_pageable", "pageable", "device", "device to pageable" },
    { "d2d", "target", "device", "device to device" },
    { "h2h", "pageable", "pinned", "host to host" },
}
for _, kind in ipairs(kinds) do
    local key, to, from, of = kind[1], kind[2], kind[3], kind[4]
    run("memcpy_" .. key, "cudaMemcpy", of, function(x) cuda.memcpy(x[to], x[from], kib) end)
end
-- The sizes that CUDA stages and those that it does not.
local function add_copies(where, field, words)
    for _, kind in ipairs(kinds) do
        local to, from = kind[2], kind[3]
        local pageable = kind[1]:find "pageable" ~= nil
        for _, size in ipairs(pageable and { { "_1k", kib, ", 1 KiB" }, { "_1m", mib, ", 1 MiB" } }
                              or { { "", kib, "" } }) do
            if field == "captured" or kind[1] ~= "h2h" and kind[1] ~= "d2h_pinned" then
                run(("memcpy_async_%s%s_%s"):format(kind[1], size[1], where), "cudaMemcpyAsync",
                    kind[4] .. size[3] .. ", " .. words, function(x)
                        cuda.memcpy_async(x[to], x[from], size[2], x[field])
                    end)
            end
        end
    end
end
add_copies("captured", "captured", "captured")
add_copies("other", "loose", "other")
run("memcpy_async_h2d_pinned_null", "cudaMemcpyAsync", "pinned to device, NULL",
    function(x) cuda.memcpy_async(x.device, x.pinned, kib, x.null) end)
run("memset", "cudaMemset", nil, function(x) cuda.memset(x.device, 1, kib) end)
in_streams("memset_async", "cudaMemsetAsync", { "captured", "other", "null" },
           function(x, s) cuda.memset_async(x.device, 1, kib, s) end)

-- ---- waiting ---------------------------------------------------------------------------

local function record(x) x.event:record(x.captured) end
local function fork(field)
    return function(x)
        record(x)
        x[field]:wait_event(x.event)
        spin(0, { stream = x[field] })
    end
end
local fork_loose = fork "loose"
local function join(field)
    return function(x)
        fork(field)(x)
        x.second:record(x[field])
        x.captured:wait_event(x.second)
    end
end

group = "waiting for streams"
local all = { "captured", "other_nonblocking", "other_blocking", "null" }
in_streams("stream_synchronize", "cudaStreamSynchronize", all,
           function(_, s) s:synchronize() end)
in_streams("stream_synchronize", "cudaStreamSynchronize", { "per_thread" },
           function(_, s) s:synchronize() end)
add("stream_synchronize_forked", "cudaStreamSynchronize", "forked stream",
    { steps = fork_loose, run = function(x) x.loose:synchronize() end })
in_streams("stream_query", "cudaStreamQuery", all, function(_, s) s:query() end)
run("device_synchronize", "cudaDeviceSynchronize", nil, function() synchronize() end)

-- ---- events ----------------------------------------------------------------------------

group = "events"
local inside <const>, outside <const>, never <const> =
    "recorded in the capture", "recorded outside", "never recorded"

in_streams("event_record", "cudaEventRecord",
           { "captured", "other_nonblocking", "other_blocking", "null" },
           function(x, s) x.event:record(s) end)
add("event_recorded_here_then_other_stream", "cudaEventRecord", inside .. ", in another stream",
    { steps = record, run = function(x) x.event:record(x.loose) end })
local function ask(suffix, call, f)
    add("event_record_then_" .. suffix, call, inside,
        { steps = record, run = function(x) f(x.event) end })
    run(("event_%s_outside"):format(suffix), call, outside, function(x) f(x.outside) end)
    run(("event_%s_never_recorded"):format(suffix), call, never, function(x) f(x.never) end)
end
ask("query", "cudaEventQuery", function(e) e:query() end)
ask("synchronize", "cudaEventSynchronize", function(e) e:synchronize() end)
add("event_record_then_elapsed", "cudaEventElapsedTime", inside,
    { steps = record, run = function(x) x.outside:elapsed_time(x.event) end })
run("event_elapsed_outside", "cudaEventElapsedTime", outside,
    function(x) x.outside:elapsed_time(x.outside) end)
run("wait_outside", "cudaStreamWaitEvent", outside,
    function(x) x.captured:wait_event(x.outside) end)
run("wait_never_recorded", "cudaStreamWaitEvent", never,
    function(x) x.captured:wait_event(x.never) end)
add("wait_recorded_other_stream_during", "cudaStreamWaitEvent", outside .. " since it began",
    { steps = function(x) x.event:record(x.loose) end,
      run = function(x) x.captured:wait_event(x.event) end })
add("wait_own_event", "cudaStreamWaitEvent", inside,
    { steps = record, run = function(x) x.captured:wait_event(x.event) end })
run("event_create", "cudaEventCreate", nil, function(x) keep(x, event()) end)
run("event_destroy_outside", "cudaEventDestroy", outside, function(x) x.outside:close() end)
add("event_destroy_recorded", "cudaEventDestroy", inside,
    { steps = record, run = function(x) x.event:close() end })

-- ---- forks and joins -------------------------------------------------------------------

group = "forks and joins"
local function wait_in(field)
    return function(x) x[field]:wait_event(x.event) end
end
local function add_fork(key, call, of, steps, f) add(key, call, of, { steps = steps, run = f }) end
local function work_in(field)
    return function(x) spin(0, { stream = x[field] }) end
end

add_fork("fork_nonblocking_wait_only", "cudaStreamWaitEvent", "non-blocking stream, no work",
         record, wait_in "loose")
add_fork("fork_per_thread", "cudaStreamWaitEvent", "per-thread stream, no work", record,
         wait_in "per_thread")
add_fork("fork_null", "cudaStreamWaitEvent", "NULL stream", record, wait_in "null")
for _, kind in ipairs{ { "nonblocking", "loose", "non-blocking" },
                       { "blocking", "blocking", "blocking" } } do
    local field = kind[2]
    add_fork(("fork_%s_unjoined"):format(kind[1]), "cudaLaunchKernel",
             kind[3] .. " fork, not joined", function(x)
                 record(x)
                 x[field]:wait_event(x.event)
             end, work_in(field))
    add_fork(("fork_%s_joined"):format(kind[1]), "cudaStreamWaitEvent",
             kind[3] .. " fork, joined", function(x)
                 fork(field)(x)
                 x.second:record(x[field])
             end, function(x) x.captured:wait_event(x.second) end)
end
add_fork("fork_joined_then_more_in_fork", "cudaLaunchKernel", "joined fork, not again",
         join "loose", work_in "loose")

-- ---- begin and end ---------------------------------------------------------------------

group = "captures"
local function begin(field)
    return function(x) x[field]:begin_capture(x.mode) end
end
local function finish(field)
    return function(x) keep(x, x[field]:end_capture()) end
end
run("begin_capture_same", "cudaStreamBeginCapture", "captured stream", begin "captured")
run("begin_capture_other_nonblocking", "cudaStreamBeginCapture", "non-blocking stream",
    begin "loose")
run("begin_capture_other_blocking", "cudaStreamBeginCapture", "blocking stream", begin "blocking")
run("begin_capture_null", "cudaStreamBeginCapture", "NULL stream", begin "null")
add("begin_capture_forked", "cudaStreamBeginCapture", "forked stream",
    { steps = fork_loose, run = begin "loose" })
add("end_capture_forked_stream", "cudaStreamEndCapture", "forked stream",
    { steps = fork_loose, run = finish "loose" })
run("end_capture_other_stream", "cudaStreamEndCapture", "other stream", finish "blocking")
run("end_capture_null", "cudaStreamEndCapture", "NULL stream", finish "null")
for _, kind in ipairs{ { "captured", "captured", "captured stream" },
                       { "other", "loose", "other stream" },
                       { "null", "null", "NULL stream" } } do
    run("is_capturing_" .. kind[1], "cudaStreamIsCapturing", kind[3],
        function(x) x[kind[2]]:capture_status() end)
end
local function another(x)
    begin "loose"(x)
    spin(0, { stream = x.loose })
    x.second:record(x.loose)
end
add("wait_other_capture", "cudaStreamWaitEvent", "recorded in another capture",
    { steps = another, run = function(x) x.captured:wait_event(x.second) end })
add("other_capture_waits_for_this", "cudaStreamWaitEvent", "in another capture", {
    steps = function(x)
        another(x)
        record(x)
    end,
    run = wait_in "loose",
})
add("query_event_other_capture", "cudaEventQuery", "recorded in another capture",
    { steps = another, run = function(x) x.second:query() end })

-- ---- streams, graphs, others -----------------------------------------------------------

group = "streams, graphs, others"
run("stream_create", "cudaStreamCreate", nil,
    function(x) keep(x, stream{ non_blocking = false }) end)
run("stream_create_nonblocking", "cudaStreamCreateWithFlags", "cudaStreamNonBlocking",
    function(x) keep(x, stream{ non_blocking = true }) end)
run("stream_destroy_other", "cudaStreamDestroy", "other stream", function(x) x.blocking:close() end)

local function make_graph(x)
    x.loose:begin_capture("relaxed")
    spin(0, { stream = x.loose })
    x.graph = keep(x, x.loose:end_capture())
end
local function make_launchable(x)
    make_graph(x)
    cuda.graph_instantiate(x.graph)
end
add("graph_instantiate_other", "cudaGraphInstantiate", "another graph",
    { ready = make_graph, run = function(x) cuda.graph_instantiate(x.graph) end })
in_streams("graph_launch", "cudaGraphLaunch",
           { "captured", "other_nonblocking", "other_blocking", "null" },
           function(x, s) cuda.graph_launch(x.graph, s) end, make_launchable)
add("graph_destroy_other", "cudaGraphDestroy", "another graph",
    { ready = make_graph, run = function(x) cuda.graph_destroy(x.graph) end })
run("func_set_cache_config", "cudaFuncSetCacheConfig", nil,
    function() cuda.func_set_cache_config() end)
run("device_set_limit_stack_same", "cudaDeviceSetLimit", nil,
    function() cuda.device_set_limit() end)
run("cublas_create", "cublasCreate", nil, function(x)
    cuda.cublas_create()
    x.handles = x.handles + 1
end)
add("cublas_destroy", "cublasDestroy", nil, {
    ready = function(x)
        cuda.cublas_create()
        x.handles = x.handles + 1
    end,
    run = function(x)
        cuda.cublas_destroy()
        x.handles = x.handles - 1
    end,
})

-- ---- what streamlab makes of several calls ---------------------------------------------

group = "of streamlab"
local function of_current(key, call, of, field, f)
    run(key, call, of, function(x) with(x[field], f, x) end)
end
local function item(x) x.one:item() end

run("lab_empty", "lab.empty", nil, function(x) keep(x, empty(x.bytes, { dtype = "uint8" })) end)
run("lab_zeros_pinned", "lab.zeros", "pinned", function(x)
    keep(x, zeros(x.bytes, { device = "cpu", dtype = "uint8", pinned = true }))
end)
of_current("lab_ones", "lab.ones", "captured stream", "captured",
           function(x) keep(x, ones(4)) end)
add("tensor_free", "tensor:free", nil, { ready = plain, run = function(x) x.memory:free() end })
of_current("item_captured", "tensor:item", "captured stream", "captured", item)
of_current("item_other", "tensor:item", "other stream", "loose", item)
of_current("copy_captured", "tensor:copy_", "from pageable memory, captured", "captured",
           function(x) x.device:copy_(x.pageable) end)
of_current("copy_non_blocking", "tensor:copy_", "non_blocking, captured", "captured",
           function(x) x.device:copy_(x.pageable, { non_blocking = true }) end)
run("wait_stream", "stream:wait_stream", "for another stream",
    function(x) x.captured:wait_stream(x.loose) end)
run("wait_stream_fork", "stream:wait_stream", "for the captured stream",
    function(x) x.loose:wait_stream(x.captured) end)
run("lab_graph", "lab.graph", "another graph", function(x)
    keep(x, graph(function() spin(0) end, { stream = x.loose }))
end)

-- ---- once it is spoiled ----------------------------------------------------------------

group = "in a spoiled capture"
local function spoiled(key, call, of, f)
    add("spoiled_" .. key, call, of, {
        steps = function(x) core.refused(x.captured.synchronize, x.captured) end,
        run = f,
    })
end
local function in_spoiled(key, call, f)
    spoiled(key .. "_captured", call, "captured stream", function(x) f(x, x.captured) end)
end
in_spoiled("launch", "cudaLaunchKernel", launch)
spoiled("launch_other", "cudaLaunchKernel", "other stream", function(x) launch(x, x.loose) end)
spoiled("launch_null", "cudaLaunchKernel", "NULL stream", function(x) launch(x, x.null) end)
in_spoiled("memcpy_async", "cudaMemcpyAsync",
           function(x, s) cuda.memcpy_async(x.device, x.pinned, kib, s) end)
in_spoiled("memset_async", "cudaMemsetAsync",
           function(x, s) cuda.memset_async(x.device, 1, kib, s) end)
in_spoiled("host_func", "cudaLaunchHostFunc",
           function(_, s) s:launch_host_func(function() end) end)
in_spoiled("event_record", "cudaEventRecord", function(x, s) x.event:record(s) end)
spoiled("wait_outside", "cudaStreamWaitEvent", outside,
        function(x) x.captured:wait_event(x.outside) end)
in_spoiled("stream_synchronize", "cudaStreamSynchronize", function(_, s) s:synchronize() end)
in_spoiled("stream_query", "cudaStreamQuery", function(_, s) s:query() end)
spoiled("device_synchronize", "cudaDeviceSynchronize", nil, function() synchronize() end)
spoiled("event_query_outside", "cudaEventQuery", outside, function(x) x.outside:query() end)
spoiled("malloc", "cudaMalloc", nil, function(x) allocate(x, cuda.malloc) end)
spoiled("begin_capture", "cudaStreamBeginCapture", "captured stream", begin "captured")
spoiled("is_capturing", "cudaStreamIsCapturing", "captured stream",
        function(x) x.captured:capture_status() end)
