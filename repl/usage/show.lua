-- show.lua - the command line of streamlab show.

local shared = import "repl/usage/shared.lua"
local values = import "repl/run/values.lua"

return {
    usage = "streamlab show [options] FILE...",
    about = [[
Analyses a trace file: whether time can be saved, a chart of what ran when, busy
times, overlaps and bounds, and where time was lost. FILE is a .json or
.json.gz, written by streamlab, by the profiler of PyTorch, of JAX or
TensorFlow, by AMD's rocprofv3 or by others in PyTorch's format; what streamlab
record --spools has kept, a folder or one file of it; or the .sqlite that nsys
export --type sqlite makes of a report of Nsight Systems; - is stdin. Several
files, or a folder of traces, are the ranks of one distributed program: which
rank the others waited for, how much of its communication each one hides, the
bandwidth of collectives, and a chart of all on one clock. --by, --step and
files go with ranks, too, --from and --to with their chart.]],
    { title = "what to print (default: all three)",
        { "--chart", "the chart" },
        { "--summary", "busy times, overlaps, lower bounds" },
        { "--explain", [[
            the critical path, where time was lost, and what to do about
            it]] },
        { "--stream NAME", read = values.name, [[
            of the explanation: where the time went until the last
            operation of that stream ended]] },
        shared.by,
        { "--idle", [[
            a table of what the GPU waited for while no kernel ran on
            it, and while nothing at all did]] },
        { "--ranks", "of a folder of spools, too: each process is a rank" },
        { "--json", [[
            the figures, or one of these tables, as one JSON object
            instead]] },
        { "--device N", read = values.device, [[
            only GPU N. Without it each GPU of the file is printed (at
            most 16), one below the other on the same axis; files and
            --json are of the one with the most operations]] } },
    { title = "a part of it, for all that is printed and written",
        { "--step N, --step N..M", read = values.steps, [[
            what was launched during these steps of PyTorch's
            profiler, or ranges called "step 3"]] },
        { "--from TIME, --to TIME", read = values.time_us, [[
            what ran from one time to another, counted from the first
            operation (of the step or range) as in the chart: 12ms,
            3.5us, 2s, 800ns. What reaches beyond is cut]] },
        { "--range NAME", read = values.name, [[
            what was launched in ranges of that name: of NVTX, of
            record_function, operators, modules, functions of Python;
            * stands for anything]] },
        shared.skip,
        shared.count },
    { title = "the chart",
        shared.rows,
        { "--columns N", read = values.columns, "its width, else that of the terminal" } },
    { title = "files",
        { "-o, --output FILE", read = values.timeline_file, field = "files", list = true, [[
            write this instead of printing: .svg, .html, .json or
            .json.gz; .et for ASTRA-sim (a file for each GPU), .goal for
            LogGOPSim; may be given several times. --from, --to and
            --rows hold for an .svg]] },
        { "--theme WHICH", one_of = { "light", "dark" }, [[
            light or dark, of the .svg; without it as the viewer prefers]] },
        { "--counters", [[
            kernels at once, queue length, bandwidths and memory over
            time: below the rows of the .svg, or as counter tracks of
            the .json or .json.gz]] } },
    { title = "others" },
    ending = [[
Exit status: 0 success, 1 the file cannot be read or written, 2 wrong usage.]],
}
