-- 34-implicit.t.lua - what a profile's `calls` can say of a call: that the host waits, for how
-- much, and that a barrier keeps the device's work apart. The kernels of a probe are 50 ms.

local T = require "tap"
local ideal = require "lua.ideal"

-- For blocking streams, then for those that are exempt: "-", "host" (it waits, and so the
-- kernels run one after the other), "apart" (they do, and the host does not wait).
local function verdicts(f)
    local words = {}
    for i, non_blocking in ipairs{ false, true } do
        local r = lab.probe(f, { non_blocking = non_blocking })
        words[i] = r.host_blocked and (r.serialised and "host" or "host only")
            or r.serialised and "apart" or "-"
    end
    return table.concat(words, ", ")
end

local function malloc() lab.cuda.free_async(lab.cuda.malloc(4096)) end

local function a_plain_call()
    local cases = {
        { { us = 40 }, "-, -", "as the profile is" },
        { { waits = true }, "host, host", "waits = true" },
        { { waits = "device" }, "host, host", "waits for the device" },
        { { waits = "stream" }, "host, -", "waits for its stream, which is the NULL stream" },
        { { serialises = true }, "apart, apart", "serialises all streams" },
        { { serialises = "blocking" }, "apart, -", "serialises blocking streams" },
        { { waits = true, from_bytes = 4096 }, "host, host", "of just that many bytes" },
        { { waits = true, from_bytes = 4097 }, "-, -", "of fewer bytes" },
        { { serialises = true, from_bytes = 4097 }, "-, -", "a barrier of fewer bytes" },
    }
    for _, case in ipairs(cases) do
        ideal.textbook{ calls = { cudaMalloc = case[1] } }
        T.is(verdicts(malloc), case[2], "cudaMalloc: " .. case[3])
    end
end

-- Memory of each kind; `x` is what the calls below work on.
local function memory()
    return { device = lab.empty(1 << 16), other = lab.empty(1 << 16),
             pinned = lab.empty(1 << 16, { device = "cpu", pinned = true }),
             pageable = lab.empty(1 << 16, { device = "cpu" }) }
end

local x

local function copy(to, from)
    return function(first) lab.cuda.memcpy_async(x[to], x[from], 4096, first) end
end

-- None of them waits by itself, or orders anything but its own stream.
local calls = {
    { "cudaMemsetAsync", function(first) lab.cuda.memset_async(x.device, 0, 64, first) end },
    { "cudaMemcpyAsync.d2d", copy("device", "other") },
    { "cudaMemcpyAsync.h2d_pageable", copy("device", "pageable") },
    { "cudaMemcpyAsync.h2d_pinned", copy("device", "pinned") },
    { "cudaMemcpyAsync.d2h_pinned", copy("pinned", "device") },
    { "cudaEventRecord", function(first) first:record_event() end },
    { "cudaLaunchHostFunc", function(first) first:launch_host_func(function() end) end },
    { "cudaStreamCreate", function() lab.stream{} end },
    { "cudaMemGetInfo", lab.cuda.mem_get_info },
    { "cudaLaunchKernel", function(first) lab.spin(0.001, { stream = first }) end },
}

local function every_call()
    for i, case in ipairs(calls) do
        local name, f = case[1], case[2]
        local next_name, next_f = table.unpack(calls[i % #calls + 1])
        for field, wanted in pairs{ waits = "host, host", serialises = "apart, apart" } do
            ideal.textbook{ ["calls." .. name .. "." .. field] = true }
            x = memory()
            T.is(verdicts(f), wanted, ("%s with %s"):format(name, field))
            -- The probe's own kernels are launched as well.
            if name ~= "cudaLaunchKernel" then
                T.is(verdicts(next_f), "-, -", "which is not said of " .. next_name)
            end
        end
    end
    x = nil
end

-- Kernels of 4, 2 and 1 ms in three streams, with a call that serialises before the second:
-- those behind it begin when the first has ended, and run side by side.
local function a_barrier_orders_before_and_after()
    ideal.open{ calls = { cudaMemGetInfo = { serialises = true } } }
    local s = ideal.streams(3)
    local tl = lab.profile(function()
        ideal.spin(s[1], 4)
        lab.cuda.mem_get_info()
        ideal.spin(s[2], 2)
        ideal.spin(s[3], 1)
    end)
    local spans = ideal.spans(tl)
    T.is(spans[2].from_us, 4000.0, "what comes after the call waits for what came before")
    T.is(spans[3].from_us, 4000.0, "in every stream")
    T.is(tl.makespan_us, 6000.0, "and only for that")
    tl = lab.profile(function()
        ideal.spin(s[1], 1)
        ideal.spin(s[2], 3)
        lab.cuda.mem_get_info()
        ideal.spin(s[1], 1)
        lab.cuda.mem_get_info()
        ideal.spin(s[3], 1)
    end)
    spans = ideal.spans(tl)
    T.is(spans[3].from_us, 3000.0, "a stream with work of its own waits for the others as well")
    T.is(spans[4].from_us, 4000.0, "a later barrier has the earlier ones in it")
    lab.synchronize()
end

-- One that only blocking streams take part in, and a wait for one stream.
local function reaches()
    ideal.open{ calls = { cudaMemGetInfo = { serialises = "blocking" },
                          cudaEventCreate = { waits = "stream" } } }
    local blocking, exempt = lab.stream{}, lab.stream{ non_blocking = true }
    local later = lab.stream{}
    local tl = lab.profile(function()
        ideal.spin(blocking, 1)
        ideal.spin(exempt, 5)
        lab.cuda.mem_get_info()
        ideal.spin(later, 1)
    end)
    T.is(ideal.spans(tl)[3].from_us, 1000.0, "a barrier for blocking streams leaves out others")
    local start_us = lab.now_us()
    ideal.spin(exempt, 5)
    lab.event{}
    T.is(lab.now_us() - start_us, 0.0, "waiting as the NULL stream does leaves them out, too")
    ideal.spin(blocking, 1)
    lab.event{}
    T.is(lab.now_us() - start_us, 1000.0, "and takes in blocking ones")
    lab.synchronize()
end

local function refused()
    local function with(calls)
        return function() ideal.textbook{ calls = calls } end
    end
    ideal.refuses(T, with{ cudaFree = { waits = "blocking" } }, "SL_EINVAL",
        "'calls.cudaFree.waits' is 'blocking', must be true, false, 'device' or 'stream'",
        "a wait for what no wait is for")
    ideal.refuses(T, with{ cudaFree = { serialises = "stream" } }, "SL_EINVAL",
        "must be true, false, 'device' or 'blocking'", "a barrier for one stream")
    ideal.refuses(T, with{ cudaFree = { serialises = 2 } }, "SL_EINVAL",
        "'calls.cudaFree.serialises' is 2, must be from 0 to 1", "a number")
    ideal.refuses(T, with{ cudaFree = { from_bytes = -1 } }, "SL_EINVAL",
        "'calls.cudaFree.from_bytes' is %-1", "fewer than no bytes")
    ideal.refuses(T, with{ cudaMemcpy = { waits = true } }, "SL_EINVAL",
        "unknown key 'calls.cudaMemcpy.waits'; did you mean", "a copy of no kind")
    ideal.refuses(T, with{ cudaLaunchKernels = { waits = true } }, "SL_EINVAL",
        "did you mean 'calls.cudaLaunchKernel.waits'", "a call that there is not")
end

a_plain_call()
every_call()
a_barrier_orders_before_and_after()
reaches()
refused()
ideal.textbook()
collectgarbage()
T.done()
