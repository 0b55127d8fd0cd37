-- 36-null-stream.t.lua - the legacy default stream against blocking and non-blocking streams.
--
-- An operation in the NULL stream waits for all earlier work of blocking
-- streams; their later work waits for it. Non-blocking streams do not take part.

local T = require "tap"
local ideal = require "lua.ideal"

local t_us = 1000

local function the_null_stream_waits_and_is_waited_for()
    ideal.open()
    local a, b = lab.stream{}, lab.stream{}
    local free = lab.stream{ non_blocking = true }
    local null = lab.default_stream()
    local tl = lab.profile(function()
        ideal.spin(a, 1)
        ideal.spin(null, 1)
        ideal.spin(b, 1)
        ideal.spin(free, 1)
    end)
    local spans = ideal.spans(tl)
    T.near(spans[2].from_us, 1 * t_us, 1e-6,
           "a NULL-stream kernel waits for a blocking stream's earlier work")
    T.near(spans[3].from_us, 2 * t_us, 1e-6,
           "a blocking stream's later work waits for the NULL stream's")
    T.near(spans[4].from_us, 0, 1e-6, "a non-blocking stream does not")
    T.near(tl.makespan_us, 3 * t_us, 1e-6, "so the three are serial")
end

local function the_null_stream_does_not_wait_for_non_blocking_streams()
    ideal.open()
    local free, null = lab.stream{ non_blocking = true }, lab.default_stream()
    local tl = lab.profile(function()
        ideal.spin(free, 2)
        ideal.spin(null, 1)
    end)
    T.near(ideal.spans(tl)[2].from_us, 0, 1e-6,
           "the NULL stream does not wait for a non-blocking stream")
end

local function the_host_does_not_wait_for_a_null_launch()
    ideal.open()
    local a, null = lab.stream{}, lab.default_stream()
    local spans = ideal.spans(lab.profile(function()
        ideal.spin(a, 5)
        ideal.spin(null, 1)
    end))
    T.near(ideal.host_us(spans[2]), 0, 1e-6, "a NULL-stream launch does not keep the host")
end

local function blocking_streams_overlap_between_null_operations()
    ideal.open()
    local a, b = lab.stream{}, lab.stream{}
    local tl = lab.profile(function()
        ideal.spin(a, 1)
        ideal.spin(b, 1)
    end)
    T.near(tl.makespan_us, t_us, 1e-6,
           "blocking streams overlap as long as nobody uses the NULL stream")
end

local function work_before_the_null_operation_of_other_streams_runs_on()
    ideal.open()
    local a, b, null = lab.stream{}, lab.stream{}, lab.default_stream()
    local spans = ideal.spans(lab.profile(function()
        ideal.spin(a, 1)
        ideal.spin(b, 3)
        ideal.spin(null, 1)
        ideal.spin(a, 1)
    end))
    T.near(spans[3].from_us, 3 * t_us, 1e-6,
           "a NULL-stream kernel waits for the last of the blocking streams")
    T.near(spans[4].from_us, 4 * t_us, 1e-6, "and the next kernel of the others waits for it")
end

local function the_per_thread_stream_is_an_ordinary_blocking_stream()
    ideal.open()
    local mine, a, null = lab.per_thread_stream(), lab.stream{}, lab.default_stream()
    local tl = lab.profile(function()
        ideal.spin(mine, 1)
        ideal.spin(a, 1)
    end)
    T.near(tl.makespan_us, t_us, 1e-6, "the per-thread stream overlaps other streams")
    local spans = ideal.spans(lab.profile(function()
        ideal.spin(mine, 1)
        ideal.spin(null, 1)
        ideal.spin(mine, 1)
    end))
    T.near(spans[2].from_us, 1 * t_us, 1e-6, "the NULL stream waits for the per-thread stream")
    T.near(spans[3].from_us, 2 * t_us, 1e-6, "and the per-thread stream for the NULL stream")
end

local function copies_in_the_null_stream_are_barriers_too()
    ideal.open{ d2h_gb_per_s = 10 }
    local a = lab.stream{}
    local dev = lab.zeros(250000)                   -- 1e6 B: 100 us at 10 GB/s
    local host = lab.empty(250000, { device = "cpu", pinned = true })
    lab.synchronize()
    local spans = ideal.spans(lab.profile(function()
        ideal.spin(a, 1)
        host:copy_(dev, { non_blocking = true })    -- the current stream: NULL
        ideal.spin(a, 1)
    end))
    T.near(spans[2].from_us, t_us, 1e-3, "a copy in the NULL stream waits for blocking streams")
    T.near(spans[3].from_us, t_us + 100, 1e-3, "and they wait for it")
end

local function plain_memset_and_memcpy_follow_the_null_rule()
    ideal.open{ memset_gb_per_s = 100, l2_bytes = 0 }
    local a, free = lab.stream{}, lab.stream{ non_blocking = true }
    local memory = lab.cuda.malloc(10000000)        -- 100 us
    lab.synchronize()
    local spans = ideal.spans(lab.profile(function()
        ideal.spin(a, 1)
        lab.cuda.memset(memory, 0, 10000000)
        ideal.spin(a, 1)
        ideal.spin(free, 1)
    end))
    T.near(spans[2].from_us, t_us, 1e-3,
           "cudaMemset runs in the NULL stream, after blocking streams")
    T.near(spans[3].from_us, t_us + 100, 1e-3, "and their later work comes after it")
    T.ok(ideal.host_us(spans[2]) < 100, "but does not keep the host")
    lab.cuda.free(memory)
end

local function a_host_function_in_the_null_stream_is_a_barrier()
    ideal.open()
    local a, null = lab.stream{}, lab.default_stream()
    local spans = ideal.spans(lab.profile(function()
        ideal.spin(a, 1)
        null:launch_host_func(function() end)
        ideal.spin(a, 1)
    end))
    T.near(spans[2].start_us - spans[1].start_us, t_us, 1e-3,
           "a host function in the NULL stream waits for blocking streams")
    T.near(spans[3].from_us, t_us, 1e-3, "and they wait for it")
end

local function the_null_stream_is_current_at_first()
    ideal.open()
    T.is(lab.current_stream(), lab.default_stream(), "the NULL stream is the current one at first")
    local span = lab.profile(function() lab.spin(1) end):spans()[1]
    T.is(span.stream, lab.profile(function()
        lab.spin(1, { stream = lab.default_stream() })
    end):spans()[1].stream, "work without a stream goes there")
end

the_null_stream_waits_and_is_waited_for()
the_null_stream_does_not_wait_for_non_blocking_streams()
the_host_does_not_wait_for_a_null_launch()
blocking_streams_overlap_between_null_operations()
work_before_the_null_operation_of_other_streams_runs_on()
the_per_thread_stream_is_an_ordinary_blocking_stream()
copies_in_the_null_stream_are_barriers_too()
plain_memset_and_memcpy_follow_the_null_rule()
a_host_function_in_the_null_stream_is_a_barrier()
the_null_stream_is_current_at_first()
T.done()
