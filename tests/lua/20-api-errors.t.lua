-- 20-api-errors.t.lua - the error object, mixed devices, and opening a device.

local T = require "tap"
local ideal = require "lua.ideal"

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

local function fields()
    ideal.textbook()
    local a, b = lab.zeros(4, 3), lab.zeros(4, 3)
    local line = debug.getinfo(1, "l").currentline + 1
    local err = ideal.error_of(function() lab.matmul(a, b) end)
    T.is(err.code, "SL_ESHAPE", "code is the status by name")
    T.is(err.op, "matmul", "op is the function that was called")
    T.is(err.message, "inner sizes differ: 4x3 times 4x3", "message is the sentence alone")
    T.is(err.where, "20-api-errors.t.lua:" .. line, "where is the script's line")
    T.is(tostring(err),
         "20-api-errors.t.lua:" .. line .. ": matmul: inner sizes differ: 4x3 times 4x3",
         "tostring puts them together")
    local call = lab.matmul
    line = debug.getinfo(1, "l").currentline + 1
    err = ideal.error_of(function() call(a, 5) end)
    T.is(err.where, "20-api-errors.t.lua:" .. line, "a wrong type has its line as well")
    T.is(err.op, "matmul", "and the function's own name")
    line = debug.getinfo(1, "l").currentline + 1
    err = ideal.error_of(function() a:get(9, 9) end)
    T.is(err.where, "20-api-errors.t.lua:" .. line, "so has a method")
end

local function joining()
    local err = ideal.error_of(lab.matmul, 1)
    T.is("failed: " .. err, "failed: " .. tostring(err), "an error can be joined to a text")
    T.is(err .. "!", tostring(err) .. "!", "on either side")
    T.is(err .. 5, tostring(err) .. "5", "to a number")
    T.is(err .. err, tostring(err):rep(2), "and to another error")
    local ok, text = pcall(function() return err .. nil end)
    T.ok(not ok and text:find("concatenate a nil value"), "but not to nil")
end

-- The position of a call that is the last of its function, and the name of what the
-- user called, whichever part of the laboratory has found the mistake.
local function the_users_call()
    ideal.textbook()
    local line = debug.getinfo(1, "l").currentline
    local err = ideal.error_of(function() return lab.open{ profile = "nope" } end)
    T.is(err.where, "20-api-errors.t.lua:" .. line + 1, "a tail call has its line")
    local status, text = ideal.run_text("return lab.with(nil, print)")
    T.is(status, 1, "also in the main chunk")
    T.like(text, "%.lua:1: with: argument 1 %(stream%)", "where with is the one that complains")
    local s = lab.stream{}
    s:close()
    T.is(ideal.error_of(lab.with, s, print).op, "with", "with names itself for a closed stream")
    local function late() lab.stream{}:launch_host_func(function() error("late") end) end
    err = ideal.error_of(lab.profile, late)
    T.is(err.op, "profile", "profile names itself for what its final synchronise finds")
    T.like(err.message, "late", "which is reported")
    err = ideal.error_of(lab.measure, late)
    T.is(err.op, "measure", "so does measure")
    err = ideal.error_of(lab.probe, function(first)
        first:launch_host_func(function() error("late") end)
    end)
    T.is(err.op, "probe", "and probe")
    err = ideal.error_of(lab.with, lab.stream{}, function() lab.matmul(1) end)
    T.is(err.op, "matmul", "what the function calls itself keeps its name")
    err = ideal.error_of(lab.with, lab.stream{}, lab.matmul, 1)
    T.is(err.op, "matmul", "also when it is called directly")
end

local function userdata_of_others()
    ideal.textbook()
    local x = 0
    local light = debug.upvalueid(function() return x end, 1)
    for _, value in ipairs{ io.stdout, light } do
        refuses(function() lab.add(value, value) end, "SL_EINVAL", "a tensor, got userdata",
                "userdata of another library is no tensor: " .. tostring(value):match("^%a+"))
        refuses(function() lab.spin(0, { stream = value }) end, "SL_EINVAL",
                "a stream, got userdata", "and no stream")
    end
    local late
    do
        local t = lab.ones(1)
        setmetatable({}, { __gc = function() late = ideal.error_of(lab.add, t, t) or "none" end })
    end
    collectgarbage()
    T.ok(late, "a tensor that dies together with an object that uses it can still be named")
end

local function too_many_arguments()
    ideal.textbook()
    local t, h = lab.ones(1), lab.ones(1, { device = "cpu" })
    local s, e, d, tl = lab.stream{}, lab.event{}, lab.device(), lab.profile(function() end)
    local calls = {
        item = { t.item, t }, totable = { t.totable, t }, free = { t.free, t },
        numel = { t.numel, t },
        pin = { h.pin, h }, unpin = { h.unpin, h }, pin_memory = { h.pin_memory, h },
        size = { t.size, t, 1 }, sum = { t.sum, t, nil }, summary = { tl.summary, tl },
        stop = { tl.stop, tl }, bounds = { tl.bounds, tl }, spans = { tl.spans, tl },
        json = { tl.json, tl }, gaps = { tl.gaps, tl, {} },
        concurrency = { tl.concurrency, tl, "spans", {} }, save = { tl.save, tl, "x.json", {} },
        synchronize = { lab.synchronize },
        ["the stream's synchronize"] = { s.synchronize, s }, query = { s.query, s },
        ["the event's query"] = { e.query, e }, make_current = { d.make_current, d },
        current_stream = { lab.current_stream }, host_work = { lab.host_work, 0 },
        stream = { lab.stream, {} }, tensor = { lab.tensor, 1, {} }, record = { lab.record, {} },
        open = { lab.open, {} }, devices = { lab.devices }, probe = { lab.probe, print, {} },
        allclose = { lab.allclose, t, t, {} }, spin = { lab.spin, 0, {} },
        add = { t.add, t, t, {} },
    }
    local names = {}
    for name in pairs(calls) do names[#names + 1] = name end
    table.sort(names)
    for _, name in ipairs(names) do
        local call = calls[name]
        -- options may be nil
        local n = (name == "sum" or name == "summary" or name == "json") and #call + 1 or #call
        call[n + 1] = { stream = s }
        refuses(function() call[1](table.unpack(call, 2, n + 1)) end, "SL_EINVAL",
                ("argument %d is one too many, got table"):format(n), name .. " refuses one more")
    end
    T.is(t:item(nil), 1, "an argument that is nil is none")
    T.is(h.pinned or t.freed, false, "and the refused calls have done nothing")
end

local function a_script_that_fails()
    local status, text, name = ideal.run_text([[
local function inner()
    lab.matmul(lab.zeros(4, 3), lab.zeros(4, 3))
end
inner()
]])
    T.is(status, 1, "a script that fails ends the program with status 1")
    local message = name .. ":2: matmul: inner sizes differ: 4x3 times 4x3"
    T.ok(text:find(message, 1, true), "its message has the position")
    T.like(text, ":4: in", "and a traceback has the caller's line")
end

local function two_devices()
    ideal.textbook()
    local one = lab.device()
    local a, s1 = lab.ones(2, 2), lab.stream{}
    local h1 = lab.ones(2, 2, { device = "cpu" })
    ideal.textbook()
    local two = lab.device()
    T.isnt(one, two, "opening a device makes it current")
    local b, s2 = lab.ones(2, 2), lab.stream{}
    local cases = {
        { "add", function() lab.add(a, b) end }, { "mul", function() lab.mul(b, a) end },
        { "matmul", function() lab.matmul(a, b) end },
        { "out of another device", function() lab.add(b, b, { out = a }) end },
        { "a stream of another device", function() lab.add(b, b, { stream = s1 }) end },
        { "copy_", function() b:copy_(a) end },
        { "copy_ on another device's stream", function() b:copy_(b, { stream = s1 }) end },
        { "wait_stream", function() s2:wait_stream(s1) end },
    }
    for _, case in ipairs(cases) do
        refuses(case[2], "SL_EDEVICE", "device", "mixed devices: " .. case[1] .. " is refused")
    end
    T.is(b:get(1, 1), 1, "and nothing has changed")
    one:make_current()
    T.is(lab.device(), one, "make_current goes back")
    T.is(lab.add(a, a):get(1, 1), 2, "where everything works")
    T.is(lab.ones(1):get(1), 1, "new tensors are its own")
    T.is(h1:get(1, 1), 1, "host tensors as well")
    lab.with(s2, function()
        T.is(lab.device(), two, "lab.with makes its stream's device current, as in PyTorch")
        T.is(lab.add(b, b):get(1, 1), 2, "and work goes there")
    end)
    T.is(lab.device(), one, "until it ends")
end

-- Host memory belongs to no GPU.
local function host_tensors_and_two_devices()
    ideal.textbook()
    local one, h = lab.device(), lab.tensor({ 1, 2 }, { device = "cpu" })
    ideal.textbook()
    local two, s2 = lab.device(), lab.stream{}
    local function home(t)      -- the device of a tensor is the one whose work it takes part in
        for name, device in pairs{ one = one, two = two } do
            device:make_current()
            if pcall(lab.add, lab.zeros(2), t) then return name end
        end
    end
    two:make_current()
    T.is(home(h:cuda()), "two", "cuda() of a host tensor goes to the current device")
    two:make_current()
    T.is(home(h:to("cuda")), "two", "so does to(\"cuda\")")
    one:make_current()
    T.is(home(h:to("cuda", { stream = s2 })), "two", "unless a stream of another device is given")
    two:make_current()
    local d = h:cuda()
    T.is_deeply(d:totable(), { 1, 2 }, "with its values")
    d:fill_(5)
    h:copy_(d)
    T.is_deeply(h:totable(), { 5, 5 }, "a copy back goes into the host tensor of the other device")
    d:copy_(lab.tensor({ 3, 4 }, { device = "cpu" }):to("cpu", { pinned = true }))
    lab.cuda.memcpy(h, d)
    T.is_deeply(h:totable(), { 3, 4 }, "as does memcpy")
    h:fill_(6)
    one:make_current()
    lab.cuda.memcpy_async(d, h)
    two:make_current()
    lab.synchronize()
    T.is_deeply(d:totable(), { 6, 6 }, "and memcpy_async to the device, whichever is current")
end

local function opening()
    local device = lab.open{ backend = "sim", profile = "textbook" }
    T.is(device, lab.device(), "lab.open gives the device that is now current")
    T.is(device.name, "textbook GPU", "name")
    T.is(device.backend, "sim", "backend")
    T.is(device.sm_count, 132, "sm_count")
    T.is(device.async_engine_count, 3, "async_engine_count")
    T.is(device.memory_bytes, 150109880320, "memory_bytes")
    T.like(tostring(device.compute_capability), "9", "compute_capability")
    T.is_deeply(device.priority_range, { least = 0, greatest = -5 }, "priority_range")
    T.like(tostring(device), "textbook GPU", "a device prints")
    for _, profile in ipairs{ "a100", "v100", "t4", "h100", "b200", "l4", "a10" } do
        T.lives(function() lab.open{ backend = "sim", profile = profile } end,
                "the profile " .. profile .. " opens")
        T.like(lab.device().name:lower(), profile, "and has its name")
    end
    T.is(ideal.textbook{ sm_count = 10 }.sm_count, 10, "overrides replace single keys of a profile")
end

-- Opening raises, or gives nil and a message: whichever, the sentence names what is wrong.
local function open_fails(options, pattern, name)
    local results = table.pack(pcall(lab.open, options))
    local text = results[1] and results[2] == nil and results[3] or not results[1] and results[2]
    T.ok(text and tostring(text):find(pattern), name)
    if not (text and tostring(text):find(pattern)) then T.diag("gave " .. tostring(text)) end
end

local function opening_wrongly()
    ideal.textbook()
    local before = lab.device()
    open_fails({ backend = "sim", profile = "h2000" }, "h2000", "a missing profile is named")
    open_fails({ backend = "opencl" }, "opencl", "an unknown backend is named")
    open_fails({ backend = "sim", profil = "h200" }, "profil", "an unknown option is named")
    open_fails({ backend = "sim", index = 64 }, "64", "a device that does not exist is named")
    open_fails({ backend = "sim", index = -1 }, "%-1", "a negative index as well")
    open_fails({ backend = "sim", profile = "textbook", overrides = { sm_cout = 3 } }, "sm_cout",
               "an unknown key is named")
    open_fails({ backend = "sim", profile = "textbook", overrides = { sm_count = 0 } }, "sm_count",
               "a value out of range is named")
    open_fails({ backend = "sim", profile = "textbook", overrides = { sm_count = 0 / 0 } },
               "sm_count", "NaN as well")
    open_fails({ backend = "sim", profile = "textbook", overrides = { sm_count = "many" } },
               "sm_count", "a wrong type as well")
    open_fails({ backend = "sim", profile = "textbook", overrides = 5 }, "overrides",
               "overrides come in a table")
    open_fails({ backend = "sim", profile = "textbook", overrides = { sm_cout = 3 } },
               "did you mean 'sm_count'%?$", "with the key that is spelt like it")
    open_fails("a100", "table, got string; write lab%.open{ profile = \"a100\" }$",
               "options come in a table, as the message shows")
    open_fails({ backend = "sim", index = 64 },
               "there is no device 64: backend sim has 64 devices; choose the GPU with profile =$",
               "the simulator's GPUs are chosen by profile")
    local function file_with(text)
        local path = ideal.temporary(".lua")
        local file = assert(io.open(path, "w"))
        file:write(text)
        file:close()
        return path
    end
    local cases = {
        { "return {", "a profile that does not parse" },
        { "return 5", "a profile that is no table" },
        { "error('boom')", "a profile that raises" }, { "return {name = 'X'}",
            "a profile that lacks keys" },
    }
    for _, case in ipairs(cases) do
        local path = file_with(case[1])
        open_fails({ backend = "sim", profile = path }, "%w", case[2] .. " is refused")
        os.remove(path)
    end
    T.is(lab.device(), before, "after all of these the device before is still current")
    T.is(lab.ones(1):get(1), 1, "and works")
end

local function the_notice()
    local how = { options = "",
                  through = "env -u STREAMLAB_BACKEND -u STREAMLAB_PROFILE -u STREAMLAB_DEVICE "
                      .. "STREAMLAB_CUDA_PLUGIN=none" }
    local _, text = ideal.run_text("lab.device()", how)
    T.is(text, "streamlab: simulating NVIDIA H200 (profile h200): "
         .. "the CUDA backend is switched off\n",
         "a GPU that nobody asked for is announced, with the reason")
    _, text = ideal.run_text("lab.open{profile = \"textbook\"}", how)
    T.is(text, "", "and one that was asked for is not")
end

local function devices()
    local list = lab.devices()
    local sim
    for _, device in ipairs(list) do
        if device.backend == "sim" then sim = device end
        T.ok(type(device.name) == "string" and math.type(device.index) == "integer",
             "lab.devices lists backend, index and name of " .. tostring(device.backend))
    end
    T.ok(sim, "the simulator is always one of them")
end

local function host_work()
    ideal.textbook()
    local before = lab.now_us()
    lab.host_work(1.5)
    T.near(lab.now_us() - before, 1500, 1e-6, "host_work advances the host's clock")
    T.lives(function() lab.host_work(0) end, "no work is work")
    refuses(function() lab.host_work(-1) end, "SL_EINVAL", "%-1", "negative work is refused")
    refuses(function() lab.host_work(0 / 0) end, "SL_EINVAL", "nan", "NaN is refused")
    refuses(function() lab.host_work(math.huge) end, "SL_EINVAL", "inf", "infinity is refused")
    refuses(function() lab.host_work(1e300) end, "SL_EINVAL", "host_work",
            "what overflows the clock is refused")
    refuses(function() lab.host_work(1.1e9) end, "SL_EINVAL", "0 to 1e9 ms.*1100000000",
            "so is more than 1e9 ms, with the limit")
    T.lives(function() lab.host_work(1e9) end, "which are possible")
    ideal.textbook()
    refuses(function() lab.host_work("1") end, "SL_EINVAL", "string", "text is refused")
    refuses(function() lab.host_work() end, "SL_EINVAL", "host_work", "nothing is refused")
end

local function measuring()
    ideal.open()
    local calls = 0
    local result = lab.measure(function()
        calls = calls + 1
        lab.spin(calls == 3 and 3 or 1)
        lab.synchronize()
    end, { warmup = 2, reps = 5 })
    -- Warm-up: calls 1 and 2; samples: calls 3 to 7, the first of them 3 ms.
    T.is(calls, 7, "measure calls the function warmup + reps times")
    T.is(#result.samples_us, 5, "and keeps a sample for each repetition")
    T.near(result.median_us, 1000, 1e-6, "median_us")
    T.near(result.min_us, 1000, 1e-6, "min_us")
    T.near(result.max_us, 3000, 1e-6, "max_us")
    T.ok(lab.measure(function() end).median_us >= 0, "the options may be left out")
    local async = lab.measure(function() lab.spin(1) end, { warmup = 0, reps = 3 })
    T.near(async.median_us, 1000, 1e-6, "work in flight counts: measure waits for it")
    refuses(function() lab.measure() end, "SL_EINVAL", "function", "measure needs a function")
    refuses(function() lab.measure(print, { rep = 3 }) end, "SL_EINVAL", "rep",
            "a typo cannot pass")
    T.ok(ideal.error_of(lab.measure, print, { reps = 0 }), "at least one repetition is needed")
    T.ok(ideal.error_of(lab.measure, print, { reps = -1 }), "and not a negative number of them")
    T.is(ideal.error_of(lab.measure, function() error("bad", 0) end), "bad",
         "an error comes out as it is")
end

local function probing()
    ideal.textbook()
    local nothing = lab.probe(function() end)
    T.is(nothing.host_blocked, false, "probe: doing nothing does not block the host")
    T.is(nothing.serialised, false, "probe: nor serialise the streams")
    T.ok(nothing.host_us >= 0 and nothing.total_us > 0, "probe: it tells the times")
    local sync = lab.probe(function() lab.synchronize() end)
    T.is(sync.host_blocked, true, "probe: synchronize blocks the host")
    T.is(sync.serialised, true, "probe: and so serialises")
    T.ok(sync.total_us > 1.5 * nothing.total_us, "probe: which shows in the total")
    local memory = lab.cuda.malloc(4096)
    local free = lab.probe(function() lab.cuda.free(memory) end)
    T.is(free.host_blocked, true, "probe: cudaFree blocks the host")
    local null = lab.probe(function() lab.spin(0.001, { stream = lab.default_stream() }) end)
    T.is(null.host_blocked, false, "probe: a NULL-stream launch does not block the host")
    T.is(null.serialised, true, "probe: but it serialises blocking streams")
    local exempt = lab.probe(function() lab.spin(0.001, { stream = lab.default_stream() }) end,
                             { non_blocking = true })
    T.is(exempt.serialised, false, "probe: and not those that were made non-blocking")
    local long = lab.probe(lab.cuda.cublas_create)
    T.ok(long.host_us > 10000, "probe: a call may take milliseconds")
    T.is(long.host_blocked, false, "probe: which is not taken for blocking")
    T.is(long.serialised, false, "probe: nor for serialising")
    long = lab.probe(function() lab.host_work(20) end)
    T.is(long.host_blocked or long.serialised, false, "probe: nor is work of 20 ms on the host")
    long = lab.probe(function() lab.host_work(20) end, { kernel_ms = 10 })
    T.is(long.host_blocked and long.serialised, true, "probe: it is beside kernels of 10 ms")
    T.near(lab.probe(function() end, { kernel_ms = 200 }).total_us, 200000, 1000,
           "probe: kernel_ms is the kernels' length")
    for _, case in ipairs{ { 0, "of no length" }, { -1, "of negative length" },
                           { 0 / 0, "of NaN ms" },
                           { 1e10, "of 1e10 ms" }, { "5", "whose length is a text" } } do
        refuses(function() lab.probe(print, { kernel_ms = case[1] }) end, "SL_EINVAL", "kernel_ms",
                "probe: a kernel " .. case[2] .. " is refused")
    end
    local waiting = lab.probe(function(first, second) second:wait_stream(first) end)
    T.is(waiting.host_blocked, false, "probe: wait_stream does not block the host")
    T.is(waiting.serialised, true, "probe: but serialises the two streams")
    refuses(function() lab.probe() end, "SL_EINVAL", "function", "probe needs a function")
    T.is(ideal.error_of(lab.probe, function() error("bad", 0) end), "bad",
         "an error comes out as it is")
    T.lives(function() lab.synchronize() end, "and leaves nothing broken")
end

local function nearly_a_profile()
    refuses(function() lab.open{ profile = "rtx4060" } end, "SL_ENOTFOUND",
            "did you mean rtx4060_laptop%?$",
            "an unknown profile that begins like one gets it suggested")
    refuses(function() lab.open{ profile = "V10O" } end, "SL_ENOTFOUND", "did you mean v100%?$",
            "so does one that is nearly spelt right")
    local err = ideal.error_of(lab.open, { profile = "voodoo" })
    T.is(err.message:find("did you mean", 1, true), nil, "and one that is like none does not")
end

-- A profile that says what differs from another one.
local function profiles_with_a_base()
    local textbook = lab.open{ backend = "sim", profile = "textbook" }
    local d = lab.open{ backend = "sim",
                        profile = { base = "textbook", name = "half", sm_count = 66,
                        host = { launch_us = 100 }, ["host.wait_us"] = 7 } }
    T.is(d.name .. d.sm_count, "half66", "what it says counts")
    T.is(d.memory_bytes, textbook.memory_bytes, "the rest is the base's")
    local start = lab.now_us()
    lab.spin(0.001)
    T.near(lab.now_us() - start, 100, 1, "also a figure in a table")
    local s, e = lab.stream(), lab.event()
    e:record()
    start = lab.now_us()
    s:wait_event(e)
    T.near(lab.now_us() - start, 7, 1e-3, "and one with a dotted name")
    refuses(function() lab.open{ profile = { base = "nosuch" } } end, "SL_ENOTFOUND",
            'there is no profile "nosuch"', "a base that there is not")
    refuses(function() lab.open{ profile = { base = 3 } } end, "SL_EINVAL",
            "'base' must be the name of a profile, got 3", "one that is no name")
end

local function what_is_alive()
    ideal.textbook()
    collectgarbage()
    collectgarbage()
    local before = lab.live()
    local t, s, e = lab.empty(10), lab.stream{}, lab.event{}
    local host = lab.empty(25, { device = "cpu" })
    local now = lab.live()
    T.is(now.tensors - before.tensors, 2, "live counts tensors")
    T.is(now.streams - before.streams, 1, "live counts streams")
    T.is(now.events - before.events, 1, "live counts events")
    T.is(now.pageable_bytes - before.pageable_bytes, 100, "live counts bytes of host memory")
    T.ok(now.device_bytes - before.device_bytes >= 40, "and of the device's")
    lab.spin(1, { stream = s })
    T.is(lab.live().ops, 1, "live counts operations in flight")
    lab.synchronize()
    T.is(lab.live().ops, 0, "until they have retired")
    t, s, e, host = nil, nil, nil, nil
    collectgarbage()
    collectgarbage()
    T.is_deeply(lab.live(), before, "and forgets what is gone")
end

-- The core names what is wrong, the module what to call.
local function advice()
    local a, host = lab.ones(2, 2), lab.ones(2, 2, { device = "cpu" })
    local half = lab.ones(2, 2, { dtype = "float16" })
    local untimed, timed = lab.event{ timing = false }, lab.event{ timing = true }
    for op, case in pairs{
        matmul = { lab.matmul, a, host, "b is on the cpu; t:cuda() copies a tensor to the GPU" },
        add = { lab.add, a, half, "a is float32, b is float16: a kernel needs one dtype; t:to "
            .. "casts" },
        copy_ = { a.copy_, half, a,
                  'the destination is float16, the source float32; t:to("float16") casts' },
        ["cuda.free"] = { lab.cuda.free, host, nil,
                          "cudaFree takes device memory; this is a host tensor: use t:free()" },
        elapsed_time = { timed.elapsed_time, untimed, timed,
                         "the start event has no time; lab.event{ timing = true } and "
                         .. "s:record_event{ timing = true } make one that has" },
    } do
        local _, err = pcall(case[1], case[2], case[3])
        T.is(err.op .. ": " .. err.message, op .. ": " .. case[4], op .. " says what would help")
    end
end

for _, test in ipairs{ advice, fields, joining, the_users_call, userdata_of_others,
                       too_many_arguments, a_script_that_fails,
                       two_devices, host_tensors_and_two_devices, opening,
                       opening_wrongly, the_notice,
                       devices, host_work, measuring, probing, nearly_a_profile,
                       profiles_with_a_base,
                       what_is_alive } do
    test()
end
T.done()
