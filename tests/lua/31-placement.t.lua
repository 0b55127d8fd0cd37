-- 31-placement.t.lua - blocks on SMs: waves, leftover policy, priority at block ends.
--
-- Micro-experiments 5 to 9, and the GEMM lines. The textbook profile has 132 SMs of
-- 2048 threads, 32 blocks and 233472 B of shared memory. A block of 32 threads
-- is limited by the 32 blocks (64 would fit by threads): 132 * 32 = 4224 blocks
-- fill the GPU. A block with 200000 B of shared memory has its SM's shared
-- memory to itself (2 * 200000 > 233472).

local T = require "tap"
local ideal = require "lua.ideal"

local full = 132 * 32
local t_us = 1000

local function spans_of(f)
    local tl = lab.profile(f)
    return ideal.spans(tl), tl
end

local function makespan_of_grid(blocks, options)
    local s = ideal.streams(1)[1]
    local tl = lab.profile(function() ideal.spin(s, 1, blocks, options) end)
    return tl.makespan_us
end

-- A kernel lasts longer than its blocks, and is resident until its end.
local function resident_kernels_are_limited()
    ideal.open{ max_grids = 2, spin_fixed_us = 5 }
    local streams = ideal.streams(3)
    local spans = spans_of(function()
        for i = 1, 3 do ideal.spin(streams[i], 1, 1) end
    end)
    T.near(spans[2].from_us, 0, 1e-6, "two kernels are resident at once")
    T.near(spans[3].from_us, t_us + 5, 1e-6, "the third starts when one of them has ended")
end

local function a_grid_runs_in_waves()
    ideal.open()
    T.near(makespan_of_grid(full), t_us, 1e-6, "132 * 32 blocks of 32 threads are one wave")
    T.near(makespan_of_grid(full + 1), 2 * t_us, 1e-6, "one block more is a second wave")
    T.near(makespan_of_grid(10 * full), 10 * t_us, 1e-6, "ten times as many blocks are ten waves")
    -- 2048 / 1024 = 2 blocks an SM by threads
    local wide = { threads = 1024 }
    T.near(makespan_of_grid(132 * 2, wide), t_us, 1e-6,
           "132 * 2 blocks of 1024 threads are one wave")
    T.near(makespan_of_grid(132 * 2 + 1, wide), 2 * t_us, 1e-6, "132 * 2 + 1 of them are two")
    -- 233472 / 100000 = 2 blocks an SM by shared memory
    local heavy = { shared_bytes = 100000 }
    T.near(makespan_of_grid(132 * 2, heavy), t_us, 1e-6,
           "shared memory limits the blocks of a wave")
    T.near(makespan_of_grid(132 * 2 + 1, heavy), 2 * t_us, 1e-6,
           "and one block more needs another wave")
end

local function a_million_blocks_cost_their_waves()
    ideal.open()
    -- A million blocks: the cost of simulating goes with the waves, the time is
    -- ceil(1000000 / 4224) = 237 waves.
    T.near(makespan_of_grid(1000000), 237 * t_us, 1e-6, "a million blocks last 237 waves")
end

local function a_small_kernel_gets_the_leftover()
    ideal.open()
    local a, b = table.unpack(ideal.streams(2))
    local spans, tl = spans_of(function()
        ideal.spin(a, 1, full + full // 2)      -- a wave and a half
        ideal.spin(b, 1, 1)
    end)
    T.near(spans[2].from_us, t_us, 1e-6, "a small kernel starts in the tail of a large one")
    T.near(tl.makespan_us, 2 * t_us, 1e-6, "and costs no time there")
    spans = spans_of(function()
        ideal.spin(a, 1, 2 * full)              -- exactly two waves: no tail
        ideal.spin(b, 1, 1)
    end)
    T.near(spans[2].from_us, 2 * t_us, 1e-6, "without a tail it waits for the end")
    spans = spans_of(function()
        ideal.spin(a, 1, full - 1)
        ideal.spin(b, 1, 1)
    end)
    T.near(spans[2].from_us, 0, 1e-6, "where the large one leaves a place, it starts at once")
end

-- `first`, which finds the chip idle, and 0.5 ms later a wave of 1 ms that needs all of it.
local function half_a_ms_later(first)
    return spans_of(function()
        first()
        lab.host_work(0.5)
        ideal.spin(lab.stream{ non_blocking = true }, 1, full)
    end)
end

local function a_kernel_alone_shares_when_another_one_comes()
    ideal.open{ kernel_fixed_us = 1000 }            -- after the blocks, of kernels but spins
    local s, x = lab.stream{ non_blocking = true }, lab.empty(16, 16)
    local spans = half_a_ms_later(function() ideal.spin(s, 1, 1) end)
    T.near(spans[1].to_us, t_us, 1e-6, "a block that was alone ends when it would have ended")
    T.near(spans[2].from_us, t_us / 2, 1e-6, "all places but one are free beside it at once")
    T.near(spans[2].to_us, 2 * t_us, 1e-6, "the block that needs that one comes when it has ended")
    spans = half_a_ms_later(function() lab.add(x, x, { out = x, stream = s }) end)
    T.near(spans[1].to_us, t_us, 1, "a kernel ends after its blocks")
    T.near(spans[2].from_us, t_us / 2, 1e-6, "but the SMs are free when these have ended")
    T.near(spans[2].to_us, 1.5 * t_us, 1e-6, "all of them")
end

local function the_head_of_the_queue_blocks_those_behind_it()
    ideal.open()
    local s = ideal.streams(3)
    local spans = spans_of(function()
        ideal.spin(s[1], 1, 132, { shared_bytes = 200000 })
        ideal.spin(s[2], 1, 1, { shared_bytes = 200000 })   -- fits nowhere before t
        ideal.spin(s[3], 1, 1)                              -- would fit
    end)
    T.near(spans[2].from_us, t_us, 1e-6, "a head that does not fit waits for room")
    T.near(spans[3].from_us, t_us, 1e-6, "a third kernel that would fit waits behind it")
    spans = spans_of(function()
        ideal.spin(s[1], 1, 132, { shared_bytes = 200000 })
        ideal.spin(s[3], 1, 1)
    end)
    T.near(spans[2].from_us, 0, 1e-6, "without that head it starts at once")
end

-- A grid of 4 waves at priority 0; one full wave of `priority` half a t later.
local function late_wave(priority)
    ideal.open()
    local low = lab.stream{ non_blocking = true }
    local high = lab.stream{ non_blocking = true, priority = priority }
    local spans = spans_of(function()
        ideal.spin(low, 1, 4 * full)
        lab.host_work(0.5)
        ideal.spin(high, 1, full)
    end)
    return spans[1], spans[2]
end

local function high_priority_acts_at_block_ends()
    local low, high = late_wave(-5)
    -- Running blocks stay: the high grid has the SMs from t to 2 t, then the low
    -- one has three waves left.
    T.near(high.from_us, t_us, 1e-6, "a high-priority grid starts at the next block end")
    T.near(high.to_us, 2 * t_us, 1e-6, "and runs without interruption")
    T.near(low.to_us, 5 * t_us, 1e-6, "the low grid resumes afterwards")
    low, high = late_wave(-1)
    T.near(high.from_us, t_us, 1e-6, "priority -1 overtakes 0 as -5 does")
    low, high = late_wave(0)
    T.near(high.from_us, 4 * t_us, 1e-6,
           "with equal priority the late grid waits for the first one's waves")
    T.near(low.to_us, 4 * t_us, 1e-6, "and the first one is not delayed")
end

local function a_high_kernel_that_cannot_fit_blocks_a_low_one_that_can()
    ideal.open()
    local low, low2 = lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true }
    local high = lab.stream{ non_blocking = true, priority = "high" }
    local spans = spans_of(function()
        ideal.spin(low, 1, 132, { shared_bytes = 200000 })
        lab.host_work(0.25)
        ideal.spin(high, 1, 1, { shared_bytes = 200000 })
        lab.host_work(0.25)
        ideal.spin(low2, 1, 1)
    end)
    T.near(spans[2].from_us, t_us, 1e-6, "a high-priority kernel that cannot fit waits for room")
    T.near(spans[3].from_us, t_us, 1e-6, "and keeps a low-priority kernel waiting that would fit")
end

local function a_low_kernel_that_cannot_fit_does_not_block_a_high_one()
    ideal.open()
    local low, low2 = lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true }
    local high = lab.stream{ non_blocking = true, priority = "high" }
    local spans = spans_of(function()
        ideal.spin(low, 1, 132, { shared_bytes = 200000 })
        ideal.spin(low2, 1, 1, { shared_bytes = 200000 })
        ideal.spin(high, 1, 1)
    end)
    T.near(spans[3].from_us, 0, 1e-6, "a waiting low-priority kernel does not hold up a high one")
    T.near(spans[2].from_us, t_us, 1e-6, "it waits itself")
end

-- ---- GEMMs -----------------------------------------------------------------

local function gemm_times(n, dtype)
    ideal.open()
    local a = lab.empty(n, n, { dtype = dtype })
    local out1, out2 = lab.empty(n, n, { dtype = dtype }), lab.empty(n, n, { dtype = dtype })
    local s = ideal.streams(2)
    lab.synchronize()
    local one = lab.profile(function() lab.matmul(a, a, { out = out1, stream = s[1] }) end)
    local two = lab.profile(function()
        lab.matmul(a, a, { out = out1, stream = s[1] })
        lab.matmul(a, a, { out = out2, stream = s[2] })
    end)
    return one.makespan_us, two.makespan_us
end

local function large_gemms_do_not_gain_from_two_streams()
    local one, two = gemm_times(8192, "bfloat16")
    T.near(two, 2 * one, 0.03 * 2 * one,
           "two bf16 8192 GEMMs in two streams gain nothing (within 3 %)")
end

local function small_gemms_gain_nearly_twice()
    -- A 512 x 512 GEMM has 16 tiles of 128 x 128, or 64 of 64 x 64: two of them fit
    -- beside each other on 132 SMs.
    local one, two = gemm_times(512, "float32")
    T.ok(2 * one / two > 1.8, "two 512 GEMMs in two streams run nearly twice as fast as serially")
    T.diag(("512 GEMM: one %.2f us, two in two streams %.2f us"):format(one, two))
end

local function a_pow_gains_only_where_a_gemm_leaves_room()
    ideal.open()
    local big = lab.empty(8192, 8192, { dtype = "bfloat16" })
    local out = lab.empty(8192, 8192, { dtype = "bfloat16" })
    local v = lab.empty(4096, 4096)
    local s = ideal.streams(2)
    local function pow_alone()
        return lab.profile(function() lab.pow(v, 2, { out = v, stream = s[2] }) end).makespan_us
    end
    local function overlap_behind(gemm)
        local tl = lab.profile(function()
            gemm()
            lab.pow(v, 2, { out = v, stream = s[2] })
        end)
        return tl:overlap_us(s[1], s[2])
    end
    local alone = pow_alone()
    local beside_big = overlap_behind(function()
        lab.matmul(big, big, { out = out, stream = s[1] })
    end)
    -- The persistent bf16 GEMM holds every SM: at most its tail is free.
    T.ok(beside_big < 0.25 * alone, "a pow does not run beside a GEMM that holds every SM")
    local small, small_out = lab.empty(512, 512), lab.empty(512, 512)
    local beside_small = overlap_behind(function()
        lab.matmul(small, small, { out = small_out, stream = s[1] })
    end)
    T.ok(beside_small > 0, "a pow runs beside a GEMM that leaves SMs free")
end

-- 66.9 TFLOP/s: 6.69 GFLOP take 100 us, and the kernel 1 us more. Two blocks are on each SM; behind
-- blocks that leave all SMs at once they fill 66 of them, four on each, at half the rate.
local function an_own_kernel_may_have_the_chip_alone()
    ideal.open{ kernel_fixed_us = 1, thread = { operation_ns = 0 },
                gemm_efficiency = { float32 = 1 } }
    local k <const> = lab.kernel{ name = "k", args = { "inout f32*" }, cpu = function() end,
                                  cost = { flops = 6.69e9 } }
    local x <const>, a <const>, b <const> = lab.ones(10), lab.stream(), lab.stream()
    local function own_us(before, after)
        lab.synchronize()
        for _, s in ipairs(lab.profile(function()
            before()
            k(264, 512, { stream = a }, x)
            after()
        end):spans()) do
            if s.name == "k" then return s.end_us - s.start_us end
        end
    end
    local function nothing() end
    local function spin_later()
        lab.host_work(0.03)
        lab.spin(0.01, { stream = b })
    end
    T.near(own_us(nothing, nothing), 101, 1e-3, "a kernel of one's own takes its time alone")
    T.near(own_us(nothing, spin_later), 101, 1e-3, "and when a spin comes beside it")
    local function spin() lab.spin(1, { blocks = 264, threads = 1024, stream = b }) end
    T.near(own_us(spin, nothing),
           201, 1e-3, "one that has waited for room fills up the first SMs that have some")
end

resident_kernels_are_limited()
a_grid_runs_in_waves()
a_million_blocks_cost_their_waves()
a_small_kernel_gets_the_leftover()
a_kernel_alone_shares_when_another_one_comes()
an_own_kernel_may_have_the_chip_alone()
the_head_of_the_queue_blocks_those_behind_it()
high_priority_acts_at_block_ends()
a_high_kernel_that_cannot_fit_blocks_a_low_one_that_can()
a_low_kernel_that_cannot_fit_does_not_block_a_high_one()
large_gemms_do_not_gain_from_two_streams()
small_gemms_gain_nearly_twice()
a_pow_gains_only_where_a_gemm_leaves_room()
T.done()
