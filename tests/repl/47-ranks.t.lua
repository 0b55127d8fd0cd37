-- 47-ranks.t.lua - streamlab show of several files: ranks of one program, written by hand as
-- PyTorch's profiler does, with figures worked out by hand.
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

local reduce, args = rank_files.reduce, rank_files.args

-- Files are named in the folder.
local function in_folder(r)
    local save = r.save
    function r.save(path) save(folder .. "/" .. path) end
    return r
end
local function new_rank(...) return in_folder(rank_files.rank(...)) end
local function training(...) return in_folder(rank_files.training(...)) end

-- ---- a straggler ---------------------------------------------------------------------

training(0, 2, 1, 3, 0).save("rank0.json")
training(1, 2, 1, 3, 30000).save("rank1.json")
local out, err, code = show "--columns 80 rank1.json rank0.json"
tap.is(err .. code, "0", "several files are shown")
local figures, chart = out:match "^(.-\n)\n(rank 0: [^\n]*\n.*)$"
tap.is(figures, [[
2 ranks, with 6 collectives in common.
By the ends of collectives the clock of rank 1 is 30.0 ms ahead of rank 0. Times
are moved by that; then nine in ten ends agree within 0.
The others waited for rank 1 in 3 of 3 steps, for 2.00 ms in the median of
these.
Computation: the rank with the most has 1.16 x the mean.

rank  compute   waited  exchange  covered  exposed   last  file
   0  15.3 ms  6.00 ms   2.25 ms   300 us  7.95 ms      0  rank0.json
   1  21.3 ms        0   2.25 ms   300 us  1.95 ms      3  rank1.json
waited: inside collectives, for the last rank to start; exchange: from there on;
covered: kernels compute during either; exposed: none does; last: collectives in
which this rank started last.

collective            size  count   median     best    GB/s  bus GB/s
all_reduce        3.81 MiB      3   500 us   500 us       8         8
all_gather        3.81 MiB      3   250 us   250 us      16         8
]], "the clock that is ahead, the rank that is late, and the bandwidth of collectives")

out, err, code = show "-o late.html rank1.json rank0.json"
tap.is(out .. err .. code, "0", "a page of several files is written")
tap.like(shell.read(folder .. "/late.html"), '"doubts":"[^"]*The others waited for rank 1 in 3 of '
    .. '3 steps, for 2%.00 ms in the median of these%.', "and says which rank was late")

-- Each row has its share: rank 0 computes 15.3 of 27.75 ms, rank 1 communicates for 2.25.
local rows = {}
for name, share in chart:gmatch "(rank %d: %w+) +[^\n]- +(%d+)%%\n" do
    rows[#rows + 1] = name .. " " .. share
end
tap.is(table.concat(rows, ", "), "rank 0: compute 55, rank 0: comm 30, rank 1: compute 77, "
    .. "rank 1: comm 8",
    "the chart has a row for computation and one for communication of each rank")
tap.like(chart, "\n +0 +5 +10 +15 +20 +25 ms\n", "on one axis, though the clocks are 30 ms apart")

local found = json.read((show "--json ."))
tap.is(found.collectives_in_common, 6, "a folder of traces is the ranks of a program")
tap.is(found.ranks[2].clock_us, 30000, "JSON has the clocks")
tap.is(found.ranks[1].waited_us, 6000, "who waited")
tap.is(found.ranks[2].late_in_step_us, 2000, "for whom, by step")
tap.is(#found.steps, 3, "each step")
tap.is(found.steps[3].rank, 1, "with the rank that was late")
tap.is(found.collectives[2].bus_gb_per_s, 8, "and bandwidths: half of 16 GB/s for 2 ranks")

-- ---- saved and read again ------------------------------------------------------------

-- Names of files apart.
local function same(line, saved)
    return tap.is(saved:gsub("saved_", ""), (show(line)), "a saved rank says the same of " .. line)
end
for n = 0, 1 do show(("-o saved_rank%d.json rank%d.json"):format(n, n)) end
same("rank0.json rank1.json", (show "saved_rank0.json saved_rank1.json"))
same("rank0.json rank1.json", (show "rank0.json saved_rank1.json"))
show "-o again.json saved_rank1.json"
tap.is(shell.read(folder .. "/again.json"), shell.read(folder .. "/saved_rank1.json"),
    "what is saved once more has the same bytes")

-- ---- one clock -----------------------------------------------------------------------

training(0, 2, 1, 2, 0).save("same_rank0.json")
training(1, 2, 1, 2, 0).save("same_rank1.json")
tap.like(show "same_rank0.json same_rank1.json", "\nThe clocks agree%.\n", "one clock")
training(0, 2, 1, 2, 0).save("near_rank0.json")
training(1, 2, 1, 2, 0.012).save("near_rank1.json")
tap.like(show "near_rank0.json near_rank1.json", "\nThe clocks agree, as on one host: by the ends "
    .. "of collectives they are at most\n12 ns apart, which is taken off%.",
    "clocks that agree")

-- ---- what a file does not say --------------------------------------------------------

training(1, nil, 1, 2, 0).save("x_rank-1.json")
training(0, nil, 1, 2, 0).save("x_rank-0.json")
out = show "x_rank-1.json x_rank-0.json"
tap.like(out, "Ranks are numbered as the files' names say", "else a file's name has the rank")
tap.like(out, "\n   0 [^\n]+x_rank%-0%.json\n   1 [^\n]+x_rank%-1%.json\n", "rows are by rank")
training(0, nil, 1, 2, 0).save("one.json")
training(1, nil, 1, 2, 0).save("other.json")
tap.like(show "one.json other.json", "Ranks are numbered in the order of the files",
    "else the order counts")

local short = training(1, 2, 1, 3, 0)
short.n = 0
training(1, 2, 1, 2, 0).save("short_rank1.json")
tap.like(show "rank0.json short_rank1.json", "one file has 4 collectives and another 6",
    "a recording that ended earlier: what both have is matched, which is said")

local other = new_rank(1, 2, 0)
for i = 1, 6 do
    other.kernel(i * 1000, i * 1000, i * 1000 + 500, reduce, 20, args("allreduce", i == 4 and 5 or
        1000000, 2))
end
other.save("other_sizes.json")

-- ---- files that do not belong together -----------------------------------------------

local function refused(line, pattern, name)
    local _, message, status = show(line)
    tap.like(message, "^streamlab: show: " .. pattern .. "\n$", name)
    tap.is(status, 1, "with status 1")
end
refused("rank0.json near_rank0.json", "'rank0%.json' and 'near_rank0%.json' are both of rank 0: "
    .. "files of one run are needed, one of each rank", "two files of one rank")
training(1, 4, 1, 2, 0).save("of_four.json")
refused("rank0.json of_four.json", "'rank0%.json' is of a program with 2 ranks, and "
    .. "'of_four%.json' of one with 4", "files of two programs")
refused("rank0.json other_sizes.json", "'other_sizes%.json' has no collective in common with the "
    .. "other files: [^\n]+", "collectives that differ")
local none = new_rank(1, 2, 0)
none.kernel(10, 20, 30, "gemm", 7)
none.save("none.json")
refused("rank0.json none.json", "'none%.json' is no trace of a rank: it has no collective, [^\n]+, "
    .. "and of 2 files 1 is left", "a file without collectives")

shell.remove(folder)
tap.done()
