-- 58-random-gpus.t.lua - random programs for several GPUs: a seed gives the same program and the
-- same times again, none has a race, and all kinds of steps occur.

local T = require "tap"
local ideal = require "lua.ideal"
local path <const> = "scripts/experiments/random_gpus.lua"

local function run(arguments)
    return ideal.run(path, arguments,
                     { options = "--backend sim --profile textbook --check=error" })
end

local kinds <const> = {
    { "products in float32", ": matmul float32" }, { "products in bfloat16", ": matmul bfloat16" },
    { "sums of two", ": add " }, { "products of two", ": mul " }, { "powers", ": pow " },
    { "softmax", ": softmax " },
    { "spins", ": spin " }, { "uploads", ": upload" }, { "downloads", ": download" },
    { "copies of pageable memory", "MiB, pageable" },
    { "copies that the first GPU pushes", "gpu0 s%d: copy from gpu0 to gpu1 " },
    { "copies that the first GPU pulls", "gpu0 s%d: copy from gpu1 to gpu0 " },
    { "copies that the second GPU pushes", "gpu1 s%d: copy from gpu1 to gpu0 " },
    { "copies that the second GPU pulls", "gpu1 s%d: copy from gpu0 to gpu1 " },
    { "events from GPU to GPU", "gpu1 s%d: record, and gpu0 s%d waits for it" },
    { "events of one GPU", "gpu0 s%d: record, and gpu0 comm waits for it" },
    { "all_reduce beside the kernels", "gpus comm: all_reduce" },
    { "all_reduce in the kernels' streams", "gpus s%d: all_reduce" },
    { "all_gather", ": all_gather" },
    { "reduce_scatter", ": reduce_scatter" }, { "broadcast", ": broadcast" },
    { "waits for a stream", "host: waits for gpu" }, { "waits for all", "host: waits for all" },
    { "work of the host", "host: works" },
}

local all, failed, idle = {}, {}, {}
for seed = 0, 40 do
    local status, text = run("--list --seed " .. seed)
    if status ~= 0 then failed[#failed + 1] = ("%d: %s"):format(seed, text:match("[^\n]*")) end
    local makespan = tonumber(text:match("\nseed %d+: [^\n]*makespan ([%d.]+) ms"))
    if not makespan or makespan <= 0 then idle[#idle + 1] = seed end
    all[seed] = text
end
T.is_deeply(failed, {}, "of 41 seeds each runs without a race")
T.is_deeply(idle, {}, "and each takes some time")
for _, seed in ipairs{ 3, 4, 30 } do
    T.is(select(2, run("--list --seed=" .. seed)), all[seed],
         ("seed %d gives the same program and chart again"):format(seed))
end
T.isnt(all[3]:gsub("seed 3", ""), all[4]:gsub("seed 4", ""), "and not another's")
local text = table.concat(all, "\n", 0, 40)
for _, kind in ipairs(kinds) do T.ok(text:find(kind[2]) ~= nil, "there are " .. kind[1]) end

local function makespan(out)
    return tonumber(out:match("\nseed %d+: [^\n]*makespan ([%d.]+) ms"))
end
local function steps(out) return out:match("^(.-)\nseed ") end

local slower, same = 0, 0
for seed = 0, 9 do
    local _, apart = run("--apart --list --seed " .. seed)
    slower = slower + (makespan(apart) > makespan(all[seed]) and 1 or 0)
    same = same + (steps(apart) == steps(all[seed]) and 1 or 0)
end
T.is(same, 10, "--apart leaves the program as it is")
T.ok(slower >= 8,
     ("without access to each other's memory programs take longer: %d of 10"):format(slower))

for devices = 3, 8 do
    local named, count = {}, 0
    failed = {}
    for seed = 0, 4 do
        local status, list = run(("--list --seed %d --devices %d"):format(seed, devices))
        if status ~= 0 then failed[#failed + 1] = list:match("[^\n]*") end
        for gpu in list:gmatch("\n *%d+  gpu(%d) ") do
            count, named[gpu] = count + (named[gpu] and 0 or 1), true
        end
    end
    T.is_deeply(failed, {}, ("programs for %d GPUs run without a race"):format(devices))
    T.is(count, devices, "and use all of them")
end

for arguments, says in pairs{
    ["--seed -1"] = "random_gpus: %-%-seed needs a whole number from 0 on, got '%-1'\n$",
    ["--devices 1"] = "random_gpus: %-%-devices needs a whole number from 2 to 8, got '1'\n$",
    ["--devices 9"] = "random_gpus: %-%-devices needs a whole number from 2 to 8, got '9'\n$",
    ["--list=3"] = "random_gpus: unknown argument '%-%-list=3'\nusage: streamlab [^\n]+\n$",
} do
    local status, complaint = run(arguments)
    T.is(status, 2, ("'%s' is wrong usage"):format(arguments))
    T.like(complaint, says, "and it says why")
end
T.done()
