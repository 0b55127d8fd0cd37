-- record.lua - the command line of streamlab record.

local shared = import "repl/usage/shared.lua"
local values = import "repl/run/values.lua"

return {
    usage = "streamlab record [options] -- COMMAND [ARGUMENT ...]",
    about = [[
Runs a program as it is, records what it gives its GPUs through CUDA, and prints
what `streamlab show` does of it. The program needs no change, and may use
PyTorch, CuPy, JAX or plain CUDA; its first use of a GPU begins the recording.]],
    {
        title = "what to record",
        { "--for TIME", read = values.time_us, [[
            only so long from the program's first use of a GPU on: 500ms,
            5s; the program goes on]] },
        { "--children", [[
            all processes that use a GPU in one timeline, not only the
            one with the most operations]] },
    },
    {
        title = "which part of it to print and to write (default: all)",
        { "--range NAME", read = values.name, [[
            what was launched in ranges of NVTX of that name; * stands
            for anything]] },
        shared.skip,
        shared.count,
    },
    {
        title = "where in the program",
        { "--python", [[
            the file, line and function of Python at which each call is
            made: CPython 3.10 to 3.14]] },
        { "--stacks", [[
            the same of C, C++ and CUDA: the function, and the line where
            the program has been compiled with -g]] },
    },
    {
        title = "what to print (default: chart, figures and explanation)",
        shared.by,
        { "--quiet", "nothing about the recording" },
    },
    {
        title = "files",
        { "-o, --output FILE", read = values.timeline_file, field = "files", list = true, [[
            write the timeline, too: .json, .json.gz, .svg, .html, .et or
            .goal; may be given several times]] },
        { "--spools FOLDER", read = values.some, [[
            keep what each process has left, a file each, which streamlab
            show reads, in a folder that has none yet; without it they
            are removed]] },
    },
    { title = "others" },
    ending = [[
Exit status: the program's, 128 + N if signal N ended it; 126 or 127 if it
cannot be run; 1 a file cannot be written, 2 wrong usage.]],
}
