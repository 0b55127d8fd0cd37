-- 20-api-hostfunc.t.lua - host functions: order, errors, and what they may not do.

local T = require "tap"
local ideal = require "lua.ideal"

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

local function they_run_in_stream_order()
    local s, order = lab.stream{}, {}
    for i = 1, 5 do
        lab.spin(0.1, { stream = s })
        s:launch_host_func(function() order[#order + 1] = i end)
    end
    T.is(#order, 0, "a host function does not run at the call")
    s:synchronize()
    T.is_deeply(order, { 1, 2, 3, 4, 5 }, "host functions of a stream run in order, each once")
    lab.synchronize()
    T.is(#order, 5, "and not again")
end

local function they_run_across_streams_by_time()
    local a, b, order = lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true }, {}
    lab.spin(2, { stream = a })
    a:launch_host_func(function() order[#order + 1] = "a" end)
    lab.spin(1, { stream = b })
    b:launch_host_func(function() order[#order + 1] = "b" end)
    lab.synchronize()
    T.is_deeply(order, { "b", "a" },
                "host functions of several streams run as virtual time reaches them")
end

local function they_run_when_the_host_looks()
    local s, ran = lab.stream{}, false
    s:launch_host_func(function() ran = true end)
    for _ = 1, 1000 do
        if ran then break end
        s:query()
    end
    T.ok(ran, "polling with query runs them as well")
    lab.synchronize()
end

local function the_stream_waits_for_them()
    local s = lab.stream{}
    local host = lab.zeros(1, { device = "cpu", pinned = true })
    local dev = lab.zeros(1)
    lab.synchronize()
    lab.spin(1, { stream = s })
    s:launch_host_func(function() host:set(1, 8) end)
    dev:copy_(host, { non_blocking = true, stream = s })
    lab.synchronize()
    T.is(dev:get(1), 8, "what a host function writes is there for the copy behind it")
end

local function an_error_comes_out_of_the_call_that_drove_it()
    local s, ran = lab.stream{}, false
    s:launch_host_func(function() error("broken function") end)
    s:launch_host_func(function() ran = true end)
    local err = ideal.error_of(s.synchronize, s)
    T.is(type(err) == "table" and err.code, "SL_EHOSTFUNC",
         "an error in a host function makes the driving call fail")
    T.like(tostring(err), "broken function", "with the function's message")
    T.like(tostring(err), "20%-api%-hostfunc", "and the script")
    T.lives(function() lab.synchronize() end, "the laboratory goes on")
    T.ok(ran, "the next host function still runs")
    T.is(s:query(), true, "and the stream drains")
    s:launch_host_func(function() error{ code = 5 } end)
    T.ok(ideal.error_of(s.synchronize, s), "an error that is no string is an error as well")
    s:launch_host_func(function() error(nil) end)
    T.ok(ideal.error_of(s.synchronize, s), "and so is nil")
    T.lives(function() lab.synchronize() end, "and afterwards all is well")
end

local function the_laboratory_is_closed_to_them()
    local s, other = lab.stream{}, lab.stream{}
    local t, e = lab.ones(2, 2), lab.event{}
    e:record(other)
    lab.synchronize()
    local refused = {
        { "a kernel", function() lab.add(t, t) end }, { "a spin",
            function() lab.spin(1, { stream = other }) end },
        { "a copy", function() t:to("cpu") end }, { "a fill of device memory",
            function() t:fill_(1) end },
        { "reading device memory", function() t:get(1, 1) end },
        { "synchronize", function() lab.synchronize() end },
        { "stream synchronize", function() other:synchronize() end },
        { "event synchronize", function() e:synchronize() end }, { "record",
            function() e:record(other) end },
        { "wait_event", function() other:wait_event(e) end },
        { "another host function", function() other:launch_host_func(print) end },
    }
    local seen = {}
    s:launch_host_func(function()
        for i, case in ipairs(refused) do seen[i] = ideal.error_of(case[2]) or "nothing" end
    end)
    s:synchronize()
    for i, case in ipairs(refused) do
        T.is(type(seen[i]) == "table" and seen[i].code, "SL_ESTATE",
             "in a host function, " .. case[1] .. " is refused")
        if type(seen[i]) ~= "table" then T.diag("raised " .. tostring(seen[i])) end
    end
    T.lives(function() lab.add(t, t) end, "outside of it everything works again")
    lab.synchronize()
end

local function host_memory_is_open_to_them()
    local s, seen = lab.stream{}, nil
    local host = lab.tensor({ 3, 4 }, { device = "cpu" })
    s:launch_host_func(function()
        seen = host:get(2)
        host:set(1, 9)
    end)
    s:synchronize()
    T.is(seen, 4, "a host function may read host memory")
    T.is(host:get(1), 9, "and write it")
end

local function host_work_makes_them_last()
    ideal.open()
    local s = lab.stream{ non_blocking = true }
    local fine, tl = pcall(lab.profile, function()
        lab.spin(1, { stream = s })
        s:launch_host_func(function() lab.host_work(3) end)
        lab.spin(1, { stream = s })
    end)
    if not T.ok(fine, "host_work is allowed in a host function") then
        T.diag("  " .. tostring(tl))
        lab.synchronize()
        return
    end
    -- 1 + 3 + 1 ms
    T.near(tl.makespan_us, 5000, 1e-3,
           "host_work in a host function makes it last, and its stream wait")
    ideal.textbook()
end

-- A device of its own for the function, one for what the function tries.
local function other_devices_are_closed_to_them()
    local first = lab.device()
    local s = lab.stream{}
    ideal.textbook()
    local second = lab.device()
    local code, record_code, mine
    local host, gpu = lab.zeros(1, { device = "cpu" }), lab.ones(2)
    s:launch_host_func(function()
        code = select(2, pcall(lab.add, gpu, gpu)).code
        record_code = select(2, pcall(lab.record)).code
        host:set(1, 7)
        mine = host:get(1)
    end)
    s:synchronize()
    T.is(code, "SL_ESTATE", "a host function must not enqueue on another device")
    T.is(record_code, "SL_ESTATE", "nor begin a recording of it")
    T.is(mine, 7, "but may use its host tensors")
    T.is(lab.add(gpu, gpu):sum():item(), 4, "afterwards the device works")
    T.ok(first ~= second, "they are two")
    first:make_current()
end

local function recordings_outlive_them()
    local tl, s = lab.record(), lab.stream{}
    local refused, closed
    s:launch_host_func(function()
        refused = select(2, pcall(tl.stop, tl)).code
        closed = select(2, pcall(function() local again <close> = tl end)).code
    end)
    s:synchronize()
    T.is(refused, "SL_ESTATE", "a host function must not stop a recording")
    T.is(closed, "SL_ESTATE", "nor end it as a variable that goes out of scope")
    T.ok(tl.recording, "the recording goes on")
    tl:stop()
    T.is(tl.span_count, 1, "and has the host function")
    lab.record()
    s:launch_host_func(function() collectgarbage() collectgarbage() end)
    s:synchronize()
    T.is(lab.add(lab.ones(2), 1):sum():item(), 4,
         "one that is collected in a host function ends after it")
end

local function misuse()
    local s = lab.stream{}
    refuses(function() s:launch_host_func() end, "SL_EINVAL", "function",
            "a host function is a function")
    refuses(function() s:launch_host_func("print") end, "SL_EINVAL", "function", "not its name")
    refuses(function() s:launch_host_func(lab.event{}) end, "SL_EINVAL", "function",
            "and not an event")
    T.ok(ideal.error_of(s.launch_host_func, nil, print), "it needs its stream")
end

local function they_may_be_many_and_collected()
    local s, count = lab.stream{}, 0
    for _ = 1, 200 do s:launch_host_func(function() count = count + 1 end) end
    collectgarbage()
    collectgarbage()
    lab.synchronize()
    T.is(count, 200, "host functions that only the laboratory holds are not collected")
end

local function the_end_of_a_program_with_one_queued()
    local status = ideal.run_text([[
        local s = lab.stream{}
        lab.spin(1, {stream = s})
        s:launch_host_func(function() print("ran") end)
    ]])
    T.is(status, 0, "a program may end with a host function queued")
end

local function they_cannot_yield()
    local s = lab.stream{}
    s:launch_host_func(coroutine.yield)
    refuses(function() s:synchronize() end, "SL_EHOSTFUNC",
            "it yields, and nobody could resume it: what it does has to be done when it returns$",
            "a host function that yields is told that it cannot")
    local k = coroutine.wrap(function()
        s:launch_host_func(function() coroutine.yield() end)
        return pcall(s.synchronize, s)
    end)
    T.ok(not k(), "nor can one that is launched in a coroutine")
end

ideal.textbook()
for _, test in ipairs{ they_run_in_stream_order, they_run_across_streams_by_time,
                       they_run_when_the_host_looks, the_stream_waits_for_them,
                       an_error_comes_out_of_the_call_that_drove_it,
                       the_laboratory_is_closed_to_them, host_memory_is_open_to_them,
                       host_work_makes_them_last, other_devices_are_closed_to_them,
                       recordings_outlive_them, misuse, they_cannot_yield,
                       they_may_be_many_and_collected,
                       the_end_of_a_program_with_one_queued } do
    test()
end
T.done()
