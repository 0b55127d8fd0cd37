return {
    title = "Measuring",
    class = "results",
    order = 65,
    about = [[
These functions measure how long something takes, for one value or for many. `lab.sweep` and `lab.table` give tables of results, which you can show, draw, and save as CSV or JSON lines.
[Probes](probing.md) find out whether a call holds the host or other streams.]],
    entries = {
        {
            name = "lab.measure",
            brief = "measures how long a function and its work on the device take",
            arguments = { { "f", "function", "called without arguments" } },
            options = {
                { "warmup", "integer", "how often f is called before, from 0 to 1e6; its times do not count", default = "3" },
                { "reps", "integer", "how often it is measured, from 1 to 1e6", default = "9" },
                { "hold", "stream[]|boolean", "streams that are held until `f` has enqueued everything; true: the current one", default = "none" },
            },
            returns = {
                { "table", "`median_us`, `min_us`, `max_us`, `spread` and `samples_us`: all of them in the order in which they were measured" },
            },
            blocks = "until the device is idle, after the warm-up and in every repetition",
            errors = {
                { "SL_ESTATE", "called in a host function" },
                { "SL_EINVAL", "with `hold`: `f` waits for the device, or enqueues too slowly to be held back" },
            },
            about = [[
A sample is the time on the host's clock from the call of `f` to the end of `lab.synchronize()` behind it, in us; on the simulator that clock is virtual, and all
samples of the same work are equal, except for rounding to whole nanoseconds. `spread` is `(max_us - min_us) / median_us`: if it is 0.05, differences of a
few per cent mean nothing. The device is the current one, and is idle at both ends of each sample. The median of an even number of samples is the mean of the
middle two. An error in `f` is raised again.

With `hold` it measures the device's time. The host often takes longer to enqueue a short kernel than the kernel runs; then the streams seem to take turns, but only because
the host issues one kernel after the other. With `hold` a kernel on a stream of its own holds the listed streams until `f` has enqueued everything, and a sample is the time from
their release to the end of the last work in them, measured by events. Work in other streams is neither held nor counted. The warm-up decides how long the streams are held; if
this is too short, the sample is taken again, with the streams held for longer, at most 2 s. `f` must not wait for the device.]],
            example = [[
local t = lab.measure(function() lab.spin(2) end, { reps = 5 })
print(#t.samples_us)  --> 5
print(t.median_us > 2000 and t.median_us < 2100)  --> true]],
            pytorch = "torch.utils.benchmark.Timer",
            see = { "lab.sweep", "lab.profile", "event:elapsed_time" },
        },
        {
            name = "lab.sweep",
            brief = "does the same thing for all combinations of some values, and makes a table of the results",
            arguments = {
                { "axes", "table", "a list of `{ name, { values ... } }`; values are numbers, texts, true and false" },
                { "f", "function", "called as `f(point)`, once for each combination; `point.kib` is the value of the axis `kib`" },
            },
            options = {
                { "columns", "string[]", "which of the results are columns, and in which order", default = "all, sorted by name" },
                { "title", "string", "of the table", default = "none" },
                { "plan", "string", "a file that ends in `.jsonl`: the points are written into it, and measured by other processes", default = "none" },
                { "jobs", 'integer|"all"', "how many processes measure the points; \"all\": one for each processor", default = "none: this process" },
                { "warmup", "integer", "as for `lab.measure`", default = "3" },
                { "reps", "integer", "as for `lab.measure`", default = "9" },
                { "hold", "stream[]|boolean", "as for `lab.measure`", default = "none" },
            },
            returns = { { "results", "a row for each point: the values of the axes, then the results; with `plan` nil and a sentence" } },
            errors = {
                { "SL_EINVAL", "`f` returned what is none of the things below, or a value with the name of an axis" },
                { "SL_EUNSUPPORTED", "`plan` or `jobs`, and it is not a script's file that `streamlab` runs" },
                { "SL_EBACKEND", "`jobs`, and one of the processes was killed" },
                { "SL_EIO", "the plan cannot be written" },
            },
            about = [[
The last axis changes fastest. What `f` returns for a point decides what its row holds:

| `f` returns | results of the row |
|---|---|
| a function | it is measured by `lab.measure`: `median_us`, `min_us`, `max_us`, `spread`; in `rows` also `samples_us` |
| a number | `value` |
| a table of named values | these; what is not a number, text or boolean in every row is in `rows` and no column |
| nothing | the point is left out |

The work of `f` itself, before it returns a function, is not measured: make tensors there. An error in `f` is raised again, with the point in its message. A sweep
that takes longer than a second reports its progress on stderr: in a terminal one line, which disappears at the end, elsewhere a line every ten seconds.

**On many machines.** With `plan = "p.jsonl"` nothing is measured: the points go into that file, and `lab.sweep` returns nil and a sentence. [`streamlab work p.jsonl`](program.md#streamlab-work) measures
them, in as many processes and on as many machines as you like, and [`streamlab merge p.jsonl`](program.md#streamlab-merge) makes the table. For each point the script runs again from its beginning, with the
same arguments, as far as this sweep. So `f` must not need what it did for an earlier point; the simulated GPU is new, and `math.random` and `lab.rand` begin with the same numbers. A point's result
is then always the same on a simulated GPU. In one process without a plan, a point also finds what earlier ones left, such as freed memory and calls that are no longer cold: its times may differ by a little.

**On several processors.** With `jobs = 4` four processes of this machine measure the points at once, and `lab.sweep` returns the table. They work as on a plan: each point begins as if it were the first, so that the table is the
same, byte for byte, for any number of processes, one included. It is also that of this process alone, where each point opens a simulated GPU of its own. The tables of earlier sweeps with `jobs` are not measured again. What the
script prints for a point is lost. After the first error in a point the other processes are ended, and the error is raised as a string. Processes on one real GPU disturb each other's times.]],
            example = [[
lab.open{ profile = "textbook" }  -- a GPU with round figures
print(lab.sweep({ { "mib", { 1, 16 } }, { "pinned", { false, true } } }, function(point)
    local x = lab.ones(point.mib << 18, { device = "cpu", pinned = point.pinned })
    return function() x:to("cuda") end
end, { columns = { "median_us" } }))
--> mib  pinned  median_us
-->   1  no          77.81
-->   1  yes         27
-->  16  no        1125
-->  16  yes        313]],
            see = { "lab.measure", "lab.table", "results:show" },
        },
        {
            name = "lab.table",
            brief = "makes a table of a list of named values, to show and to save",
            arguments = {
                { "rows", "table", "a list of tables with named values, one for each row" },
            },
            options = {
                { "columns", "string[]", "which values are columns, and in which order", default = "all, sorted by name" },
                { "title", "string", "stands above the table", default = "none" },
            },
            returns = { { "results", "the table" } },
            errors = {
                { "SL_EINVAL", "the rows are no list, or have values without names; a column that no row has, or one with something else than numbers, texts, true and false" },
            },
            about = [[
Not every row needs to have every value. A column that is not asked for by name is left out where it holds tables, functions or objects; `rows` still has them. The rows
are not copied. `rows`, `columns` and `title` may be changed afterwards; what makes no table then is an error of the method that finds it.]],
            example = [[
local r = lab.table({ { n = 1, us = 6.9 }, { n = 16, us = 11.25 }, { n = 256 } }, { title = "copies" })
r:show()
--> copies
-->   n     us
-->   1   6.9
-->  16  11.25
--> 256   -]],
            pytorch = "torch.utils.benchmark.Compare",
            see = { "lab.sweep", "results:csv", "results:jsonl" },
        },
        {
            name = "results:show",
            brief = "prints the table",
            about = [[
`tostring(r)` gives the same text, and the prompt shows it. Numbers that are not whole have four significant digits, at least all before the point, and stand with their points below
each other; `true` and `false` are `yes` and `no`, and what a row does not have is `-`. All digits are in `rows`, `r:csv()` and `r:jsonl()`.]],
            errors = {
                { "SL_EUNSUPPORTED", "there is no `io` library" },
                { "SL_EINVAL", "the rows, columns or title were changed to what makes no table" },
            },
            example = [[
lab.table({ { pinned = true, us = 1 / 3 }, { pinned = false, us = 200 / 3 } }):show()
--> pinned       us
--> yes      0.3333
--> no      66.67]],
            see = { "results:csv" },
        },
        {
            name = "results:csv",
            brief = "gives the table as CSV, or writes it into a file",
            arguments = { { "file", "string", "the name of the file", default = "none: the text is returned" } },
            returns = { { "string|nil", "the text; nothing if it went into a file" } },
            errors = {
                { "SL_EIO", "the file cannot be written" },
                { "SL_EUNSUPPORTED", "there is no `io` library to write it with" },
                { "SL_EINVAL", "the rows, columns or title were changed to what makes no table" },
            },
            about = [[
As RFC 4180 has it: the names first, lines that end in CR LF, quotes around what needs them. Numbers have all their digits, a missing value is empty; a row that is
empty altogether has quotes, since many readers skip empty lines.]],
            example = [[
local r = lab.table{ { kib = 64, what = "pinned" }, { kib = 1 / 3, what = "a, b" } }
print((r:csv():gsub("\r", "")))
--> kib,what
--> 64,pinned
--> 0.3333333333333333,"a, b"
-->]],
            see = { "results:jsonl", "lab.table" },
        },
        {
            name = "results:jsonl",
            brief = "gives the table as JSON lines, or writes it into a file",
            arguments = { { "file", "string", "the name of the file", default = "none: the text is returned" } },
            returns = { { "string|nil", "the text; nothing if it went into a file" } },
            errors = {
                { "SL_EIO", "the file cannot be written" },
                { "SL_EUNSUPPORTED", "there is no `io` library to write it with" },
                { "SL_EINVAL", "the rows, columns or title were changed to what makes no table" },
            },
            about = [[
One object a row, its names in the order of the columns: what `pandas.read_json(path, lines=True)` reads. Numbers have all their digits. What is missing is `null`, and so
are infinities and what is no number, which JSON does not have. Bytes that are not UTF-8 become U+FFFD.]],
            example = [[
local r = lab.table{ { kib = 64, pinned = true }, { kib = 0.1, pinned = false } }
io.write(r:jsonl())
--> {"kib": 64, "pinned": true}
--> {"kib": 0.1, "pinned": false}]],
            see = { "results:csv", "lab.table" },
        },
        {
            name = "results:plot",
            brief = "draws columns of the table as curves, in the terminal or as an SVG file",
            options = {
                { "x", "string", "the column along the x axis" },
                { "y", "string|string[]", "the column of numbers to draw, or several" },
                { "by", "string", "a column of whose values each has a curve of its own", default = "none" },
                { "facet", "string", "a column of whose values each has a panel of its own, with the same axes", default = "none" },
                { "range", "string[]|boolean", "two columns, the least and the greatest value of a point, between which it has a bar; false: none", default = "`min_us` and `max_us` where `y` is `median_us`" },
                { "log", '"x"|"y"|"xy"', "which axes are logarithmic", default = "none" },
                { "title", "string", "above the plot", default = "the table's" },
                { "file", "string", "the file, whose name ends in .svg", default = "none: the plot is printed" },
                { "theme", '"auto"|"light"|"dark"', "of the file, or of a notebook's picture; auto follows the setting of the reader's system", default = '"auto"' },
                { "width_px", "integer", "the same: its width in pixels, from 200 to 20000", default = "800" },
            },
            errors = {
                { "SL_EINVAL", "a column that there is not, no point to draw, or what has no logarithm" },
                { "SL_EIO", "the file cannot be written" },
                { "SL_EUNSUPPORTED", "there is no `io` library" },
            },
            about = [[
`x` and `y` must be given. Texts, `true` and `false` on the x axis stand side by side in the order in
which they come; points whose x or y is missing are left out. A linear y axis begins at 0 if nothing is below. A column whose name ends in `bytes`, `kib`, `mib` or `gib` has sizes: its ticks are
powers of two, with units. So are those of a logarithmic axis on which all values are powers of two.

In a terminal curves are drawn with dots of braille, where it shows UTF-8, and in colours, where it has them; each point is its curve's letter if there are several. In a file each curve has one of
Okabe's and Ito's colours, which the colour-blind can tell apart, and its own shape of points, which show their values under the mouse. What a plot cannot do is for other programs: `r:csv()`.]],
            example = [[
local r = lab.table{ { kib = 1, us = 7 }, { kib = 64, us = 9 }, { kib = 1024, us = 27 } }
local file = os.tmpname()
r:plot{ x = "kib", y = "us", log = "xy", file = file .. ".svg" }
os.remove(file .. ".svg")
os.remove(file)]],
            see = { "results:csv", "lab.sweep" },
        },
        {
            name = "results.rows",
            type = "table[]",
            brief = "the rows as they were given, or as the sweep made them: named values",
        },
        {
            name = "results.columns",
            type = "string[]",
            brief = "the names of the columns in their order",
        },
        {
            name = "results.title",
            type = "string|nil",
            brief = "what stands above the table",
        },
    },
}
