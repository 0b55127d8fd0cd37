-- What a kernel takes alone: the tables of the profiles come back out of the model,
-- whatever tiles and waves lie between.

local T = require "tap"
local ideal = require "lua.ideal"

local names = { float32 = {}, tf32 = { tf32 = true }, bfloat16 = {} }

-- The time from one product's start to the next one's, back to back, as the tables are.
local function back_to_back_us(mode, n)
    local dtype = mode == "bfloat16" and "bfloat16" or "float32"
    local a, c = lab.empty(n, n, { dtype = dtype }), lab.empty(n, n, { dtype = dtype })
    lab.synchronize()
    local tl = lab.profile(function()
        lab.spin(10)
        for _ = 1, 3 do lab.matmul(a, a, { out = c, tf32 = names[mode].tf32 }) end
    end)
    local spans = tl:spans()
    return spans[4].start_us - spans[3].start_us
end

-- What the data sheets say of the GPUs that have a base: SMs, compute capability, GiB, MiB of L2,
-- GB/s of memory, TFLOP/s in float32 and with tensor cores in bfloat16, without sparsity.
for profile, sheet in pairs{
    h100 = { 132, "9.0", 80, 50, 3350, 66.9, 989.4 },
    b200 = { 148, "10.0", 180, 126, 8000, 75, 2250 },
    l4 = { 58, "8.9", 24, 48, 300, 30.3, 121 }, a10 = { 72, "8.6", 24, 6, 600, 31.2, 125 },
    rtx4090 = { 128, "8.9", 24, 72, 1008, 82.6, 165.2 },
} do
    local device = lab.open{ backend = "sim", profile = profile }
    T.is(device.sm_count, sheet[1], profile .. ": SMs")
    T.is(device.compute_capability, sheet[2], profile .. ": compute capability")
    T.is(device.memory_bytes, sheet[3] << 30, profile .. ": memory")
    local x = lab.empty(16384, 16384)
    local function rate(amount, f)
        lab.synchronize()
        local span = lab.profile(f):spans()[1]
        return amount / (span.end_us - span.start_us)
    end
    local gb_per_s = rate(2 * x:nbytes() / 1000, function() x:pow(2, { out = x }) end)
    T.ok(gb_per_s > 0.8 * sheet[5] and gb_per_s < sheet[5],
         ("%s: a kernel moves %.0f of %d GB/s"):format(profile, gb_per_s, sheet[5]))
    local y, z = lab.empty(8192, 8192), lab.empty(8192, 8192)
    local tflops = rate(2 * 8192^3 / 1e6, function() lab.matmul(y, y, { out = z }) end)
    T.ok(tflops > 0.4 * sheet[6] and tflops < sheet[6],
         ("%s: a product reaches %.1f of %.1f TFLOP/s"):format(profile, tflops, sheet[6]))
    y, z = lab.empty(8192, 8192, { dtype = "bfloat16" }),
        lab.empty(8192, 8192, { dtype = "bfloat16" })
    tflops = rate(2 * 8192^3 / 1e6, function() lab.matmul(y, y, { out = z }) end)
    T.ok(tflops > 0.4 * sheet[7] and tflops < sheet[7],
         ("%s: one in bfloat16 reaches %.0f of %.0f TFLOP/s"):format(profile, tflops, sheet[7]))
end

for _, profile in ipairs{ "textbook", "a100", "v100", "t4", "rtx4060_laptop" } do
    local keys = dofile("scripts/profiles/" .. profile .. ".lua")
    lab.open{ backend = "sim", profile = profile }
    for mode, rows in pairs(keys.gemm_us or {}) do
        local worst, at = 0, 0
        for _, row in ipairs(rows) do
            local off = math.abs(back_to_back_us(mode, row[1]) / row[2] - 1)
            if off > worst then worst, at = off, row[1] end
        end
        T.near(worst, 0, 1e-3,
               ("%s: every %s product of the table takes its time (worst at n = %d)")
               :format(profile, mode, at))
    end
end

-- 1 GiB read and 1 GiB written at 4250 GB/s: far beyond the L2 cache.
lab.open{ backend = "sim", profile = "textbook", overrides = { kernel_fixed_us = 0 } }
local big = lab.empty(16384, 16384)
local function kernel_us(f)
    local span = lab.profile(f):spans()[1]
    return span.end_us - span.start_us
end
T.near(kernel_us(function() big:pow(2, { out = big }) end), 2 * 2^30 / 4250e3, 0.01,
       "an elementwise kernel moves its bytes at the memory's speed")
-- 2^28 elements at 200 instruction slots each, of 66.9e12 a second.
T.near(kernel_us(function() big:pow(2.5, { out = big }) end), 2^28 * 200 / 66.9e6, 0.01,
       "a general exponent is bound by arithmetic")

-- Without a table: 4096^3 x 2 flop at 66.9 x 0.5 TFLOP/s; 512 tiles of 256 x 128 on 128
-- SMs are exactly four waves.
ideal.open{ sm_count = 128, ["gemm_efficiency.float32"] = 0.5, ["gemm_us.float32"] = {},
            fp32_tflops = 66.9, l2_bytes = 0 }
T.near(kernel_us(function() lab.matmul(lab.empty(4096, 4096), lab.empty(4096, 4096)) end),
       2 * 4096^3 / (66.9e6 * 0.5), 0.5, "a product without a table runs at peak x efficiency")
big = nil

-- The simulator remembers fewer kernels than these. An add of n KiB moves 3 n KiB.
do
    local function add_us(kib)
        local a = lab.empty(256 * kib)
        lab.synchronize()
        return kernel_us(function() lab.add(a, a, { out = a }) end)
    end
    local once, wrong = {}, {}
    for kib = 4000, 4399 do once[kib] = add_us(kib) end
    for kib = 4399, 4000, -1 do
        local ns = (add_us(kib) - once[kib]) * 1e3 -- its ends are whole ones
        if math.abs(ns) > 1.5 then table.insert(wrong, kib) end
    end
    T.is(table.concat(wrong, " "), "", "each of 400 kernels takes as long the second time")
    T.near(once[4399] / once[4000], 4399 / 4000, 1e-3, "in proportion to its bytes")
end

-- float64: twice the bytes; products at the rate of its compute capability, 1/64 on most GPUs.
local function dtype_us(dtype, f)
    local a, b = lab.empty(4096, 4096, { dtype = dtype }), lab.empty(4096, 4096, { dtype = dtype })
    lab.synchronize()
    return kernel_us(function() f(a, b) end)
end
local function add(a, b) lab.add(a, b, { out = b }) end
local function product(a, b) lab.matmul(a, a, { out = b }) end
ideal.open{ sm_count = 128, fp32_tflops = 66.9, l2_bytes = 0 }
T.near(dtype_us("float64", add), 2 * dtype_us("float32", add), 1,
       "adding float64 takes twice as long as float32")
local c = lab.empty(4096, 4096)
local wide = lab.empty(4096, 4096, { dtype = "float64" })
lab.synchronize()
T.near(kernel_us(function() wide:float{ out = c } end), dtype_us("float32", add), 1,
       "a cast of float64 to float32 moves 12 bytes an element, as adding float32 does")
c, wide = nil, nil
T.near(dtype_us("int32", add), dtype_us("float32", add), 1, "and int32 as long")
local float32_us = dtype_us("float32", product)
for _, case in ipairs{ { 9, 0, 1 }, { 7, 0, 2 }, { 7, 5, 32 }, { 8, 9, 64 } } do
    ideal.open{ sm_count = 128, fp32_tflops = 66.9, l2_bytes = 0,
                compute_capability = { case[1], case[2] } }
    T.near(dtype_us("float64", product) / float32_us, case[3], 0.02 * case[3],
           ("compute capability %d.%d multiplies float64 in %d times the time")
           :format(case[1], case[2], case[3]))
end
ideal.open{ sm_count = 128, fp32_tflops = 66.9, fp64_tflops = 6.69, l2_bytes = 0 }
T.near(dtype_us("float64", product) / float32_us, 10, 0.2, "or what the profile says")
T.done()
