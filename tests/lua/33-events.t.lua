-- 33-events.t.lua - events in time: waits, records, elapsed times, stale values.
--
-- Micro-experiments 15 and 16, and the event part of 20.

local T = require "tap"
local ideal = require "lua.ideal"

local t_us = 1000

local function a_missing_wait_reads_the_stale_value()
    for run = 1, 3 do
        ideal.textbook()
        local producer, consumer = table.unpack(ideal.streams(2))
        local x, y = lab.zeros(4), lab.zeros(4)
        lab.synchronize()
        local done = lab.event{}
        local function produce()
            lab.spin(1, { stream = producer })
            lab.add(x, 5, { out = x, stream = producer })
            done:record(producer)
        end
        produce()
        lab.mul(x, 10, { out = y, stream = consumer })
        lab.synchronize()
        T.is(y:get(1), 0, "run " .. run .. ": without a wait the consumer reads the stale value")
        x:zero_()
        lab.synchronize()
        produce()
        consumer:wait_event(done)
        lab.mul(x, 10, { out = y, stream = consumer })
        lab.synchronize()
        T.is(y:get(1), 50, "run " .. run .. ": with wait_event it reads the fresh one")
    end
end

local function wait_stream_makes_it_fresh_too()
    ideal.textbook()
    local producer, consumer = table.unpack(ideal.streams(2))
    local x, y = lab.zeros(4), lab.zeros(4)
    lab.synchronize()
    lab.spin(1, { stream = producer })
    lab.add(x, 5, { out = x, stream = producer })
    consumer:wait_stream(producer)
    lab.mul(x, 10, { out = y, stream = consumer })
    lab.synchronize()
    T.is(y:get(1), 50, "wait_stream orders the consumer after the producer")
end

local function an_operation_reads_its_inputs_when_it_starts()
    -- The consumer starts in the middle of the producer's kernel: outputs are
    -- published at the end, so it still sees the old value.
    ideal.open{ ["gemm_efficiency.float32"] = 0.01 }
    local producer, consumer = table.unpack(ideal.streams(2))
    local a, x, y = lab.ones(256, 256), lab.zeros(256, 256), lab.zeros(256, 256)
    lab.synchronize()
    local tl = lab.profile(function()
        lab.matmul(a, a, { out = x, stream = producer })
        lab.mul(x, 2, { out = y, stream = consumer })
    end)
    T.ok(tl:overlap_us(producer, consumer) > 0, "producer and consumer overlap")
    T.is(y:get(1, 1), 0, "a consumer that starts before the producer's end reads the old value")
    T.is(x:get(1, 1), 256, "the producer's result is there afterwards")
end

local function a_wait_holds_the_stream_until_the_record()
    ideal.open{ cross_stream_us = 3 }
    local a, b = table.unpack(ideal.streams(2))
    local e = lab.event{}
    local spans = ideal.spans(lab.profile(function()
        ideal.spin(a, 1)
        e:record(a)
        b:wait_event(e)
        ideal.spin(b, 1)
    end))
    T.near(spans[2].from_us, t_us + 3, 1e-6, "a wait completes cross_stream_us after the record")
    spans = ideal.spans(lab.profile(function()
        ideal.spin(a, 1)
        e:record(a)
        ideal.spin(b, 2)
        b:wait_event(e)
        ideal.spin(b, 1)
    end))
    T.near(spans[3].from_us, 2 * t_us, 1e-6, "a wait for what has completed before costs nothing")
end

local function a_wait_in_the_recording_stream_costs_nothing()
    ideal.open()
    local s = ideal.streams(1)[1]
    local e = lab.event{}
    local tl = lab.profile(function()
        ideal.spin(s, 1)
        e:record(s)
        s:wait_event(e)
        ideal.spin(s, 1)
    end)
    T.near(tl.makespan_us, 2 * t_us, 1e-6, "a stream may wait for its own event")
end

local function recording_again_does_not_alter_queued_waits()
    ideal.open()
    local a, b, c = table.unpack(ideal.streams(3))
    local e = lab.event{}
    local spans = ideal.spans(lab.profile(function()
        ideal.spin(a, 1)
        e:record(a)
        b:wait_event(e)                 -- the first record
        ideal.spin(a, 5)
        e:record(a)
        c:wait_event(e)                 -- the second one
        ideal.spin(b, 1)
        ideal.spin(c, 1)
    end))
    T.near(spans[3].from_us, 1 * t_us, 1e-6,
           "a wait refers to the record that was the latest at its call")
    T.near(spans[4].from_us, 6 * t_us, 1e-6, "a later wait refers to the later record")
end

local function a_wait_before_any_record_has_no_effect()
    ideal.open()
    local a, b = table.unpack(ideal.streams(2))
    local e = lab.event{}
    local spans = ideal.spans(lab.profile(function()
        ideal.spin(a, 1)
        b:wait_event(e)
        e:record(a)
        ideal.spin(b, 1)
    end))
    T.near(spans[2].from_us, 0, 1e-6, "waiting for an event that was never recorded has no effect")
end

local function a_timed_record_takes_time_in_its_stream()
    ideal.open{ stream_gap_us = 5, record_us = 3 }
    local s = ideal.streams(1)[1]
    local function second_kernel_from(event)
        return ideal.spans(lab.profile(function()
            ideal.spin(s, 1)
            event:record(s)
            ideal.spin(s, 1)
        end))[2].from_us
    end
    -- The kernel ends at 1000; the record needs no gap and ends at 1003; then the gap.
    T.near(second_kernel_from(lab.event{ timing = true }), t_us + 8, 1e-6,
           "a timed record keeps its stream for record_us, and a gap follows")
    T.near(second_kernel_from(lab.event{ timing = false }), t_us + 5, 1e-6,
           "an untimed record adds nothing")
end

local function elapsed_time_is_the_time_between_the_records()
    ideal.open()
    local a, b = table.unpack(ideal.streams(2))
    local first, last = lab.event{ timing = true }, lab.event{ timing = true }
    first:record(a)
    lab.spin(3, { stream = a })
    last:record(a)
    lab.synchronize()
    T.near(first:elapsed_time(last), 3, 1e-9, "elapsed_time is in ms")
    T.near(last:elapsed_time(first), -3, 1e-9, "and negative the other way round")
    lab.spin(2, { stream = b })
    first:record(b)
    lab.synchronize()
    lab.spin(1, { stream = a })
    last:record(a)
    lab.synchronize()
    T.near(first:elapsed_time(last), 1, 1e-9, "events of different streams share one clock")
end

local function event_times_are_multiples_of_the_tick()
    ideal.textbook{ event_tick_ns = 32 }
    local s = ideal.streams(1)[1]
    local first, last = lab.event{ timing = true }, lab.event{ timing = true }
    first:record(s)
    last:record(s)
    lab.synchronize()
    local ns = first:elapsed_time(last) * 1e6
    -- The second record comes when the first one's 2.15 us on the device are over;
    -- the host's call (1.23 us) is quicker. Rounding to the tick moves either by 16 ns.
    T.near(ns, 2150, 32, "events around nothing are about 2 us apart on the H200")
    T.near(ns / 32, math.floor(ns / 32 + 0.5), 1e-6, "and a multiple of the event's tick")
    ideal.open{ event_tick_ns = 100000 }
    s = ideal.streams(1)[1]
    first, last = lab.event{ timing = true }, lab.event{ timing = true }
    first:record(s)
    lab.spin(0.25, { stream = s })
    last:record(s)
    lab.synchronize()
    local ticks = first:elapsed_time(last) / 0.1
    T.near(ticks, math.floor(ticks + 0.5), 1e-6, "a coarse tick makes coarse times")
    T.near(ticks, 2.5, 1, "that are off by less than a tick")
end

local function query_and_synchronize_follow_the_latest_record()
    ideal.open{ ["host.query_us"] = 1 }
    local s = ideal.streams(1)[1]
    local e = lab.event{}
    T.is(e:query(), true, "an event that was never recorded counts as complete")
    local tl = lab.profile(function()
        lab.spin(1, { stream = s })
        e:record(s)
        lab.spin(1, { stream = s })
        T.is(e:query(), false, "query is false while the record has not been reached")
        e:synchronize()
        T.is(e:query(), true, "and true once the host has waited for it")
        T.is(s:query(), false, "the stream goes on behind it")
        lab.spin(1, { stream = s })
    end)
    -- The host waited for the record at 1000 us, queried three times for 1 us each
    -- (one of them before), then launched.
    T.near(ideal.spans(tl)[3].host_start_us - ideal.spans(tl)[1].start_us, t_us + 2, 1e-6,
           "synchronize returns when the record is reached, not when the stream is idle")
end

local function polling_ends()
    ideal.textbook()
    local s = ideal.streams(1)[1]
    local e = lab.event{}
    lab.spin(0.1, { stream = s })
    e:record(s)
    local polls = 0
    while not e:query() do polls = polls + 1 end
    -- A query costs about 0.3 us of the host's time: 100 us and a few.
    T.ok(polls > 100 and polls < 1000, "every query costs host time, so polling an event ends")
end

a_missing_wait_reads_the_stale_value()
wait_stream_makes_it_fresh_too()
an_operation_reads_its_inputs_when_it_starts()
a_wait_holds_the_stream_until_the_record()
a_wait_in_the_recording_stream_costs_nothing()
recording_again_does_not_alter_queued_waits()
a_wait_before_any_record_has_no_effect()
a_timed_record_takes_time_in_its_stream()
elapsed_time_is_the_time_between_the_records()
event_times_are_multiples_of_the_tick()
query_and_synchronize_follow_the_latest_record()
polling_ends()
T.done()
