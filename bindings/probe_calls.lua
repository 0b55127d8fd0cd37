-- probe_calls.lua - the calls that lab.probes tries, and the claims about them.
--
-- An entry is {call =, memory =, into =, sizes =, ready =, before =, run =, done =, claims =}:
-- CUDA's name, the kind of memory, the stream that the call is given ("NULL", "first", which
-- has a kernel when it is called, or "second", which gets one after it), byte counts. The functions
-- get a table x with .bytes, .first, .second, for what they keep: `ready` and `done` are outside
-- of the probe, `before` is behind the first kernel, `run` is what is asked about.
--
-- A claim is {by =, says =, host =, apart =, streams =, most =, may =}: who says so; whether the
-- host waits for the kernel, and whether the streams are kept apart, where it says; on which
-- streams and up to which size it is said; may: it leaves that open.

local lab, core = ...

local cuda, empty, zeros, event, stream, spin =
    lab.cuda, lab.empty, lab.zeros, lab.event, lab.stream, lab.spin
local default_stream, synchronize = lab.default_stream, lab.synchronize
local kib, mib = 1024, 1024 * 1024

local calls = {}
core.probe_calls = calls

-- Functions of lab.cuda that are not probed.
core.not_probed = {
    { "cudaDeviceCanAccessPeer, cudaDeviceEnablePeerAccess, cudaDeviceDisablePeerAccess",
      "they take two GPUs" },
    { "lab.cuda.trap", "the device is lost after it" },
    { "cudaStreamBeginCapture, cudaStreamEndCapture, cudaStreamIsCapturing, cudaGraphInstantiate, "
      .. "cudaGraphLaunch, cudaGraphExecUpdate, cudaGraphExecDestroy",
      "they make graphs of other calls (--capture asks about that)" },
}

local function add(entry)
    entry.claims = entry.claims or {}
    entry.sizes = entry.sizes or { false }
    calls[#calls + 1] = entry
end

local function old_list(what)
    return { by = "old list", says = what .. " keeps streams apart", apart = true }
end
local old_async = { by = "old guide", says = "asynchronous: the host goes on", host = false }
local ordered = { by = "CUDA", says = "an operation of its stream alone; the host goes on",
                  host = false, apart = false }
local in_null = { by = "CUDA", says = "in the NULL stream: blocking streams wait", apart = true,
                  streams = "blocking" }
local exempt = { by = "CUDA", says = "cudaStreamNonBlocking streams take no part", apart = false,
                 streams = "nonblocking" }
local waits = { by = "CUDA", says = "the host waits, that is what it is for", host = true }
local never = { by = "CUDA", says = "returns at once", host = false }

-- ---- memory ----------------------------------------------------------------------------

local both = { 64 * kib, 4 * mib }

local function on_host(bytes, pinned)
    return zeros(bytes, { device = "cpu", dtype = "uint8", pinned = pinned })
end

local function fixed(x) x.memory = empty(x.bytes, { dtype = "uint8" }) end
local function let_go(x) x.memory:free() end

-- A pair of calls: one allocates memory, one frees it. Each is probed alone.
local function add_pair(get, get_claims, give, give_claims, into, functions)
    local obtain, return_ = functions.get, functions.give
    add{ call = get, sizes = both, into = into, claims = get_claims, run = obtain, done = return_ }
    add{ call = give, sizes = both, into = into, claims = give_claims, ready = obtain,
         run = return_ }
end

local function need(memory, message)
    if not memory then core.raise("SL_ENOMEM", "probes", message) end
    return memory
end

add_pair("cudaMalloc", { old_list("allocating device memory") },
    "cudaFree", { { by = "CUDA", says = "may wait for the device", may = true } }, nil, {
        get = function(x) x.memory = need(cuda.malloc(x.bytes)) end,
        give = function(x) cuda.free(x.memory) end,
    })
add_pair("cudaMallocHost", { old_list("allocating page-locked memory") },
    "cudaFreeHost", nil, nil, {
    get = function(x) x.memory = need(cuda.malloc_host(x.bytes)) end,
    give = function(x) cuda.free_host(x.memory) end,
})
for _, register in ipairs{ true, false } do
    local change, undo = cuda.host_register, cuda.host_unregister
    add{ call = register and "cudaHostRegister" or "cudaHostUnregister", sizes = both,
         ready = function(x)
             x.memory = on_host(x.bytes)
             if not register then change(x.memory) end
         end,
         run = function(x) (register and change or undo)(x.memory) end,
         done = function(x)
             if register then undo(x.memory) end
             x.memory:free()
         end }
end
add_pair("cudaMallocAsync", { ordered }, "cudaFreeAsync", { ordered }, "first", {
    get = function(x) x.memory = need(cuda.malloc_async(x.bytes, x.first)) end,
    give = function(x) cuda.free_async(x.memory, x.first) end,
})

-- ---- memset and memcpy -----------------------------------------------------------------

add{ call = "cudaMemset", memory = "device", into = "NULL", sizes = both, ready = fixed,
     done = let_go, claims = { old_list("setting device memory"), old_async, in_null, exempt },
     run = function(x) cuda.memset(x.memory, 0) end }
add{ call = "cudaMemset", memory = "pinned", into = "NULL", sizes = both,
     claims = { { by = "CUDA", says = "of pinned memory: the host waits", host = true,
                  streams = "blocking" }, exempt },
     ready = function(x) x.memory = on_host(x.bytes, true) end, done = let_go,
     run = function(x) cuda.memset(x.memory, 0) end }
add{ call = "cudaMemsetAsync", memory = "device", into = "first", sizes = both, ready = fixed,
     done = let_go, claims = { old_list("setting device memory"), old_async, ordered },
     run = function(x) cuda.memset_async(x.memory, 0, x.first) end }

local places = {
    device = function(bytes) return empty(bytes, { dtype = "uint8" }) end,
    pinned = function(bytes) return on_host(bytes, true) end,
    pageable = function(bytes) return on_host(bytes) end,
}

local function add_copy(call, from, to, sizes, claims)
    local is_async = call == "cudaMemcpyAsync"
    add{ call = call, memory = from .. " to " .. to, into = is_async and "first" or "NULL",
         sizes = sizes, claims = claims,
         ready = function(x) x.from, x.to = places[from](x.bytes), places[to](x.bytes) end,
         run = function(x)
             if is_async then
                 cuda.memcpy_async(x.to, x.from, x.first)
             else
                 cuda.memcpy(x.to, x.from)
             end
         end,
         done = function(x)
             x.from:free()
             x.to:free()
         end }
end

local blocking_copy = { by = "CUDA", says = "returns when the bytes are there", host = true,
                        streams = "blocking" }
local within = old_list("a copy within the device")

add_copy("cudaMemcpy", "pageable", "device", { 64 * kib, 64 * kib + 1, 2 * mib, 4 * mib }, {
    { by = "old guide", says = "up to 64 KiB the host goes on", host = false, most = 64 * kib },
    { by = "CUDA", says = "waits for the NULL stream, then stages", host = true,
      streams = "blocking" }, in_null, exempt })
add_copy("cudaMemcpy", "pinned", "device", both, { blocking_copy, exempt })
add_copy("cudaMemcpy", "device", "pageable", both, { blocking_copy, exempt })
add_copy("cudaMemcpy", "device", "pinned", both, { blocking_copy, exempt })
add_copy("cudaMemcpy", "device", "device", both, { within, old_async, in_null, exempt })
add_copy("cudaMemcpyAsync", "pageable", "device", { 64 * kib, 64 * kib + 1, 2 * mib, 4 * mib }, {
    old_async, { by = "CUDA", says = "may wait for its stream, to be staged", may = true } })
add_copy("cudaMemcpyAsync", "pinned", "device", both, { old_async, ordered })
add_copy("cudaMemcpyAsync", "device", "pageable", both, {
    -- The documents up to CUDA 11 say that it returns only once the copy has completed.
    old_async, { by = "CUDA", says = "may be synchronous", may = true } })
add_copy("cudaMemcpyAsync", "device", "pinned", both, { old_async, ordered })
add_copy("cudaMemcpyAsync", "device", "device", both, { within, old_async, ordered })

-- ---- launches, events, streams -------------------------------------------------------------

local any_in_null = { by = "old list", says = "any command in the NULL stream keeps streams apart",
                      apart = true }

add{ call = "cudaLaunchKernel", into = "NULL", claims = { any_in_null, old_async, in_null, exempt },
     run = function() spin(0.001, { stream = default_stream() }) end }
add{ call = "cudaLaunchKernel", into = "first", claims = { old_async, ordered },
     run = function(x) spin(0.001, { stream = x.first }) end }
add{ call = "cudaLaunchHostFunc", into = "first", claims = { ordered },
     run = function(x) x.first:launch_host_func(function() end) end }

local function make_event(x) x.event = event{ timing = false } end
local function close_event(x) x.event:close() end
local function record(x) x.event:record(x.first) end

add{ call = "cudaEventCreate", run = make_event, done = close_event }
add{ call = "cudaEventDestroy", claims = { never }, ready = make_event, run = close_event }
add{ call = "cudaEventRecord", into = "NULL", claims = { any_in_null, in_null, exempt },
     ready = make_event, done = close_event,
     run = function(x) x.event:record(default_stream()) end }
add{ call = "cudaEventRecord", into = "first", claims = { ordered },
     ready = make_event, run = record,
     done = close_event }
add{ call = "cudaEventQuery", claims = { never }, ready = make_event, before = record,
     run = function(x) x.event:query() end, done = close_event }
add{ call = "cudaEventSynchronize", claims = { waits }, ready = make_event, before = record,
     run = function(x) x.event:synchronize() end, done = close_event }
add{ call = "cudaStreamWaitEvent", into = "second", ready = make_event, before = record,
     claims = { { by = "CUDA", says = "the stream waits, the host does not", host = false,
                  apart = true } },
     run = function(x) x.second:wait_event(x.event) end, done = close_event }

local function make_stream(x) x.third = stream{ non_blocking = false } end
local function close_stream(x) x.third:close() end

add{ call = "cudaStreamCreate", run = make_stream, done = close_stream }
add{ call = "cudaStreamDestroy", claims = { never }, ready = make_stream, run = close_stream }
add{ call = "cudaStreamQuery", into = "first", claims = { never },
     run = function(x) x.first:query() end }
add{ call = "cudaStreamSynchronize", into = "first", claims = { waits },
     run = function(x) x.first:synchronize() end }
add{ call = "cudaDeviceSynchronize", claims = { waits }, run = function() synchronize() end }

-- ---- others ------------------------------------------------------------------------------

add{ call = "cudaMemGetInfo", run = function() cuda.mem_get_info() end }
add{ call = "cudaFuncSetCacheConfig", run = function() cuda.func_set_cache_config() end,
     claims = { old_list("switching the L1 configuration"),
                { by = "CUDA", says = "may keep streams apart", may = true } } }
add{ call = "cudaDeviceSetLimit", run = function() cuda.device_set_limit() end }
add{ call = "cublasCreate", run = function() cuda.cublas_create() end,
     done = function() cuda.cublas_destroy() end }
add{ call = "cublasDestroy", ready = function() cuda.cublas_create() end,
     run = function() cuda.cublas_destroy() end,
     claims = { { by = "CUDA", says = "synchronises the device", host = true } } }
