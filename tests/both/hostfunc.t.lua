-- hostfunc.t.lua - host functions: once each, in stream order, on Lua's thread, and no
-- call of the laboratory may be kept waiting for ever by one that has not run.
--
-- A host function runs inside some later call. While one is queued, a real GPU's driver
-- waits for Lua's thread: any call that waits for the driver must run it meanwhile. The
-- checks of that come one by one, so that one that hangs is known by the last that passed.

local T = require "tap"
local ideal = require "lua.ideal"

T.open()

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

local function warm_up()
    lab.add(lab.ones(8), 1)
    lab.spin(0)
    lab.synchronize()
end

-- ---- order ----------------------------------------------------------------------------

local function in_stream_order()
    local s, order = lab.stream{}, {}
    for i = 1, 10 do
        lab.spin(0.5, { stream = s })
        s:launch_host_func(function() order[#order + 1] = i end)
    end
    s:synchronize()
    T.is_deeply(order, { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 },
                "host functions of a stream run in order, each once")
    lab.synchronize()
    T.is(#order, 10, "and not again")
end

local function behind_a_spin()
    local s, ran = lab.stream{}, false
    lab.spin(20, { stream = s })
    s:launch_host_func(function() ran = true end)
    T.is(ran, false, "a host function behind a spin has not run when it is launched")
    s:synchronize()
    T.is(ran, true, "and has when the stream is done")
end

-- Only a call of the laboratory runs host functions: nothing changes while Lua computes.
local function on_the_thread_of_lua()
    local s, count = lab.stream{}, 0
    for _ = 1, 20 do s:launch_host_func(function() count = count + 1 end) end
    local before, sum = count, 0
    for i = 1, 300000 do sum = sum + i % 7 end
    T.is(count, before, "no host function runs while Lua computes by itself")
    lab.synchronize()
    T.is(count, 20, "all run in the calls that wait")
    local inside
    local co = coroutine.wrap(function()
        s:launch_host_func(function() inside = coroutine.isyieldable() end)
        lab.synchronize()
    end)
    co()
    T.is(inside, false, "also when a coroutine waits; and a host function cannot yield")
end

local function many()
    local s, count, sum = lab.stream{}, 0, 0
    for i = 1, 500 do
        s:launch_host_func(function()
            count = count + 1
            sum = sum + i
        end)
    end
    collectgarbage()
    collectgarbage()
    lab.synchronize()
    T.is(count, 500, "500 of them run, though only the laboratory holds them")
    T.is(sum, 125250, "each once")
end

local function two_streams()
    local a, b = lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true }
    local order, of_a, of_b = {}, {}, {}
    for i = 1, 20 do
        lab.spin(0.1, { stream = a })
        a:launch_host_func(function() of_a[#of_a + 1], order[#order + 1] = i, "a" end)
        lab.spin(0.2, { stream = b })
        b:launch_host_func(function() of_b[#of_b + 1], order[#order + 1] = i, "b" end)
    end
    lab.synchronize()
    local sorted = #of_a == 20 and #of_b == 20
    for i = 1, 20 do sorted = sorted and of_a[i] == i and of_b[i] == i end
    T.ok(sorted, "host functions of two streams keep each stream's order")
    local e, ran = lab.event{}, {}
    a:launch_host_func(function() ran[#ran + 1] = "a" end)
    e:record(a)
    b:wait_event(e)
    b:launch_host_func(function() ran[#ran + 1] = "b" end)
    b:synchronize()
    T.is_deeply(ran, { "a", "b" }, "and an event's order between streams")
    -- The one waits for the other's, though only the other is asked for.
    local done = false
    a:launch_host_func(function() done = true end)
    b:wait_stream(a)
    lab.spin(0, { stream = b })
    b:synchronize()
    T.is(done, true, "waiting for one stream runs what another must do before")
end

local function polling()
    local s, e, ran = lab.stream{}, lab.event{}, 0
    local function count() ran = ran + 1 end
    s:launch_host_func(count)
    for _ = 1, 1e6 do
        if s:query() then break end
    end
    T.is(ran, 1, "asking the stream runs them as well")
    s:launch_host_func(count)
    e:record(s)
    for _ = 1, 1e6 do
        if e:query() then break end
    end
    T.is(ran, 2, "and asking an event")
    s:launch_host_func(count)
    e:record(s)
    e:synchronize()
    T.is(ran, 3, "and waiting for one")
    s:launch_host_func(count)
    for _ = 1, 1000 do
        if ran == 4 then break end
        lab.host_work(1)
    end
    T.is(ran, 4, "and the host's own work")
    lab.synchronize()
end

-- ---- memory ---------------------------------------------------------------------------

local function they_see_what_was_copied()
    local s, seen = lab.stream{}, {}
    local host = lab.zeros(1000, { device = "cpu", pinned = true })
    local dev = lab.zeros(1000)
    lab.synchronize()
    for i = 1, 20 do
        lab.add(dev, i, { out = dev, stream = s })
        host:copy_(dev, { non_blocking = true, stream = s })
        s:launch_host_func(function() seen[i] = host:get(1000) end)
    end
    s:synchronize()
    local right = #seen == 20
    for i = 1, 20 do right = right and seen[i] == i * (i + 1) // 2 end
    T.ok(right, "a host function sees what its stream has copied, 20 times")
end

local function the_stream_waits_for_them()
    local s, total = lab.stream{}, lab.zeros(100)
    local host, dev = lab.zeros(100, { device = "cpu", pinned = true }), lab.zeros(100)
    lab.synchronize()
    for i = 1, 20 do
        s:launch_host_func(function()
            for k = 1, 100 do host:set(k, i * k) end
        end)
        dev:copy_(host, { non_blocking = true, stream = s })
        lab.add(total, dev, { out = total, stream = s })
    end
    s:synchronize()
    T.is(total:get(1), 210, "a copy behind a host function has what that wrote, 20 times")
    T.is(total:get(100), 21000, "all of it")
end

-- ---- what they may not do -------------------------------------------------------------

local function errors_come_out_later()
    local s, ran = lab.stream{}, false
    s:launch_host_func(function() error("broken function") end)
    s:launch_host_func(function() ran = true end)
    local err = ideal.error_of(lab.synchronize)
    T.is(type(err) == "table" and err.code, "SL_EHOSTFUNC",
         "an error in one comes out of a later call")
    T.like(tostring(err), "broken function", "with its message")
    T.like(tostring(err), "hostfunc%.t%.lua", "and the script")
    T.lives(function() lab.synchronize() end, "once")
    T.is(ran, true, "the next one still runs")
    T.is(s:query(), true, "and the stream gets on")
    s:launch_host_func(function() error{} end)
    T.is((ideal.error_of(s.synchronize, s) or {}).code, "SL_EHOSTFUNC",
         "an error may be any value")
    for _ = 1, 3 do s:launch_host_func(function() error("again", 0) end) end
    T.like(tostring(ideal.error_of(s.synchronize, s)), "again",
           "several in a row are reported together")
    T.lives(function() lab.synchronize() end, "and only once")
end

local function the_device_is_closed_to_them()
    local s, other, e = lab.stream{}, lab.stream{}, lab.event{}
    local t, host = lab.ones(2, 2), lab.ones(2, 2, { device = "cpu" })
    e:record(other)
    lab.synchronize()
    local refused = {
        { "a kernel", function() lab.add(t, t) end }, { "a spin", function() lab.spin(0) end },
        { "a copy", function() t:to("cpu") end }, { "copy_", function() t:copy_(host) end },
        { "fill_", function() t:fill_(1) end }, { "reading the GPU", function() t:get(1, 1) end },
        { "writing to it", function() t:set(1, 1, 2) end },
        { "a new tensor", function() lab.zeros(3) end },
        { "lab.synchronize", function() lab.synchronize() end },
        { "a stream's synchronize", function() other:synchronize() end },
        { "an event's synchronize", function() e:synchronize() end },
        { "query", function() other:query() end }, { "record", function() e:record(other) end },
        { "wait_event", function() other:wait_event(e) end }, { "free", function() t:free() end },
        { "another host function", function() other:launch_host_func(print) end },
        { "a new stream", function() lab.stream{} end },
        { "lab.use", function() lab.use(other) end },
        { "cudaMalloc", function() lab.cuda.malloc(16) end },
        { "a recording", function() lab.profile(function() lab.spin(0) end) end },
    }
    local seen = {}
    s:launch_host_func(function()
        for i, case in ipairs(refused) do seen[i] = ideal.error_of(case[2]) or "nothing" end
    end)
    s:synchronize()
    for i, case in ipairs(refused) do
        T.is(type(seen[i]) == "table" and seen[i].code or seen[i], "SL_ESTATE",
             "in a host function, " .. case[1] .. " is refused")
    end
    T.is(lab.add(t, t):get(2, 2), 2, "and outside of it all works as before")
end

local function host_memory_and_time_are_open_to_them()
    local s, seen, lasted = lab.stream{}, nil, nil
    local host = lab.tensor({ 3, 4 }, { device = "cpu" })
    s:launch_host_func(function()
        local before = lab.now_us()
        seen = host:get(2)
        host:set(1, 9)
        lab.host_work(3)
        lasted = lab.now_us() - before
    end)
    lab.synchronize()
    T.is(seen, 4, "a host function may read host memory")
    T.is(host:get(1), 9, "and write it")
    T.ok(lasted and lasted >= 2999, "and take its time")
    refuses(function() s:launch_host_func("print") end, "SL_EINVAL", "function",
            "a host function is a function")
    refuses(function() s:launch_host_func() end, "SL_EINVAL", "function", "and not nothing")
end

-- ---- nothing waits for ever -----------------------------------------------------------

-- Calls with a host function queued in stream s, behind a short spin.
local function calls(s)
    local n = 300000
    local dev, dev2 = lab.zeros(n), lab.zeros(n)
    local host = lab.ones(n, { device = "cpu" })
    local pinned = lab.ones(n, { device = "cpu", pinned = true })
    local square, memory = lab.ones(64, 64), lab.cuda.malloc(4096)
    local locked = lab.cuda.malloc_host(1 << 20)
    local e, done, other = s:record_event(), s:record_event(), lab.stream{}
    local tl
    lab.synchronize()
    return {
        { "a pageable copy to the host in its stream",
          function() host:copy_(dev, { stream = s }) end },
        { "such a copy that does not block",
          function() host:copy_(dev, { stream = s, non_blocking = true }) end },
        { "a pageable copy to the GPU", function() dev:copy_(host, { stream = s }) end },
        { "such a copy that does not block",
          function() dev:copy_(host, { stream = s, non_blocking = true }) end },
        { "a pinned copy to the host", function() pinned:copy_(dev, { stream = s }) end },
        { "a pinned copy to the GPU", function() dev:copy_(pinned, { stream = s }) end },
        { "a copy within the GPU", function() dev:copy_(dev2, { stream = s }) end },
        { "get in its stream", function() lab.with(s, function() dev:get(1) end) end },
        { "get in the NULL stream", function() dev:get(n) end },
        { "set in the NULL stream", function() dev:set(n, 1) end },
        { "totable in another stream",
          function() lab.with(other, function() square:totable() end) end },
        { "cudaMemcpy to the host", function() lab.cuda.memcpy(host, dev) end },
        { "cudaMemcpy to the GPU", function() lab.cuda.memcpy(dev, host) end },
        { "cudaMemcpy of pinned memory", function() lab.cuda.memcpy(pinned, dev) end },
        { "cudaMemcpyAsync", function() lab.cuda.memcpy_async(host, dev, s) end },
        { "cudaMemset", function() lab.cuda.memset(memory, 1) end },
        { "cudaMemset of pinned memory", function() lab.cuda.memset(locked, 1) end },
        { "cudaMalloc", function() lab.cuda.malloc(1 << 24):free() end },
        { "cudaFree", function() lab.cuda.free(memory) end },
        { "cudaMallocHost", function() lab.cuda.malloc_host(1 << 22):free() end },
        { "cudaFreeHost", function() lab.cuda.free_host(locked) end },
        { "cudaMallocAsync and cudaFreeAsync",
          function() lab.cuda.free_async(lab.cuda.malloc_async(1 << 24, s), s) end },
        { "pin", function() host:pin() end }, { "unpin", function() host:unpin() end },
        { "a large pinned tensor",
          function() lab.empty(1 << 24, { device = "cpu", pinned = true }) end },
        { "a large tensor", function() lab.empty(1 << 26) end },
        { "the first matmul", function() lab.matmul(square, square, { stream = other }) end },
        { "the first rand", function() lab.rand(1000, { stream = other }) end },
        { "the first randn", function() lab.randn(1000, { stream = s }) end },
        { "the first pow", function() lab.pow(square, 2.5, { stream = s }) end },
        { "the first softmax", function() lab.softmax(square, { stream = other }) end },
        { "the first sum", function() lab.sum(square) end },
        { "the first kernel of another dtype",
          function()
              lab.mul(lab.ones(9, { dtype = "float16", stream = s }), 2, { stream = s })
          end },
        { "cublasCreate", lab.cuda.cublas_create }, { "cublasDestroy", lab.cuda.cublas_destroy },
        { "cudaFuncSetCacheConfig", lab.cuda.func_set_cache_config },
        { "cudaDeviceSetLimit", lab.cuda.device_set_limit },
        { "a new stream that is closed", function() lab.stream{}:close() end },
        { "elapsed_time", function() e:elapsed_time(done) end },
        { "waiting for another event", function() e:synchronize() end },
        { "closing a stream", function() other:close() end },
        { "free", function() dev2:free() end },
        { "a full collection", function()
            collectgarbage()
            collectgarbage()
        end },
        { "lab.live", function() lab.live() end },
        { "the beginning of a recording", function() tl = lab.record() end },
        { "its end", function() tl:stop() end },
        { "lab.profile", function() lab.profile(function() lab.spin(0.1) end) end },
        { "lab.measure",
          function() lab.measure(function() lab.spin(0) end, { warmup = 0, reps = 1 }) end },
    }
end

local function nothing_waits_for_ever()
    local s = lab.stream{}
    for _, case in ipairs(calls(s)) do
        local ran = 0
        lab.spin(1, { stream = s })
        s:launch_host_func(function() ran = ran + 1 end)
        local fine, err = pcall(case[2])
        lab.synchronize()
        T.ok(fine and ran == 1, case[1] .. " behind a host function comes to an end")
        if not fine then T.diag("  raised " .. tostring(err)) end
    end
end

-- The launch queue is full long before the host function can run.
local function behind_a_full_queue()
    local s, x, ran = lab.stream{}, lab.zeros(10), 0
    lab.synchronize()
    lab.spin(10, { stream = s })
    s:launch_host_func(function() ran = ran + 1 end)
    for _ = 1, 3000 do lab.add(x, 1, { out = x, stream = s }) end
    s:launch_host_func(function() ran = ran + 1 end)
    lab.synchronize()
    T.is(ran, 2, "3000 operations may be queued behind a host function")
    T.is(x:get(10), 3000, "and are all done")
    local streams, tensors = {}, {}
    for i = 1, 12 do
        streams[i], tensors[i] = lab.stream{ non_blocking = true }, lab.zeros(10)
    end
    lab.synchronize()
    lab.spin(30, { stream = streams[1] })
    streams[1]:launch_host_func(function() ran = ran + 1 end)
    for _ = 1, 400 do
        for i, other in ipairs(streams) do
            if i > 1 then other:wait_stream(streams[1]) end
            lab.add(tensors[i], 1, { out = tensors[i], stream = other })
        end
    end
    lab.synchronize()
    local right = ran == 3
    for _, t in ipairs(tensors) do right = right and t:get(10) == 400 end
    T.ok(right, "also in 12 streams that all wait for the one with the host function")
end

-- Streams may share a launch queue; here none of them has much in it.
local function in_many_streams()
    local first, ran, streams, tensors = lab.stream{ non_blocking = true }, 0, {}, {}
    for i = 1, 16 do
        streams[i], tensors[i] = lab.stream{ non_blocking = true }, lab.zeros(10)
    end
    lab.synchronize()
    lab.spin(30, { stream = first })
    first:launch_host_func(function() ran = ran + 1 end)
    for _, s in ipairs(streams) do s:wait_stream(first) end
    for _ = 1, 600 do
        for i, s in ipairs(streams) do lab.add(tensors[i], 1, { out = tensors[i], stream = s }) end
    end
    lab.synchronize()
    local right = ran == 1
    for _, t in ipairs(tensors) do right = right and t:get(10) == 600 end
    T.ok(right, "16 streams may be filled that wait for one with a host function")
end

local function the_end_of_a_program()
    if T.launches_block then return end     -- see errors.t.lua
    local backend = "--backend " .. (os.getenv("STREAMLAB_BACKEND") or "sim")
    local status, text = ideal.run_text([[
        local s = lab.stream{}
        lab.spin(20, {stream = s})
        s:launch_host_func(function() print("ran") end)
    ]], { options = backend })
    T.is(status, 0, "a program may end with a host function queued")
    T.ok(text == "" or text == "ran\n", "which runs at most once")
    status, text = ideal.run_text([[
        local s = lab.stream{}
        s:launch_host_func(function() print("ran") os.exit(7) end)
        lab.synchronize()
    ]], { options = backend })
    T.is(status, 7, "a host function may end the program")
    T.is(text, "ran\n", "at once")
end

warm_up()
for _, test in ipairs{ in_stream_order, behind_a_spin, on_the_thread_of_lua, many, two_streams,
                       polling, they_see_what_was_copied, the_stream_waits_for_them,
                       errors_come_out_later, the_device_is_closed_to_them,
                       host_memory_and_time_are_open_to_them, nothing_waits_for_ever,
                       the_end_of_a_program,
                       behind_a_full_queue, in_many_streams } do
    test()
end
T.done()
