-- 58-random.t.lua - experiments drawn from a seed: the same one gives the same timeline, none has a
-- race, and all kinds of steps occur as often as scripts have them.

local T = require "tap"
local ideal = require "lua.ideal"
local path <const> = "scripts/experiments/random.lua"
local sim <const> = "--backend sim --profile textbook"

local function run(arguments, more)
    return ideal.run(path, arguments, { options = sim .. (more or "") })
end

-- lab.profile's timeline as JSON, by way of `file`: its name is in there with the line that saves.
local function timeline(seed, file)
    local status = run("--seed " .. seed, (" -e 'local profile = lab.profile; function "
        .. "lab.profile(f) local tl = profile(f); tl:save(\"%s\"); return tl end'"):format(file))
    T.is(status, 0, ("seed %d runs and is saved"):format(seed))
    local text = ideal.read(file)
    os.remove(file)
    return text
end

local function same_every_time()
    local seen, file = {}, ideal.temporary(".json")
    for _, seed in ipairs{ 0, 1, 2, 77, 123456789 } do
        local once, again = timeline(seed, file), timeline(seed, file)
        T.ok(#once > 1000 and once == again,
             ("seed %d gives the same timeline again"):format(seed))
        T.ok(not seen[once], "and no other seed's")
        seen[once] = true
    end
    local _, default = run("")
    local _, zero = run("--seed=0")
    T.is(default, zero, "without a seed it is 0")
end

local function no_races()
    local failed, idle, last = {}, {}, T.sized(20, 60)
    for seed = 0, last do
        local status, text = run("--seed " .. seed, " --check=error")
        if status ~= 0 then failed[#failed + 1] = ("%d: %s"):format(seed, text:match("[^\n]*")) end
        local makespan = tonumber(text:match("%f[^\n\0]seed %d+: [^\n]*makespan ([%d.]+) ms"))
        if not makespan or makespan <= 0 then idle[#idle + 1] = seed end
    end
    T.is_deeply(failed, {}, ("of %d seeds each runs without a race"):format(last + 1))
    T.is_deeply(idle, {}, "and each takes some time")
end

-- The steps that --list tells, as texts.
local function steps(text)
    local list = {}
    for number, step in text:gmatch("%f[^\n\0] *(%d+)  ([^\n]+)") do
        list[#list + 1] = tonumber(number) == #list + 1 and step or nil
    end
    return list
end

local function listing()
    local status, text = run("--seed 4 --list")
    T.is(status, 0, "--list runs")
    local list = steps("\n" .. text)
    T.is(#list, tonumber(text:match("seed 4: (%d+) steps")), "it prints a line a step")
    local without = select(2, run("--seed 4"))
    T.is(text:sub(-#without), without, "and then what is printed without it")
end

-- Pattern of a step's text, and between which parts of all steps it should be found: wide, for
-- what matters is that none is forgotten and that none is all.
local kinds <const> = {
    { "uploads", "^s%d: upload", 0.08, 0.4 },
    { "downloads", "^s%d: download", 0.05, 0.3 },
    { "products in float32", ": matmul float32", 0.05, 0.3 },
    { "products in TF32", ": matmul tf32", 0.02, 0.2 },
    { "products in bfloat16", ": matmul bfloat16", 0.01, 0.15 },
    { "sums of two", ": add ", 0.01, 0.2 },
    { "powers", ": pow ", 0.02, 0.25 },
    { "softmax", ": softmax ", 0.005, 0.1 },
    { "sums", ": sum ", 0.005, 0.1 },
    { "spins", ": spin ", 0.05, 0.3 },
    { "copies of pinned memory", "MiB, pinned", 0.1, 0.5 },
    { "copies of pageable memory", "MiB, pageable", 0.03, 0.25 },
    { "copies that block", ", blocking$", 0.005, 0.1 },
    { "kernels on the NULL stream", "^NULL: ", 0.001, 0.03 },
    { "allocations", "cudaMalloc", 0.0003, 0.02 },
    { "new tensors", ": a new tensor", 0.0003, 0.02 },
    { "waits for events", ": record.*, and s%d waits for it$", 0.02, 0.2 },
    { "waits of the host", "^host: waits", 0.002, 0.05 },
    { "other work of the host", "^host: works", 0.002, 0.05 },
    { "copies on the GPU", ": copy within", 0.001, 0.03 },
    { "memory set to zero", ": zero ", 0.001, 0.03 },
}

local function shares()
    local count, total, seeds = {}, 0, T.sized(40, 200)
    for seed = 0, seeds - 1 do
        for _, step in ipairs(steps("\n" .. select(2, run("--list --seed " .. seed)))) do
            total = total + 1
            for _, kind in ipairs(kinds) do
                if step:find(kind[2]) then count[kind[1]] = (count[kind[1]] or 0) + 1 end
            end
        end
    end
    T.ok(total > 25 * seeds and total < 100 * seeds,
         ("%d seeds have 25 to 100 steps each: %d"):format(seeds, total))
    for _, kind in ipairs(kinds) do
        local share = (count[kind[1]] or 0) / total
        T.ok(share >= kind[3] and share <= kind[4],
             ("%s are %g to %g %% of them"):format(kind[1], 100 * kind[3], 100 * kind[4]))
        T.diag(("%s: %.2f %%"):format(kind[1], 100 * share))
    end
end

local function wrong_use()
    for arguments, says in pairs{
        ["--seed -1"] = "random: %-%-seed needs a whole number from 0 on, got '%-1'\n$",
        ["--seed x"] = "random: %-%-seed needs a whole number from 0 on, got 'x'\n$",
        ["--seed 1.5"] = "random: %-%-seed needs a whole number from 0 on, got '1.5'\n$",
        ["--seed"] = "random: %-%-seed needs a whole number from 0 on, got ''\n$",
        ["--foo"] = "random: unknown argument '%-%-foo'\nusage: streamlab [^\n]+\n$",
        ["3"] = "random: unknown argument '3'\nusage: streamlab [^\n]+\n$",
    } do
        local status, text = run(arguments)
        T.is(status, 2, ("'%s' is wrong usage"):format(arguments))
        T.like(text, says, "and it says why")
    end
end

same_every_time()
no_races()
listing()
shares()
wrong_use()
T.done()
