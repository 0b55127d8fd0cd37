-- 22-copies.t.lua - streamlab calibrate finds in a simulated GPU what its profile says
-- of copies, of pageable memory, of allocating, and of what waits.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local measured = require "measure.measured"
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

-- What a profile says, and what the calibration of a GPU that is like it finds; with those
-- parts, or all that are tested here.
local function calibrated(profile, path, only)
    local file = folder .. "/found.lua"
    local out, err, code = sh(('"$P" calibrate --backend sim --profile %s --only %s -o %s'):format(
        profile, only or parts, file))
    tap.is(out .. code, "0", profile .. " is calibrated")
    if code ~= 0 then
        tap.diag(err)
    end
    return flat(shell.profile(path)), flat(dofile(file))
end

local function off(found, said)
    return math.abs(found - said) / math.max(math.abs(said), 1e-9)
end

local numbers <const> = {
    "h2d_gb_per_s", "d2h_gb_per_s", "copy_latency_us", "duplex_factor", "h2d_async_bytes",
    "stage_bytes", "stage_buffers", "host_gb_per_s", "copy_connections",
}
local calls <const> = {
    "cudaMalloc", "cudaFree", "cudaMallocHost", "cudaFreeHost", "cudaHostRegister",
    "cudaHostUnregister", "cudaMallocAsync", "cudaFreeAsync", "cudaFuncSetCacheConfig",
    "cudaDeviceSetLimit", "cublasCreate", "cublasDestroy",
}

-- A table of n sizes, of which those from `least` to `most` bytes are to be near what the profile
-- says in its table of that name.
local function check_table(name, key, found, said, n, least, most)
    local worst = found[key] and #found[key] == n and 0 or math.huge
    for _, pair in ipairs(found[key] or {}) do
        if pair[1] >= (least or 0) and pair[1] <= (most or math.huge) then
            worst = math.max(worst, off(pair[2], measured.at(said[key], pair[1])))
        end
    end
    tap.ok(worst < 0.08, ("%s: %s within 8 %% at each size"):format(name, key))
    if worst >= 0.08 then
        tap.diag(("off by %.1f %%"):format(100 * worst))
    end
end

-- A copy alone takes the latency and its bytes' time.
local function check_durations(name, direction, found, said)
    local key = "copy_us." .. direction
    local list = {}
    for i, pair in ipairs(found[key]) do
        list[i] = { pair[1], said.copy_latency_us
            + pair[1] / said[direction .. "_gb_per_s"] * 1e-3 }
    end
    check_table(name, key, found, { [key] = list }, 11)
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
        measured.near(found[key], said[key], 0.05, name .. ": " .. key)
    end
    check_durations(name, "h2d", found, said)
    check_durations(name, "d2h", found, said)
    check_table(name, "h2d_staging_gb_per_s", found, said, 10)
    check_table(name, "d2h_staging_gb_per_s", found, said, 10)
    check_calls(name, found, said)
    return found
end

for _, name in ipairs { "textbook", "t4" } do
    local found = check(name, name, "scripts/profiles/" .. name .. ".lua")
    tap.is(found.host_cache_bytes or found.h2d_staging_cold_gb_per_s
        or found.d2h_staging_cold_gb_per_s, nil,
        name .. ": no value for caches that make no difference")
end

-- ---- a profile unlike any GPU ------------------------------------------------------------

local text = read("scripts/profiles/textbook.lua")

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
edit("cudaMalloc = { us = 40, us_per_mib = 0.3, waits = ", '"stream", serialises = "blocking"')
edit("cudaFree = { us = 40, us_per_mib = 0, waits = ", "false")
edit("cudaHostRegister = { us = 60, us_per_mib = 34.1, waits = ", "true, from_bytes = 4000000")
local path = shell.write(folder .. "/odd.lua", text)

local found = check("an odd profile", path, path)
tap.is(found.h2d_async_bytes, 700001, "the largest copy that returns early is found to the byte")
tap.is(found["calls.cudaHostRegister.from_bytes"], 4194304,
    "from which of the probed sizes on a call waits")

-- ---- tables, channels and caches ---------------------------------------------------------

text = read("scripts/profiles/textbook.lua")
edit("    copy_connections = ", "4")
text = text:gsub("\n}%s*$", [[

    copy_gap_us = 1.4,
    engine_turn_us = 1.9,
    host_cache_bytes = 100e6,
    copy_us = {
        h2d = {{256, 0.8}, {1024, 1}, {4096, 2.4}, {65536, 3.6}, {1048576, 21.3},
            {268435456, 4850}},
        d2h = {{256, 1.4}, {4096, 1.7}, {65536, 2.5}, {1048576, 20.9}, {268435456, 4900}},
    },
    h2d_staging_cold_gb_per_s = {{4096, 4}, {1048576, 7}, {16777216, 5.5}},
    d2h_staging_cold_gb_per_s = {{4096, 5}, {1048576, 8}, {16777216, 9}},
}
]])
path = shell.write(folder .. "/cached.lua", text)

local name <const>, mib <const> = "a host with caches", 1024 * 1024
local said, cached = calibrated(path, path, "copies,pageable")
for _, key in ipairs { "copy_connections", "copy_gap_us", "engine_turn_us" } do
    measured.near(cached[key], said[key], 0.05, name .. ": " .. key)
end
for _, direction in ipairs { "h2d", "d2h" } do
    check_table(name, "copy_us." .. direction, cached, said, 11)
    check_table(name, direction .. "_staging_gb_per_s", cached, said, 10, mib, 64 * mib)
    check_table(name, direction .. "_staging_cold_gb_per_s", cached, said, 10, mib)
end
tap.ok(cached.host_cache_bytes and off(cached.host_cache_bytes, said.host_cache_bytes) < 0.1,
    name .. ": what stays in the caches within 10 %")

shell.remove(folder)
tap.done()
