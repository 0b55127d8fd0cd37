-- 34-host.t.lua - the host's clock: call costs, frees that wait, host functions.
--
-- Micro-experiments 18 and 20.

local T = require "tap"
local ideal = require "lua.ideal"

local t_us = 1000

local function cuda_free_waits_and_free_async_does_not()
    ideal.textbook()
    local s = ideal.streams(1)[1]
    local plain, pooled = lab.cuda.malloc(1048576), lab.cuda.malloc_async(1048576, s)
    lab.synchronize()
    -- A 5 ms kernel; the host then frees and launches another one.
    local function host_us(free)
        local spans = ideal.spans(lab.profile(function()
            lab.spin(5, { stream = s })
            free()
            lab.spin(0, { stream = s })
        end))
        return spans[2].host_start_us - spans[1].host_end_us
    end
    T.ok(host_us(function() lab.cuda.free(plain) end) > 4900,
         "cudaFree keeps the host until the kernel ends")
    T.ok(host_us(function() lab.cuda.free_async(pooled, s) end) < 100, "cudaFreeAsync does not")
end

local function free_host_and_unregister_wait_as_well()
    ideal.textbook()
    local s = ideal.streams(1)[1]
    local host, own = lab.cuda.malloc_host(4096), lab.empty(1024, { device = "cpu" })
    lab.cuda.host_register(own)
    lab.synchronize()
    local function waits(call)
        local before = ideal.spans(lab.profile(function()
            lab.spin(5, { stream = s })
            call()
            lab.spin(0, { stream = s })
        end))
        return before[2].host_start_us >= before[1].end_us
    end
    T.ok(waits(function() lab.cuda.free_host(host) end), "cudaFreeHost waits for the device")
    T.ok(waits(function() lab.cuda.host_unregister(own) end),
         "cudaHostUnregister waits for the device")
    local kept = {}
    T.ok(not waits(function() kept[1] = lab.cuda.malloc(4096) end), "cudaMalloc does not")
    T.ok(not waits(function() kept[2] = lab.cuda.malloc_host(4096) end), "cudaMallocHost does not")
    T.ok(not waits(function() lab.cuda.host_register(own) end), "cudaHostRegister does not")
    lab.cuda.free(kept[1])
    lab.cuda.free_host(kept[2])
    lab.cuda.host_unregister(own)
end

local function freeing_a_tensor_never_waits()
    ideal.textbook()
    local s = ideal.streams(1)[1]
    local tensor = lab.empty(1048576, { stream = s })
    lab.synchronize()
    local spans = ideal.spans(lab.profile(function()
        lab.spin(5, { stream = s })
        tensor:free()
        lab.spin(0, { stream = s })
    end))
    T.ok(spans[2].host_start_us - spans[1].host_end_us < 100,
         "t:free() goes to the pool and does not wait")
end

local function the_profile_decides_what_a_free_does()
    ideal.textbook{ ["calls.cudaFree.waits"] = false }
    local s = ideal.streams(1)[1]
    local memory = lab.cuda.malloc(4096)
    lab.synchronize()
    local spans = ideal.spans(lab.profile(function()
        lab.spin(5, { stream = s })
        lab.cuda.free(memory)
        lab.spin(0, { stream = s })
    end))
    T.ok(spans[2].host_start_us < spans[1].end_us,
         "a profile may have a cudaFree that does not wait")
end

-- n empty kernels: from the first one's start to the last one's.
local function issue_rate_us(n, overrides)
    ideal.open(overrides)
    local s = ideal.streams(1)[1]
    local spans = ideal.spans(lab.profile(function()
        for _ = 1, n do lab.spin(0, { stream = s }) end
    end))
    return (spans[n].from_us - spans[1].from_us) / (n - 1)
end

local function empty_kernels_run_at_the_slower_of_host_and_gap()
    T.near(issue_rate_us(50, { ["host.launch_us"] = 4, stream_gap_us = 1 }), 4, 1e-6,
           "empty kernels are bound by the launch where it is slower than the gap")
    T.near(issue_rate_us(50, { ["host.launch_us"] = 1, stream_gap_us = 3 }), 3, 1e-6,
           "and by the stream's gap where that is slower")
end

local function submission_delays_the_start()
    ideal.open{ submit_us = 3, ["host.launch_us"] = 4 }
    local s = ideal.streams(1)[1]
    local span = lab.profile(function() lab.spin(1, { stream = s }) end):spans()[1]
    local delay = span.start_us - span.host_start_us
    -- Visible submit_us after the call; whether that counts from the call's start
    -- or from its end, the kernel cannot start earlier than 3 us nor later than 7.
    T.ok(delay >= 3 and delay <= 7 + 1e-6, "a kernel becomes visible submit_us after its launch")
    T.near(ideal.host_us(span), 4, 1e-6, "the launch costs the host host.launch_us")
end

local function host_work_advances_the_host_only()
    ideal.open()
    local s = ideal.streams(1)[1]
    local tl = lab.profile(function()
        ideal.spin(s, 5)
        lab.host_work(2)
        ideal.spin(s, 1)
    end)
    local spans = ideal.spans(tl)
    T.near(spans[2].host_start_us - spans[1].host_end_us, 2 * t_us, 1e-6,
           "host_work(2) keeps the host busy for 2 ms")
    T.near(tl.makespan_us, 6 * t_us, 1e-6, "the device goes on meanwhile")
    -- wall time: both ends synchronise; 6 ms from the first launch on
    T.near(tl.wall_us, 6 * t_us, 1e-6, "wall_us contains the final synchronise")
end

local function synchronising_costs_the_wake_up()
    ideal.open{ wake_us = 20 }
    local s = ideal.streams(1)[1]
    local spans = ideal.spans(lab.profile(function()
        ideal.spin(s, 1)
        s:synchronize()
        ideal.spin(s, 1)
    end))
    T.near(spans[2].from_us, t_us + 20, 1e-6, "the host notices completion wake_us later")
end

local function a_host_function_delays_its_stream()
    ideal.open{ host_func_in_us = 10, host_func_out_us = 5 }
    local s, other = table.unpack(ideal.streams(2))
    local ran = 0
    local tl = lab.profile(function()
        ideal.spin(s, 1)
        s:launch_host_func(function() ran = ran + 1 end)
        ideal.spin(s, 1)
        ideal.spin(other, 3)
    end)
    local spans = ideal.spans(tl)
    T.is(ran, 1, "a host function runs once")
    T.is(spans[2].kind, "host_func", "it has a span of kind host_func")
    T.is(spans[2].engine, "host", "its engine is the host")
    T.near(spans[3].from_us, t_us + 15, 1e-6,
           "it delays its stream by host_func_in + host_func_out")
    T.near(spans[4].from_us, 0, 1e-6, "other streams do not wait for it")
end

local function a_host_function_sees_the_values_of_its_moment()
    ideal.open()
    local s = ideal.streams(1)[1]
    local host, dev = lab.zeros(2, { device = "cpu", pinned = true }), lab.full(4, 2)
    lab.synchronize()
    local seen = {}
    s:launch_host_func(function() seen[1] = host:get(1) end)
    host:copy_(dev, { non_blocking = true, stream = s })
    s:launch_host_func(function() seen[2] = host:get(1) end)
    lab.add(dev, 1, { out = dev, stream = s })
    host:copy_(dev, { non_blocking = true, stream = s })
    s:synchronize()
    T.is(seen[1], 0, "a host function before a copy sees the old value")
    T.is(seen[2], 4, "one behind it sees what the copy brought, not what came later")
    T.is(host:get(1), 5, "the host sees the last value")
end

cuda_free_waits_and_free_async_does_not()
free_host_and_unregister_wait_as_well()
freeing_a_tensor_never_waits()
the_profile_decides_what_a_free_does()
empty_kernels_run_at_the_slower_of_host_and_gap()
submission_delays_the_start()
host_work_advances_the_host_only()
synchronising_costs_the_wake_up()
a_host_function_delays_its_stream()
a_host_function_sees_the_values_of_its_moment()
T.done()
