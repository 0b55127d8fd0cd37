-- 47-rank-pictures.t.lua - streamlab show of several ranks: tables with a column for each rank, a
-- part of the steps, files of all ranks; and what is said of files that lack something.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local json = require "json"
local rank_files = require "rank_files"
local shell = require "shell"
local sh = shell.sh

local folder = shell.folder()

local function show(line)
    return sh("cd \"$(dirname \"$P\")\" && P=$PWD/$(basename \"$P\")\ncd " .. folder
        .. "\n\"$P\" show " .. line)
end
local function save(r, path) r.save(folder .. "/" .. path) end

for n = 0, 1 do
    save(rank_files.training(n, 2, 1, 3, n * 30000), ("rank%d.json"):format(n))
end
local both <const> = " rank0.json rank1.json"

-- ---- tables --------------------------------------------------------------------------

tap.is(show("--by kernel" .. both), [[
  rank 0   rank 1  spread  by kernel
 15.3 ms  21.3 ms    1.39  gemm
 7.50 ms  1.50 ms    5.00  ncclDevKernel_AllReduce_Sum_f32_RING_LL
  750 us   750 us    1.00  ncclDevKernel_AllGather_RING_LL
added durations; spread: the slowest rank's by the fastest one's
]], "--by has a column for each rank: 3 x (5 + 0.1) and 3 x (7 + 0.1) ms")
local table_of = json.read((show("--by step --json" .. both)))
tap.is(#table_of.rows, 3, "steps are listed")
tap.is(table_of.rows[3].name, "ProfilerStep#2", "in their order")
tap.is(table_of.rows[3].time_us[2], 9999, "with how long each rank took")
tap.is(show("--by kernel --columns 30" .. both):match "^[^\n]+\n[^\n]+\n[^\n]+\n",
    "fastest    mean slowest  rank  spread\ngemm\n15.3 ms 18.3 ms 21.3 ms     1    1.39\n",
    "a narrow terminal has the two that are furthest apart")

-- ---- steps ---------------------------------------------------------------------------

local whole, one = json.read((show("--json" .. both))), json.read((show("--step 1 --json" .. both)))
tap.is(one.collectives_in_common, 2, "of a step its own collectives count")
tap.is(one.ranks[1].waited_us, 2000, "and its waits")
tap.is(one.ranks[2].compute_us, 7100, "and what was computed in it")
tap.is(one.ranks[2].clock_us, whole.ranks[2].clock_us, "clocks are those of all collectives")
tap.like(select(2, show("--step 7" .. both)), "is no trace of a rank: the timeline has no step 7",
    "a step that there is not")

-- ---- files ---------------------------------------------------------------------------

local _, err, code = show("-o all.json -o all.svg -o all.html" .. both)
tap.is(err .. code, "0", "all ranks are written to one file")
local all = json.read(shell.read(folder .. "/all.json"))
local names, starts = {}, {}
for _, event in ipairs(all.traceEvents) do
    if event.name == "process_name" then names[event.pid] = event.args.name end
    if event.cat == "kernel" and event.name:find "AllGather" then
        starts[event.pid] = starts[event.pid] or event.ts
    end
end
tap.is(names[0] .. ", " .. names[1], "rank 0, rank 1", "with a process for each rank")
tap.is(starts[0], starts[1], "on one clock: a collective starts at the same time on both")
tap.like(shell.read(folder .. "/all.svg"), ">rank 1: compute<.+>rank 1: communication<",
    "a picture has a row for each that a rank does")
tap.like(show "--summary all.json", "\nrank 1: compute +21%.3 ms", "the file is read again")
tap.like(show("--explain --columns 200 all.json"), 'waited 6%.00 ms %(3 times%) for rank 1 '
    .. '%(late because of gemm in stream "rank 1: stream 7"%)', "which says for whom a rank waited")
show "-o again.json all.json"
tap.is(shell.read(folder .. "/again.json"), shell.read(folder .. "/all.json"),
    "and has the same bytes when it is saved once more")

-- ---- what files lack -----------------------------------------------------------------

local function doubts(line)
    return table.concat(json.read((show("--json " .. line))).doubts, "\n")
end

sh("mkdir " .. folder .. "/strays; cp " .. folder .. "/rank?.json " .. folder .. "/strays")
shell.write(folder .. "/strays/notes.json", '{ "lr": 0.1 }\n')
tap.is(doubts "strays", "'strays/notes.json' is left out: it has no \"traceEvents\", so that it is "
    .. "no trace.", "a stray file in the folder is left out")

for _, n in ipairs { 0, 1, 3 } do
    save(rank_files.training(n, 4, 1, 3, 0), ("of4_%d.json"):format(n))
end
tap.is(doubts "of4_0.json of4_1.json of4_3.json", "There is no file of rank 2: whether the others "
    .. "waited for it is not known.", "a rank that has no file")
tap.like(show "of4_0.json of4_1.json of4_3.json", "^3 of 4 ranks, with 6 collectives in common",
    "and how many there are")

for _, n in ipairs { 0, 2000000000 } do
    save(rank_files.training(n, 2147483647, 1, 3, 0), ("many_%d.json"):format(n))
end
tap.like(doubts "many_0.json many_2000000000.json", "no file of ranks 1, 2 and 2147483643 more",
    "however many there are")

-- A kernel without its launch in each file of three; the bases of clocks are 10 s apart.
for n = 0, 2 do
    local r = rank_files.training(n, nil, 1, 3, 0,
        ('"baseTimeNanoseconds":%d000000000,'):format(1700000000 + n * 10))
    r.events[2] = r.events[2]:gsub('"cat":"cuda_runtime"', '"cat":"gone"')
    save(r, ("doubt_rank%d.json"):format(n))
end
local said = doubts "doubt_rank0.json doubt_rank1.json doubt_rank2.json"
tap.like(said, "\nAll ranks: Of 12 operations, one has no launch",
    "what is in doubt about all files is said once")
tap.is(select(2, said:gsub("operations", "")), 1, "and not once more")
tap.like(said, "rank 0 had ended 20%.0 s before rank 2 began: the files may be of different runs",
    "files that were not recorded at the same time")

-- ---- groups --------------------------------------------------------------------------

-- Two groups of two for tensors, (0, 1) and (2, 3), and two across, (0, 2) and (1, 3). In each of
-- two steps a rank is ready at 1, 2, 3 and 7 ms; the tensors' groups meet at 2 and 7 and take 0.5
-- ms; then the others meet, (0, 2) and (1, 3) at 7.5, and take 1 ms.
local ready_us <const> = { [0] = 1000, 2000, 3000, 7000 }
local across <const> = { [0] = "[0, 2]", "[1, 3]", "[0, 2]", "[1, 3]" }
for n = 0, 3 do
    local r = rank_files.rank(n, 4, n * 1000)
    local met_us = n < 2 and 2000 or 7000
    for step = 0, 1 do
        local at = 1000000 + step * 20000
        r.step(step, at, at + 19999)
        r.kernel(at + 1, at + 10, at + ready_us[n], "gemm", 7)
        r.kernel(at + 2, at + ready_us[n], at + met_us + 500, rank_files.reduce, 20,
            rank_files.args("allreduce", 250000, 2, "tp", n < 2 and "[0, 1]" or "[2, 3]"))
        r.kernel(at + 3, at + met_us + 500, at + 8500, rank_files.reduce, 24,
            rank_files.args("allreduce", 1000000, 2, "dp", across[n]))
    end
    save(r, ("grid_rank%d.json"):format(n))
end
local grid = json.read((show("--json grid_rank0.json grid_rank1.json grid_rank2.json "
    .. "grid_rank3.json")))
tap.is(grid.collectives_in_common, 8, "two groups of two, each way, in two steps")
-- Rank 0 waits 1 ms for rank 1, then 5 for rank 2; rank 1 5 ms for rank 3; rank 2 4 ms for rank 3.
local waits = { 12000, 10000, 8000, 0 }
for n = 1, 4 do
    tap.is(grid.ranks[n].waited_us, waits[n], ("how long rank %d waited"):format(n - 1))
    tap.is(grid.ranks[n].clock_us, (n - 1) * 1000, "and how far its clock is ahead")
end
-- In each step: for rank 1 1 ms, for rank 2 5, for rank 3 4 + 5.
tap.is(grid.steps[1].rank .. " " .. grid.steps[1].late_us, "3 9000.0",
    "whom they waited for longest")
tap.is(grid.steps[1].most_us, 5000, "and in which collective most")
tap.is(#grid.collectives, 2, "collectives by size")
tap.is(grid.collectives[1].gb_per_s, 4, "4 MB in 1 ms")
tap.is(grid.collectives[2].bus_gb_per_s, 2, "1 MB in 0.5 ms, times 2 (2 - 1) / 2")
-- 1 + 2 + 3 + 7 less 10 us each: 12.96 ms a step; the most is 6.99.
tap.is(("%.4f"):format(grid.imbalance), ("%.4f"):format(6.99 * 4 / 12.96), "imbalance")

shell.remove(folder)
tap.done()
