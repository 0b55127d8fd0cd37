-- alone.lua - how far off the simulator is with kernels of one's own that nobody has measured.
--
--   streamlab calibrate --kernels --base h200 --seeds A-B -o build/simulated.lua SCRIPT
--   streamlab tests/bench/fidelity/alone.lua build/simulated.lua docs/results/benchmark-kernels.lua
--
-- The first line, without a GPU, has each launch of the programs alone on the simulated one; the
-- second compares them with a GPU's. Prints, by kernel, simulated / measured: the tenths' first,
-- the median, the ninth, when a launch runs again and again and with other data in the L2 before.

local simulated, measured = dofile(arg[1]).kernels, dofile(arg[2]).kernels

local function key(launch)
    return ("%d %d %d %s"):format(launch.grid, launch.block, launch.shared,
                                  table.concat(launch.numbers or {}, " "))
end

local function ratios(kernel, other, field)
    local by_key, list = {}, {}
    for _, launch in ipairs(other.launches) do by_key[key(launch)] = launch[field] end
    for _, launch in ipairs(kernel.launches) do
        local us = by_key[key(launch)]
        if us and launch[field] then list[#list + 1] = launch[field] / us end
    end
    table.sort(list)
    return list
end

-- Between two ranks on the straight line through them.
local function at(list, part)
    local rank = 1 + part * (#list - 1)
    local low = math.floor(rank)
    return list[low] + (rank - low) * ((list[low + 1] or list[low]) - list[low])
end

local names = {}
for hash, kernel in pairs(simulated) do
    if measured[hash] then names[#names + 1] = { kernel.name, hash } end
end
table.sort(names, function(a, b) return a[1] < b[1] end)
print("| kernel | launches | simulated / measured: 10 %, median, 90 % | other data in the L2 |")
print("|---|--:|---|---|")
for _, name in ipairs(names) do
    local hash, texts, n = name[2], {}, 0
    for i, field in ipairs{ "us", "cold_us" } do
        local list = ratios(simulated[hash], measured[hash], field)
        n = math.max(n, #list)
        texts[i] = #list == 0 and "" or ("%.2f, %.2f, %.2f"):format(at(list, 0.1), at(list, 0.5),
                                                                    at(list, 0.9))
    end
    if n > 0 then print(("| `%s` | %d | %s | %s |"):format(name[1], n, texts[1], texts[2])) end
end
