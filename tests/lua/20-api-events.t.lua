-- 20-api-events.t.lua - events: right use and every misuse. 33-events has their timing.

local T = require "tap"
local ideal = require "lua.ideal"

local function refuses(f, code, pattern, name) ideal.refuses(T, f, code, pattern, name) end

local function making()
    T.is(lab.event{ timing = true }.timing, true, "timing = true makes a timed event")
    T.is(lab.event{ timing = false }.timing, false, "timing = false an untimed one")
    T.is(lab.event().timing, true, "timed is the default, as in CUDA")
    T.is(lab.event{ enable_timing = false }.timing, false,
         "PyTorch's name of the option says the same")
    refuses(function() lab.event{ timing = true, enable_timing = true } end,
            "SL_EINVAL", "two names", "both names at once are refused")
    T.is(lab.event{}.recorded, false, "a new event is not recorded")
    refuses(function() lab.event{ time = true } end, "SL_EINVAL", "time", "a typo cannot pass")
    refuses(function() lab.event{ timing = "yes" } end, "SL_EINVAL", "timing",
            "timing is true or false")
    refuses(function() lab.event(true) end, "SL_EINVAL", "table", "options come in a table")
    T.like(tostring(lab.event{}), "event", "an event prints")
end

local function recording()
    local e, s = lab.event{}, lab.stream{}
    e:record(s)
    T.is(e.recorded, true, "record records")
    s:synchronize()
    T.is(e:query(), true, "the event completes with its stream")
    local inside = lab.event{}
    lab.spin(1, { stream = s })
    lab.with(s, function() inside:record() end)
    T.is(inside:query(), false, "record without a stream uses the current one")
    s:synchronize()
    T.is(inside:query(), true, "and completes with it")
    e:record(s)
    e:synchronize()
    T.is(e:query(), true, "synchronize waits for the event")
    T.lives(function() lab.event{}:synchronize() end,
            "synchronize of an event never recorded returns at once")
    T.lives(function() s:wait_event(lab.event{}) end,
            "waiting for an event never recorded is no error")
    refuses(function() e:record(e) end, "SL_EINVAL", "stream", "record needs a stream")
    refuses(function() e:record(1) end, "SL_EINVAL", "stream", "a number is none")
    refuses(function() e.record() end, "SL_EINVAL", "event", "record needs its event")
end

local function elapsed_time()
    local s = lab.stream{}
    local first, last = lab.event{ timing = true }, lab.event{ timing = true }
    refuses(function() first:elapsed_time(last) end, "SL_ESTATE", "record",
            "elapsed_time of unrecorded events is refused")
    first:record(s)
    refuses(function() first:elapsed_time(last) end, "SL_ESTATE", "record",
            "also when only the second was not recorded")
    refuses(function() last:elapsed_time(first) end, "SL_ESTATE", "record", "or only the first")
    lab.spin(2, { stream = s })
    last:record(s)
    refuses(function() first:elapsed_time(last) end, "SL_ESTATE", "complete",
            "elapsed_time before completion is refused")
    s:synchronize()
    local ms = first:elapsed_time(last)
    T.ok(ms >= 2 and ms < 2.1, "after completion it gives milliseconds")
    local untimed = lab.event{ timing = false }
    untimed:record(s)
    s:synchronize()
    refuses(function() first:elapsed_time(untimed) end, "SL_ESTATE", "timing",
            "elapsed_time of an untimed event is refused")
    refuses(function() untimed:elapsed_time(first) end, "SL_ESTATE",
            "the start event has no time; lab.event{ timing = true }",
            "in either place, with the remedy")
    refuses(function() first:elapsed_time() end, "SL_EINVAL", "event", "it needs a second event")
    refuses(function() first:elapsed_time(s) end, "SL_EINVAL", "event", "that is an event")
    T.is(first:elapsed_time(first), 0, "an event is 0 ms from itself")
end

local function events_of_another_device()
    local one = lab.device()
    local e1, s1 = lab.event{ timing = true }, lab.stream{}
    e1:record(s1)
    lab.synchronize()
    ideal.textbook()
    local e2, s2 = lab.event{ timing = true }, lab.stream{}
    e2:record(s2)
    lab.synchronize()
    refuses(function() e1:record(s2) end, "SL_EDEVICE", "device",
            "recording an event in another device's stream is refused")
    T.ok(ideal.error_of(s2.record_event, s2, e1), "by the stream's method as well")
    refuses(function() e1:elapsed_time(e2) end, "SL_EDEVICE", "device",
            "elapsed_time across devices is refused")
    refuses(function() s2:wait_stream(s1) end, "SL_EDEVICE", "device",
            "wait_stream across devices is refused")
    local err = ideal.error_of(s2.wait_event, s2, e1)
    T.ok(err and err.code == "SL_EDEVICE", "waiting for another device's event is refused")
    T.is(lab.current_stream(), lab.default_stream(), "and nothing else changed")
    one:make_current()
    lab.synchronize()
end

local function closing()
    local e, s = lab.event{ timing = true }, lab.stream{}
    lab.spin(1, { stream = s })
    e:record(s)
    local other = lab.stream{}
    other:wait_event(e)
    e:close()
    refuses(function() e:query() end, "SL_ECLOSED", "closed", "a closed event cannot be queried")
    refuses(function() e:record(s) end, "SL_ECLOSED", "closed", "nor recorded")
    refuses(function() s:wait_event(e) end, "SL_ECLOSED", "closed", "nor waited for")
    T.lives(function() e:close() end, "closing twice is no error")
    T.like(tostring(e), "closed", "tostring says that it is closed")
    lab.spin(0, { stream = other })
    T.is(other:query(), false, "a wait that was queued before the close still holds")
    lab.synchronize()
    T.is(other:query(), true, "and is satisfied")
end

local function options_of_record_event()
    local s = lab.stream{}
    T.is(s:record_event{ timing = false }.timing, false,
         "record_event takes the options of an event")
    T.is(s:record_event{ enable_timing = true }.timing, true, "by either name")
    T.is(s:record_event{}.timing, true, "none of them is the default")
    local e = lab.event{ timing = false }
    T.is(s:record_event(e), e, "given an event it gives that")
    refuses(function() s:record_event{ time = true } end, "SL_EINVAL", "time", "a typo cannot pass")
    refuses(function() s:record_event(e, { timing = true }) end, "SL_EINVAL", "argument",
            "an event that is there has no options")
end

-- What lab.torch_defaults changes: what is not given, of what is made from then on.
local function torch_defaults()
    local before, s, e = lab.torch_defaults(), lab.stream{}, lab.event{}
    T.is(before, false, "at the start streams and events are CUDA's")
    T.is(s.non_blocking, true, "after torch_defaults() a stream is exempt")
    T.is(e.timing, false, "and an event has no time")
    T.is(s:record_event().timing, false, "nor has that of record_event()")
    T.is(lab.stream{ non_blocking = false }.non_blocking, false,
         "unless a blocking stream is asked for")
    T.is(lab.event{ timing = true }.timing, true, "or a time")
    T.is(lab.event{ enable_timing = true }.timing, true, "by PyTorch's name")
    T.is(s:record_event{ timing = true }.timing, true, "or by record_event's option")
    T.is(lab.torch_defaults(true), true, "it says what was set before")
    ideal.textbook()
    T.is(lab.stream{}.non_blocking, true, "it holds for other devices as well")
    T.is(coroutine.wrap(function() return lab.event{}.timing end)(), false, "and in coroutines")
    local there = lab.stream{}
    local measured = lab.measure(function() lab.spin(1, { stream = there }) end,
                                 { reps = 2, hold = { there } })
    T.near(measured.median_us, 1000, 20, "lab.measure takes its times all the same")
    T.is(lab.probe(function() lab.spin(0.001) end, { kernel_ms = 1 }).serialised, true,
         "lab.probe's streams are CUDA's all the same")
    T.is(lab.torch_defaults(false), true, "false undoes it")
    T.is(lab.stream{}.non_blocking, false, "so that streams are CUDA's again")
    T.is(lab.event{}.timing, true, "and events")
    T.is(s.non_blocking, true, "what was made before stays what it was")
    refuses(function() lab.torch_defaults(1) end, "SL_EINVAL", "true or false",
            "a number is refused")
    refuses(function() lab.torch_defaults("off") end, "SL_EINVAL", "true or false", "and text")
    T.is(lab.torch_defaults(before), false, "neither of which has set anything")
end

local function many_records()
    local e, s = lab.event{}, lab.stream{}
    for _ = 1, 2000 do e:record(s) end
    lab.synchronize()
    T.is(e:query(), true, "an event may be recorded thousands of times")
    T.is(lab.live().ops, 0, "and nothing of it stays in flight")
end

ideal.textbook()
for _, test in ipairs{ making, recording, elapsed_time, events_of_another_device, closing,
    options_of_record_event, torch_defaults, many_records } do
    test()
end
T.done()
