-- merge.lua - the command line of streamlab merge.

local values = import "repl/run/values.lua"

local plot_readers <const> = { x = values.name, y = values.name, by = values.name,
                               log = values.one_of { "x", "y", "xy" } }
local file_readers <const> = { svg = values.file ".svg", jsonl = values.some }

return {
    usage = "streamlab merge PLAN.jsonl [options]",
    about = [[
Puts together what streamlab work has made of a plan: the same table, the same
bytes as from one process. Without options it is printed. If points are missing
or failed, stderr says which, and nothing is written.]],
    { title = "of any plan",
        { "-o, --output FILE", read = values.some, [[
            what the plan's command would write to FILE. Of a sweep: a table
            (.csv, .jsonl) or a plot (.svg)]] },
        { "--partial", "do without the points that have no result" } },
    { title = "of a sweep",
        { "-x, -y, --by NAME, --log x|y|xy", read = plot_readers, [[
            of a plot, as of results:plot; without them the first axis,
            the first column behind the axes, and the second axis]] },
        { "--run", [[
            run the script, in which lab.sweep gives the table: what it
            prints, draws and saves]] } },
    { title = "of a class",
        { "--format FORMAT", one_of = values.result_formats, "as of streamlab lab grade" } },
    { title = "of a comparison",
        { "--json, --svg FILE, --jsonl FILE", read = file_readers, "as of streamlab compare" } },
    { title = "others" },
    ending = [[
Exit status: 0 success, 1 points are missing or failed, or a file cannot be read
or written, 2 wrong usage.]],
}
