-- 58-experiments-6.t.lua - the experiments on several GPUs: what they find on the simulator is what
-- follows from its profile, with two, four and eight GPUs.

local T = require "tap"
local ideal = require "lua.ideal"
local unpack = table.unpack

-- What an experiment printed, and its rows as lists of cells: numbers and words.
local function run(name, gpus)
    local status, text = ideal.run("scripts/experiments/" .. name .. ".lua", tostring(gpus),
                                   {options = "--backend sim --profile textbook"})
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
    T.ok(each[4] < 100 and each[3] > 1.1 * all[3], "bucketed_all_reduce: 24 are hidden, and cost matmuls")
    local best = each
    for _, row in ipairs(table) do best = row[5] < best[5] and row or best end
    T.ok(best[5] < each[5] and best[5] < all[5], "bucketed_all_reduce: the best is between")
    for _, gpus in ipairs{2, 4, 8} do
        if gpus > 2 then _, text = run("bucketed_all_reduce", gpus) end
        T.ok(not text:find("%f[%w]no\n"), ("bucketed_all_reduce: %d GPUs have right sums"):format(gpus))
        T.like(text, "right.-yes\n.-Verdict: [%l ]+: few large", "bucketed_all_reduce: and a verdict")
    end
end

-- Bubbles of 8 parts are as the formula says, and a little larger: copies and events take time, and the
-- more the more often a part changes its GPU.
local function pipeline_parallel()
    for _, gpus in ipairs{2, 4, 8} do
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

bucketed_all_reduce()
pipeline_parallel()
T.done()
