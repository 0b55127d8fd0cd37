-- 73-calibrate-copies.t.lua - streamlab calibrate finds in a simulated GPU what its profile says
-- of copies, of pageable memory, of allocating, and of what waits.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local shell = require "shell"
local sh, read = shell.sh, shell.read

local folder = shell.folder()

-- {a = {b = 1}} and {["a.b"] = 1} as {["a.b"] = 1}; lists stay.
local function flat(t, prefix, into)
    into, prefix = into or {}, prefix or ""
    for key, value in pairs(t) do
        if type(value) == "table" and #value == 0 then
            flat(value, prefix .. key .. ".", into)
        else
            into[prefix .. key] = value
        end
    end
    return into
end

local parts <const> = "copies,pageable,memory,implicit"

-- What a profile says, and what the calibration of a GPU that is like it finds.
local function calibrated(profile, path)
    local file = folder .. "/found.lua"
    local out, err, code = sh(('"$P" calibrate --backend sim --profile %s --only %s -o %s'):format(
        profile, parts, file))
    tap.is(out .. code, "0", profile .. " is calibrated")
    if code ~= 0 then
        tap.diag(err)
    end
    return flat(dofile(path)), flat(dofile(file))
end

local function off(found, said)
    return math.abs(found - said) / math.max(math.abs(said), 1e-9)
end

-- The table's y at x, as the simulator has it.
local function at(list, x)
    if x <= list[1][1] then
        return list[1][2]
    end
    for i = 2, #list do
        local before, after = list[i - 1], list[i]
        if x <= after[1] then
            return before[2] + (after[2] - before[2]) * (x - before[1]) / (after[1] - before[1])
        end
    end
    return list[#list][2]
end

local numbers <const> = {
    "h2d_gb_per_s", "d2h_gb_per_s", "copy_latency_us", "duplex_factor", "h2d_async_bytes",
    "stage_bytes", "stage_buffers", "host_gb_per_s",
}
local calls <const> = {
    "cudaMalloc", "cudaFree", "cudaMallocHost", "cudaFreeHost", "cudaHostRegister",
    "cudaHostUnregister", "cudaMallocAsync", "cudaFreeAsync", "cudaFuncSetCacheConfig",
    "cudaDeviceSetLimit", "cublasCreate", "cublasDestroy",
}

local function check_number(name, key, found, said)
    local near = found[key] and off(found[key], said[key]) < 0.05
    tap.ok(near, ("%s: %s within 5 %%"):format(name, key))
    if not near then
        tap.diag(("got %s, expected %s"):format(found[key], said[key]))
    end
end

local function check_staging(name, key, found, said)
    local worst = #found[key] == 10 and 0 or math.huge
    for _, pair in ipairs(found[key]) do
        worst = math.max(worst, off(pair[2], at(said[key], pair[1])))
    end
    tap.ok(worst < 0.08, ("%s: %s within 8 %% at each size"):format(name, key))
    if worst >= 0.08 then
        tap.diag(("off by %.1f %%"):format(100 * worst))
    end
end

local function check_calls(name, found, said)
    for _, call in ipairs(calls) do
        local key = "calls." .. call
        local us, per_mib = said[key .. ".us"], said[key .. ".us_per_mib"] or 0
        local got = found[key .. ".us"] + 256 * (found[key .. ".us_per_mib"] or 0)
        tap.ok(off(found[key .. ".us"], us) < 0.05 and off(got, us + 256 * per_mib) < 0.05,
            ("%s: what %s costs within 5 %%"):format(name, call))
        tap.is(found[key .. ".waits"], said[key .. ".waits"],
            ("%s: what %s waits for"):format(name, call))
    end
end

local function check(name, profile, path)
    local said, found = calibrated(profile, path)
    for _, key in ipairs(numbers) do
        check_number(name, key, found, said)
    end
    check_staging(name, "h2d_staging_gb_per_s", found, said)
    check_staging(name, "d2h_staging_gb_per_s", found, said)
    check_calls(name, found, said)
    return found
end

for _, name in ipairs { "h200", "t4" } do
    check(name, name, "scripts/profiles/" .. name .. ".lua")
end

-- ---- a profile unlike any GPU ------------------------------------------------------------

local text = read("scripts/profiles/h200.lua")

-- `from` is what comes before the value.
local function edit(from, value)
    local _, at_end = text:find(from, 1, true)
    local _, to = text:find("[^,}\n]+", at_end + 1)
    text = text:sub(1, at_end) .. value .. text:sub(to + 1)
end
edit("    h2d_gb_per_s = ", "9.5")
edit("    d2h_gb_per_s = ", "31")
edit("duplex_factor = ", "0.55")
edit("copy_latency_us = ", "4.4")
edit("stage_bytes = ", "300000")
edit("stage_buffers = ", "6")
edit("h2d_async_bytes = ", "700001")
edit("host_gb_per_s = ", "3.3")
edit("submit_us = ", "7")
edit("memcpy_async_us = ", "3")
edit("cudaMalloc = {us = 40, us_per_mib = 0.3, waits = ", '"stream", serialises = "blocking"')
edit("cudaFree = {us = 40, us_per_mib = 0, waits = ", "false")
edit("cudaHostRegister = {us = 60, us_per_mib = 34.1, waits = ", "true, from_bytes = 4000000")
local path = shell.write(folder .. "/odd.lua", text)

local found = check("an odd profile", path, path)
tap.is(found.h2d_async_bytes, 700001, "the largest copy that returns early is found to the byte")
tap.is(found["calls.cudaHostRegister.from_bytes"], 4194304,
    "from which of the probed sizes on a call waits")

shell.remove(folder)
tap.done()
