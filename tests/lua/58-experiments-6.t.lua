-- 58-experiments-6.t.lua - the experiments on several GPUs: what they find on the simulator is what
-- follows from its profile, with two, four and eight GPUs.

local T = require "tap"
local ideal = require "lua.ideal"
local unpack = table.unpack

-- What an experiment printed, and its rows as lists of cells: numbers and words.
local function run(name, gpus)
    local status, text = ideal.run("scripts/experiments/" .. name .. ".lua", tostring(gpus),
                                   { options = "--backend sim --profile textbook" })
    local rows = {}
    for line in text:gmatch("[^\n]+") do
        local cells = {}
        for cell in line:gmatch("%S+") do cells[#cells + 1] = tonumber(cell) or cell end
        rows[#rows + 1] = cells
    end
    if not T.is(status, 0, ("%s.lua runs with %d GPUs"):format(name, gpus)) then T.diag(text) end
    return rows, text
end

-- The rows of a table that begin with a number, and hold as many cells as its head.
local function body(rows, head)
    local list, inside = {}, false
    for _, row in ipairs(rows) do
        if row[1] == head then inside = #row
        elseif inside and #row == inside then list[#list + 1] = row
        elseif inside then return list end
    end
    return list
end

-- 192 MiB lie between two figures of the profile, 250.88 us of 64 MiB and 898.49 of 256 MiB.
local function bucketed_all_reduce()
    local rows, text = run("bucketed_all_reduce", 2)
    local table = body(rows, "layers")
    T.is(#table, 8, "bucketed_all_reduce: eight sizes")
    local each, all = table[1], table[8]
    local whole_us = 250.88 + (898.49 - 250.88) * 2 / 3
    T.near(all[4], whole_us, 0.05 * whole_us, "bucketed_all_reduce: all of a single one is exposed")
    T.ok(each[4] < 100 and each[3] > 1.1 * all[3],
         "bucketed_all_reduce: 24 are hidden, and cost matmuls")
    local best = each
    for _, row in ipairs(table) do best = row[5] < best[5] and row or best end
    T.ok(best[5] < each[5] and best[5] < all[5], "bucketed_all_reduce: the best is between")
    for _, gpus in ipairs{ 2, 4, 8 } do
        if gpus > 2 then _, text = run("bucketed_all_reduce", gpus) end
        T.ok(not text:find("%f[%w]no\n"),
             ("bucketed_all_reduce: %d GPUs have right sums"):format(gpus))
        T.like(text, "right.-yes\n.-Verdict: [%l ]+: few large",
               "bucketed_all_reduce: and a verdict")
    end
end

-- Bubbles of 8 parts are as the formula says, and a little larger: copies and events take time, and
-- the more the more often a part changes its GPU.
local function pipeline_parallel()
    for _, gpus in ipairs{ 2, 4, 8 } do
        local table = body(run("pipeline_parallel", gpus), "schedule")
        T.is(#table, 4, "pipeline_parallel: four schedules")
        for _, row in ipairs(table) do
            local schedule, v, kept, formula, bubble, _, right = unpack(row)
            local name = ("pipeline_parallel: %d GPUs, %s, %d a GPU: "):format(gpus, schedule, v)
            local expected = 100 * (gpus - 1) / (v * 8 + gpus - 1)
            T.near(formula, expected, 0.01 * expected, name .. "the formula")
            T.ok(bubble > formula - 0.1, name .. "the bubble is no smaller")
            if v == 1 then
                T.ok(bubble < formula + 4, name .. "and hardly larger")
                T.is(kept, schedule == "GPipe" and 8 or gpus, name .. "kept parts")
            end
            T.is(right, "yes", name .. "right values")
        end
        T.ok(table[4][5] < table[2][5] - 3, "pipeline_parallel: several pieces make it smaller")
    end
end

-- Eight layers of 2 x 2 x 8192 x 8192 x 32768 operations, and in each a sum of 128 MiB, which lie
-- between 250.88 us for 64 MiB and 898.49 for 256.
local function tensor_parallel()
    local text = select(2, run("tensor_parallel", 2))
    local one, quicker_one = text:match("\none GPU +(%d+) +(%S+)")
    local split = tonumber(text:match("\nsplit +(%d+)"))
    local halves = tonumber(text:match("\nsplit, two halves +(%d+)"))
    T.is(quicker_one, "1", "tensor_parallel: one GPU is what the others are compared with")
    local sums_us = 8 * (250.88 + (898.49 - 250.88) / 3)
    local lost_us = split - one / 2
    T.ok(lost_us > sums_us and lost_us < 1.2 * sums_us,
         "tensor_parallel: the sums come on top of half")
    T.ok(halves < split and halves > one / 2, "tensor_parallel: two halves hide a part of them")
    for _, gpus in ipairs{ 2, 4, 8 } do
        if gpus > 2 then text = select(2, run("tensor_parallel", gpus)) end
        T.is(select(2, text:gsub(" yes\n", "")), 3, "tensor_parallel: as on one GPU")
    end
end

-- Of the profile: 31 GB/s a channel, of whose time a large all-reduce of two passes 1.5 times its
-- bytes through the blocks.
local function channels_against_matmul()
    local table = body(run("channels_against_matmul", 2), "channels")
    T.is(#table, 7, "channels_against_matmul: seven numbers of channels")
    local one_us = 12 * 1.5 * (1 << 28) / 31e3
    T.near(table[1][2], one_us, 0.05 * one_us, "channels_against_matmul: one channel")
    T.near(table[6][2], 12 * 898.49, 0.02 * 12 * 898.49, "channels_against_matmul: 24")
    for i = 1, 7 do
        T.is(table[i][7], "yes", "channels_against_matmul: right sums with " .. table[i][1])
        T.ok(table[i][6] < table[i][5], "channels_against_matmul: both at once are quicker")
        if i > 1 then T.ok(table[i][2] < table[i - 1][2], "and more channels are quicker alone") end
    end
    T.ok(table[6][4] > table[1][4] and table[1][4] > 1.05,
         "channels_against_matmul: all cost matmuls")
end

-- A copy of 64 MiB to another GPU takes 2.5 us and its bytes at 395 GB/s, the one to the GPU itself
-- is beside it or in front of it. The all-gather of 128 MiB is between 159.69 and 551.01 us.
local function all_gather_engines()
    local rows, text = run("all_gather_engines", 2)
    local collective, copies = {}, {}
    for _, row in ipairs(rows) do
        if row[1] == "collective" then
            collective = row
        elseif row[1] == "copies" then
            copies = row
        end
    end
    local all_us, copy_us = 159.69 + (551.01 - 159.69) / 3, 2.5 + (1 << 26) / 395e3
    T.near(collective[2], all_us, 0.05 * all_us, "all_gather_engines: the collective")
    T.ok(copies[2] > copy_us and copies[2] < 1.5 * copy_us, "all_gather_engines: copies")
    T.is(copies[4], 1, "all_gather_engines: copies cost matmuls nothing")
    T.ok(collective[4] > 1.02, "all_gather_engines: the collective does")
    T.is(select(2, text:gsub(" yes\n", "")), 3, "all_gather_engines: all have right values")
    T.is(select(2, select(2, run("all_gather_engines", 8)):gsub(" yes\n", "")), 3, "also with 8")
end

bucketed_all_reduce()
pipeline_parallel()
tensor_parallel()
channels_against_matmul()
all_gather_engines()
T.done()
