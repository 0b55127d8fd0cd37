-- 58-random-calls.t.lua - random programs of small operations: a seed gives the same program and
-- the same times again, none has a race, all kinds of steps occur, and calls bound their time.

local T = require "tap"
local ideal = require "lua.ideal"
local path <const> = "scripts/experiments/random_calls.lua"

local function run(arguments, profile)
    return ideal.run(path, arguments, { through = "env STREAMLAB_CXX=none",
        options = ("--backend sim --profile %s --check=error"):format(profile or "textbook") })
end

local kinds <const> = {
    { "products in float32", ": matmul float32" }, { "products in TF32", ": matmul tf32" },
    { "products in bfloat16", ": matmul bfloat16" }, { "sums of two", ": add " },
    { "products of two", ": mul " }, { "powers", ": pow " }, { "relu", ": relu " },
    { "softmax", ": softmax " }, { "kernels of one's own", ": axpy%(" },
    { "long kernels of few blocks", ": recur%(" },
    { "uploads", ": upload [%d.]+ KiB, pinned" }, { "downloads", ": download [%d.]+ KiB, pinned" },
    { "copies of pageable memory", "KiB, pageable" }, { "copies that block", ", blocking\n" },
    { "copies within the GPU", ": copy within the GPU" }, { "memory set to zero", ": zero " },
    { "new tensors", ": a new tensor of" }, { "kernels on the NULL stream", " NULL: " },
    { "events", "record, and s%d waits for it" }, { "questions", "host: asks whether" },
    { "waits for a stream", "host: waits for s%d" }, { "waits for all", "host: waits for all" },
    { "work of the host", "host: works" },
}

local all = ideal.random_programs(T, "random_calls", run, T.sized(16, 40), kinds)

-- Calls that take no time of the host make nearly all of them shorter by far.
local function makespan(out) return tonumber(out:match("\nseed [^\n]*makespan ([%d.]+) ms")) end
local file = ideal.temporary(".lua")
local out = assert(io.open(file, "w"))
out:write("return { base = 'textbook', host = { launch_us = 0.1, matmul_us = 0.1 } }\n")
out:close()
local shorter = 0
for seed = 0, 9 do
    local status, quick = run("--list --seed " .. seed, file)
    if status == 0 and makespan(quick) < 0.8 * makespan(all[seed + 1]) then
        shorter = shorter + 1
    end
end
os.remove(file)
T.ok(shorter >= 8, ("the host's calls bound the time of most: %d of 10"):format(shorter))
T.done()
