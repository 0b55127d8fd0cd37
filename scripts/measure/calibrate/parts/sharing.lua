-- sharing.lua - how much kernels gain, or lose, by running together. Findings only: the simulator
-- derives this from each kernel's demands.

local durations = import "scripts/measure/calibrate/durations.lua"

local part = { name = "sharing", title = "kernels that share the chip" }

local repetitions <const> = 5
local mib <const> = 1048576

-- ---- jobs -----------------------------------------------------------------------------------

-- A job is run(options), which enqueues one kernel; `own` collects its tensors, to be freed.
local function keep(own, tensor)
    own[#own + 1] = tensor
    return tensor
end

local function pow_job(c, own, bytes, exponent)
    local a = keep(own, c.lab.rand(bytes // 4))
    local b = keep(own, c.lab.empty(bytes // 4))
    return function(options)
        options.out = b
        c.lab.pow(a, exponent or 2, options)
    end
end

local function product_job(c, own, n, tf32)
    local a, b = keep(own, c.lab.rand(n, n)), keep(own, c.lab.rand(n, n))
    local out = keep(own, c.lab.empty(n, n))
    return function(options)
        options.out, options.tf32 = out, tf32
        c.lab.matmul(a, b, options)
    end
end

local function spin_job(c, ms, blocks, threads)
    return function(options)
        c.lab.spin(ms, { blocks = blocks, threads = threads, stream = options.stream })
    end
end

-- The same several times over, in the job's stream.
local function times(n, job)
    return function(options)
        for _ = 1, n do
            job(options)
        end
    end
end

local function free(own)
    for _, tensor in ipairs(own) do
        tensor:free()
    end
end

-- ---- gains ----------------------------------------------------------------------------------

local function find_gain(c, what, jobs)
    local gain, alone_us, together_us, span = durations.gain(c, repetitions, jobs)
    c:find("sharing", ("%s: gain %.3f (%.2f us one by one, %.2f us together; %d blocks of %d "
           .. "threads)"):format(what, gain, alone_us, together_us, span.blocks, span.threads))
    return alone_us, together_us, span.blocks
end

local function find_memory(c)
    local own = {}
    local one, other = pow_job(c, own, 64 * mib), pow_job(c, own, 64 * mib)
    find_gain(c, "two pow(a, 2) of 64 MiB", { one, other })
    find_gain(c, "two pow(a, 2.5) of 64 MiB",
              { pow_job(c, own, 64 * mib, 2.5), pow_job(c, own, 64 * mib, 2.5) })
    find_gain(c, "pow(a, 2) and pow(a, 2.5) of 64 MiB", { one, pow_job(c, own, 64 * mib, 2.5) })
    find_gain(c, "ten pow(a, 2) of 64 MiB beside a spin of 0.5 ms, one block of 1024 threads an SM",
              { times(10, one), spin_job(c, 0.5, c.device.sm_count, 1024) })
    free(own)
end

-- The part of an SM's issue slots that a block asks for, from how much longer `streams` equal
-- products take together than one: the simulator slows blocks by the sum of these parts on their
-- SM. Nothing if they do not slow each other at all, or as if they came one by one.
local function issue_share(c, streams, alone_us, together_us, blocks)
    local fixed_us = c.values.gemm_fixed_us or 0
    local slower = (together_us - fixed_us) / (alone_us / streams - fixed_us)
    local blocks_per_sm = math.ceil(blocks / c.device.sm_count)
    if blocks > 0 and slower > 1.02 and slower < streams - 0.02 then
        return slower / (streams * blocks_per_sm)
    end
end

local function find_issue_share(c, what, share)
    if share then
        c:find("sharing", ("%s: each block asks for %.2f of an SM"):format(what, share))
    end
end

local function find_products(c, n, streams, tf32)
    local own, single, rows = {}, {}, {}
    for i = 1, streams do
        single[i] = product_job(c, own, n, tf32)
        rows[i] = times(20, single[i])
    end
    local mode = tf32 and "tf32" or "float32"
    local what = ("%d %s products of %d"):format(streams, mode, n)
    find_issue_share(c, what, issue_share(c, streams, find_gain(c, what, single)))
    find_gain(c, ("%d rows of 20 %s products of %d"):format(streams, mode, n), rows)
    free(own)
end

local function find_product_beside_pow(c)
    local own = {}
    local tf32, float32 = product_job(c, own, 4096, true), product_job(c, own, 2048)
    local pow = times(8, pow_job(c, own, 64 * mib))
    find_gain(c, "a tf32 product of 4096 and eight pow(a, 2) of 64 MiB", { tf32, pow })
    find_gain(c, "a float32 product of 2048 and eight pow(a, 2) of 64 MiB", { float32, pow })
    free(own)
end

-- ---- who comes first ------------------------------------------------------------------------

local function find_begin(c, what, job)
    local at, _, long = durations.beside(c, job, function(options)
        c.lab.spin(0.01, { stream = options.stream })
    end)
    c:find("sharing", ("one block beside %s: begins after %.0f %% of its %.0f us, %d blocks")
           :format(what, 100 * at, long.end_us - long.start_us, long.blocks))
end

-- Beside grids of many blocks that wait for room, and beside one that leaves room.
local function find_begins(c)
    local own, sms = {}, c.device.sm_count
    find_begin(c, "a spin of eight blocks of 1024 threads an SM",
               spin_job(c, 0.2, 8 * sms, 1024))
    find_begin(c, "a spin of 64 blocks of 32 threads an SM", spin_job(c, 0.2, 64 * sms, 32))
    find_begin(c, "a spin of one block of 1024 threads an SM", spin_job(c, 0.2, sms, 1024))
    find_begin(c, "pow(a, 2.5) of 256 MiB", pow_job(c, own, 256 * mib, 2.5))
    find_begin(c, "a float32 product of 4096", product_job(c, own, 4096))
    find_begin(c, "a tf32 product of 4096", product_job(c, own, 4096, true))
    free(own)
end

function part.run(c)
    c.progress("kernels bound by memory")
    find_memory(c)
    c.progress("products")
    for _, n in ipairs { 256, 512, 1024 } do
        find_products(c, n, 2)
        find_products(c, n, 3)
    end
    for _, n in ipairs { 512, 1024, 2048 } do
        find_products(c, n, 2, true)
    end
    find_product_beside_pow(c)
    c.progress("a small kernel beside a large one")
    find_begins(c)
    durations.close(c)
end

return part
