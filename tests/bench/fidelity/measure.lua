-- measure.lua - measures programs of the benchmark (docs/benchmark.md) on this machine's GPU, many
-- in one process.
--
--   streamlab measure.lua FAMILY A-B [--runs N] [--for SECONDS]
--
-- FAMILY is a name of scripts/measure/benchmark/families.lua, A-B are seeds. Each program is made
-- once, runs once to warm up and is timed N times (default 5), one after the other, by lab.measure
-- and without a recording, which would make its calls dearer; GPUs and communicators are opened
-- once. Prints a line for each program as it is done, as `streamlab compare --jsonl` does:
-- {"script", "seed", "gpu_us", "gpu_min_us", "gpu_max_us"}; add.lua takes them. --for ends before
-- the first program that would begin later. At the end stderr has the number of programs, the
-- seconds and what failed.
--
-- Exit status 0; 1 when a program failed; 2 for wrong usage.

local root <const> = (arg[0]:match("^.*/") or "./") .. "../../../"
package.path = root .. "tests/?.lua;" .. package.path
local stop = require("bench.files").stop
local lab = require "streamlab"

-- The program's own files, which find each other so.
function import(path) return dofile(root .. path) end

local families = import "scripts/measure/benchmark/families.lua"

local usage <const> = "usage: streamlab measure.lua FAMILY A-B [--runs N] [--for SECONDS]"

local function options_of(arguments)
    local options = { runs = 5, ["for"] = math.huge, family = families[arguments[1] or ""] }
    local first, last = (arguments[2] or ""):match("^(%d+)%-(%d+)$")
    options.first, options.last = math.tointeger(first), math.tointeger(last)
    for i = 3, #arguments, 2 do
        local name = arguments[i]:match("^%-%-(%l+)$")
        if name ~= "runs" and name ~= "for" then stop(2, usage) end
        options[name] = tonumber(arguments[i + 1]) or stop(2, usage)
    end
    if not options.family or not options.last or options.runs < 1 then stop(2, usage) end
    return options
end

-- What programs find replaced -------------------------------------------------------------------

-- A GPU is opened once.
local open, opened = lab.open, {}
function lab.open(options)
    local index = options and options.index or 0
    opened[index] = opened[index] or open{ index = index, backend = lab.device().backend }
    opened[index]:make_current()
    return opened[index]
end

-- So is the communicator of all of them: making one takes NCCL longer than a program.
local comm, kept = lab.comm, nil
function lab.comm(options)
    local real = kept or comm(options)
    kept = real
    return setmetatable({}, { __index = function(_, name)
        return name == "free" and function() end
            or function(_, ...) return real[name](real, ...) end
    end })
end

-- What is to be recorded is timed.
local times
local function timed(runs)
    return function(f)
        times = lab.measure(f, { warmup = 1, reps = runs })
        return { makespan_us = times.median_us, show = function() end }
    end
end

-- The programs ----------------------------------------------------------------------------------

local function environment(family, seed)
    local arguments = { [0] = root .. family.script, "--seed", tostring(seed) }
    for word in family.arguments:gmatch("%S+") do arguments[#arguments + 1] = word end
    return setmetatable({ arg = arguments }, { __index = _G })
end

local line_form <const> = '{"script": "%s%s", "seed": %d, "gpu_us": %.3f, "gpu_min_us": %.3f, '
    .. '"gpu_max_us": %.3f}\n'

local function measure(family, seed)
    local script = assert(loadfile(root .. family.script, "t", environment(family, seed)))
    script()
    io.stdout:write(line_form:format(family.script, family.arguments, seed, times.median_us,
        times.min_us, times.max_us))
    io.stdout:flush()
end

-- Waits for what a failed program has left, frees all that it had, and begins with GPU 0 again.
local function clean()
    for _, device in pairs(opened) do
        device:make_current()
        pcall(lab.synchronize)
    end
    if opened[0] then opened[0]:make_current() end
    collectgarbage()
    collectgarbage()
end

local function main()
    local options = options_of(arg)
    lab.open()
    lab.profile, print = timed(options.runs), function() end
    local began, done, failures = os.time(), 0, {}
    for seed = options.first, options.last do
        if os.time() - began >= options["for"] then break end
        local fine, failure = pcall(measure, options.family, seed)
        done = done + (fine and 1 or 0)
        failures[#failures + 1] = not fine and ("seed %d: %s\n"):format(seed, failure) or nil
        clean()
    end
    io.stderr:write(("%s: %d programs in %d s, %d failed\n"):format(options.family.name, done,
        os.time() - began, #failures), table.concat(failures, "", 1, math.min(#failures, 20)))
    if #failures > 0 then os.exit(1, true) end
end

main()
