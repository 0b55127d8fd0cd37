-- 37-priority.t.lua - stream priorities: numbers, levels, starvation.
--
-- Lower numbers are more urgent; the textbook profile has 0 to -5. Priority acts
-- where a block ends: 4224 blocks of 32 threads fill the GPU (132 SMs x 32).

local T = require "tap"
local ideal = require "lua.ideal"

local full = 132 * 32
local t_us = 1000

local function stream(priority) return lab.stream{ non_blocking = true, priority = priority } end

local function three_levels_go_in_their_order()
    ideal.open{ priority_levels = 6 }
    local low, mid, high = stream(0), stream(-1), stream(-5)
    local spans = ideal.spans(lab.profile(function()
        ideal.spin(low, 1, 4 * full)
        lab.host_work(0.5)
        ideal.spin(mid, 1, 2 * full)
        ideal.spin(high, 1, 2 * full)
    end))
    -- low 0-1, high 1-3, mid 3-5, low 5-8
    T.near(spans[3].from_us, 1 * t_us, 1e-6, "the most urgent grid goes first, though issued last")
    T.near(spans[2].from_us, 3 * t_us, 1e-6, "then the one of middle priority")
    T.near(spans[1].to_us, 8 * t_us, 1e-6, "the least urgent one ends last")
end

local function high_priority_work_starves_low()
    ideal.open()
    local low, high = stream("low"), stream("high")
    local spans = ideal.spans(lab.profile(function()
        ideal.spin(high, 1, full)
        ideal.spin(low, 1, full)
        for _ = 1, 9 do ideal.spin(high, 1, full) end
    end))
    -- The low grid is issued second and placed last: after ten high waves.
    T.near(spans[2].from_us, 10 * t_us, 1e-6,
           "low priority waits as long as high-priority blocks are ready")
end

local function equal_priorities_are_first_come_first_served()
    ideal.open()
    local a, b = stream(-3), stream(-3)
    local spans = ideal.spans(lab.profile(function()
        ideal.spin(a, 1, 2 * full)
        ideal.spin(b, 1, full)
    end))
    T.near(spans[2].from_us, 2 * t_us, 1e-6, "equal priorities keep their order of arrival")
end

local function running_blocks_are_not_preempted()
    ideal.open()
    local low, high = stream(0), stream(-5)
    local spans = ideal.spans(lab.profile(function()
        ideal.spin(low, 10, full)
        lab.host_work(1)
        ideal.spin(high, 1, 1)
    end))
    T.near(spans[2].from_us, 10 * t_us, 1e-6,
           "a high-priority kernel waits for running blocks to end")
    T.near(spans[1].to_us, 10 * t_us, 1e-6, "which are not disturbed")
end

local function positive_priorities_are_low()
    -- "priority = 1 is high" is wrong in CUDA: it is clamped to 0.
    ideal.open()
    local normal, one = stream(0), stream(1)
    local spans = ideal.spans(lab.profile(function()
        ideal.spin(normal, 1, 4 * full)
        lab.host_work(0.5)
        ideal.spin(one, 1, full)
    end))
    T.near(spans[2].from_us, 4 * t_us, 1e-6,
           "priority = 1 is not high: the grid waits for its turn")
end

local function a_measured_case()
    -- H200: 40 waves at priority 0 that end at 10.12 ms alone; a one-wave grid
    -- 2 ms later in another stream is done at 10.4 ms with priority 0 and at
    -- 2.28 ms with -1 or -5. Waves of 0.253 ms.
    local function done_at(priority)
        ideal.textbook()
        local low, other = stream(0), stream(priority)
        -- Both kernels once before, so that loading them is out of the picture.
        ideal.spin(low, 0.01, 1)
        lab.synchronize()
        local tl = lab.profile(function()
            ideal.spin(low, 0.253, 40 * full)
            lab.host_work(2)
            ideal.spin(other, 0.253, full)
        end)
        local spans = ideal.spans(tl)
        return spans[2].to_us / 1000, spans[1].to_us / 1000
    end
    -- 2 ms is within the 8th wave (1.771 to 2.024): high runs 2.024 to 2.277.
    local other, long = done_at(-5)
    T.near(other, 2.28, 0.02, "the H200's late grid is done at 2.28 ms with priority -5")
    T.near(long, 10.37, 0.02, "and the long one at 10.37 ms")
    T.near(done_at(-1), 2.28, 0.02, "at 2.28 ms with priority -1 as well")
    T.near(done_at(0), 10.4, 0.05, "and at 10.4 ms with priority 0")
end

three_levels_go_in_their_order()
high_priority_work_starves_low()
equal_priorities_are_first_come_first_served()
running_blocks_are_not_preempted()
positive_priorities_are_low()
a_measured_case()
T.done()
