-- 39-threads.t.lua - threads of the host in virtual time: whose call comes when, and what waits for
-- what (docs/design/threads.md). Times are exact on a GPU without latencies.

local T = require "tap"
local ideal = require "lua.ideal"

-- Launches take 4 us, and 1 us more for each other thread that launches.
local contended = { ["host.launch_us"] = 4, thread_contention_us = 1 }

local function launch(n)
    local s <const> = lab.stream{ non_blocking = true }
    for _ = 1, n do lab.spin(0, { stream = s }) end
end

-- Starts n threads with f(...), joins them all, and gives the host's time in us.
local function wall_us(n, f, ...)
    local arguments = table.pack(...)
    return lab.profile(function()
        local threads = {}
        for i = 1, n do threads[i] = lab.thread(f, table.unpack(arguments)) end
        for i = 1, n do threads[i]:join() end
    end).wall_us
end

local function launches_contend()
    ideal.open(contended)
    T.is(wall_us(1, launch, 10), 40, "10 launches of one thread take 40 us")
    -- The first call of thread 1 begins when no other is in a call; from then on each call of both
    -- finds the other one in a call. Thread 1: 4 + 9 x 5, thread 2: 10 x 5.
    T.is(wall_us(2, launch, 10), 50, "of two threads 5 us each: nearly twice as many in a second")
    T.is(wall_us(4, launch, 10), 70, "of four threads 7 us each")
end

local function other_work_does_not_contend()
    ideal.open(contended)
    local us = wall_us(2, function(n) for _ = 1, n do lab.host_work(0.01) end end, 10)
    T.is(us, 100, "two threads that do not launch work side by side")
    us = lab.profile(function()
        local th = lab.thread(launch, 10)
        lab.host_work(0.1)
        th:join()
    end).wall_us
    T.is(us, 100, "and so do one that launches and one that does not")
end

local function a_wait_lets_others_go_on()
    ideal.open(contended)
    local spans = ideal.spans(lab.profile(function()
        local waiting = lab.thread(function()
            lab.spin(1, { stream = lab.stream{ non_blocking = true } })
            lab.synchronize()
            lab.spin(0.5, { stream = lab.stream{ non_blocking = true } })
        end)
        local other = lab.thread(function()
            lab.host_work(0.2)
            lab.spin(0.1, { stream = lab.stream{ non_blocking = true } })
        end)
        waiting:join()
        other:join()
    end))
    -- The first kernel starts at 4, when its launch is over; the other thread's launch is over at
    -- 204.
    T.is(spans[2].from_us, 200, "another thread launches while the first one waits")
    T.is(spans[3].from_us, 1004, "which goes on when its kernel has ended, and launches for 4 us")
end

local function a_wait_is_for_what_was_there()
    ideal.open()
    local s = lab.stream()
    local adds = lab.thread(function(stream)
        lab.host_work(0.5)
        lab.spin(10, { stream = stream })
    end, s)
    lab.spin(1, { stream = s })
    s:synchronize()
    T.is(s:query(), false, "a wait ends with the work that was there when it began")
    adds:join()
end

local function clocks_meet_at_a_join()
    ideal.open()
    local us = lab.profile(function()
        local long, short = lab.thread(function() lab.host_work(3) end),
                            lab.thread(function() lab.host_work(1) end)
        short:join()
        lab.host_work(1)
        long:join()
    end).wall_us
    T.is(us, 3000, "a join ends when the thread does: 3 ms beside 1 + 1 ms")
    us = lab.profile(function()
        local th = lab.thread(function() lab.host_work(1) end)
        lab.host_work(4)
        T.ok(th:done(), "a thread that has ended is done")
        th:join()
    end).wall_us
    T.is(us, 4000, "joining one that ended earlier takes no time")
end

local function the_order_is_that_of_virtual_time()
    ideal.open()
    local x = lab.zeros(1, { device = "cpu" })
    local function add_digit(t, digit, after_ms)
        lab.host_work(after_ms)
        t:set(1, t:get(1) * 10 + digit)
    end
    local threads = { lab.thread(add_digit, x, 1, 0.3), lab.thread(add_digit, x, 2, 0.1),
                      lab.thread(add_digit, x, 3, 0.2) }
    for _, th in ipairs(threads) do th:join() end
    T.is(x:get(1), 231, "threads write host memory in the order of their clocks, not of their "
        .. "start")
end

local function pinning_stalls_launches()
    ideal.open{ ["host.launch_us"] = 4, ["calls.cudaHostRegister.us"] = 100,
                ["calls.cudaHostRegister.us_per_mib"] = 0 }
    local big = lab.empty(1024, { device = "cpu" })
    local us = lab.profile(function()
        local pins = lab.thread(function(t)
            lab.host_work(0.01)
            t:pin()
        end, big)
        launch(10)
        pins:join()
    end).wall_us
    -- Launches begin at 0, 4 and 8; the next one, at 12, waits until 110, when the lock is free; 7
    -- more.
    T.is(us, 138, "launches wait while another thread page-locks memory")
end

local function a_queue_that_is_full_stops_one_thread()
    ideal.open{ launch_queue_depth = 2, connections = 2 }
    local a, b = table.unpack(ideal.streams(2))
    local spans = ideal.spans(lab.profile(function()
        local fills = lab.thread(function(s) for _ = 1, 5 do lab.spin(1, { stream = s }) end end, a)
        local other = lab.thread(function(s)
            lab.host_work(0.5)
            lab.spin(0.25, { stream = s })
        end, b)
        fills:join()
        other:join()
    end))
    T.is(#spans, 6, "all six kernels ran")
    local quarter
    for _, span in ipairs(spans) do
        quarter = span.end_us - span.start_us < 300 and span or quarter
    end
    T.is(quarter.from_us, 500, "a thread launches while another one waits for its full queue")
end

local function blocking_copies_overlap()
    ideal.open{ h2d_gb_per_s = 1, d2h_gb_per_s = 1, duplex_factor = 1 }
    local n = 1000000 / 4
    local up, down = lab.ones(n, { device = "cpu", pinned = true }),
        lab.ones(n, { device = "cpu", pinned = true })
    local x, y = lab.zeros(n), lab.zeros(n)
    lab.synchronize()
    local us = lab.profile(function()
        local th = lab.thread(function(dst, src)
            lab.with(lab.stream{ non_blocking = true },
                     function() dst:copy_(src) lab.current_stream():synchronize() end)
        end, x, up)
        lab.with(lab.stream{ non_blocking = true },
                 function() down:copy_(y) lab.current_stream():synchronize() end)
        th:join()
    end).wall_us
    T.is(us, 1000, "a copy in and a copy out, each waited for by a thread of its own, take the "
        .. "time of one")
end

local function numbers_follow_the_order_in_streams()
    ideal.open{ ["host.launch_us"] = 4 }
    local s = lab.stream{ non_blocking = true }
    local tl = lab.profile(function()
        local a = lab.thread(function(stream)
            for _ = 1, 20 do lab.spin(0.01, { stream = stream }) end
        end, s)
        local b = lab.thread(function(stream)
            for _ = 1, 20 do lab.spin(0.01, { stream = stream }) end
        end, s)
        a:join()
        b:join()
    end)
    local spans, in_order = ideal.spans(tl), true
    for i = 2, #spans do in_order = in_order and spans[i].start_us >= spans[i - 1].end_us end
    T.is(#spans, 40, "two threads launch into one stream")
    T.ok(in_order, "where each kernel begins after the one with the number before")
end

local function every_run_is_the_same()
    local function run()
        lab.open{ backend = "sim", profile = "h200" }
        local tl = lab.profile(function()
            local x = lab.randn(512, 512)
            local function step(a, n)
                local s = lab.stream()
                local guard <close> = lab.use(s)
                local host = lab.empty(512, 512, { device = "cpu" })
                for _ = 1, n do
                    local b = lab.matmul(a, a)
                    host:copy_(b)
                    lab.pow(b, 2)
                end
            end
            local threads = {}
            for i = 1, 5 do threads[i] = lab.thread(step, x, i) end
            for i = 1, 5 do threads[i]:join() end
        end)
        local lines = {}
        for i, span in ipairs(tl:spans()) do
            lines[i] = ("%s %s %.3f %.3f %.3f %.3f"):format(span.name, span.stream, span.start_us,
                span.end_us, span.host_start_us, span.host_end_us)
        end
        lab.synchronize()
        return table.concat(lines, "\n")
    end
    local first = run()
    for i = 2, 4 do T.ok(run() == first, "run " .. i .. " gives the timeline of the first one") end
end

launches_contend()
other_work_does_not_contend()
a_wait_lets_others_go_on()
a_wait_is_for_what_was_there()
clocks_meet_at_a_join()
the_order_is_that_of_virtual_time()
pinning_stalls_launches()
a_queue_that_is_full_stops_one_thread()
blocking_copies_overlap()
numbers_follow_the_order_in_streams()
every_run_is_the_same()

T.done()
