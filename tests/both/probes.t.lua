-- probes.t.lua - lab.probe: what blocks the host, and what keeps streams from running at
-- the same time. Only what CUDA promises is asked for; of other calls, that they run.

local T = require "tap"
local ideal = require "lua.ideal"

T.open()

-- A probe's result has the fields that it should have, and they fit together.
local function sane(result, kernel_ms)
    local kernel_us = kernel_ms * 1000
    return type(result.host_blocked) == "boolean" and type(result.serialised) == "boolean"
        and math.type(result.host_us) == "float" and result.host_us >= 0
        and result.total_us >= kernel_us * 0.999
        and result.host_blocked == (result.host_us > kernel_us / 2)
        and result.serialised == (result.total_us > kernel_us * 1.5)
end

-- Verdicts that hold on any GPU; nil: either.
local function probe(name, f, blocked, serialised, options)
    local result = lab.probe(f, options)
    if T.launches_block then blocked, serialised = nil, nil end
    T.ok(sane(result, options and options.kernel_ms or 50), "the fields of a probe of " .. name)
    if blocked ~= nil then
        T.is(result.host_blocked, blocked, name .. (blocked and " blocks" or " does not block")
             .. " the host")
    end
    if serialised ~= nil then
        T.is(result.serialised, serialised, name .. (serialised and " serialises" or
             " does not serialise") .. " the streams")
    end
    if not T.ok(lab.live().ops == 0, "nothing is left in flight by a probe of " .. name) then
        T.diag(("  host_us %.1f, total_us %.1f"):format(result.host_us, result.total_us))
    end
    collectgarbage()
end

local function promised()
    local third = lab.stream{ non_blocking = true }
    probe("nothing", function() end, false, false)
    probe("nothing, with streams that are exempt", function() end, false, false,
          { non_blocking = true })
    probe("lab.synchronize", lab.synchronize, true, true)
    probe("lab.synchronize, with kernels of 20 ms", lab.synchronize, true, true, { kernel_ms = 20 })
    probe("waiting for the first stream", function(first) first:synchronize() end, true, true)
    probe("waiting for the second stream", function(_, second) second:synchronize() end,
          false, false)
    probe("wait_stream", function(first, second) second:wait_stream(first) end, false, true)
    probe("an event", function(first, second) second:wait_event(first:record_event()) end,
          false, true)
    probe("a kernel in the NULL stream", function()
        lab.spin(0.001, { stream = lab.default_stream() })
    end, false, true)
    probe("a kernel in a third stream", function()
        lab.spin(0.001, { stream = third })
    end, false, false)
    probe("90 ms of work on the host", function() lab.host_work(90) end, true, true)
end

-- What these do is for the experiment to find out.
local function others()
    local cuda = lab.cuda
    local memory, host = cuda.malloc(1 << 20), cuda.malloc_host(1 << 20)
    local pageable = lab.ones(1 << 18, { device = "cpu" })
    local s = lab.stream{}
    local x = lab.ones(1 << 18)
    lab.add(x, x)
    lab.synchronize()
    probe("cudaMemset", function() cuda.memset(memory, 0) end)
    probe("cudaMemsetAsync", function() cuda.memset_async(memory, 0, s) end)
    probe("cudaMalloc", function() cuda.malloc(1 << 20) end)
    probe("cudaFree", function() cuda.free(memory) end)
    probe("cudaMallocHost", function() cuda.malloc_host(1 << 20) end)
    probe("cudaFreeHost", function() cuda.free_host(host) end)
    probe("cudaMallocAsync", function() cuda.free_async(cuda.malloc_async(1 << 20, s), s) end)
    probe("cudaHostRegister", function() cuda.host_register(pageable) end)
    local pinned = lab.ones(1 << 18, { device = "cpu", pinned = true })
    probe("a pinned copy", function(_, second)
        x:copy_(pinned, { non_blocking = true, stream = second })
    end)
    probe("cudaHostUnregister", function() cuda.host_unregister(pageable) end)
    probe("a pageable copy", function(_, second)
        x:copy_(pageable, { non_blocking = true, stream = second })
    end)
    probe("cudaFuncSetCacheConfig", cuda.func_set_cache_config)
    probe("cudaDeviceSetLimit", cuda.device_set_limit)
    probe("cublasCreate", cuda.cublas_create)
    probe("cublasDestroy", cuda.cublas_destroy)
    probe("a new stream", function() lab.stream{} end)
    probe("a new tensor", function() lab.empty(1 << 20) end)
    probe("a kernel", function(_, second) lab.add(x, x, { stream = second }) end)
    T.is(lab.sum(x):item(), 1 << 18, "after all of these the device works")
end

-- The rows that CUDA promises something of.
local function calls()
    local wanted = {
        ["cudaStreamWaitEvent blocking"] = "APART", ["cudaStreamWaitEvent nonblocking"] = "APART",
        ["cudaDeviceSynchronize blocking"] = "WAITS",
        ["cudaDeviceSynchronize nonblocking"] = "WAITS",
        ["cudaMemsetAsync blocking"] = "-", ["cudaMemsetAsync nonblocking"] = "-",
        ["cudaLaunchKernel NULL blocking"] = "APART", ["cudaLaunchKernel NULL nonblocking"] = "-",
    }
    local rows = lab.probes{ calls = { "cudaDeviceSynchronize", "cudaMemsetAsync",
                                       "cudaLaunchKernel", "cudaStreamWaitEvent" } }
    T.is(#rows, 2 * (1 + 2 + 2 + 1), "a row for each call, size, stream and kind of streams")
    for _, row in ipairs(rows) do
        local name = row.call .. (row.into == "NULL" and " NULL " or " ") .. row.streams
        local got = row.host_blocked and "WAITS" or row.serialised and "APART" or "-"
        local want = row.into == "first" and row.call == "cudaLaunchKernel" and "-" or wanted[name]
        if T.launches_block then want = got end
        T.is(got, want, ("lab.probes: %s, %s bytes"):format(name, row.bytes or "no"))
        T.ok(row.kernel_us >= 10000 and row.kernel_us >= 4 * row.alone_us
             and row.total_us >= row.kernel_us * 0.999, "with kernels that are long enough")
    end
    for _, claim in ipairs(T.launches_block and {} or lab.claims(rows)) do
        if claim.by == "CUDA" then T.is(claim.holds, "yes", claim.call .. ": " .. claim.says) end
    end
    collectgarbage()
end

local function misuse()
    ideal.refuses(T, function() lab.probes{ calls = { "cudaFrree" } } end, "SL_ENOTFOUND",
                  'probes: calls has "cudaFrree", which is not probed; known: cudaMalloc, cudaFree',
                  "a call that there is not")
    ideal.refuses(T, function() lab.probes{ calls = { 7 } } end, "SL_ENOTFOUND",
                  "calls has a number", "a number for a name")
    ideal.refuses(T, function() lab.probes{ calls = "cudaFree" } end, "SL_EINVAL",
                  "'calls' must be a list of names", "a name for a list")
    ideal.refuses(T, function() lab.probes{ call = {} } end, "SL_EINVAL", "unknown option 'call'",
                  "a mistyped option")
    T.is(#lab.probes{ calls = {} }, 0, "no calls are no rows")
    ideal.refuses(T, function() lab.claims() end, "SL_EINVAL", "must be a list of rows",
                  "claims of nothing")
    ideal.refuses(T, function() lab.claims{ { call = "cudaFree" } } end, "SL_EINVAL",
                  "must be a list of rows", "a row without answers")
    T.is(#lab.claims{}, 0, "no rows, no claims")
    local row = { call = "cudaMalloc", streams = "blocking", host_blocked = false,
                  serialised = true }
    T.is(lab.claims{ row }[1].holds, "yes", "a claim is judged by the rows alone")
    row.serialised = false
    T.is(lab.claims{ row }[1].holds, "no", "either way")
    ideal.refuses(T, function() lab.probe() end, "SL_EINVAL", "function",
                  "a probe needs a function")
    ideal.refuses(T, function() lab.probe(print, { kernel_ms = 0 }) end, "SL_EINVAL", "kernel_ms",
                  "and kernels of some length")
    T.is(ideal.error_of(lab.probe, function() error("out", 0) end), "out",
         "an error of the function passes")
    local result = lab.probe(function(first, second)
        T.ok(first.id ~= second.id and not first.non_blocking, "the function gets the two streams")
    end)
    T.ok(sane(result, 50), "and the next probe is fine")
end

local function measuring()
    local calls = 0
    local result = lab.measure(function()
        calls = calls + 1
        lab.spin(2)
    end, { warmup = 2, reps = 5 })
    T.is(calls, 7, "measure calls the function warmup + reps times")
    T.is(#result.samples_us, 5, "and has a sample for each repetition")
    T.ok(result.min_us >= 1998 and result.min_us <= result.median_us
         and result.median_us <= result.max_us, "measure waits for what the function has enqueued")
end

promised()
others()
calls()
misuse()
measuring()
T.done()
