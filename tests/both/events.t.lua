-- events.t.lua - recording, asking, waiting and the time between two events.
--
-- Times are only bounded from below by the spins in between, and from above by ten times
-- that: a spin lasts at least as long as asked.

local T = require "tap"
local ideal = require "lua.ideal"

T.open()

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

local function streams(n)
    local list = {}
    for i = 1, n do list[i] = lab.stream{ non_blocking = true } end
    return table.unpack(list)
end

local function never_recorded()
    local e, s = lab.event{}, lab.stream{}
    T.is(e.recorded, false, "a new event is not recorded")
    T.is(e:query(), true, "and counts as complete")
    T.lives(function() e:synchronize() end, "waiting for it on the host returns")
    s:wait_event(e)
    lab.spin(0, { stream = s })
    T.lives(function() s:synchronize() end, "and so does a stream that waits for it")
    -- A wait means the records before it, never one that comes later.
    local a, b = streams(2)
    b:wait_event(e)
    lab.spin(1, { stream = b })
    lab.spin(300, { stream = a })
    e:record(a)
    b:synchronize()
    T.ok(T.launches_block or not a:query(),
         "a wait that came before the first record is no wait for it")
    lab.synchronize()
end

local function recording()
    local s, e = streams(1), lab.event{}
    T.is(e:record(s), e, "record gives the event")
    T.is(e.recorded, true, "that is recorded now")
    s:synchronize()
    T.is(e:query(), true, "it completes with what came before it")
    lab.spin(50, { stream = s })
    e:record(s)
    T.ok(T.launches_block or not e:query(), "behind a spin of 50 ms it is not complete")
    lab.spin(200, { stream = s })
    e:synchronize()
    T.is(e:query(), true, "after synchronize it is")
    T.ok(T.launches_block or not s:query(), "while what came after it still runs")
    lab.synchronize()
    local made = s:record_event()
    T.is(made.recorded, true, "record_event makes an event and records it")
    T.is(s:record_event(e), e, "or takes one")
    local here = lab.event{}
    lab.spin(50, { stream = s })
    lab.with(s, function() here:record() end)
    T.ok(T.launches_block or not here:query(), "record without a stream means the current one")
    lab.synchronize()
    T.is(here:query(), true, "and completes with it")
end

-- What waits for an event waits for the record that was the latest at the call.
local function recording_again()
    local a, b = streams(2)
    local e, x, y = lab.event{}, lab.zeros(1000), lab.zeros(1000)
    lab.synchronize()
    lab.spin(2, { stream = a })
    lab.add(x, 1, { out = x, stream = a })
    e:record(a)
    b:wait_event(e)
    lab.add(x, 0, { out = y, stream = b })
    lab.spin(300, { stream = a })
    e:record(a)
    b:synchronize()
    T.ok(T.launches_block or not a:query(), "a second record does not move a wait that is queued")
    T.ok(T.launches_block or not e:query(), "but query means the second one")
    T.is(lab.with(b, function() return y:get(1000) end), 1, "the wait was for the first one")
    e:synchronize()
    T.is(a:query(), true, "and synchronize for the second")
    -- In another stream: the event is there now.
    local c, d = streams(2)
    lab.spin(300, { stream = c })
    e:record(c)
    e:record(d)
    e:synchronize()
    T.ok(T.launches_block or not c:query(),
         "recorded in another stream it leaves the first one alone")
    lab.synchronize()
    for _ = 1, 3000 do e:record(a) end
    e:synchronize()
    T.is(e:query(), true, "an event may be recorded thousands of times")
end

local function elapsed_time()
    local s = streams(1)
    lab.spin(0, { stream = s })         -- loads the kernel
    s:synchronize()
    local first, last = lab.event{}, lab.event{ timing = true }
    refuses(function() first:elapsed_time(last) end, "SL_ESTATE", "record",
            "elapsed_time of events that were never recorded is refused")
    first:record(s)
    refuses(function() first:elapsed_time(last) end, "SL_ESTATE", "record",
            "also if only the first was")
    lab.spin(20, { stream = s })
    last:record(s)
    if not T.launches_block then
        refuses(function() first:elapsed_time(last) end, "SL_ESTATE", "complete",
                "and before the second is complete")
    end
    s:synchronize()
    local ms = first:elapsed_time(last)
    T.ok(ms >= 19.9 and ms < 200, "a spin of 20 ms is about 20 ms between two events")
    T.near(last:elapsed_time(first), -ms, 1e-3, "and less than nothing the other way round")
    T.is(first:elapsed_time(first), 0, "an event is 0 ms from itself")
    local a, b = streams(2)
    local start, done = lab.event{}, lab.event{}
    start:record(a)
    b:wait_event(start)
    lab.spin(20, { stream = b })
    done:record(b)
    lab.synchronize()
    ms = start:elapsed_time(done)
    T.ok(ms >= 19.9 and ms < 200, "events of two streams have one clock")
end

local function untimed()
    local s = streams(1)
    local timed, plain = lab.event{}, lab.event{ timing = false }
    T.is(plain.timing, false, "timing = false makes an event without a time")
    plain:record(s)
    timed:record(s)
    lab.synchronize()
    refuses(function() timed:elapsed_time(plain) end, "SL_ESTATE", "timing",
            "that elapsed_time refuses")
    refuses(function() plain:elapsed_time(timed) end, "SL_ESTATE", "timing", "in either place")
    T.is(plain:query(), true, "but it can be asked")
    lab.spin(50, { stream = s })
    plain:record(s)
    T.ok(T.launches_block or not plain:query(), "and be waited for")
    plain:synchronize()
    T.is(s:query(), true, "on the host")
end

local function in_the_null_stream()
    local s, e = lab.stream{}, lab.event{}
    local x = lab.zeros(1000)
    lab.synchronize()
    lab.spin(5, { stream = s })
    lab.add(x, 6, { out = x, stream = s })
    e:record()
    e:synchronize()
    T.is(s:query(), true, "an event in the NULL stream is behind the blocking streams")
    T.is(lab.with(streams(1), function() return x:get(1000) end), 6, "and what they did is there")
end

local function closing()
    local a, b = streams(2)
    local e, x, y = lab.event{}, lab.zeros(1000), lab.zeros(1000)
    lab.synchronize()
    lab.spin(5, { stream = a })
    lab.add(x, 1, { out = x, stream = a })
    e:record(a)
    b:wait_event(e)
    e:close()
    refuses(function() e:query() end, "SL_ECLOSED", "closed", "a closed event cannot be asked")
    refuses(function() e:record(a) end, "SL_ECLOSED", "closed", "nor recorded")
    lab.add(x, 1, { out = y, stream = b })
    b:synchronize()
    T.is(y:get(1000), 2, "a wait that was queued before the close still holds")
    for i = 1, 500 do
        local forgotten = a:record_event()
        b:wait_event(forgotten)
        if i % 100 == 0 then collectgarbage() end
    end
    lab.synchronize()
    T.is(a:query() and b:query(), true, "500 events that were forgotten while waited for")
end

for _, test in ipairs{ never_recorded, recording, recording_again, elapsed_time, untimed,
                       in_the_null_stream, closing } do
    test()
end
T.done()
