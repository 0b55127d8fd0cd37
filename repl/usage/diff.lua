-- diff.lua - the command line of streamlab diff.

local shared = import "repl/usage/shared.lua"
local values = import "repl/run/values.lua"

return {
    usage = "streamlab diff [options] A B",
    about = [[
Compares two trace files: the charts on one scale of time, makespan and lower
bound, busy times and overlaps by kind, the makespan's parts; says what changed
most, and how much time each could still save. A and B are what streamlab show
reads: .json or .json.gz, what streamlab record --spools has kept, or a report
of Nsight Systems as .sqlite; - is stdin.]],
    { title = "what to print",
        { "--no-chart", "all but the charts" },
        { "--by KEY", one_of = { "kernel", "operator", "module", "line", "step" }, [[
            instead: which kernels, operators, modules, lines or steps
            were added or removed, or are slower or faster, and from
            which of them the change of the makespan comes]] },
        { "--json", [[
            the figures of both and their differences, or that table, as
            one JSON object instead]] },
        { "--markdown", with = "by", "that table for a comment on a change" } },
    { title = "as a test",
        { "--fail-above PERCENT", read = values.percent, field = "limit", [[
            exit status 1 if B's makespan is longer than A's by more
            than that, as 3%]] },
        { "--junit FILE", read = values.some, with = "by", [[
            JUnit XML: a test for the makespan and for each row of --by.
            One fails that takes longer by more than --fail-above, of
            A's makespan]] } },
    { title = "the charts",
        { "--from TIME, --to TIME", read = values.time_us, [[
            a part of them, from the first operation on: 12ms, 3.5us, 2s]] },
        shared.rows,
        { "--columns N", read = values.columns, "their width, else that of the terminal" } },
    { title = "others" },
    ending = [[
Exit status: 0 success, 1 a file cannot be read or written, or B takes longer
than --fail-above allows, 2 wrong usage.]],
}
