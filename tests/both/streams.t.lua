-- streams.t.lua - order within a stream, between streams, and around the NULL stream;
-- what is right must be right on every run, so each case runs several times.
--
-- The one claim about time is that a stream with a spin of 50 ms or more in it is not
-- done within the next few calls.

local T = require "tap"
local ideal = require "lua.ideal"

T.open()

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

-- Loads the kernels of this file: a first launch may take long, or synchronise.
local function warm_up()
    local t = lab.full(1, 8)
    lab.add(t, 1, { out = t })
    lab.add(t, t, { out = t })
    lab.mul(t, 2, { out = t })
    lab.sum(t)
    lab.spin(0)
    lab.synchronize()
end

local function every_element(t, value)
    return lab.allclose(t, lab.full(value, t:size(), { device = "cpu" }), { rtol = 0, atol = 0 })
end

-- ---- within a stream ------------------------------------------------------------------

local function chains()
    local s = lab.stream{}
    local t = lab.zeros(5000)
    lab.synchronize()
    for _ = 1, 200 do lab.add(t, 1, { out = t, stream = s }) end
    s:synchronize()
    T.ok(every_element(t, 200), "200 additions in one stream are 200")
    local x, y = lab.ones(3000), lab.zeros(3000)
    lab.synchronize()
    lab.with(s, function()
        for _ = 1, 50 do            -- y = 2 y + 1
            lab.mul(y, 2, { out = y })
            lab.add(y, x, { out = y })
            lab.mul(y, 0.5, { out = y })
        end
    end)
    s:synchronize()
    -- y = (2 y + 1) / 2 = y + 1/2
    T.ok(every_element(y, 25), "as do three kernels in turn")
    local long = lab.zeros(100)
    lab.synchronize()
    for _ = 1, 5000 do lab.add(long, 1, { out = long, stream = s }) end
    T.is(lab.with(s, function() return long:get(100) end), 5000,
         "5000, more than a launch queue holds, are all done")
end

local function many_streams()
    local streams, tensors = {}, {}
    for i = 1, 64 do
        streams[i] = lab.stream{ non_blocking = i % 2 == 0 }
        tensors[i] = lab.full(i, 2000)
    end
    lab.synchronize()
    for _ = 1, 30 do
        for i, s in ipairs(streams) do lab.add(tensors[i], i, { out = tensors[i], stream = s }) end
    end
    lab.synchronize()
    local right = true
    for i, t in ipairs(tensors) do right = right and every_element(t, 31 * i) end
    T.ok(right, "64 streams with 30 operations each are all right")
end

-- ---- between streams ------------------------------------------------------------------

local function with_an_event()
    local right = true
    for round = 1, 10 do
        local producer = lab.stream{ non_blocking = true }
        local consumer = lab.stream{ non_blocking = true }
        local e, x = lab.event{ timing = round % 2 == 0 }, lab.zeros(4000)
        local y = lab.zeros(4000)
        lab.synchronize()
        lab.spin(2, { stream = producer })
        lab.add(x, round, { out = x, stream = producer })
        e:record(producer)
        consumer:wait_event(e)
        lab.mul(x, 10, { out = y, stream = consumer })
        consumer:synchronize()
        right = right and every_element(y, 10 * round)
    end
    T.ok(right, "a stream that waits for an event sees what came before it, ten times")
end

local function with_wait_stream()
    local right = true
    for round = 1, 10 do
        local a, b = lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true }
        local x = lab.zeros(4000)
        lab.synchronize()
        for _ = 1, 5 do             -- to and fro
            lab.spin(0.3, { stream = a })
            lab.add(x, 1, { out = x, stream = a })
            b:wait_stream(a)
            lab.mul(x, 2, { out = x, stream = b })
            a:wait_stream(b)
        end
        a:synchronize()
        -- x = 2 (x + 1), five times from 0
        right = right and every_element(x, 62)
    end
    T.ok(right, "two streams that wait for each other in turn, ten times")
    local s = lab.stream{}
    T.lives(function() s:wait_stream(s) end, "a stream may wait for itself")
    T.lives(function() s:synchronize() end, "and gets on")
end

-- Diamonds: one stream feeds three, a fifth collects.
local function diamonds()
    local right = true
    for _ = 1, 10 do
        local first, last = lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true }
        local x, total = lab.zeros(4000), lab.zeros(4000)
        lab.synchronize()
        lab.spin(1, { stream = first })
        lab.add(x, 1, { out = x, stream = first })
        local ready, parts = first:record_event(), {}
        for i = 1, 3 do
            local s = lab.stream{ non_blocking = true }
            s:wait_event(ready)
            lab.spin(i * 0.2, { stream = s })
            parts[i] = lab.mul(x, i, { stream = s, out = lab.empty(4000, { stream = s }) })
            last:wait_stream(s)
        end
        for _, part in ipairs(parts) do lab.add(total, part, { out = total, stream = last }) end
        last:synchronize()
        right = right and every_element(total, 6)
    end
    T.ok(right, "three streams between two events, ten times")
end

-- ---- the NULL stream ------------------------------------------------------------------

-- Streams as CUDA makes them wait for the NULL stream's earlier work, and it for theirs.
local function the_null_stream_waits()
    local right = true
    for _ = 1, 10 do
        local a, b = lab.stream{}, lab.stream{}
        local x, y, z = lab.zeros(4000), lab.zeros(4000), lab.zeros(4000)
        lab.synchronize()
        lab.spin(1, { stream = a })
        lab.add(x, 3, { out = x, stream = a })
        lab.spin(0.5)
        lab.mul(x, 2, { out = y })                          -- behind stream a
        lab.add(y, 1, { out = z, stream = b })              -- behind the NULL stream
        b:synchronize()
        right = right and every_element(z, 7)
    end
    T.ok(right, "blocking streams and the NULL stream wait for each other, ten times")
    local s, x = lab.stream{}, lab.zeros(4000)
    lab.synchronize()
    lab.spin(5, { stream = s })
    lab.add(x, 9, { out = x, stream = s })
    T.is(x:get(4000), 9, "reading in the NULL stream waits for a blocking stream")
end

local function the_per_thread_stream()
    local s = lab.per_thread_stream()
    T.is(s, lab.per_thread_stream(), "there is one per-thread stream")
    T.isnt(s, lab.default_stream(), "which is not the default one")
    T.is(s.non_blocking, false, "it is blocking toward that")
    local x, y = lab.zeros(4000), nil
    lab.synchronize()
    lab.spin(2, { stream = s })
    lab.add(x, 4, { out = x, stream = s })
    y = lab.add(x, 1)
    lab.add(y, 1, { out = y, stream = s })
    s:synchronize()
    T.ok(every_element(y, 6), "so that the NULL stream waits for it and it for the NULL stream")
end

-- ---- asking and waiting ---------------------------------------------------------------

local function asking()
    for _, non_blocking in ipairs{ false, true } do
        local kind = non_blocking and "non-blocking" or "blocking"
        local s, other = lab.stream{ non_blocking = non_blocking },
            lab.stream{ non_blocking = true }
        T.is(s:query(), true, "a " .. kind .. " stream without work is done")
        lab.spin(50, { stream = s })
        T.ok(T.launches_block or not s:query(), "one with a spin of 50 ms is not")
        T.is(other:query(), true, "another one is")
        s:synchronize()
        T.is(s:query(), true, "after synchronize it is done")
        lab.spin(50, { stream = s })
        other:wait_stream(s)
        lab.spin(0, { stream = other })
        T.ok(T.launches_block or not other:query(),
             "a stream that waits for another is not done either")
        other:synchronize()
        T.is(s:query(), true, "and when it is, the other one is as well")
        lab.spin(5, { stream = s })
        lab.synchronize()
        T.is(s:query() and other:query(), true, "lab.synchronize waits for all streams")
    end
    local s, turns = lab.stream{}, 0
    lab.spin(2, { stream = s })
    while not s:query() and turns < 1e6 do turns = turns + 1 end
    T.is(s:query(), true, "asking again and again comes to an end")
end

local function waiting_for_one()
    local long, short = lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true }
    local x = lab.zeros(10)
    lab.synchronize()
    lab.spin(200, { stream = long })
    lab.spin(1, { stream = short })
    lab.add(x, 1, { out = x, stream = short })
    short:synchronize()
    T.ok(T.launches_block or not long:query(), "waiting for one stream is not waiting for another")
    lab.synchronize()
end

-- ---- making and closing ---------------------------------------------------------------

local function priorities()
    local range = lab.device().priority_range
    T.ok(range.greatest <= range.least, "the greatest priority has the smallest number")
    T.is(lab.stream{}.priority, range.least, "the default priority is the least")
    T.is(lab.stream{ priority = "high" }.priority, range.greatest, "\"high\" is the greatest")
    T.is(lab.stream{ priority = "low" }.priority, range.least, "\"low\" the least")
    T.is(lab.stream{ priority = range.greatest }.priority, range.greatest, "a number is taken")
    T.is(lab.stream{ priority = range.least }.priority, range.least, "whichever")
    T.is(lab.stream{ priority = -1000 }.priority, range.greatest, "beyond the range it is clamped")
    T.is(lab.stream{ priority = 1000 }.priority, range.least, "at either end")
    local x, right = lab.zeros(100), true
    for priority = range.greatest, range.least do
        lab.add(x, 1, { out = x, stream = lab.stream{ priority = priority } })
        lab.synchronize()
        right = right and every_element(x, priority - range.greatest + 1)
    end
    T.ok(right, "a stream of each priority works")
end

local function fields()
    local s = lab.stream{ name = "mine", non_blocking = true }
    T.is(s.name, "mine", "a stream has its name")
    T.is(s.non_blocking, true, "and its flag")
    T.is(s.device, lab.device(), "and its device")
    T.is(lab.default_stream().id, 0, "the NULL stream is number 0")
    T.is(lab.default_stream().non_blocking, false, "and blocking")
    T.ok(lab.stream{}.id ~= lab.stream{}.id, "streams have numbers of their own")
end

local function the_current_stream()
    local s, x = lab.stream{ name = "current" }, lab.zeros(100)
    lab.synchronize()
    local tl = lab.profile(function()
        lab.with(s, function() lab.add(x, 1, { out = x }) end)
        lab.add(x, 1, { out = x })
        local guard <close> = lab.use(s)
        lab.add(x, 1, { out = x })
    end)
    local spans = tl:spans()
    T.ok(spans[1].stream == "current" and spans[2].stream_id == 0 and spans[3].stream == "current",
         "lab.with and lab.use say in which stream an operation runs")
    T.is(lab.current_stream(), lab.default_stream(), "and put the old one back")
    T.ok(not pcall(lab.with, s, function() error("out") end), "an error passes through lab.with")
    T.is(lab.current_stream(), lab.default_stream(), "which puts the old one back all the same")
    T.ok(every_element(x, 3), "all three have been done")
end

local function closing()
    local s, x = lab.stream{}, lab.zeros(4000)
    lab.synchronize()
    lab.spin(5, { stream = s })
    lab.add(x, 5, { out = x, stream = s })
    s:close()
    refuses(function() s:query() end, "SL_ECLOSED", "closed", "a closed stream cannot be asked")
    refuses(function() lab.spin(0, { stream = s }) end, "SL_ECLOSED", "closed", "nor used")
    lab.synchronize()
    T.ok(every_element(x, 5), "what was queued in it is done")
    for i = 1, 300 do               -- forgotten with work in them
        lab.add(x, 1, { out = x, stream = lab.stream{} })
        if i % 100 == 0 then collectgarbage() end
        lab.add(x, -1, { out = x })  -- in the NULL stream, behind it
    end
    T.ok(every_element(x, 5), "300 streams that were forgotten with work in them have done it")
    refuses(function() lab.default_stream():close() end, "SL_EINVAL", "default stream",
            "the default stream cannot be closed")
    refuses(function() lab.per_thread_stream():close() end, "SL_EINVAL", "per%-thread",
            "nor the per-thread one")
    collectgarbage()
    collectgarbage()
    lab.synchronize()
    T.is(lab.live().ops, 0, "nothing is in flight at the end")
end

warm_up()
for _, test in ipairs{ chains, many_streams, with_an_event, with_wait_stream, diamonds,
                       the_null_stream_waits, the_per_thread_stream, asking, waiting_for_one,
                       priorities, fields, the_current_stream, closing } do
    test()
end
T.done()
