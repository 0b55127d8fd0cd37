-- 22-kernels.t.lua - streamlab calibrate on simulated GPUs: what it says of products,
-- and of other kernels is what the profile says.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local measured = require "measure.measured"
local shell = require "shell"

local folder = shell.folder()

-- The profile that comes out, its text, and its path.
local function calibrate(profile, parts)
    local path = ("%s/%s-again.lua"):format(folder, profile:match("([^/]+)%.lua$") or profile)
    local _, err, code = shell.sh('"$P" calibrate --backend sim --profile ' .. profile
                                  .. " --only " .. parts .. " -o " .. path)
    tap.is(code, 0, profile .. ": it runs")
    if code ~= 0 then
        tap.diag(err)
        tap.done()
        os.exit(1)
    end
    return dofile(path), shell.read(path), path
end

local near <const>, value <const> = measured.near, measured.value

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
    local elements = 8192 * 8192
    for kind, moves in pairs { add = 3, pow = 2, softmax = 2, sum = 1, fill = 1 } do
        near(at(value(found, "kernel_us." .. kind), elements),
             elements * 4 * moves / (profile.hbm_gb_per_s * 1e3), 0.02, name .. ": " .. kind)
    end
    near(at(value(found, "kernel_us.memset"), 4 * elements),
         4 * elements / (profile.memset_gb_per_s * 1e3), 0.02, name .. ": memset")
    near(at(value(found, "kernel_us.d2d"), 4 * elements),
         4 * elements / (profile.d2d_gb_per_s * 1e3), 0.02, name .. ": d2d")
    tap.is(value(found, "spin_fixed_us"), profile.spin_fixed_us or 0, name .. ": spin_fixed_us")
end

-- ---- an H200 ----------------------------------------------------------------------------------

local textbook = dofile("scripts/profiles/textbook.lua")
local found, text, path = calibrate("textbook", "gemm,kernels")
for _, mode in ipairs { "float32", "tf32", "bfloat16" } do
    local rows = value(found, "gemm_us." .. mode)
    local checked = 0
    for _, row in ipairs(textbook.gemm_us[mode]) do
        local us = at(rows, row[1])
        if us then
            near(us, row[2], 0.03, ("gemm_us.%s at %d"):format(mode, row[1]))
            checked = checked + 1
        end
    end
    tap.ok(checked >= 5, mode .. ": most of the table's sizes were measured")
    tap.is(#value(found, "gemm_blocks." .. mode), #rows, mode .. ": each size has its grid")
end
near(value(found, "gemm_fixed_us"), textbook.gemm_fixed_us, 0.05, "gemm_fixed_us")
tap.is(value(found, "gemm_persistent"), true, "blocks of a tf32 product stay")
tap.is(at(value(found, "gemm_blocks.tf32"), 4096), 132, "one on each SM")
tap.is(at(value(found, "gemm_threads.tf32"), 4096), 384, "with 384 threads")
check_memory(found, textbook, "textbook")

-- FP32 peak over the slots that an element takes: core/sim/costs.c.
for kind, slots in pairs { powf = 200, rand = 117, randn = 164 } do
    near(at(value(found, "kernel_us." .. kind), 8192 * 8192),
         8192 * 8192 * slots / (textbook.fp32_tflops * 1e6), 0.02, kind)
end
-- What the tiles ask for: two blocks of a quarter each, one of 0.89.
for n, share in pairs { [512] = 0.5, [1024] = 0.89, [2048] = 1 } do
    near(at(value(found, "gemm_share.float32"), n), share, 0.01, "gemm_share.float32 at " .. n)
end
for _, row in ipairs(value(found, "gemm_grid_us.float32")) do
    local us = row[1] == row[2] and at(value(found, "gemm_us.float32"), row[1])
    if us then
        near(row[3], us - textbook.stream_gap_us, 0.001, "the grid's diagonal at " .. row[1])
    end
end

-- ---- a GPU that is known by its tables --------------------------------------------------------

-- The rows of a table that are the same in another, and how many there are: the last number of
-- each row follows from those before it.
local function same_rows(rows, others, wanted)
    local told, same, all = {}, 0, 0
    for _, row in ipairs(others) do
        told[table.concat(row, " ", 1, #row - 1)] = row[#row]
    end
    for _, row in ipairs(rows) do
        local other = told[table.concat(row, " ", 1, #row - 1)]
        if wanted(row) then
            local apart = other and math.abs(other - row[#row]) / row[#row] or math.huge
            same, all = same + (apart <= 0.02 and 1 or 0), all + 1
            if apart > 0.02 then
                tap.diag(("%s: %s"):format(table.concat(row, " "), tostring(other)))
            end
        end
    end
    return same, all
end

-- With figures that no model of the simulator's would give.
local changed = 0
local function change(from, to)
    local count
    text, count = text:gsub(from, to, 1)
    changed = changed + count
end
change("{ 512,%s+0.5 }", "{ 512, 0.37 }")
change("{ 1024,%s+0.89 }", "{ 1024, 0.6 }")
change("spin_fixed_us = 0,", "spin_fixed_us = 0.65,")
change("tf32 = { { 128, 1 }, { 256, 1 },", "tf32 = { { 128, 0.87 }, { 256, 1.6 },")
tap.is(changed, 4, "two shares, a spin's time and what two calls cost are others now")
shell.write(path, text)
found = dofile(path)
local again = calibrate(path, "gemm,kernels")
near(at(value(again, "gemm_share.float32"), 512), 0.37, 0.01, "the changed share of 512")
near(at(value(again, "gemm_share.float32"), 1024), 0.6, 0.01, "and of 1024")
near(value(again, "spin_fixed_us"), 0.65, 0.01, "and the spin's time")
near(at(value(again, "gemm_host.tf32"), 128), 0.87, 0.01, "the call of a tf32 product of 128")
near(at(value(again, "gemm_host.tf32"), 256), 1.6, 0.01, "and of 256")
near(at(value(again, "gemm_host.float32"), 256), 1, 0.01, "and not that of a float32 product")

local function check_same(key, least, wanted)
    local same, all = same_rows(value(found, key), value(again, key),
                                wanted or function() return true end)
    tap.ok(all >= least, ("%s: %d rows or more"):format(key, least))
    tap.is(same, all, key .. ": within 2 % when it is measured again")
end

-- Those of the grid; between them it interpolates.
local known = {}
for _, n in ipairs { 64, 128, 256, 512, 1024, 1536, 2048, 3072, 4096, 8192, 12288 } do
    known[n] = true
end
for _, mode in ipairs { "float32", "tf32", "bfloat16" } do
    check_same("gemm_grid_us." .. mode, 165)
    check_same("gemm_us." .. mode, 11, function(row) return known[row[1]] end)
    for _, key in ipairs { "blocks", "threads", "registers", "share" } do
        check_same(("gemm_%s.%s"):format(key, mode), 17)
    end
end
for _, kind in ipairs { "add", "pow", "powf", "softmax", "sum", "fill", "rand", "randn", "memset",
                        "d2d" } do
    check_same("kernel_us." .. kind, 13)
end

-- ---- in passes --------------------------------------------------------------------------------

-- The last one has no products of 12288.
again, text = calibrate(path, "gemm --passes 3")
check_same("gemm_grid_us.bfloat16", 165)
tap.is(#value(again, "gemm_us.float32"), #value(found, "gemm_us.float32"),
       "what not all passes measure stays in the tables")
tap.ok(text:find("TFLOP/s at n = 8192, of tf32_tflops; spread of\n +%-%- +3 passes 0%.0 %%\n"),
       "the efficiency is that of the same product in all")

-- ---- how an SM's memory is split --------------------------------------------------------------

text = shell.read("scripts/profiles/textbook.lua"):gsub("\n}%s*$", [[

    shared_reserved_bytes = 1024,
    shared_splits = {{1, 32768}, {2, 65536}, {3, 102400}, {4, 167936}, {5, 233472}},
    gemm_kernels = {float32 = {{64, 64, 1}, {64, 128, 1}, {128, 64, 1}, {128, 128, 1}}},
}
]])
local split, file
split, file, path = calibrate(shell.write(folder .. "/split.lua", text), "device,queue,split")
local rows = {}
for i, row in ipairs(value(split, "shared_splits")) do
    rows[i] = table.concat(row, " ")
end
tap.is(table.concat(rows, ", "), "1 32768, 2 65536, 3 102400, 4 167936, 5 233472",
       "the splits are found again")
tap.like(file, "%-%- The chip%.\n.*\n    shared_reserved_bytes = 1024, .*\n    shared_splits = {"
         .. ".*%-%- Arithmetic%.\n.*%-%- Products of matrices%.\n.*\n    gemm_kernels = {.*"
         .. "%-%- Other kernels%.\n", "each figure stands with those of its kind")
local _, err, code = shell.sh(('"$P" calibrate --backend sim --profile t4 --base %s --quiet '
    .. "--only device,queue,split -o %s/none.lua"):format(path, folder))
tap.is(err .. code, "0", "a GPU whose SMs are not split is measured")
tap.is(dofile(folder .. "/none.lua").shared_splits, nil, "and has none of its base's splits")

-- ---- a GPU with other answers -----------------------------------------------------------------

local v100 = shell.profile("v100")
found = calibrate("v100", "gemm,kernels")
check_memory(found, v100, "v100")
near(value(found, "gemm_fixed_us"), v100.gemm_fixed_us, 0.05, "v100: gemm_fixed_us")
tap.is(value(found, "gemm_persistent"), false, "v100: blocks come and go")

shell.remove(folder)
tap.done()
