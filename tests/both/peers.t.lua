-- peers.t.lua - two GPUs: copies from one to the other with and without peer access,
-- events and streams across them, and work on both at the same time.

local T = require "tap"
local ideal = require "lua.ideal"

-- A simulated machine has as many GPUs as are opened.
local one = T.open()
local n_gpus = one.simulated and 2 or 0
for _, device in ipairs(lab.devices()) do
    if device.backend == one.backend and not one.simulated then n_gpus = n_gpus + 1 end
end
if n_gpus < 2 then T.skip_all("this needs two GPUs, and the machine has " .. n_gpus) end
local two = T.open(1)
local cuda = lab.cuda
local exact = { rtol = 0, atol = 0 }

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

local function synchronize()
    for _, device in ipairs{ two, one } do
        device:make_current()
        lab.synchronize()
    end
end

-- ---- which device ---------------------------------------------------------------------

local function devices()
    T.is(lab.device(), two, "opening the second GPU makes it current")
    T.is(two.index, 1, "it is number 1")
    one:make_current()
    T.is(lab.open{ backend = one.backend, index = 1 }, two,
         "opening it again gives the same device")
    T.is(lab.device(), two, "and makes it current")
    one:make_current()
    local a, b = lab.ones(4), lab.ones(4, { device = "cuda:1" })
    T.is(a.device_index, 0, "a tensor is on the current GPU")
    T.is(b.device_index, 1, "or the one that is named")
    T.is(lab.ones(4, { device = two }).device_index, 1, "or given")
    T.is(lab.device(), one, "and the current one stays")
    local s = lab.stream{ device = "cuda:1" }
    T.is(s.device, two, "a stream as well")
    lab.with(s, function()
        T.is(lab.device(), two, "lab.with makes its device current")
        T.is(lab.ones(4).device_index, 1, "for new tensors too")
    end)
    T.is(lab.device(), one, "until it ends")
    refuses(function() lab.add(a, b) end, "SL_EDEVICE", "device", "a kernel has one device")
    refuses(function() lab.add(a, a, { stream = s }) end, "SL_EDEVICE", "device", "and its stream")
    refuses(function() lab.ones(4, { device = "cuda:999" }) end, "SL_ENOTFOUND", "999",
            "a GPU that is not there is refused")
end

-- ---- copies ---------------------------------------------------------------------------

local sizes = { 0, 1, 3, 4095, (1 << 20) + 3 }

local function copies(how)
    for _, non_blocking in ipairs{ false, true } do
        local right = true
        for _, n in ipairs(sizes) do
            local host = lab.rand(n, { device = "cpu", seed = n })
            local a, b = host:to(one), lab.zeros(n, { device = two })
            local back = lab.zeros(n, { device = one })
            b:copy_(a, { non_blocking = non_blocking })
            back:copy_(b, { non_blocking = non_blocking })
            local there = back:to("cuda:1", { non_blocking = non_blocking })
            right = right and there.device_index == 1 and a:cuda(1).device_index == 1
            synchronize()
            right = right and lab.allclose(b, host, exact) and lab.allclose(back, host, exact)
                and lab.allclose(there, host, exact) and lab.allclose(a, host, exact)
        end
        T.ok(right, ("there and back at 5 sizes %s, non_blocking = %s"):format(how, non_blocking))
    end
    local right = true
    for _, dtype in ipairs{ "bfloat16", "float16", "uint8" } do
        local a = lab.full(7, 4097, { dtype = dtype, device = one })
        right = right and lab.allclose(a:to(two), a, exact)
    end
    T.ok(right, "in every dtype " .. how)
end

-- In streams of either device; order comes from them alone.
local function in_streams(how)
    local right = true
    for round = 1, 5 do
        for _, device in ipairs{ one, two } do
            local s = lab.stream{ device = device, non_blocking = true }
            local a, b = lab.zeros(100000, { device = one }), lab.zeros(100000, { device = two })
            local first = device == one and a or b
            local second = device == one and b or a
            synchronize()
            lab.with(s, function()
                lab.spin(1)
                lab.add(first, round, { out = first })
                second:copy_(first, { non_blocking = true, stream = s })
                first:zero_()
            end)
            s:synchronize()
            right = right and second:get(1) == round and second:get(100000) == round
                and first:get(7) == 0
        end
    end
    T.ok(right, "copies in a stream of either device keep its order " .. how)
end

-- Without a stream the copy is behind both devices' current streams, and ahead of them.
local function between_current_streams(how)
    local right = true
    for round = 1, 10 do
        one:make_current()
        local a = lab.zeros(200000)
        local b = lab.full(-1, 200000, { device = two })
        lab.spin(1)
        lab.add(a, round, { out = a })
        b:copy_(a, { non_blocking = true })
        a:fill_(99)                     -- behind the copy
        two:make_current()
        local c = lab.mul(b, 2)         -- behind the copy on the other device
        lab.synchronize()
        right = right and c:get(200000) == 2 * round and b:get(1) == round
        one:make_current()
        right = right and a:get(1) == 99
    end
    T.ok(right, "a copy waits for both devices' current streams, and they for it, " .. how)
end

local function plain_copies(how)
    one:make_current()
    local a = lab.full(5, 5000, { dtype = "uint8" })
    local b = lab.zeros(5000, { dtype = "uint8", device = two })
    synchronize()
    cuda.memcpy(b, a, 1000)
    synchronize()
    T.ok(b:get(1000) == 5 and b:get(1001) == 0, "cudaMemcpy between two GPUs " .. how)
    for _, device in ipairs{ one, two } do
        local s = lab.stream{ device = device }
        b:zero_()
        synchronize()
        cuda.memcpy_async(b, a, 5000, s)
        s:synchronize()
        T.ok(lab.allclose(a, b:to(one), exact),
             ("cudaMemcpyAsync in a stream of device %d %s"):format(device.index, how))
    end
end

local function all_copies(how)
    copies(how)
    in_streams(how)
    between_current_streams(how)
    plain_copies(how)
end

local function peer_access()
    one:make_current()
    local forth, back = cuda.device_can_access_peer(one, two), cuda.device_can_access_peer(two, one)
    T.is(type(forth), "boolean", "device_can_access_peer says whether a GPU reaches the other")
    if not (forth and back) then
        return T.skip("these GPUs cannot reach each other's memory", 1)
    end
    cuda.device_enable_peer_access(two)
    refuses(function() cuda.device_enable_peer_access(two) end, "SL_ESTATE", "already",
            "peer access is given once")
    all_copies("with access one way")
    cuda.device_enable_peer_access(one, { device = two })
    all_copies("with access both ways")
    cuda.device_disable_peer_access(two, { device = one })
    refuses(function() cuda.device_disable_peer_access(two, { device = one }) end, "SL_ESTATE",
            "no access", "and taken once")
    cuda.device_disable_peer_access(one, { device = two })
    all_copies("after it was taken again")
    refuses(function() cuda.device_enable_peer_access(one, { device = one }) end,
            "SL_EINVAL", "two", "a GPU is no peer of itself")
end

-- Memory that is let go of with a copy from or to it queued.
local function forgotten()
    local right = true
    for round = 1, 10 do
        one:make_current()
        local s = lab.stream{ non_blocking = true }
        local a, b = lab.full(round, 300000), lab.zeros(300000, { device = two })
        synchronize()
        lab.spin(2, { stream = s })
        b:copy_(a, { non_blocking = true, stream = s })
        a:free()
        lab.full(-1, 300000)            -- would take a's place
        lab.empty(300000, { device = two })
        s:synchronize()
        right = right and b:get(1) == round and b:get(300000) == round
    end
    T.ok(right, "memory lives until a copy to the other GPU is done")
end

-- ---- events and streams ---------------------------------------------------------------

local function across()
    local right = true
    for round = 1, 10 do
        local s1 = lab.stream{ device = one, non_blocking = true }
        local s2 = lab.stream{ device = two, non_blocking = true }
        local a = lab.zeros(100000, { device = one })
        local b, c = lab.zeros(100000, { device = two }), lab.zeros(100000, { device = two })
        one:make_current()
        local e = lab.event{ timing = false }
        synchronize()
        lab.spin(1, { stream = s1 })
        lab.add(a, round, { out = a, stream = s1 })
        b:copy_(a, { non_blocking = true, stream = s1 })
        if round % 2 == 0 then
            e:record(s1)
            s2:wait_event(e)
        else
            s2:wait_stream(s1)
        end
        lab.mul(b, 3, { out = c, stream = s2 })
        s2:synchronize()
        right = right and lab.with(s2, function() return c:get(100000) end) == 3 * round
    end
    T.ok(right, "a stream waits for an event or a stream of the other GPU, ten times")
    one:make_current()
    local e, s2 = lab.event{}, lab.stream{ device = two }
    refuses(function() e:record(s2) end, "SL_EDEVICE", "device",
            "an event is recorded in streams of its own GPU")
    local f = s2:record_event()
    e:record()
    synchronize()
    refuses(function() e:elapsed_time(f) end, "SL_EDEVICE", "device",
            "and the time between two GPUs' events is not known")
end

local function work_on_both()
    local streams, tensors, sums, right = {}, {}, {}, true
    for i, device in ipairs{ one, two } do
        streams[i] = lab.stream{ device = device, non_blocking = true }
        tensors[i] = lab.full(i, 50000, { device = device })
        sums[i] = 0
    end
    synchronize()
    for round = 1, 100 do
        for i, s in ipairs(streams) do
            lab.add(tensors[i], round, { out = tensors[i], stream = s })
        end
        if round % 10 == 0 then
            for i, s in ipairs(streams) do
                s:launch_host_func(function() sums[i] = sums[i] + 1 end)
            end
        end
    end
    streams[1]:synchronize()
    streams[2]:synchronize()
    for i, t in ipairs(tensors) do right = right and t:get(50000) == 5050 + i end
    T.ok(right, "100 operations in turn on two GPUs")
    T.is_deeply(sums, { 10, 10 }, "with host functions on both")
    two:make_current()
    local square = lab.tensor{ { 1, 2 }, { 3, 4 } }
    T.is_deeply(lab.matmul(square, square):totable(), { { 7, 10 }, { 15, 22 } },
                "matmul on the second GPU")
    T.near(lab.softmax(lab.tensor{ 0, math.log(3) }):get(2), 0.75, 1e-6, "softmax")
    T.is(lab.sum(lab.ones(100000)):item(), 100000, "sum")
    T.is(lab.pow(lab.full(3, 10), 3):get(10), 27, "pow")
    local t = lab.randn(100, { seed = 3 })
    local h = lab.randn(100, { seed = 3, device = "cpu" })
    T.is_deeply(t:totable(), h:totable(), "randn of a seed is the same there as on the host")
    local free_bytes, total_bytes = cuda.mem_get_info()
    T.ok(free_bytes > 0 and free_bytes <= total_bytes, "mem_get_info of the current GPU")
    local m = cuda.malloc(1000)
    T.is(m.device_index, 1, "cudaMalloc on the current GPU")
    cuda.free(m)
    one:make_current()
end

-- Host memory, pinned or not, serves both.
local function host_memory()
    local right = true
    for _, pinned in ipairs{ false, true } do
        local host = lab.rand(5000, { device = "cpu", pinned = pinned, seed = 8 })
        local back = lab.zeros(5000, { device = "cpu", pinned = pinned })
        for _, device in ipairs{ one, two, one } do
            local s = lab.stream{ device = device }
            local there = lab.zeros(5000, { device = device })
            synchronize()
            there:copy_(host, { non_blocking = true, stream = s })
            back:copy_(there, { non_blocking = true, stream = s })
            s:synchronize()
            right = right and lab.allclose(back, host, exact)
            back:zero_()
        end
    end
    T.ok(right, "host memory is copied to each GPU and back")
end

local function recordings()
    one:make_current()
    local a, b = lab.ones(100000), lab.zeros(100000, { device = two })
    synchronize()
    local tl = lab.profile(function() b:copy_(a, { non_blocking = true }) end)
    local spans = tl:spans()
    T.is(#spans, 1, "a recording has a copy between GPUs once")
    T.is(spans[1].kind, "memcpy_p2p", "as one between GPUs")
    T.is(spans[1].bytes, 400000, "with its bytes")
    T.like(spans[1].name, "^Memcpy PtoP", "and its name")
    T.is(spans[1].device, 0, "of the device of its stream")
    two:make_current()
    local s = lab.stream{ device = one }
    tl = lab.profile(function()
        lab.add(b, 1, { out = b })
        lab.add(a, 1, { out = a, stream = s })
    end)
    T.is(tl.span_count, 2, "a recording has the operations of both GPUs")
    T.is(tl:spans()[1].device, 1, "in order of issue: the one of the current GPU")
    T.is(tl:spans()[2].device, 0, "and that of the other one")
    T.is(tl.device_index, 1, "the current one is the timeline's first")
    T.like(tl:spans()[1].stream, "^gpu1: ", "names of streams begin with the GPU's")
    T.like(tl:spans()[2].stream, "^gpu0: ", "on both")
    T.ok(tl:busy_us{ device = 0 } > 0, "the other one's work can be selected")
    one:make_current()
    local first = lab.record()
    two:make_current()
    local second = lab.record()
    lab.spin(1)
    one:make_current()
    lab.spin(1)
    lab.spin(1)
    first:stop()
    second:stop()
    T.is(first.span_count, 3, "recordings begun on either GPU")
    T.is(second.span_count, 3, "have all of it")
    synchronize()
end

-- Through the host's memory, where CUPTI has a record of the last piece alone; and with access.
local function recorded_lengths(how)
    one:make_current()
    local s = lab.stream{ device = one, non_blocking = true }
    local a, b = lab.ones(1 << 24), lab.empty(1 << 24, { device = two })
    local first, last = lab.event(), lab.event()
    local function copy()
        first:record(s)
        b:copy_(a, { non_blocking = true, stream = s })
        last:record(s)
    end
    synchronize()
    copy()
    synchronize()
    local span = lab.profile(copy):spans()[1]
    local part = (span.end_us - span.start_us) / (first:elapsed_time(last) * 1000)
    if not T.ok(part > 0.8 and part < 1.2, "a recorded copy is as long as between two events "
            .. how) then
        T.diag(("  %.2f of it"):format(part))
    end
end

local function all_recorded_lengths()
    recorded_lengths("without peer access")
    if cuda.device_can_access_peer(one, two) then
        cuda.device_enable_peer_access(two)
        recorded_lengths("with it")
        cuda.device_disable_peer_access(two)
    end
end

-- What one stream does before a wait, and the other behind it.
local function recorded_order()
    one:make_current()
    local s1 = lab.stream{ device = one, name = "first", non_blocking = true }
    local s2 = lab.stream{ device = two, name = "second", non_blocking = true }
    local b = lab.ones(100000, { device = two })
    synchronize()
    local tl = lab.profile(function()
        lab.spin(2, { stream = s1 })
        s2:wait_stream(s1)
        lab.mul(b, 2, { out = b, stream = s2 })
    end)
    local spans = tl:spans()
    T.is(#spans, 2, "work on both sides of an event is recorded")
    T.ok(spans[2].start_us >= spans[1].end_us, "on one clock: what waited starts behind the other")
    T.ok(tl:bounds().critical_path_us >= spans[2].end_us - spans[2].start_us
         + spans[1].end_us - spans[1].start_us - 0.01, "the critical path goes across GPUs")
    T.is(tl:busy_us{ stream = s2 }, tl:busy_us{ stream = "gpu1: second" },
         "a stream selects its own")
end

devices()
one:make_current()
all_copies("without peer access")
peer_access()
forgotten()
across()
work_on_both()
host_memory()
recordings()
all_recorded_lengths()
recorded_order()
synchronize()
T.done()
