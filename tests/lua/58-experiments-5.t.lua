-- 58-experiments-5.t.lua - the experiments on kernels of one's own: what they find on the simulator
-- is what follows from its profile and from what they declare, and they run on other profiles.

local T = require "tap"
local ideal = require "lua.ideal"

if not T.computes_kernels() then
    T.skip("there is no C++ compiler", 1)
    T.done()
    return
end

local words <const> = { holds = true, ["no longer holds"] = true, depends = true }

-- The verdicts {word, numbers}, the printed rows as lists of cells, and the whole text.
local function run(name, profile)
    local status, text = ideal.run("scripts/experiments/" .. name .. ".lua", nil,
                                   { options = "--backend sim --profile " .. profile })
    local verdicts, rows = {}, {}
    for line in text:gmatch("[^\n]+") do
        local word, rest = line:match("^Verdict: ([%l ]+): [^:]+: (.+)$")
        local cells = {}
        for cell in line:gmatch("%S+") do cells[#cells + 1] = tonumber(cell) or cell end
        if not word then rows[#rows + 1] = cells
        else
            verdicts[#verdicts + 1] = { word, {} }
            for number in rest:gmatch("%-?%d+%.?%d*") do
                table.insert(verdicts[#verdicts][2], tonumber(number))
            end
        end
    end
    if not T.is(status, 0, ("%s.lua runs on %s"):format(name, profile)) then T.diag(text) end
    return verdicts, rows, text
end

local function row_of(rows, first)
    for _, row in ipairs(rows) do
        if row[1] == first then return row end
    end
    return {}
end

-- Three kernels of 2, 3 and 2 tensors; the fused one has 3.
local function kernel_fused()
    local verdicts, rows, text = run("kernel_fused", "textbook")
    T.is(verdicts[1][1], "no longer holds", "kernel_fused: not launches alone")
    local large = row_of(rows, 1 << 26)
    T.near(large[6], 7 / 3, 0.1, "kernel_fused: of large tensors the memory's traffic is saved")
    T.ok(row_of(rows, 4096)[5] > 1.5, "kernel_fused: of small ones the launches")
    T.ok(not text:find("wrong", 1, true), "kernel_fused: the values are right")
end

-- 2048 threads, 32 blocks and 228 KB of shared memory an SM, of which each block takes 1 KB more.
local function kernel_occupancy()
    local verdicts, rows = run("kernel_occupancy", "textbook")
    T.is(verdicts[1][1], "depends", "kernel_occupancy: it depends")
    for name, blocks in pairs{ few = 32, many = 2, shared = 2, all_shared = 1 } do
        T.is(row_of(rows, name)[4], blocks, "kernel_occupancy: blocks of " .. name .. " on an SM")
    end
    local large = row_of(rows, 4096)
    for i = 8, 11 do
        T.ok(large[i] > 0.7 * large[7], "kernel_occupancy: behind most of a large matmul, " .. i)
    end
end

-- 300 items of 11000 steps in the mean, and a table of 8000, for 132 blocks: each block has 2.3
-- items, so blocks that stay make 1.3 tables less. 2.2 ns a step.
local function kernel_persistent()
    local verdicts, rows = run("kernel_persistent", "textbook")
    local right, n = 0, verdicts[1][2]
    for _, row in ipairs(rows) do right = right + (row[#row] == "yes" and 1 or 0) end
    T.is(right, 4, "kernel_persistent: all four have the same results")
    T.is(verdicts[1][1], "depends", "kernel_persistent: it saves more than launches")
    T.is(n[1], 300, "kernel_persistent: 300 launches")
    T.ok(n[2] > n[4] and n[4] > n[5] and n[5] > 1.05, "kernel_persistent: which take longest")
    -- In one stream one item after the other, each with a table of its own, 0.0022 us a step.
    local us = 300 * (8000 + 11000) * 0.0022
    T.near(rows[5][#rows[5] - 2], us, 0.05 * us, "kernel_persistent: one by one")
end

local function kernel_reduction()
    local verdicts, rows = run("kernel_reduction", "textbook")
    T.is(verdicts[1][1], "depends", "kernel_reduction: simulated, both read as much")
    for name, shared in pairs{ with_barriers = 1024, with_shuffles = 32, with_atomics = 0 } do
        local row = row_of(rows, name)
        T.is(row[2], "yes", "kernel_reduction: " .. name .. " is right")
        T.is(row[5], shared, "kernel_reduction: shared memory of " .. name)
        T.is(row[9], name == "with_atomics" and "yes" or "no",
             "kernel_reduction: a guess, " .. name)
    end
end

-- As many verdicts, each beginning with one of the three words, and no figure that is none.
local function elsewhere(name, count)
    for _, profile in ipairs(T.sized({}, { "h200", "t4" })) do
        local verdicts, _, text = run(name, profile)
        local sound = #verdicts == count and not text:find("[^%a]nan") and not text:find("[^%a]inf")
        for _, verdict in ipairs(verdicts) do sound = sound and words[verdict[1]] end
        if not T.ok(sound, name .. " has sound verdicts on " .. profile) then T.diag(text) end
    end
end

kernel_fused()
kernel_occupancy()
kernel_persistent()
kernel_reduction()
for name, count in pairs{ kernel_fused = 1, kernel_occupancy = 1, kernel_persistent = 1,
                          kernel_reduction = 2 } do
    elsewhere(name, count)
end
T.done()
