-- 20-api-values.t.lua - values on demand: computed when the host looks, and only then.
--
-- An operation captures its inputs at its virtual start and publishes its output
-- at its virtual end; what is read is what memory holds at that moment.

local T = require "tap"
local ideal = require "lua.ideal"

-- Under a collector that runs every few instructions a loop must be short.
local many = os.getenv("TAP_GC") and 20000 or 300000

local function long_chains()
    ideal.textbook()
    local one = lab.ones(4)
    local in_place = { out = one }
    for _ = 1, many do lab.mul(one, one, in_place) end
    T.is(one:get(4), 1, "a tensor squared in place again and again is computed")
    local t = lab.tensor({ 2, 3 })
    for _ = 1, 5 do lab.pow(t, 2, { out = t }) end
    -- 2^(2^5) = 4294967296; 3^32 = 1853020188851841 is rounded to float32 on the way.
    T.is(t:get(1), 4294967296, "five squarings of 2 are 2^32")
    T.near(t:get(2) / 1853020188851841, 1, 1e-6, "and of 3 are 3^32")
end

local function counting_chains()
    ideal.textbook()
    local n = math.min(many, 100000)
    local t = lab.zeros(3)
    local in_place = { out = t }
    for _ = 1, n do lab.add(t, 1, in_place) end
    T.is(t:get(2), n, "a hundred thousand additions count")
    local a, b = lab.zeros(1), lab.ones(1)
    for i = 1, n // 10 do
        lab.add(a, b, { out = a })
        if i % 2 == 0 then lab.mul(a, 1, { out = a }) else lab.add(a, 0, { out = a }) end
    end
    T.is(a:get(1), n // 10, "alternating kernels as well")
end

local function long_chains_that_nobody_reads()
    ideal.textbook()
    local t = lab.ones(1000, 1000)
    for _ = 1, math.min(many, 50000) do t = lab.add(t, 1) end
    T.lives(function() t:free() end, "a long chain that nobody has read can be dropped")
    t = nil
    collectgarbage()
    lab.synchronize()
    collectgarbage()
    T.is(lab.live().tensors, 0, "and leaves nothing")
end

local function diamonds()
    ideal.textbook()
    -- x_{n+1} = x_n + x_n as two branches: 2^20, though the tree would have a million leaves.
    local x = lab.ones(1)
    for _ = 1, 20 do
        local left, right = lab.mul(x, 1), lab.mul(x, 1)
        x = lab.add(left, right)
    end
    T.is(x:item(), 1048576, "shared intermediate results are computed once")
end

local function huge_tensors_cost_nothing()
    ideal.textbook{ memory_bytes = "unlimited" }
    local a = lab.rand(2 ^ 20 | 0, 2 ^ 20 | 0)
    local tl = lab.profile(function()
        local b = lab.add(a, a)
        lab.mul(b, b, { out = b })
    end)
    T.ok(tl.makespan_us > 1000, "kernels on 4 TiB take virtual time")
    T.is(#tl:spans(), 2, "and appear in the timeline")
end

local function old_versions_live_on()
    ideal.textbook()
    local t = lab.full(1, 4)
    local before = lab.mul(t, 10)
    t:fill_(2)
    local after = lab.mul(t, 10)
    t:set(1, 3)
    local last = lab.mul(t, 10)
    T.is_deeply(before:totable(), { 10, 10, 10, 10 }, "a result has the inputs of its own time")
    T.is_deeply(after:totable(), { 20, 20, 20, 20 }, "not later ones")
    T.is_deeply(last:totable(), { 30, 20, 20, 20 }, "and sees what the host wrote before")
    local host = lab.full(5, 2, { device = "cpu" })
    local dev = host:to("cuda")
    host:fill_(6)
    T.is_deeply(dev:totable(), { 5, 5 }, "a copy keeps what it copied")
end

local function reading_waits_on_the_device_and_not_on_the_host()
    ideal.open()
    local s = lab.stream{ non_blocking = true }
    local dev = lab.zeros(2)
    lab.synchronize()
    lab.with(s, function()
        lab.spin(1)
        lab.add(dev, 4, { out = dev })
        T.is(dev:get(1), 4, "get on a device tensor is a synchronous copy in the current stream")
    end)
    lab.spin(1, { stream = s })
    lab.add(dev, 4, { out = dev, stream = s })
    local before = lab.now_us()
    T.is(dev:get(1), 4, "in another stream it reads what is there now")
    T.ok(lab.now_us() - before < 900, "without waiting for the other stream")
    lab.synchronize()
    T.is(dev:get(1), 8, "after a synchronise it is there")
end

local function host_reads_do_not_wait()
    ideal.open()
    local s = lab.stream{ non_blocking = true }
    local host, dev = lab.zeros(2, { device = "cpu", pinned = true }), lab.full(9, 2)
    lab.synchronize()
    lab.spin(1, { stream = s })
    host:copy_(dev, { non_blocking = true, stream = s })
    local before = lab.now_us()
    T.is(host:get(1), 0, "reading the target of a copy in flight gives the old value")
    T.near(lab.now_us() - before, 0, 1, "at once")
    s:synchronize()
    T.is(host:get(1), 9, "and the new one after a synchronise")
end

local function stale_reads_are_the_same_every_time()
    local function result(with_wait)
        ideal.textbook()
        local producer, consumer = lab.stream{ non_blocking = true },
            lab.stream{ non_blocking = true }
        local x = lab.full(1, 16)
        lab.synchronize()
        lab.spin(0.5, { stream = producer })
        lab.mul(x, 100, { out = x, stream = producer })
        if with_wait then consumer:wait_event(producer:record_event()) end
        local y = lab.add(x, 1, { stream = consumer })
        lab.synchronize()
        return y:get(16)
    end
    for run = 1, 5 do
        T.is(result(false), 2, "without wait_event the stale value is read, run " .. run)
        T.is(result(true), 101, "with it the fresh one, run " .. run)
    end
end

local function the_collector_does_not_matter()
    local function makespan(collect)
        ideal.textbook()
        return lab.profile(function()
            for _ = 1, 50 do
                local a = lab.empty(512, 512)
                local b = lab.matmul(a, a)
                b:cpu()
                if collect then collectgarbage() end
            end
        end).makespan_us
    end
    T.is(makespan(true), makespan(false), "virtual time does not depend on when Lua collects")
end

for _, test in ipairs{ long_chains, counting_chains, long_chains_that_nobody_reads, diamonds,
                       huge_tensors_cost_nothing, old_versions_live_on,
                       reading_waits_on_the_device_and_not_on_the_host, host_reads_do_not_wait,
                       stale_reads_are_the_same_every_time, the_collector_does_not_matter } do
    test()
end
T.done()
