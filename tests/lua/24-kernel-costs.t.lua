-- 24-kernel-costs.t.lua - what a profile knows of custom kernels: registers, shared memory, and how
-- long launches take, measured or between what was measured.

local T = require "tap"

lab.open{ profile = "textbook" }
T.open()

local function kernel(more)
    local opts = { name = "k", args = { "in f32*", "i32" }, cpu = function() end }
    for key, value in pairs(more or {}) do opts[key] = value end
    return lab.kernel(opts)
end

local hash = kernel().hash

local function open(launches, more)
    local known = { name = "k", launches = launches }
    for key, value in pairs(more or {}) do known[key] = value end
    lab.open{ profile = { base = "textbook", kernels = { [hash] = known } } }
end

local function launch_us(k, n, number, grid, block)
    local x = lab.ones(n)
    lab.synchronize()
    local tl = lab.profile(function() k(grid or 8, block or 128, x, number) end)
    local span = tl:spans()[1]
    return span.end_us - span.start_us, span.guessed
end

local two <const> = {
    { grid = 8, block = 128, shared = 0, bytes = 4000, numbers = { 1 }, us = 10 },
    { grid = 8, block = 128, shared = 0, bytes = 12000, numbers = { 1 }, us = 30 },
    { grid = 8, block = 128, shared = 0, bytes = 4000, numbers = { 2 }, us = 50 },
    { grid = 8, block = 256, shared = 0, bytes = 4000, us = 70 },
}

open(two, { registers = 64, shared_bytes = 2048 })
do
    local k = kernel()
    T.is(k.registers, 64, "registers")
    T.is(k.shared_bytes, 2048, "shared memory")
    T.is(k:occupancy(1024), 1, "64 registers: a block of 1024 threads on an SM")
    T.near(launch_us(k, 1000, 1), 10, 1e-3, "a launch that was measured")
    T.near(launch_us(k, 1000, 2), 50, 1e-3, "the same with another number")
    T.near(launch_us(k, 1000, 3), 10, 1e-3,
           "with a number that was not measured: the first of its size")
    T.near(launch_us(k, 2000, 1), 20, 1e-3, "between two")
    T.near(launch_us(k, 6000, 1), 60, 1e-3, "beyond them")
    T.near(launch_us(k, 500, 1), 5, 1e-3, "below them, in proportion")
    T.near(launch_us(k, 10, 1), 5, 1e-3, "but at least half")
    T.near(launch_us(k, 1000, 1, 8, 256), 70, 1e-3, "another block")
    T.near(launch_us(k, 3000, 1, 8, 256), 210, 1e-3, "one alone, in proportion")
    T.is(select(2, launch_us(k, 2000, 1)), nil, "which is no guess")
    T.is(select(2, launch_us(k, 2000, 1, 8, 512)), true,
         "a block of which nothing was measured is one")
    T.near(launch_us(kernel{ cost = { us = 3 } }, 1000, 1), 3, 1e-3,
           "the time that the script says comes first")
    local moves = kernel{ cost = { bytes = 4e9, flops = 0 } }
    T.near(launch_us(moves, 1000, 1), 10, 1e-3, "but not what it says is moved")
    local us, guessed = launch_us(moves, 2000, 1, 8, 512)
    T.ok(us > 500 and not guessed, "which holds for a block of which nothing was measured")
    T.is(kernel{ name = "other" }.registers, nil, "another kernel is not known")
end

-- ---- registers that nobody has measured ---------------------------------------------------

do
    lab.open{ profile = "textbook" }
    local function per_sm(threads)
        return kernel{ source = "__global__ void k(float *p, int n) { float a[10][8]; }" }
            :occupancy(threads)
    end
    T.is(per_sm(256), 2, "32 and an array of 80: 2 x 256 x 112 of 65536")
    T.is(per_sm(1024), 1, "no more than leave room for a block")
    lab.open{ profile = { base = "textbook", registers_per_sm = 16384 } }
    T.is(per_sm(256), 1, "on a GPU with fewer as well")
end

-- ---- two of it at a time ------------------------------------------------------------------

-- How long two take at a time if a profile has measured it: of a kernel of 132 blocks, one for each
-- SM, which has a tensor of n elements.
local function two_at_a_time(n, two_us)
    open({ { grid = 132, block = 128, shared = 0, bytes = 4 * n, numbers = { 1 }, us = 100,
             two_us = two_us } })
    local k, x = kernel(), lab.ones(n)
    local streams = { lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true } }
    lab.synchronize()
    local tl = lab.profile(function()
        lab.spin(1, { stream = streams[1] })
        streams[2]:wait_event(streams[1]:record_event())
        for _, stream in ipairs(streams) do k(132, 128, { stream = stream }, x, 1) end
    end)
    local last, first = 0, math.huge
    for _, span in ipairs(tl:spans()) do
        if span.name == "k" then
            last, first = math.max(last, span.end_us), math.min(first, span.start_us)
        end
    end
    return last - first
end

do
    local large = 400000        -- of 4 bytes: 100 us of 16 GB/s, far less than the memory gives
    T.near(two_at_a_time(large, 200), 200, 5, "two that need all of their SMs' issue slots")
    T.near(two_at_a_time(large, 150), 150, 5, "three quarters of them")
    T.near(two_at_a_time(large, 100), 100, 5, "at most half")
    T.near(two_at_a_time(large), 100, 5, "if it is not known, they do not disturb each other")
    large = 60000000            -- 240 MB: 60 us and more at some TB/s
    T.near(two_at_a_time(large, 200), 200, 5, "two that need all of the memory's bandwidth")
    T.near(two_at_a_time(large, 150), 150, 5, "three quarters of it")
end

-- How long a kernel takes that comes to all of the 132 SMs beside k, which is of `grid` blocks with
-- so much shared memory, takes 100 us, and leaves room for it. Alone it takes 50 us.
local function beside(launches, grid, shared)
    open(launches)
    local k, x = kernel(), lab.ones(1000)
    local other = lab.kernel{ name = "other", args = {}, cpu = function() end, cost = { us = 50 } }
    local streams = { lab.stream{ non_blocking = true }, lab.stream{ non_blocking = true } }
    lab.synchronize()
    local tl = lab.profile(function()
        k(grid, 128, { stream = streams[1], shared = shared }, x, 1)
        other(132, 128, { stream = streams[2] })
    end)
    for _, span in ipairs(tl:spans()) do
        if span.name == "other" then return span.end_us - span.start_us end
    end
end

-- A launch of k that takes 100 us.
local function one(grid, shared, two_us)
    return { grid = grid, block = 128, shared = shared, bytes = 4000, numbers = { 1 }, us = 100,
             two_us = two_us }
end

do
    local all <const>, large <const> = 132, 100 * 1024      -- a block on each SM; two fit on one
    T.is(beside({ one(all, 0, 200) }, all, 0) > 100, true,
         "beside a kernel that takes all slots another one waits")
    T.near(beside({ one(all, 0, 101) }, all, 0), 50, 1e-3,
           "not beside one that leaves half of them")
    T.near(beside({ one(8, 0, 101) }, 8, 0), 50, 1e-3,
           "two of 8 blocks tell nothing: they were on different SMs")
    T.is(beside({ one(8, 0, 101), one(all, 0, 200) }, 8, 0) > 100, true,
         "those on all SMs tell what 8 blocks take")
    T.is(beside({ one(2 * all, large, 200) }, 2 * all, large) > 100, true,
         "two that do not fit together count if nothing else is known")
    T.near(beside({ one(2 * all, large, 200), one(all, large, 101) }, 2 * all, large), 50, 1e-3,
           "but not if others did fit")
end

-- ---- other data in the L2 ------------------------------------------------------------------

do
    open({ { grid = 8, block = 128, shared = 0, bytes = 4000, numbers = { 1 }, us = 10,
             cold_us = 15 } })
    local k = kernel()
    T.near(launch_us(k, 1000, 1), 10, 1e-3, "a tensor that was just written is in the L2")
    T.near(launch_us(k, 2000, 1), 20, 1e-3, "also a larger one")
    local x, other = lab.ones(1000), lab.ones(1 << 26)
    other:fill_(2)
    local tl = lab.profile(function() k(8, 128, x, 1) end)
    T.near(tl:spans()[1].end_us - tl:spans()[1].start_us, 15, 1e-3,
           "behind 256 MiB of another tensor it is not")
end

open(two)
local function refused(kernels, text, name)
    T.throws_like(function() lab.open{ profile = { base = "textbook", kernels = kernels } } end,
                  text, name)
end

refused(3, "'kernels' must be a table, got 3", "no table")
refused({ a = 3 }, 'kernel "a" must be a table, got 3', "a kernel that is none")
refused({ a = {} }, 'kernel "a" needs \'launches\'', "no launches")
refused({ { launches = {} } }, "kernel 1 must be named by its hash", "no hash")
refused({ a = { launches = { 3 } } }, "launch 1 must be a table", "a launch that is none")
refused({ a = { launches = { { grid = 1, block = 1, shared = 0, bytes = 0 } } } },
        "launch 1 needs 'us'", "no time")
refused({ a = { launches = { { grid = 1, block = 1, shared = 0, bytes = 0, us = -1 } } } },
        "launch 1 needs 'us'", "below 0")
refused({ a = { launches = { { grid = 1, block = 1, shared = 0, bytes = 0, us = 1,
                               two_us = "x" } } } },
        "launch 1 has 'two_us' = \"x\"", "two that take no number")
refused({ a = { launches = { { grid = 1, block = 1, shared = 0, bytes = 0, us = 1,
                               cold_us = -1 } } } },
        "launch 1 has 'cold_us' = %-1", "without the L2 less than nothing")
refused({ a = { registers = "x", launches = {} } }, "has 'registers' = \"x\"",
        "registers that are no number")

T.done()
