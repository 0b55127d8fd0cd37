return {
    title = "Ranks",
    class = "ranks",
    order = 79,
    about = [[
A distributed program has a process for each GPU, and each of them leaves a trace of its own. Read together they say which rank the others waited for. `streamlab show rank0.json rank1.json ...` prints it, with a chart of all ranks; `-o all.svg`, `.html` or `.json` writes that.

| | |
|---|---|
| which rank a file is of | PyTorch's `distributedInfo`; else the number behind `rank` in its name; else its place in the list |
| which kernels are one collective | the same process group, and the same place in the order in which the host issued that group's collectives; kinds and sizes must agree |
| clocks | none can end before the last rank has started it, so all ranks end it at nearly the same time: the median of the differences is how far two clocks are apart. It is taken off; up to 20 us they agree, as those of one host do |
| waited | the time inside collectives until the last rank has started; `exchange` is from there on, the collective itself |
| late | how much later the last rank starts than the median of the others; in a step the sum of this. Where the GPU computes meanwhile, a rank that stays behind is late for one collective after the other, and the step is longer by about the most of them |
| bandwidth | bytes, of the larger of what a rank reads and writes, by the time from the last start to the end; that of the bus is this times NCCL's factor, 2 (n - 1) / n for an all-reduce, (n - 1) / n for an all-gather, reduce-scatter and all-to-all |

Sends and receives between two ranks are not matched. Of several GPUs in one file the one with the most operations counts.

A file that is no trace, or that has no collective, is left out, which `ranks.doubts` says. So it says which ranks have no file, what is in doubt about the files themselves, and if one had been recorded before another one began.]],
    entries = {
        {
            name = "lab.ranks",
            brief = "reads the files of a distributed program's ranks together",
            arguments = { { "files", "string[]", "a file for each rank, as `lab.load` reads them" } },
            options = {
                { "step", "integer", "times and waits are of this step of PyTorch's profiler, or range called `\"step 3\"`; clocks are still found from all collectives" },
                { "last_step", "integer", "and of the steps up to this one", default = "`step`" },
            },
            returns = { { "ranks", "what they say together" } },
            errors = {
                { "SL_EIO", "a file cannot be read" },
                { "SL_EINVAL", "the files do not belong together: two of the same rank, of programs with different numbers of ranks, without a collective in common; fewer than two are traces" },
                { "SL_EUNSUPPORTED", "files are not opened here" },
            },
            about = [[One file at a time is in memory.]],
            example = [[
local files, comm = {}, lab.comm{ devices = { lab.device() } }
for rank, ms in ipairs{ 1, 3 } do
    files[rank] = os.tmpname() .. ".json"
    lab.profile(function() lab.spin(ms) comm:all_reduce(lab.ones(8)) end):save(files[rank])
end
print(lab.ranks(files))  --> ranks (2 files, 1 collective in common)]],
            see = { "lab.load", "ranks:text" },
        },
        {
            name = "ranks:text",
            brief = "who waited for whom, a table of the ranks and one of their collectives",
            options = {
                { "by", "string", "a table of `ranks:by` instead" },
                { "columns", "integer", "the width of the lines, from 1; at least 24 and at most 80 are used", default = "80" },
            },
            returns = { { "string", "the lines, each with its newline" } },
            example = [[
local files, comm = {}, lab.comm{ devices = { lab.device() } }
for rank = 1, 2 do
    files[rank] = os.tmpname() .. ".json"
    lab.profile(comm.all_reduce, comm, lab.ones(8)):save(files[rank])
end
print(lab.ranks(files):text():match("[^\n]+"))  --> 2 ranks, with 1 collective in common.]],
            see = { "ranks:json" },
        },
        {
            name = "ranks:json",
            brief = "all figures, as one JSON object",
            options = { { "by", "string", "the table of `ranks:by` instead: its lists have a value for each rank of `ranks`, or `null`" } },
            returns = { { "string", "the members are those of the fields, and `collectives_in_common`, `clocks_apart` and `imbalance`, the most that a rank computes by the mean" } },
            example = [[
local files, comm = {}, lab.comm{ devices = { lab.device() } }
for rank = 1, 2 do
    files[rank] = os.tmpname() .. ".json"
    lab.profile(comm.all_reduce, comm, lab.ones(8)):save(files[rank])
end
print(lab.ranks(files):json():match('"collectives_in_common": %d'))  --> "collectives_in_common": 1]],
            see = { "ranks:text" },
        },
        {
            name = "ranks:by",
            brief = "operations of all ranks by what they belong to: how far the ranks are apart",
            arguments = { { "key", "string", "`\"kernel\"`, `\"step\"`, ..., as in `timeline:by`" } },
            returns = { { "table[]", "the longest first, steps in their order; each has the fields below" } },
            errors = {
                { "SL_EIO", "a file cannot be read any more" },
                { "SL_EINVAL", "there is no such key" },
            },
            about = [[
It reads the files again, one at a time.

| field | |
|---|---|
| `name`, `full_name` | as in `timeline:by`, by which rows of two ranks are the same |
| `times_us`, `counts` | by the rank's number: durations, added up, of a step how long it took; operations. A rank that has none is not in them |
| `slowest`, `fastest` | numbers of ranks |
| `spread` | the slowest rank's time by the fastest one's; `nil` if that is 0 |]],
            example = [[
local files, comm = {}, lab.comm{ devices = { lab.device() } }
for rank, ms in ipairs{ 1, 3 } do
    files[rank] = os.tmpname() .. ".json"
    lab.profile(function() lab.spin(ms) comm:all_reduce(lab.ones(8)) end):save(files[rank])
end
local row = lab.ranks(files):by("kernel")[1]
print(row.name, row.slowest, ("%.1f"):format(row.spread))  --> spin	1	3.0]],
            see = { "timeline:by", "ranks:text" },
        },
        {
            name = "ranks:timeline",
            brief = "all ranks on one clock, as a timeline",
            returns = { { "timeline", "with a device for each rank, of the rank's number; streams and engines are called `\"rank 1: compute\"`" } },
            errors = {
                { "SL_EIO", "a file cannot be read any more" },
                { "SL_EINVAL", "there are more than 64 ranks" },
                { "SL_ENOMEM", "no memory for all operations at once" },
            },
            about = [[
It reads the files again, and has all of their operations, calls and ranges in memory at once: about 200 bytes an operation. With `rows = "engines"` charts and pictures have a row for what a rank computes and one for what it communicates, and those of its copies. A saved page says which rank the others waited for. A saved `.json` has a process for each rank, and is read again as this timeline.]],
            example = [[
lab.open{ profile = "textbook" }  -- a GPU with round figures
local files, comm = {}, lab.comm{ devices = { lab.device() } }
for rank, ms in ipairs{ 1, 3 } do
    files[rank] = os.tmpname() .. ".json"
    lab.profile(function() lab.spin(ms) comm:all_reduce(lab.ones(8)) end):save(files[rank])
end
lab.ranks(files):timeline():show{ rows = "engines", columns = 60 }
--> rank 0: compute |........................:############|  33%
--> rank 0: comm    |....................................o|  <1%
--> rank 1: compute |#####################################| 100%
--> rank 1: comm    |....................................o|  <1%
-->                 ++-----------+-----------+-----------++ busy
-->                  0           1           2           3 ms
-->                  # kernel  @ collective  . idle
-->                  : o partly busy]],
            see = { "timeline:show", "timeline:save" },
        },
        {
            name = "ranks.ranks",
            type = "table[]",
            brief = "a row for each rank, in their order",
        },
        {
            name = "ranks.steps",
            type = "table[]",
            brief = "a row for each step in which ranks waited",
        },
        {
            name = "ranks.collectives",
            type = "table[]",
            brief = "a row for each kind and size of collectives",
        },
        {
            name = "ranks.doubts",
            type = "string[]",
            brief = "what should be known before these are believed",
        },
    },
    more = [[
Rows have these fields; times are in us:

| | |
|---|---|
| `ranks` | `rank`, `file`, `operations`, `makespan_us`; `compute_us`, in which kernels ran that are no collectives; `waited_us`, `exchange_us`, `covered_us`, `exposed_us`; `collectives`, `matched`, how many of them other files have, too; `last`, in how many it started last, `late_us`, by how much in the median; `last_steps` and `late_in_step_us`, the same of steps, and `most_in_step_us`, of a step's `most_us`; `clock_us`, ahead of the first rank's, `spread_us`, within which nine in ten ends are, `drift_us`, from the first to the last third |
| `steps` | `step`, its number; `rank`, that the others waited for longest; `late_us`, and `most_us`, the most in one collective |
| `collectives` | `kind`, `bytes`, `ranks` of the group, `count`, `median_us` and `best_us`, from the last start on; `gb_per_s` and `bus_gb_per_s` of the median, `best_gb_per_s` and `best_bus_gb_per_s`; nil where the size is not known |]],
}
