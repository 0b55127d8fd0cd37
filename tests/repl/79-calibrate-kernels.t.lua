-- 79-calibrate-kernels.t.lua - streamlab calibrate on simulated GPUs: what it says of products,
-- of other kernels and of how they share the chip is what the profile says.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"

local folder = shell.folder()

-- The profile that comes out, and its text.
local function calibrate(profile)
    local path = folder .. "/" .. profile .. ".lua"
    local _, err, code = shell.sh('"$P" calibrate --backend sim --profile ' .. profile
                                  .. " --only gemm,kernels,sharing -o " .. path)
    tap.is(code, 0, profile .. ": it runs")
    if code ~= 0 then
        tap.diag(err)
        tap.done()
        os.exit(1)
    end
    return dofile(path), shell.read(path)
end

local function near(got, wanted, tolerance, name)
    local good = type(got) == "number" and math.abs(got / wanted - 1) <= tolerance
    if not tap.ok(good, ("%s: within %g %%"):format(name, 100 * tolerance)) then
        tap.diag(("got %s, wanted %s"):format(tostring(got), wanted))
    end
end

-- A key's value, of a profile as it is written by hand or as it comes out.
local function value(profile, key)
    if profile[key] ~= nil then
        return profile[key]
    end
    local at = profile
    for word in key:gmatch("[^.]+") do
        at = type(at) == "table" and at[word] or nil
    end
    return at
end

local function at(rows, x)
    for _, row in ipairs(rows or {}) do
        if row[1] == x then
            return row[2]
        end
    end
end

-- What every profile gives again, whatever its numbers are.
local function check_memory(found, profile, name)
    for _, key in ipairs { "hbm_gb_per_s", "l2_gb_per_s", "l2_bytes", "d2d_gb_per_s",
                           "memset_gb_per_s", "kernel_fixed_us", "d2d_fixed_us" } do
        near(value(found, key), profile[key], 0.05, name .. ": " .. key)
    end
    tap.is(value(found, "d2d_engine"), profile.d2d_engine, name .. ": d2d_engine")
    local rows = value(found, "memory_gb_per_s")
    near(rows[#rows][2], profile.hbm_gb_per_s, 0.05, name .. ": the largest size's speed")
    near(at(rows, 2097152), profile.l2_gb_per_s, 0.05, name .. ": the speed in the cache")
end

-- ---- an H200 ----------------------------------------------------------------------------------

local h200 = dofile("scripts/profiles/h200.lua")
local found, text = calibrate "h200"
for _, mode in ipairs { "float32", "tf32", "bfloat16" } do
    local rows = value(found, "gemm_us." .. mode)
    local checked = 0
    for _, row in ipairs(h200.gemm_us[mode]) do
        local us = at(rows, row[1])
        if us then
            near(us, row[2], 0.03, ("gemm_us.%s at %d"):format(mode, row[1]))
            checked = checked + 1
        end
    end
    tap.ok(checked >= 5, mode .. ": most of the table's sizes were measured")
    tap.is(#value(found, "gemm_blocks." .. mode), #rows, mode .. ": each size has its grid")
end
near(value(found, "gemm_fixed_us"), h200.gemm_fixed_us, 0.05, "gemm_fixed_us")
tap.is(value(found, "gemm_persistent"), true, "blocks of a tf32 product stay")
tap.is(at(value(found, "gemm_blocks.tf32"), 4096), 132, "one on each SM")
tap.is(at(value(found, "gemm_threads.tf32"), 4096), 384, "with 384 threads")
check_memory(found, h200, "h200")

-- FP32 peak over the slots that an element takes: core/sim/costs.c.
for sort, slots in pairs { powf = 200, rand = 117, randn = 164 } do
    local wanted = value(h200, "gelements_per_s." .. sort) or h200.fp32_tflops * 1e3 / slots
    near(value(found, "gelements_per_s." .. sort), wanted, 0.05, sort)
end
tap.is(value(found, "gelements_per_s.softmax"), nil, "nothing of a kernel that memory holds up")
tap.is(value(found, "gelements_per_s.plain"), nil, "nor of pow(a, 2)")

local gain = tonumber(text:match("2 float32 products of 1024: gain ([%d.]+)"))
near(gain, 1.13, 0.05, "two float32 products of 1024 gain little")
near(tonumber(text:match("2 float32 products of 1024: each block asks for ([%d.]+)")), 0.89, 0.01,
     "as their tiles ask for 0.89 of an SM each")
near(tonumber(text:match("3 float32 products of 512: each block asks for ([%d.]+)")), 0.25, 0.01,
     "and those of 512 for a quarter")
near(tonumber(text:match("2 float32 products of 256: gain ([%d.]+)")), 2, 0.01,
     "two of 256 run beside each other")
near(tonumber(text:match("two pow%(a, 2%) of 64 MiB: gain ([%d.]+)")), 1, 0.05,
     "two kernels share the memory's speed")

-- A kernel of one block, and how much of the other had run when it began.
local function begins(what)
    return tonumber(text:match("one block beside " .. what .. ": begins after (%d+) %%"))
end
tap.ok(begins "a spin of one block of 1024 threads an SM" < 20, "one block finds room at once")
tap.ok(begins "a spin of eight blocks of 1024 threads an SM" > 95,
       "not before blocks of another kernel that wait for room")
tap.ok(text:find("a block of 1024 threads and 0 B of shared memory begins beside a tf32 "
                 .. "product of 4096 after 9%d %%"), "1024 threads find none beside a tf32 product")

-- ---- a GPU with other answers -----------------------------------------------------------------

local v100 = dofile("scripts/profiles/v100.lua")
found = calibrate "v100"
check_memory(found, v100, "v100")
near(value(found, "gemm_fixed_us"), v100.gemm_fixed_us, 0.05, "v100: gemm_fixed_us")
tap.is(value(found, "gemm_persistent"), false, "v100: blocks come and go")

shell.remove(folder)
tap.done()
