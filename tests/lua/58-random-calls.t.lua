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

local all, failed = {}, {}
local last <const> = T.sized(16, 40)
for seed = 0, last do
    local status, text = run("--list --seed " .. seed)
    if status ~= 0 then failed[#failed + 1] = ("%d: %s"):format(seed, text:match("[^\n]*")) end
    all[#all + 1] = text
end
T.is_deeply(failed, {}, ("of %d seeds each runs without a race"):format(last + 1))
T.is(select(2, run("--list --seed 4")), all[5], "a seed gives the same program and chart again")
T.isnt(all[5], all[6], "and not another's")
local text = table.concat(all)
for _, kind in ipairs(kinds) do T.ok(text:find(kind[2]) ~= nil, "there are " .. kind[1]) end

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

local status, why = run("--seed -1")
T.is(status, 2, "a seed below 0 is wrong usage")
T.like(why, "random_calls: %-%-seed needs a whole number", "which it says")
T.is(run("--what"), 2, "and so is an unknown argument")
T.done()
