-- sharing.lua - what kernels gain, or lose, beside others. Findings: the simulator derives it
-- from what each kernel asks for.

local durations = import "repl/calibrate/durations.lua"

local part = { name = "sharing", title = "kernels that share the chip" }

local repetitions <const> = 7
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
    local gain, alone_us, together_us = durations.gain(c, repetitions, jobs)
    c:find("sharing", ("%s: gain %.3f (%.2f us one by one, %.2f us together)")
           :format(what, gain, alone_us, together_us))
    return gain
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

local function find_products(c, n, streams, tf32)
    local own, single, rows = {}, {}, {}
    for i = 1, streams do
        single[i] = product_job(c, own, n, tf32)
        rows[i] = times(20, single[i])
    end
    local mode = tf32 and "tf32" or "float32"
    find_gain(c, ("%d %s products of %d"):format(streams, mode, n), single)
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
end

return part
