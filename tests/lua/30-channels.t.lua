-- 30-channels.t.lua - streams share hardware channels (docs/design/simulator.md).
--
-- Micro-experiments 1 to 4. The NULL stream has channel index 0, user streams
-- 1, 2, ... in order of creation; a stream's channel is index mod connections.
-- A channel is a FIFO; a kernel leaves it when its last block is placed.

local T = require "tap"
local ideal = require "lua.ideal"

local t_us = 1000               -- every spin below lasts 1 ms unless it says otherwise

local function two_spins_in_two_streams_take_the_time_of_one()
    ideal.open()
    local a, b = table.unpack(ideal.streams(2))
    local tl = lab.profile(function()
        ideal.spin(a, 1)
        ideal.spin(b, 1)
    end)
    T.near(tl.makespan_us, t_us, 1e-6, "two one-block spins in two streams last as long as one")
    T.near(tl:overlap_us(a, b), t_us, 1e-6, "they overlap all the time")
end

local function two_spins_in_one_stream_are_serial()
    ideal.open{ stream_gap_us = 7 }
    local s = ideal.streams(1)[1]
    local tl = lab.profile(function()
        ideal.spin(s, 1)
        ideal.spin(s, 1)
    end)
    -- t + gap + t
    T.near(tl.makespan_us, 2 * t_us + 7, 1e-6, "two spins in one stream last 2 t and one gap")
    local spans = ideal.spans(tl)
    T.near(spans[2].from_us, t_us + 7, 1e-6, "the second starts one gap after the first ends")
end

-- Start and end of each stream's kernels, in order, counted from the first start.
local function run_grid(n_streams, order, kernels, ms_of)
    local s = ideal.streams(n_streams)
    local tl = lab.profile(function()
        if order == "depth" then
            for i = 1, n_streams do
                for _ = 1, kernels do ideal.spin(s[i], ms_of(i)) end
            end
        else
            for _ = 1, kernels do
                for i = 1, n_streams do ideal.spin(s[i], ms_of(i)) end
            end
        end
    end)
    local by_stream = {}
    for i, span in ipairs(ideal.spans(tl)) do
        local stream = order == "depth" and (i - 1) // kernels + 1 or (i - 1) % n_streams + 1
        by_stream[stream] = by_stream[stream] or {}
        table.insert(by_stream[stream], span)
    end
    return tl, by_stream
end

local function one_ms() return 1 end

local function the_ninth_stream_waits_behind_the_first_one()
    ideal.open{ connections = 8 }
    local tl, by = run_grid(9, "depth", 4, one_ms)
    -- Stream 9 shares channel 1 with stream 1, whose 4th kernel starts, and so
    -- leaves the channel, at 3 t. Then 4 kernels of its own.
    T.near(by[9][1].from_us, 3 * t_us, 1e-6,
           "with 8 connections the 9th stream starts when the 1st one's 4th kernel is dispatched")
    T.near(by[2][1].from_us, 0, 1e-6, "the 2nd stream starts at once")
    T.near(by[8][1].from_us, 0, 1e-6,
           "the 8th stream, in the NULL stream's channel, starts at once")
    T.near(tl.makespan_us, 7 * t_us, 1e-6, "nine streams over 8 connections last 7 t")
end

local function nine_connections_serve_nine_streams()
    ideal.open{ connections = 9 }
    local tl, by = run_grid(9, "depth", 4, one_ms)
    -- Channels 1, ..., 8, 0: nobody else is in channel 0.
    T.near(by[9][1].from_us, 0, 1e-6, "with 9 connections the 9th stream starts at once")
    T.near(tl.makespan_us, 4 * t_us, 1e-6, "nine streams over 9 connections last 4 t")
end

local function breadth_first_issue_blocks_at_the_shared_head()
    ideal.open{ connections = 8 }
    -- Stream 1's kernels last 2 ms, stream 9's 1 ms; channel 1 holds
    -- s1 s9 s1 s9 s1 s9 s1 s9. s1 runs 0-2 2-4 4-6 6-8; each kernel of s9 leaves
    -- right after the one of s1 before it has started: 0, 2, 4, 6.
    local function ms_of(i) return i == 1 and 2 or 1 end
    local tl, by = run_grid(9, "breadth", 4, ms_of)
    for k = 1, 4 do
        T.near(by[9][k].from_us, (k - 1) * 2 * t_us, 1e-6,
               "breadth-first, kernel " .. k .. " of the 9th stream waits for the 1st's")
    end
    T.near(tl.makespan_us, 8 * t_us, 1e-6, "breadth-first issue lasts as long as the slow stream")
end

local function breadth_first_issue_of_equal_kernels_runs_at_full_width()
    ideal.open{ connections = 8 }
    -- With equal kernels, all heads become ready at the same moments: no loss.
    local tl = run_grid(9, "breadth", 4, one_ms)
    T.near(tl.makespan_us, 4 * t_us, 1e-6, "breadth-first issue of equal kernels lasts 4 t")
end

local function one_connection_overlaps_at_neighbouring_edges()
    ideal.open{ connections = 1 }
    -- One FIFO: A1 A2 A3 B1 B2 B3 C1 C2 C3. A: 0, 1, 2. B1 leaves with A3's start
    -- at 2: B 2, 3, 4. C1 at 4: C 4, 5, 6. End 7.
    local tl, by = run_grid(3, "depth", 3, one_ms)
    T.near(by[2][1].from_us, 2 * t_us, 1e-6,
           "one connection: stream 2 starts with stream 1's last kernel")
    T.near(by[3][1].from_us, 4 * t_us, 1e-6,
           "one connection: stream 3 starts with stream 2's last kernel")
    T.near(tl.makespan_us, 7 * t_us, 1e-6, "one connection: three streams of 3 kernels last 7 t")
    T.is(ideal.most_at_once(tl:spans()), 2, "one connection: only neighbours overlap")
end

local function heads_of_32_channels_progress()
    ideal.open{ connections = 32 }
    -- 40 streams of 2 kernels, depth-first. Streams 33..40 (channels 1..8) wait
    -- behind the second kernels of streams 1..8, which start at t. So until t
    -- exactly 32 kernels run.
    local tl, by = run_grid(40, "depth", 2, one_ms)
    local at_once = 0
    for i = 1, 40 do
        if by[i][1].from_us < t_us / 2 then at_once = at_once + 1 end
    end
    T.is(at_once, 32, "never more than 32 heads progress over 32 channels")
    T.near(by[33][1].from_us, t_us, 1e-6,
           "the 33rd stream starts when the 1st one's last kernel does")
    T.near(tl.makespan_us, 3 * t_us, 1e-6, "40 streams of 2 kernels over 32 channels last 3 t")
end

local function at_most_128_grids_are_resident()
    ideal.open{ connections = 32 }
    local tl = run_grid(129, "depth", 1, one_ms)
    T.is(ideal.most_at_once(tl:spans()), 128, "of 129 one-block kernels 128 are resident together")
    T.near(tl.makespan_us, 2 * t_us, 1e-6, "the 129th waits for a resident grid to end")
end

local function a_hundred_and_twenty_eight_grids_run_together_at_the_default_connections()
    ideal.open()
    -- One-block kernels leave their channels at once: aliasing does not show
    -- (measured on an H200).
    local tl = run_grid(128, "depth", 1, one_ms)
    T.near(tl.makespan_us, t_us, 1e-6,
           "128 one-block kernels in 128 streams last t at the default connections")
end

local function a_smaller_limit_of_grids_holds_as_well()
    ideal.open{ connections = 32, max_grids = 4 }
    local tl = run_grid(10, "depth", 1, one_ms)
    -- 4 + 4 + 2
    T.is(ideal.most_at_once(tl:spans()), 4, "max_grids limits the resident grids")
    T.near(tl.makespan_us, 3 * t_us, 1e-6, "10 one-block kernels, 4 at a time, last 3 t")
end

local function an_event_wait_stalls_the_stream_that_shares_the_channel()
    ideal.open{ connections = 8 }
    local s = ideal.streams(9)
    local e = lab.event{}
    local tl = lab.profile(function()
        ideal.spin(s[2], 3)
        e:record(s[2])
        s[1]:wait_event(e)              -- sits at the head of channel 1
        ideal.spin(s[9], 1)             -- has nothing to do with s[1] or s[2]
        ideal.spin(s[3], 1)
    end)
    local spans = ideal.spans(tl)
    T.near(spans[2].from_us, 3 * t_us, 1e-6,
           "a wait in stream 1 stalls stream 9, which shares its channel")
    T.near(spans[3].from_us, 0, 1e-6, "a stream in another channel is not stalled")
end

local function copies_have_channels_of_their_own()
    ideal.open{ connections = 1, copy_connections = 8, h2d_gb_per_s = 10 }
    local a, b = table.unpack(ideal.streams(2))
    local host = lab.empty(250000, { device = "cpu", pinned = true })   -- 1e6 B: 0.1 ms at 10 GB/s
    local dev = lab.empty(250000)
    local tl = lab.profile(function()
        ideal.spin(a, 1)
        ideal.spin(a, 1)                -- blocks the only compute channel until t
        dev:copy_(host, { non_blocking = true, stream = b })
    end)
    T.near(ideal.spans(tl)[3].from_us, 0, 1e-6,
           "a copy does not queue behind kernels of another stream")
end

two_spins_in_two_streams_take_the_time_of_one()
two_spins_in_one_stream_are_serial()
the_ninth_stream_waits_behind_the_first_one()
nine_connections_serve_nine_streams()
breadth_first_issue_blocks_at_the_shared_head()
breadth_first_issue_of_equal_kernels_runs_at_full_width()
one_connection_overlaps_at_neighbouring_edges()
heads_of_32_channels_progress()
at_most_128_grids_are_resident()
a_hundred_and_twenty_eight_grids_run_together_at_the_default_connections()
a_smaller_limit_of_grids_holds_as_well()
an_event_wait_stalls_the_stream_that_shares_the_channel()
copies_have_channels_of_their_own()
T.done()
