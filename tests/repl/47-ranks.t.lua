-- 47-ranks.t.lua - streamlab show of several files: ranks of one program, written by hand as
-- PyTorch's profiler does, with figures worked out by hand.
package.path = "tests/repl/?.lua;tests/both/?.lua;" .. package.path
local tap = require "tap"
local json = require "json"
local shell = require "shell"
local sh = shell.sh

local folder = shell.folder()

local function show(line)
    return sh("cd \"$(dirname \"$P\")\" && P=$PWD/$(basename \"$P\")\ncd " .. folder
        .. "\n\"$P\" show " .. line)
end

-- ---- traces --------------------------------------------------------------------------

-- A rank's events. Times are us on the clock of all; `ahead_us` is added to them in the file.
local function new_rank(rank, ranks, ahead_us)
    local r = { events = {}, n = 0, rank = rank, ranks = ranks }
    local function add(form, ...) r.events[#r.events + 1] = form:format(...) end
    function r.kernel(issue_us, start_us, end_us, name, stream, args)
        r.n = r.n + 1
        add('{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,'
            .. '"ts":%.3f,"dur":1,"args":{"correlation":%d}}', issue_us + ahead_us, r.n)
        add('{"ph":"X","cat":"kernel","name":"%s","pid":%d,"tid":%d,"ts":%.3f,"dur":%.3f,"args":'
            .. '{"device":%d,"stream":%d,"correlation":%d,"grid":[8,1,1],"block":[128,1,1]%s}}',
            name, rank, stream, start_us + ahead_us, end_us - start_us, rank, stream, r.n,
            args or "")
    end
    function r.step(number, start_us, end_us)
        add('{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%d","pid":9,"tid":9,'
            .. '"ts":%.3f,"dur":%.3f,"args":{}}', number, start_us + ahead_us, end_us - start_us)
    end
    function r.save(path)
        shell.write(folder .. "/" .. path, ('{"schemaVersion":1,%s"traceEvents":[\n%s]}\n'):format(
            r.ranks and ('"distributedInfo":{"backend":"nccl","rank":%d,"world_size":%d},')
                :format(rank, r.ranks) or "", table.concat(r.events, ",\n")))
    end
    return r
end

local function args(name, elems, ranks, group)
    return (',"Collective name":"%s","In msg nelems":%d,"Out msg nelems":%d,"dtype":"Float",'
        .. '"Group size":%d,"Process Group Name":"%s","Process Group Ranks":"[0, 1]"')
        :format(name, elems, elems, ranks, group or "0")
end

local reduce <const> = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
local gather <const> = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"

-- Steps of 10 ms. Each computes for 5 ms, rank `slow` 2 ms longer, then reduces 1,000,000 floats,
-- which takes 0.5 ms from the last start on, and gathers as many in 0.25 ms while 0.1 ms are
-- computed.
local function training(rank, ranks, slow, steps, ahead_us)
    local r = new_rank(rank, ranks, ahead_us)
    for step = 0, steps - 1 do
        local at = 1000000 + step * 10000
        local ready, last = at + 5100 + (rank == slow and 2000 or 0), at + 7100
        r.step(step, at, at + 9999)
        r.kernel(at + 10, at + 100, ready, "gemm", 7)
        r.kernel(at + 20, ready, last + 500, reduce, 20, args("allreduce", 1000000, 2))
        r.kernel(at + 30, last + 500, last + 750, gather, 20, args("_allgather_base", 1000000, 2))
        r.kernel(at + 40, last + 500, last + 600, "gemm", 7)
    end
    return r
end

-- ---- a straggler ---------------------------------------------------------------------

training(0, 2, 1, 3, 0).save("rank0.json")
training(1, 2, 1, 3, 30000).save("rank1.json")
local out, err, code = show "rank1.json rank0.json"
tap.is(err .. code, "0", "several files are shown")
tap.is(out, [[
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
all_reduce       3.815 MiB      3   500 us   500 us       8         8
all_gather       3.815 MiB      3   250 us   250 us      16         8
]], "the clock that is ahead, the rank that is late, and the bandwidth of collectives")

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
refused("rank0.json near_rank0.json", "'rank0%.json' and 'near_rank0%.json' are both of rank 0",
    "two files of one rank")
training(1, 4, 1, 2, 0).save("of_four.json")
refused("rank0.json of_four.json", "'rank0%.json' is of a program with 2 ranks, and "
    .. "'of_four%.json' of one with 4", "files of two programs")
refused("rank0.json other_sizes.json", "'other_sizes%.json' has no collective in common with the "
    .. "other files: [^\n]+", "collectives that differ")
local none = new_rank(1, 2, 0)
none.kernel(10, 20, 30, "gemm", 7)
none.save("none.json")
refused("rank0.json none.json", "'none%.json' has no collective, [^\n]+",
    "a file without collectives")

shell.remove(folder)
tap.done()
