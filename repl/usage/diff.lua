-- diff.lua - the command line of streamlab diff.

local shared = import "repl/usage/shared.lua"
local values = import "repl/run/values.lua"

return {
    usage = "streamlab diff [options] A B",
    about = [[
Compares two trace files: the charts on one scale of time, makespan and lower
bound, busy times and overlaps by kind, the makespan's parts; says what changed
most, and how much time each could still save. A and B are .json or .json.gz,
or a report of Nsight Systems as .sqlite; - is stdin.]],
    { title = "what to print",
        { "--no-chart", "all but the charts" },
        { "--json", [[
            the figures of both and their differences, as one JSON
            object instead]] } },
    { title = "the charts",
        { "--from TIME, --to TIME", read = values.time_us, [[
            a part of them, from the first operation on: 12ms, 3.5us, 2s]] },
        shared.rows,
        { "--columns N", read = values.columns, "their width, else that of the terminal" } },
    { title = "others" },
    ending = [[
Exit status: 0 success, 1 a file cannot be read, 2 wrong usage.]],
}
