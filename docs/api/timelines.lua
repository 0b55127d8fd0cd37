-- What charts have in common.
local from_us <const> =
    { "from_us", "number", "where the chart begins, from the first span's start", default = "0" }
local to_us <const> =
    { "to_us", "number", "where it ends, from the first span's start", default = "the last span's end" }
local rows <const> =
    { "rows", '"streams"|"engines"', "what a row stands for", default = '"streams"' }

return {
    title = "Timelines",
    class = "timeline",
    order = 70,
    about = [[
A timeline is the result of a recording: which operation ran when, on which stream and engine, and when the host made each call. `lab.profile` and
`lab.record` make one, `lab.load` reads one from a trace file. It does not need its device any more, and stays readable. While it still records, everything except `stop` and
`recording` raises `SL_ESTATE`.

**Times** are in us, from the beginning of the recording; only the options `from_us` and `to_us` of charts count from the first span's start. A
**span** is one operation on the device.

- A **kind** is `"kernel"`, `"collective"`, `"memcpy_h2d"`, `"memcpy_d2h"`, `"memcpy_d2d"`, `"memcpy_p2p"`, `"memset"` or `"host_func"`.
- An **engine** is `"compute"`, `"comm"`, `"h2d"`, `"d2h"`, `"p2p"` or `"host"`; a GPU with one copy engine has `"copy"` instead of the three before the last; on a GPU without copy engines everything but collectives and host functions is `"compute"`.
  A collective is the kernel of a communication between ranks: of `lab.comm`, in traces of other programs of NCCL or RCCL, or what the file calls one. `"comm"` is no part of the GPU: these kernels run on a few SMs, beside others.
  As a selection, `"h2d"` and `"d2h"` mean the copies in that direction on every GPU. Every GPU has engines of its own; without `device` a selection is of all of them.
- A **selection** is a stream, a kind, an engine, or a table `{ stream =, device =, kind =, engine =, name = }` of which everything
  must match; `name` is a span's whole name. A stream may have been closed since; in the table it may also be an id, or
  a name that only one recorded stream has. A name that no stream has is `SL_ENOTFOUND`, a name that several streams
  have is `SL_EINVAL`. A selection may match no span: its busy time is 0.]],
    entries = {
        {
            name = "timeline:stop",
            brief = "ends the recording",
            returns = { { "timeline", "the timeline itself, which can be read from now on" } },
            blocks = "until the machine's devices are idle; not at all if the recording has ended already",
            errors = { { "SL_ESTATE", "called in a host function" } },
            about = [[
Stopping it again does nothing. If the wait for the device fails, or Ctrl-C ends it, the recording ends anyway, without the operations that had not
completed.]],
            example = [[
local tl = lab.record()
lab.spin(3)
print(tl:stop().makespan_us // 1000 .. " ms")  --> 3.0 ms]],
            pytorch = "torch.profiler.profile.stop",
            see = { "lab.record" },
        },
        {
            name = "timeline:show",
            brief = "prints the Gantt chart",
            options = {
                { "columns", "integer", "the chart's width, from 20 to 4096", default = "the terminal's" },
                { "unicode", "boolean", "blocks and triangles instead of ASCII signs", default = "whether the locale is UTF-8" },
                { "colour", "boolean", "coloured by kind; colour only repeats what the signs say", default = "as --color, NO_COLOR and the terminal say" },
                from_us, to_us, rows,
                { "beside", "timeline", "a complete timeline whose chart this one is to stand above or below: both have the same columns and the same scale" },
            },
            errors = {
                { "SL_ESTATE", "the timeline is still recording" },
                { "SL_EINVAL", "the width is out of its range, or nothing lies between from_us and to_us" },
            },
            about = [[
After each row is the percentage of the time in which it was busy. A sign shows the kind of work that fills most of its cell; a lighter or hollow sign means that the cell is
only partly busy. Each operation leaves a mark, also a very short one. The legend below names the signs that were used.

A terminal less than 20 or more than 4096 columns wide (`COLUMNS`, else the terminal itself) gets a chart for 20 or 4096.]],
            example = [[
local side = lab.stream{ name = "side", non_blocking = true }
local tl = lab.profile(function()
    lab.spin(4)
    lab.spin(2, { stream = side })
end)
tl:show{ columns = 40, unicode = false, colour = false }
--> default |#########################| 100%
--> side    |#############............|  50%
-->         ++-----+-----+-----+-----++ busy
-->          0     1     2     3     4 ms
--> # kernel  . idle]],
            see = { "timeline:text", "timeline:save", "timeline:explain" },
        },
        {
            name = "timeline:text",
            brief = "gives the Gantt chart as a string",
            options = {
                { "columns", "integer", "the chart's width, from 20 to 4096", default = "80" },
                { "unicode", "boolean", "blocks and triangles instead of ASCII signs", default = "false" },
                { "colour", "boolean", "with the terminal's codes for colours", default = "false" },
                from_us, to_us, rows,
                { "beside", "timeline", "a complete timeline whose columns and scale this chart has" },
            },
            returns = { { "string", "the lines of the chart, each with its newline" } },
            errors = {
                { "SL_ESTATE", "the timeline is still recording" },
                { "SL_EINVAL", "the width is out of its range, or nothing lies between from_us and to_us" },
            },
            about = [[Without options the same timeline gives the same text in every terminal.]],
            example = [[
local tl = lab.profile(function()
    lab.spin(1)
    lab.host_work(2)
    lab.spin(1)
end)
print(tl:text{ columns = 36 }:match("[^\n]+"))  --> default |#######.......#######|  67%]],
            see = { "timeline:show" },
        },
        {
            name = "timeline:summary",
            brief = "prints what could be gained, busy times, overlaps, how much was busy at once, bounds",
            options = {
                { "by", "string", "print this table of `timeline:by` instead, which is as wide as `columns`" },
                { "idle", "boolean", "print the table of `timeline:idle` instead", default = "false" },
                { "verdict", "boolean", "begin with the sentence of `timeline:verdict`", default = "true" },
                { "columns", "integer", "the width of the lines, from 1; at least 24 and at most 80 are used", default = "the terminal's" },
            },
            errors = {
                { "SL_ESTATE", "the timeline is still recording" },
                { "SL_EINVAL", "`by` is no key of `timeline:by`, or given with `idle`" },
                { "SL_ENOMEM", "no memory for the explanation" },
            },
            about = [[
Busy times are by engine, and also by kind if an engine did several kinds of work. Overlaps are those of each pair of engines, as a part of the busy time of the shorter one; of several GPUs of each one's own. "Busy at
once" says how long no engine, one engine, two engines ... were busy at the same time; the same for kernels. Both are left out if there was no overlap. The bounds are those of `tl:bounds()`.
Of a program that `streamlab record` has recorded, what it allocated is listed by kind of memory (`tl:memory`); of a trace with PyTorch's samples of memory (`profile_memory=True`), the most that was allocated and reserved, and when.
Of a timeline that keeps only a summary it prints busy times and overlaps of engines, busy times of streams, and the sums of the 20 names that have the most time.]],
            example = [[
lab.open{ profile = "textbook" }  -- a GPU with round figures
lab.profile(lab.spin, 2):summary()
--> Nothing to gain: no wait made the makespan of 2.00 ms longer.
-->
--> makespan                      2.00 ms
--> host wall time                2.01 ms
-->
--> engine                           busy   of makespan     spans
--> compute                       2.00 ms       100.0 %         1
-->
--> work                             time
--> one after the other           2.00 ms
--> busiest engine (compute)      2.00 ms
--> critical path                 2.00 ms
-->
--> at best, in the same streams     time    makespan / best
--> with your host waits          2.00 ms               1.00
--> without any host wait         2.00 ms               1.00]],
            see = { "timeline:verdict", "timeline:json", "timeline:bounds", "timeline:busy_us" },
        },
        {
            name = "timeline:explain",
            brief = "prints what there is to gain, where the time went, where it was lost, and what to do about it",
            options = {
                { "verdict", "boolean", "begin with the sentence of `timeline:verdict`", default = "true" },
                { "columns", "integer", "the width of the lines, from 1; at least 24 are used", default = "the terminal's" },
                { "stream", "stream|string|integer", "a stream, its name or its id: only what its last operation waited for" },
            },
            errors = {
                { "SL_ESTATE", "the timeline is still recording" },
                { "SL_ENOTFOUND", "the timeline has no such stream, or no operation of it" },
                { "SL_ENOMEM", "no memory for the explanation" },
            },
            about = [[
It prints the verdict (`timeline:verdict`); then the critical path, the chain of waits back from the end, whose parts
add up to the makespan; then the losses: the times in which an engine stood still before more work reached it, and the
times in which work was ready but waited. The list begins with the loss that would gain most if it ended, and says how
much it would gain. On the simulator the causes are known. On a real GPU, and for traces that do not contain them, they
are inferred from the records, and the text says so.

It quotes lines of the script, and the names of variables in its advice come from these lines. It can do so if the
script is a file that has not changed since it ran, a text given to `load`, or typed in the REPL; for a loaded trace, if
the trace contains these lines.

A stream can be late though the makespan is not: an urgent one that waits for others. `stream =` asks about it, and prints
where the time until its last operation's end went, in place of all else.

If the makespan's range is known (`timeline.range_us`), it says so, and whether the three largest losses keep their order
in all draws: "In 6 of 20 draws ... loses more time than ..., and comes before it."

`timeline:causes` lists the names of the causes. [docs/causes.md](../causes.md) has a script for each cause, with its
output and a remedy; [docs/design/explanations.md](../design/explanations.md) says how causes are found.]],
            example = [[
lab.open{ profile = "textbook" }  -- a GPU with round figures
local step = load("lab.spin(1) lab.host_work(3) lab.spin(1)", "@step.lua")
lab.profile(step):explain{ columns = 80 }
--> To gain by this cause alone: 2.00 ms of 4.00 ms (2.00 x): the host is busy in
--> lab.host_work at step.lua:1.
--> Critical path: where the total time went, from the last operation backwards
-->   3.00 ms  the host busy in lab.host_work at step.lua:1
-->   1.00 ms  spin in the default stream at step.lua:1 running
-->   3.80 us  the GPU waits for the host to issue spin in the default stream at
-->            step.lua:1
--> Where time was lost (known exactly: the GPU is simulated)
-->  1. 2.00 ms to gain: No kernel ran for 2.00 ms: the host was busy in
-->     lab.host_work at step.lua:1
-->     -> Issue the GPU's work first, and let the host work while it runs
-->     1 more loss, 3.80 us in total]],
            see = { "timeline:verdict", "timeline:causes", "timeline:makespan_parts", "timeline:diff" },
        },
        {
            name = "timeline:verdict",
            brief = "says whether there is anything to gain, how much, and where",
            options = {
                { "inferred", "boolean", "inferred from the records also where the simulator knows the causes", default = "false" },
            },
            returns = { { "table", "the fields below" } },
            errors = {
                { "SL_ESTATE", "the timeline is still recording" },
                { "SL_ENOMEM", "no memory for the explanation" },
            },
            about = [[
| field | |
|---|---|
| `sentence` | in words |
| `good` | true if ending any one cause gains less than 5 % of the makespan, and no large loss would be overlooked: the schedule is good, and the other findings matter little |
| `gain_known` | false if little seems to be gained, but a cause has lost more than a fifth of the makespan, and no engine was so busy that this explains it; or if the GPU was idle for a fifth |
| `gain_us` | by how much the makespan would be shorter if the leading cause ended, and no other; `nil` if that is not known |
| `most_us` | by how much at most, if all causes ended that a program can end |
| `lost_us` | where the gain is not known: what the leading cause has lost; else `nil` |
| `ratio` | how many times faster that is: the makespan divided by the makespan without the cause; `nil` if that is not known |
| `cause` | the leading cause, as in `timeline:causes`; `nil` if nothing gains anything |
| `joint` | true if no single cause gains 5 %, but all causes that the program can end gain 5 % together; then `gain_us` is their gain |
| `pause` | of another program's timeline, in words, if nothing ran on any GPU for a quarter of the makespan at a stretch: a part of it tells more (`timeline:part`); else `nil` |
| `recording` | of a program that `streamlab record` has recorded, or a script on a real GPU, what recording took, in words; else `nil`, as the next three |
| `recorded_calls` | in how many calls recording took something of the host's time, |
| `recording_host_us` | and how much in all, as far as it is known: the sum of `recording_us` of spans and calls |
| `recording_us` | an estimate of how much longer the makespan is for that; the gains are of a makespan without it |

A gain is computed by a simulation of the recorded schedule without the cause
([docs/design/explanations.md](../design/explanations.md)). Only you know whether the program
needs a wait, and a real GPU without pauses gets warmer and runs its kernels some percent slower.]],
            example = [[
local tl = lab.profile(function()
    lab.spin(1)
    lab.host_work(3)
    lab.spin(1)
end)
print(tl:verdict().cause)  --> host_work
print(("%.1f"):format(tl:verdict().ratio))  --> 2.0]],
            see = { "timeline:explain", "timeline:causes" },
        },
        {
            name = "timeline:diff",
            brief = "prints two timelines side by side, and what moved in words",
            arguments = { { "other", "timeline", "B; the timeline itself is A" } },
            options = {
                { "names", "string[]", "two strings, printed above it, that say what A and B are", default = "no such lines" },
                { "columns", "integer", "the width of the lines, from 1; at least 24 and at most 80 are used", default = "the terminal's" },
                { "by", "string", "print this table of `timeline:changes` instead, which is as wide as `columns`, and a sentence on where the difference of the makespans comes from" },
                { "form", "string", "of that table: `\"text\"`, `\"markdown\"` or `\"json\"`", default = "\"text\"" },
            },
            errors = { { "SL_ESTATE", "one of the two is still recording" }, { "SL_EINVAL", "there is no such key or form" } },
            about = [[
Makespans, bounds, busy times and overlaps by kind, and the parts of the makespan, in columns; then what moved by 1 % of the makespan or more, and the verdict of
each (`timeline:verdict`). To have the charts as well, on one scale: `a:show{ beside = b }` and `b:show{ beside = a }`, or `streamlab diff A B`.]],
            example = [[
lab.open{ profile = "textbook" }  -- a GPU with round figures
local slow, fast = lab.profile(lab.spin, 2), lab.profile(lab.spin, 1)
slow:diff(fast)
-->                                   A          B    change
--> makespan                    2.00 ms    1.00 ms   -50.0 %
--> lower bound                 2.00 ms    1.00 ms   -50.0 %
--> makespan / bound               1.00       1.00
--> host wall time              2.01 ms    1.01 ms   -49.8 %
-->
--> busy                              A          B    change   spans A   spans B
--> kernel                      2.00 ms    1.00 ms   -50.0 %         1         1
-->
--> no two kinds of work overlap, neither in A nor in B
-->
--> the makespan's parts              A          B    change
--> kernel running              2.00 ms    1.00 ms   -50.0 %
-->
--> what moved
-->   makespan 2.00 ms -> 1.00 ms (-50.0 %)
-->   kernels now take 1.00 ms (was 2.00 ms)
-->
--> what there is to gain
-->   A: Nothing to gain: no wait made the makespan of 2.00 ms longer.
-->   B: Nothing to gain: no wait made the makespan of 1.00 ms longer.]],
            see = { "timeline:show", "timeline:explain", "timeline:changes" },
        },
        {
            name = "timeline:changes",
            brief = "lists what was added, removed, slower or faster in another timeline",
            arguments = {
                { "other", "timeline", "B; the timeline itself is A" },
                { "key", "string", "`\"kernel\"`, `\"operator\"`, `\"module\"`, `\"line\"` or `\"step\"`, as in `timeline:by`" },
            },
            returns = { { "table[]", "rows with the fields below, the largest change first" } },
            errors = {
                { "SL_ESTATE", "one of the two is still recording, or keeps only a summary" },
                { "SL_EINVAL", "there is no such key" },
            },
            about = [[
Rows of the two are the same if their whole names are. Steps of which none has the same name in both are compared in their order.

| field | |
|---|---|
| `name`, `full_name` | as in `timeline:by` |
| `change` | `"added"` (A has none), `"removed"` (B has none), `"slower"` or `"faster"` (B's take longer or shorter in all, by a hundredth at least), else `"same"` |
| `count_a`, `count_b` | operations |
| `time_a_us`, `time_b_us` | their durations, added up; of a step its own |
| `mean_a_us`, `mean_b_us` | the mean duration, `nil` without an operation |
| `part_a_us`, `part_b_us` | its part of each makespan (`part_us` of `timeline:by`); of a step its duration |
| `share` | of the change of the makespan, negative where the row changed the other way; `nil` if the makespans are the same |

The list has `idle_a_us` and `idle_b_us`, the time of each makespan in which nothing ran (not of steps): with these the parts add up to the makespans; and `sentence`, which says where the change of the makespan comes from.]],
            example = [[
lab.open{ profile = "textbook" }  -- a GPU with round figures
local slow, fast = lab.profile(lab.spin, 3), lab.profile(lab.spin, 1)
local row = slow:changes(fast, "kernel")[1]
print(row.name, row.change, row.time_a_us // 1000, row.time_b_us // 1000)  --> spin	faster	3.0	1.0]],
            see = { "timeline:diff", "timeline:by" },
        },
        {
            name = "timeline:spans",
            brief = "gives all operations as a list of tables",
            returns = { { "table[]", "in the order of issue; each has the fields below" } },
            errors = { { "SL_ESTATE", "the timeline is still recording" } },
            about = [[
| field | |
|---|---|
| `name` | the name of the operation: `"matmul_f32"`, `"Memcpy HtoD (Pinned -> Device)"`, `"Memset (Device)"`, `"host_func"` |
| `kind`, `engine` | one of those above |
| `stream`, `stream_id` | the stream's name and id; 0 is the NULL stream (ids of streams of a second GPU have the GPU in them: `16777216` is its NULL stream), also in a trace that another program wrote, where `stream` says its number: "stream 7" |
| `device` | the number of the GPU that it ran on |
| `start_us`, `end_us` | when it ran on the device |
| `host_start_us`, `host_end_us` | the call that enqueued it. A `copy_` that blocks is two calls, the copy and a synchronisation of its stream: the span has the first only. What recording took of it is taken off its end |
| `recording_us` | how much that was (`streamlab record` and CUPTI); `nil` where nothing was taken off. On a real GPU `lab.record` measures it once, when CUPTI comes: by how much the launch of an empty kernel takes longer. Where other work has used the processor's caches it is more than that |
| `bytes` | what a copy or memset moved; else 0 |
| `correlation` | its number, from 1, in the order of issue. Events, waits and calls of the host have numbers between those of spans |
| `where` | the script's line that enqueued it: `"puzzler.lua:34"`; `""` if not known |
| `call` | CUDA's name of the call that enqueued it, as traces have it: `"cudaLaunchKernel"`, `"cudaLaunchHostFunc"` |
| `blocks`, `threads` | the grid of a kernel and the threads of a block. On a real GPU, if cuBLAS has split a `matmul`, they are those of its longest kernel; if times come from events, those of a `matmul` are 0. For operations that are not kernels they are 0, except for memsets and copies within the device on the simulator |
| `registers`, `shared_bytes` | what a kernel needs of an SM besides its threads: registers of each thread, and shared memory of each block in bytes (what the code declares and what the launch asks for, added); for the longest kernel as above. On the simulator they are those of its model, by which it places blocks: there only tensor-core products, `lab.spin` and kernels of one's own have shared memory. `nil` if not known: if times come from events, in traces without these figures, and for operations that are not kernels |
| `kernels` | the number of kernels of the operation, if there were several: cuBLAS may split a `matmul` and add up its parts in a second kernel; on the simulator a `matmul` does so if the profile says so. `start_us` is that of the first kernel, `end_us` that of the last one. `nil` for one kernel |
| `host_waited` | true if the call that enqueued it returned only when it had ended: copies into pageable memory, `lab.cuda.memcpy` of pinned memory. A `copy_` from or to pinned memory waits in its second call and has false |
| `guessed` | true if nothing says how long a kernel of your own takes on the simulator, so that each of its tensors is moved once; else `nil` |
| `thread` | the number of the `lab.thread` that enqueued it, 0: the script's first one; `nil` where all calls are of one thread |
| `thread_name` | of a trace that names its threads: `"pt_autograd_0"`; `nil` where all calls are of one thread, or it has no name |
| `collective` | of one rank's part of a collective a table, else `nil`: `name`, `op` if it reduces, `dtype`, `in_elems`, `out_elems`, `rank`, `ranks` (how many), `peer` (root, destination or source), `comm` and `number`: with the same two, on all ranks, it is the same collective. `bytes` is the size of the larger of input and output |
| `node`, `graph`, `launch` | of what a launch of a graph ran: which node it is in `graph:nodes()` and `graph:edges()`, the graph's name, and the `correlation` of the call in `tl:calls()`; else `nil`. `call` is that call's name, `where` the line that was captured. In a trace that another program wrote, `node` and `graph` have the file's numbers, "graph 3"; where it has none, nodes are counted in the order of their starts and `graph` is `""`; `launch` is `nil` if the call is not in the file |
| `symbol` | the name of the kernel that ran on a real GPU, as NVIDIA's tools show it; `nil` on the simulator, and for operations that are not kernels |]],
            example = [[
local tl = lab.profile(function()
    local a = lab.rand(64, 64)
    a:cpu()
end)
local last = tl:spans()[tl.span_count]
print(last.kind)  --> memcpy_d2h
print(last.bytes)  --> 16384]],
            pytorch = "torch.profiler.profile.events",
            see = { "timeline:busy_us", "timeline:calls", "timeline:causes" },
        },
        {
            name = "timeline:calls",
            brief = "gives the host's calls that enqueue no operation as a list of tables",
            returns = { { "table[]", "in the order of issue; each has the fields below" } },
            errors = { { "SL_ESTATE", "the timeline is still recording" } },
            about = [[
These are calls for events, waits and memory, and the host's own work. Calls that enqueue an operation are in
`tl:spans()`. A launch of a graph is one call, `cudaGraphLaunch`: records and waits that were captured are the graph's
edges (`graph:edges()`), and calls only while it was captured.

| field | |
|---|---|
| `name` | CUDA's, as in traces: `"cudaStreamSynchronize"`, `"cudaFree"`; `"host_work"` for `lab.host_work`; for other work of the host, a description: `"rand_f32 on the CPU"`, `"Memcpy HtoH (Pageable -> Pinned)"`, `"pinned allocation"` |
| `kind` | `"event_record"`, `"stream_wait"`, `"stream_sync"`, `"event_sync"`, `"device_sync"`, `"plain"` (any other call of CUDA) or `"host_work"` (the host worked itself) |
| `host_start_us`, `host_end_us` | when the host was in it; what recording took of it is taken off its end |
| `recording_us` | how much that was; `nil` where nothing was taken off |
| `stream`, `stream_id` | the name and id of the stream that the call names; `nil` where it names none |
| `where` | the script's line; `""` if not known |
| `waited` | whether the host waited for the device there, as far as is recorded: true for all synchronisations, and for a plain call that waited for earlier work |
| `correlation` | its number, counted together with those of `tl:spans()` |
| `graph`, `nodes` | of a call that launched a graph: its name, and how many nodes it has; else `nil` |
| `memory`, `bytes`, `frees` | of a call that allocated or freed memory, in a recording of `streamlab record`: which (`"device"`, `"pool"`: of the device, in the order of a stream, `"pinned"`, `"managed"`), how much (0: not known), and whether it was freed; else `nil` |
| `reserved_bytes` | of such a call: what the pool held then, used or not; `nil` without a pool |
| `of_stop` | true for the `cudaDeviceSynchronize` with which `tl:stop()`, and so `lab.profile`, ends the recording |
| `thread`, `thread_name` | the number of the `lab.thread` that made it, and the thread's name, as of spans |]],
            example = [[
local s = lab.stream{ name = "work" }
local tl = lab.profile(function()
    lab.spin(1, { stream = s })
    s:synchronize()
end)
local call = tl:calls()[1]
print(call.name, call.stream, call.waited)  --> cudaStreamSynchronize	work	true]],
            see = { "timeline:spans", "tap:call_count" },
        },
        {
            name = "timeline:ranges",
            brief = "gives what the host was about while it made its calls, as a list of tables",
            arguments = { { "kind", "string", "only ranges of this kind", default = "all" } },
            returns = { { "table[]", "in order of kind, thread and start; each has the fields below" } },
            errors = {
                { "SL_ESTATE", "the timeline is still recording" },
                { "SL_EINVAL", "there is no such kind" },
            },
            about = [[
Recordings of `streamlab record` and reports of Nsight Systems have those that the program and its libraries mark with
NVTX (`torch.cuda.nvtx.range`, `nvtxRangePush`), traces of PyTorch's profiler those of the other kinds; of threads that
made calls of CUDA. Of a program under `torch.autograd.profiler.emit_nvtx()` those that PyTorch makes are operators and
annotations, too, as in its profiler's traces. A timeline of a script has none. A trace that is saved has them, too:
`show --by operator` and `--step` print the same of it.

| field | |
|---|---|
| `name` | of NVTX what the program says, behind the name of its domain if that has one: `"NCCL:ncclAllReduce"` |
| `kind` | `"nvtx"`; of PyTorch's profiler `"operator"`, `"python"` (functions), `"library"` (the same of PyTorch itself, or built into Python), `"module"`, `"annotation"` and `"step"` |
| `thread`, `thread_name` | the number of the thread, as that of a call; a step is of the whole program and has 0. Its name, or `nil` |
| `start_us`, `end_us` | as the host's times of calls; below 0 where it began before the first call. A mark of NVTX ends when it starts |]],
            example = [[
local tl = lab.profile(function() lab.spin(1) end)
print(#tl:ranges(), #tl:ranges "nvtx")  --> 0	0]],
            see = { "timeline:calls", "timeline:by" },
        },
        {
            name = "timeline:busy_us",
            brief = "how long at least one span of a selection ran",
            arguments = { { "selection", "stream|string|table", "a selection", default = "all spans" } },
            returns = { { "number", "us; times in which several ran count once" } },
            errors = {
                { "SL_ESTATE", "the timeline is still recording" },
                { "SL_ENOTFOUND", "there is no stream of that name" },
                { "SL_EUNSUPPORTED", "it keeps only a summary, and the selection is of several of a stream, a name, and an engine or kind" },
            },
            example = [[
local tl = lab.profile(function()
    lab.spin(1)
    lab.host_work(3)
    lab.spin(1)
end)
print(tl:busy_us("kernel") // 1000 .. " ms")  --> 2.0 ms
print(tl.makespan_us > 4000)  --> true]],
            see = { "timeline:overlap_us", "timeline:gaps" },
        },
        {
            name = "timeline:overlap_us",
            brief = "how long work of all selections ran at the same time",
            arguments = {
                { "a", "stream|string|table", "a selection" },
                { "b", "stream|string|table", "another one" },
                { "...", "stream|string|table", "further ones" },
            },
            returns = { { "number", "us" } },
            errors = {
                { "SL_ESTATE", "the timeline is still recording" },
                { "SL_ENOTFOUND", "there is no stream of that name" },
                { "SL_EUNSUPPORTED", "it keeps only a summary, which does not have this overlap" },
            },
            about = [[
The time in which all selections had a span running, and each a different span. A span in two selections counts for one
of them at a time, because no span overlaps itself: `tl:overlap_us(s, s)` is 0 for a stream,
`tl:overlap_us("kernel", "kernel")` is the time with two kernels at once, and `tl:overlap_us(s, {})` is the time in
which `s` ran beside anything else. `tl:busy_us` says how long a selection ran, `tl:concurrency` how many of something
ran at once.]],
            example = [[
local a = lab.empty(1024, 1024, { device = "cpu", pinned = true })
local tl = lab.profile(function()
    lab.spin(1, { stream = lab.stream() })
    a:cuda{ non_blocking = true, stream = lab.stream() }
end)
print(tl:overlap_us("kernel", "memcpy_h2d") == tl:busy_us("memcpy_h2d"))  --> true]],
            see = { "timeline:busy_us", "timeline:concurrency" },
        },
        {
            name = "timeline:concurrency",
            brief = "how many engines, kernels, spans or streams were busy at once",
            arguments = {
                { "of", '"engines"|"kernels"|"spans"|"streams"', "what is counted", default = '"engines"' },
                { "selection", "stream|string|table", "the spans to look at", default = "all spans" },
            },
            returns = {
                { "table", "at `k` the time in us with exactly `k` of them busy, at `0` the idle time; `max` is the most at once" },
            },
            errors = {
                { "SL_ESTATE", "the timeline is still recording" },
                { "SL_EINVAL", 'there is no such thing to count, or "kernels" are counted of a selection of another kind' },
                { "SL_ENOTFOUND", "there is no stream of that name" },
            },
            about = [[
It counts from the first selected start to the last selected end. `"kernels"` counts spans of that kind; `"spans"`
counts all. A span of no length is not counted; it matters only as the first start or the last end.]],
            example = [[
local tl = lab.profile(function()
    for i = 1, 3 do lab.spin(1, { stream = lab.stream() }) end
end)
local c = tl:concurrency("kernels")
print(c.max)  --> 3
print(c[0])  --> 0.0]],
            see = { "timeline:overlap_us", "timeline:gaps" },
        },
        {
            name = "timeline:totals",
            brief = "how many operations each name, or each stream, has, and how long they ran",
            arguments = { { "of", '"names"|"streams"', "what is summed up", default = '"names"' } },
            returns = {
                { "table[]", "`{ name =, count =, busy_us =, sum_us = }` each: `busy_us` counts times in which several ran once, `sum_us` counts each; of streams also `stream_id`. Names with the largest sum first, streams in the order of their creation" },
            },
            errors = {
                { "SL_ESTATE", "the timeline is still recording" },
                { "SL_EINVAL", "it is neither of the two" },
            },
            example = [[
local tl = lab.profile(function()
    for i = 1, 3 do lab.spin(1, { stream = lab.stream() }) end
end, { keep = "summary" })
local spin = tl:totals()[1]
print(spin.name, spin.count, spin.sum_us // 1000)  --> spin	3	3.0
print(spin.busy_us < 2000)  --> true]],
            see = { "timeline:busy_us", "timeline:summary", "lab.record" },
        },
        {
            name = "timeline:by",
            brief = "lists the operations by kernel, operator, module, line, phase, step, stream or communication",
            arguments = { { "key", "string", "what operations of one row have in common; see below" } },
            returns = {
                { "table[]", "rows with the fields below, the one with the most time first" },
            },
            errors = {
                { "SL_ESTATE", "the timeline is still recording, or keeps only a summary" },
                { "SL_EINVAL", "there is no such key" },
            },
            about = [[
| key | a row is |
|---|---|
| `"kernel"` | the operations of one name; kernels are named so that their names differ |
| `"operator"` | what an operator of PyTorch launched (`aten::addmm`), and no operator within it: of traces of its profiler, and of recordings under `torch.autograd.profiler.emit_nvtx()` |
| `"module"` | what a module launched (`Linear_0`), and no module within it: with the profiler's `with_stack`. What the backward pass launched is of the module and the line of its forward operator, where the sequence numbers of PyTorch's operators tell it |
| `"line"` | what one line of the program launched; what a graph ran has its own line, or that of its launch. Of a trace with `with_stack` the innermost function in Python outside of PyTorch, with the line where it begins: `train.py(12): main` |
| `"phase"` | `forward`, `backward`, `optimizer` (what `Optimizer.step` and `zero_grad` launched) or `other`, of what knows operators. Forward is what a module or an operator with a part in the backward pass launched; where the timeline has no backward pass, every operator |
| `"step"` | what was launched during a step of the profiler (`ProfilerStep#3`), by any thread; where there are none, of a range that the program calls `step 3`, `train_step 3` or `iteration 3`. Steps are in their order, those that launched nothing as well; of several with one name the second is called `ProfilerStep#3 (2)`, and `--step 3` is about all of them |
| `"stream"` | a stream |
| `"communication"` | the collectives of one name; other operations are left out |

| field | |
|---|---|
| `name` | `"(no line)"` and the like for operations of which the timeline does not say it |
| `full_name` | of kernels and communication the whole name |
| `count` | operations |
| `time_us` | their durations, added up |
| `share` | of the time of all rows, from 0 to 1 |
| `mean_us` | the mean duration |
| `busy_us` | the time in which at least one of them ran: `covered_us + alone_us` |
| `covered_us` | of that, in which operations of another row ran on the same GPU, too; of communication, kernels that are none |
| `alone_us` | and in which none did |
| `part_us` | its part of the makespan: of time in which several rows were busy, each has the same part. With the time in which nothing ran, these add up to the makespan |
| `wall_us` | of steps alone: how long the step took, |
| `ran_us`, `idle_us` | in how much of that operations ran, of any step, and in how much none |

Of two steps or more, the list has a field `slowest`: a table of the longest step and what took longer in it than in the median one.

| field | |
|---|---|
| `name`, `wall_us` | the longest step |
| `median_name`, `median_us` | the one in the middle, the shorter one of two |
| `sentence` | what took longer, as `streamlab show --by step` prints it |
| `changes` | what took longer, up to 20, the most first: tables with `part`, `name`, `time_us` and `count` in the longest step, `median_us` and `median_count` in the median one |

A change's `part` is `"call"` (the host was in a call of CUDA's), `"wait"` (in one that waits for the GPU), `"range"` (in an operator, a function or another range, and in no call or range within it), `"host"` (in
nothing that has a name): of the thread that launched most, at each instant one of these. `"gpu"` are operations that the step launched.]],
            example = [[
lab.open{ profile = "textbook" }  -- a GPU with round figures
local side = lab.stream{ name = "side", non_blocking = true }
local tl = lab.profile(function() lab.spin(3) lab.spin(1, { stream = side }) end)
for _, row in ipairs(tl:by("stream")) do
    print(row.name, row.time_us // 1000, row.covered_us > 900)
end
--> default	3.0	true
--> side	1.0	true]],
            see = { "timeline:totals", "timeline:summary" },
        },
        {
            name = "timeline:idle",
            brief = "lists what each GPU waited for while no kernel ran on it",
            returns = {
                { "table[]", "for each GPU that did something `{ device =, no_kernel_us =, nothing_us =, causes = {...} }`" },
            },
            errors = { { "SL_ESTATE", "the timeline is still recording, or keeps only a summary" } },
            about = [[
`no_kernel_us` is the part of the makespan in which the compute engine (kernels, memsets, copies within the GPU) did
nothing, `nothing_us` that in which no engine of the GPU did. `causes` has tables `{ cause =, call =, sentence =,
no_kernel_us =, nothing_us =, count = }`, the one with the most time first, which add up to both; `count` is how often no
kernel ran for that cause. A gap between operations counts for what the first operation behind it waited for last.

| `cause` | |
|---|---|
| `"host_work"` | the host made no call, or worked (`lab.host_work`) |
| `"host_issuing"` | it was issuing operations, this one or others |
| `"host_call"` | it was held in the call that `call` names: `"cudaMalloc"` |
| `"launch_queue_full"` | it waited for room in the launch queue |
| `"start_up"` | a first launch of its kind, or a call that loads code |
| `"latency"` | from the launch, or the end of what it waited for, to the start |
| `"copy"`, `"communication"` | a copy, or a collective, in its own stream or another one |
| `"other_work"` | another operation: a host function, or work of another GPU |
| `"after_last"` | no kernel came any more |
| `"unknown"` | the records do not tell |]],
            example = [[
local tl = lab.profile(function()
    lab.spin(1) lab.synchronize()
    lab.host_work(2)
    lab.spin(1)
end)
local first = tl:idle()[1].causes[1]
print(first.sentence, first.no_kernel_us // 1000)  --> the host issued no work	2.0]],
            see = { "timeline:by", "timeline:gaps", "timeline:causes" },
        },
        {
            name = "timeline:counters",
            brief = "gives kernels at once, queues, copied bytes and memory over time",
            options = {
                { "points", "integer", "at most about so many of each; 0: all. Of each stretch of time the largest value and the last one stay", default = "2000" },
            },
            returns = {
                { "table[]", "one for each counter that there is something of, with the fields below" },
            },
            errors = {
                { "SL_ESTATE", "the timeline is still recording, or keeps only a summary" },
                { "SL_EINVAL", "`points` is below 0" },
            },
            about = [[
| field | |
|---|---|
| `name`, `title` | `"queue"`, `"queue length"` |
| `unit` | `"count"`, `"bytes"` or `"bytes/s"` |
| `device` | the GPU's number; `nil` of memory |
| `prefix` | `"gpu1: "` where there are several GPUs, `""` where there is one, and of memory |
| `max`, `max_us` | the largest value, and when it first was |
| `at_us`, `values` | two lists of the same length: `values[i]` holds from `at_us[i]` to the next of these times, and 0 before the first |

| `name` | |
|---|---|
| `"kernels"` | kernels that run, collectives as well |
| `"queue"` | operations from the start of their call to their own |
| `"memcpy_h2d"`, `"memcpy_d2h"`, `"memcpy_p2p"` | what copies move in a second, each at its mean rate |
| `"allocated"`, `"reserved"` | what PyTorch's allocator has given away and what it holds, of traces made with `profile(profile_memory=True)` |
| `"device"`, `"pool"`, `"pinned"`, `"managed"` | what recorded calls have allocated and not freed, as in `timeline:memory` |

A trace that is saved has all points as counter tracks for Perfetto.]],
            example = [[
local tl = lab.profile(function()
    for i = 1, 3 do lab.spin(1, { stream = lab.stream() }) end
end)
for _, counter in ipairs(tl:counters()) do
    print(counter.title, counter.max)
end
--> kernels at once	3
--> queue length	1]],
            see = { "timeline:concurrency", "timeline:memory" },
        },
        {
            name = "timeline:memory",
            brief = "what a recorded program allocated and freed",
            returns = { { "table[]", "one for each kind of memory that a call allocated or freed, with the fields below" } },
            errors = { { "SL_ESTATE", "the timeline is still recording" } },
            about = [[
Of the calls of a program that `streamlab record` has recorded. What the program had allocated before the recording
began counts nowhere, and its frees only as calls.

| field | |
|---|---|
| `kind` | `"device"` (`cudaMalloc`), `"pool"` (`cudaMallocAsync`: on the device, in the order of a stream), `"pinned"` (`cudaMallocHost`, `cudaHostAlloc`), `"managed"` (`cudaMallocManaged`) |
| `allocations`, `frees` | how many calls |
| `bytes` | in all allocations together |
| `peak_bytes`, `peak_us` | the most that was allocated at once, and when it first was; `peak_us` is `nil` without an allocation |
| `left_bytes` | what was not freed |
| `reserved_bytes` | the most that a pool held, used or not; `nil` without pools |
| `calls_us`, `waited_us` | how long the calls took, added; and those of them that waited for the device |

PyTorch takes memory in large pieces and gives it to tensors itself: these are the pieces.]],
            example = [[
local tl = lab.profile(lab.spin, 1)
print(#tl:memory())  --> 0]],
            see = { "timeline:calls" },
        },
        {
            name = "timeline:part",
            brief = "gives a part of it as a timeline: steps, ranges, operations, a time",
            options = {
                { "step", "integer", "the number of a step: 3 of `ProfilerStep#3`, or of a range called `step 3`" },
                { "last_step", "integer", "the last one, if they are several", default = "`step`" },
                { "range", "string", "instead of steps: the name of ranges, in which `*` and `?` stand for any characters, as `[ab]` for one of these" },
                { "skip", "integer", "instead: how many operations to leave out at the beginning", default = "0" },
                { "count", "integer", "how many operations to take then", default = "all" },
                { "from_us", "number", "instead: what ran from then on, in microseconds from the first operation, as in charts", default = "0" },
                { "to_us", "number", "until when", default = "to the end" },
            },
            returns = { { "timeline", "a new one, in which times count from the first step's or range's beginning" } },
            errors = {
                { "SL_ESTATE", "the timeline is still recording, or keeps only a summary" },
                { "SL_EINVAL", "it is none of these four, or more than one; or the time is empty" },
                { "SL_ENOTFOUND", "there is no such step or range, or no operation is left" },
            },
            about = [[
Operations and calls belong to a step in which the host began with them, in any thread, and to a range of the same
thread. Ranges are those of NVTX and `record_function`, operators, modules and functions of Python. An operation that
began in the part may run behind its end. Operations are counted in the order in which the host began with them; what
one launch of a graph ran stays together. What work of the part waited for outside of it is not known.

Of ranges that come several times, the time between two of them, in which no operation of the part ran, is left out: what
comes later is earlier by that, and `left_out` among the `doubts` says how much that is and how often. The host's wall time is that
of the part without it. The makespan may exceed that, since the GPU comes behind the host and ends later.

A part by time has what ran in it: operations on the GPU, calls on the host. What reaches beyond its ends is cut there; calls that launched its operations may be earlier. The host's wall time
is that time. A part of a part counts from the first operation of that: `tl:part{ step = 3 }:part{ from_us = 100 }`.

Among the `doubts` of a part, those that count operations or calls of the whole begin with "Of the whole trace: "; what profiling cost is estimated for the part.]],
            example = [[
local ok, why = pcall(function()
    return lab.profile(lab.spin, 1):part{ step = 3 }
end)
print(why.code, why.message)  --> SL_ENOTFOUND	the timeline has no step 3; steps are marked by the profiler's step(), or by ranges called "step 3"]],
            see = { "timeline:by", "lab.load" },
        },
        {
            name = "timeline:gaps",
            brief = "when nothing of a selection ran",
            arguments = { { "selection", "stream|string|table", "a selection", default = "all spans" } },
            returns = {
                { "table[]", "`{ start_us =, end_us = }` each, in order, between the selection's first start and its last end" },
            },
            errors = {
                { "SL_ESTATE", "the timeline is still recording" },
                { "SL_ENOTFOUND", "there is no stream of that name" },
            },
            example = [[
local tl = lab.profile(function()
    lab.spin(1)
    lab.host_work(3)
    lab.spin(1)
end)
local gap = tl:gaps("compute")[1]
print(math.floor((gap.end_us - gap.start_us) / 1000))  --> 2]],
            see = { "timeline:busy_us", "timeline:causes" },
        },
        {
            name = "timeline:bounds",
            brief = "how short the makespan could have been",
            returns = { { "table", "with the fields below" } },
            errors = { { "SL_ESTATE", "the timeline is still recording" } },
            about = [[
| field | |
|---|---|
| `lower_us` | the larger of `busiest_engine_us` and `critical_path_us`. No schedule of the same operations with these durations, in the same streams and with the same waits, can be shorter; copies from and to pageable memory count as if that were pinned, at the rate of the timeline's pinned copies or of the GPU's bus, and hold no host; kernels that could have run side by side, but did not, count in full. `tl:verdict()` says what another order would gain. Gaps, latencies and the host's own time are not included |
| `unblocked_us` | the same bound if the host had never waited: the chain goes through what orders work on the GPU alone. It is at most `lower_us`; if it is much less, waits in the script prevent overlap. It ignores whether a wait was needed |
| `critical_path_us` | the longest chain through stream order, events, the NULL stream's rules, launches of one graph and collectives of one communicator, which take turns, and host waits |
| `busiest_engine`, `busiest_device`, `busiest_engine_us` | the engine that was busy longest, of which GPU, and how long |
| `serial_us` | how long all operations take one after the other |]],
            example = [[
local a, x = lab.stream(), lab.empty(4096, 4096, { device = "cpu", pinned = true })
local tl = lab.profile(function()
    lab.spin(1, { stream = a })
    a:synchronize()                 -- the copy does not need the kernel
    x:cuda{ non_blocking = true, stream = lab.stream() }
end)
print(tl:bounds().lower_us > 2000)  --> true
print(tl:bounds().unblocked_us < 1300)  --> true]],
            see = { "timeline:summary", "timeline:explain" },
        },
        {
            name = "timeline:causes",
            brief = "gives the findings of the explanation as tables",
            options = {
                { "waits", "boolean", "with the list `waits` in each finding: all its waits", default = "false" },
                { "inferred", "boolean", "inferred from the records also where the simulator knows the causes, to see what a real GPU would show", default = "false" },
            },
            returns = { { "table[]", "one table for each finding, the largest gain first, then the largest loss; none is left out" } },
            errors = {
                { "SL_ESTATE", "the timeline is still recording" },
                { "SL_ENOMEM", "no memory for the explanation" },
            },
            about = [[
A finding combines all times that were lost with the same cause on the same engine, if the names and script lines are
the same on both sides: the operation that waited and what it waited for. If the wait was for the host, the operation
that waited does not matter; in a trace that another program wrote without lines, neither do the names of kernels.

| field | |
|---|---|
| `cause` | see below |
| `engine` | the engine that stood still, or that the work waited for |
| `idle` | true if the engine stood still before more work reached it; false if work was ready but waited, while the engine worked for others, or although there was room beside them |
| `lost_us`, `count` | how long in all (times in which several operations waited count once), and how many times: calls in which the host was, else operations that the cause held up |
| `gain_us` | by how much the makespan would be shorter without the cause, at all places where it, and what the same advice ends, held up work; `nil` if that is not known: for the smallest losses it is not computed |
| `waiter`, `waiter_where` | the operation that waited longest: its `correlation` in `tl:spans()`, and its script line |
| `by`, `by_where` | what it waited for: an operation, or a call of the host; `nil` if that is not known |
| `from_us`, `to_us` | that wait |
| `sentence`, `remedy` | the finding and what to do about it, in words; `remedy` is `nil` if there is nothing to do |
| `as_graph_us` | of `host_issuing` and `latency`: the makespan if all that a capture can contain were launched as a graph, simulated; `nil` if that would gain less than 5 %, or nothing is known of graphs on this GPU |
| `inferred` | false if the simulator knew the cause, true if it was inferred from the records |
| `guess` | true if the cause fits the records but may be another one (the sentence says "probably"), and for `"unknown"` |
| `waits` | only with `waits = true`: a list of `{ waiter =, by =, from_us =, to_us = }` |

| `cause` | what kept the operation |
|---|---|
| `stream_order` | an earlier operation of its stream |
| `event_wait` | an event of another stream |
| `value_wait` | a value that another stream, an engine or the host wrote (`stream:wait_value`) |
| `null_stream` | the legacy default stream: work in it and in blocking streams wait for each other |
| `channel_alias` | a stream that shares its hardware channel |
| `graph_busy` | a launch of the same graph in another stream: they run one after the other |
| `comm_busy` | a collective of the same communicator, in another stream: they run one after the other |
| `engine_busy` | the copy engine worked for another stream |
| `no_sm_room` | no room on the SMs beside a kernel of another stream |
| `priority` | a more urgent kernel that came later and went first |
| `late_rank` | another rank of its collective, which came later; the collective held its SMs meanwhile |
| `fewer_sms` | nothing: the kernel ran, but a collective held some of the SMs, on which no block of it fits; what that cost is not known, and `gain_us` is `nil` |
| `comm_last` | collectives that began only behind the last kernel, all of them: each could begin as soon as its part of the computation is there; `by` is the kernel with which, in equal parts, the first has its own |
| `launch_queue_full` | the launch queue was full, and the host waited for room in it |
| `host_blocked` | the host waited in a call: a pageable copy, `cudaFree`, a synchronisation, the first launch of a kernel or a graph |
| `host_work` | the host did something else: `lab.host_work`, a tensor on the CPU that it filled, copied or page-locked, on a real GPU also what Lua computed |
| `host_issuing` | the host was still issuing other operations |
| `latency` | submission, start-up, and the gaps between operations |
| `unknown` | something that is not in the records |]],
            example = [[
local tl = lab.profile(function()
    lab.spin(1)
    lab.host_work(3)
    lab.spin(1)
end)
local worst = tl:causes()[1]
print(worst.cause)  --> host_work
print(worst.engine)  --> compute]],
            see = { "timeline:explain", "timeline:makespan_parts" },
        },
        {
            name = "timeline:makespan_parts",
            brief = "divides the makespan into parts by what each was spent on",
            options = {
                { "inferred", "boolean", "inferred from the records also where the simulator knows the causes", default = "false" },
                { "stream", "stream|string|integer", "a stream, its name or its id: the time until its last operation's end, in place of the makespan" },
            },
            returns = { { "table[]", "the longest part first; their `lost_us` add up to `makespan_us`" } },
            errors = {
                { "SL_ESTATE", "the timeline is still recording" },
                { "SL_ENOTFOUND", "the timeline has no such stream, or no operation of it" },
                { "SL_ENOMEM", "no memory for the explanation" },
            },
            about = [[
It goes from the end of the last operation backwards, each time to what the operation waited for. A part has the fields
of `timeline:causes` from `cause` to `to_us`, except `idle`. For the time in which `waiter` itself ran the cause is
`"running"`. Other parts with the same `by` are one part, whichever operation waited. All latency is one part; it has no
`engine`, and parts for the host have none either.]],
            example = [[
local tl = lab.profile(function()
    lab.spin(2)
    lab.spin(3)
end)
local sum = 0
for _, part in ipairs(tl:makespan_parts()) do sum = sum + part.lost_us end
print(math.abs(sum - tl.makespan_us) < 1e-6)  --> true]],
            see = { "timeline:causes", "timeline:explain" },
        },
        {
            name = "timeline:json",
            brief = "gives the figures as a JSON object",
            options = {
                { "by", "string", "give this table of `timeline:by` instead" },
                { "idle", "boolean", "give the table of `timeline:idle` instead", default = "false" },
            },
            returns = { { "string", "several lines, without a newline at the end" } },
            errors = {
                { "SL_ESTATE", "the timeline is still recording" },
                { "SL_EINVAL", "`by` is no key of `timeline:by`, or given with `idle`" },
            },
            about = [[
It is what `streamlab show --json` prints, with `by` what `--by KEY --json` does:
`{"by":, "time_us":, "rows": [{"name":, "full_name":, "count":, "time_us":, "busy_us":, "covered_us":, "alone_us":}, ...]}`; with `idle`
`{"idle": [{"device":, "makespan_us":, "no_kernel_us":, "nothing_us":, "causes": [{"cause":, "call":, "no_kernel_us":, "nothing_us":, "count":, "sentence":}, ...]}, ...]}`. Times are in us with three decimals, which is exact; kinds and engines
without operations are left out; a missing value is `null`.

| key | |
|---|---|
| `makespan_us`, `wall_us` | as the fields of the timeline |
| `makespan_range_us` | `{"low":, "high":, "runs":}`, as the field `range_us`; only if it is known |
| `guessed` | `{"busy_us":, "count":, "sentence":}` of kernels whose durations are guesses, as the field `guessed` of spans; only if there are some |
| `lower_bound_us`, `unblocked_bound_us`, `serial_us`, `critical_path_us`, `busiest_engine`, `busiest_engine_us` | as `tl:bounds()` |
| `makespan_over_bound` | the makespan over `lower_bound_us` |
| `device`, `device_index`, `simulated`, `span_count` | |
| `doubts` | `[{"kind":, "count":, "us":, "sentence":}, ...]`, as `timeline.doubts`; `us` is null where it is about no time |
| `communication_us` | `{"covered":, "not_covered":}`: the time of collectives with kernels that are none beside them, and without; of several GPUs each one's: `{"gpu0: covered":, ...}`; only if there are collectives |
| `graph_launch_count`, `graph_span_count` | launches of graphs, and how many operations they ran |
| `count`, `busy_us` | by kind: `{"kernel": 10, "memcpy_d2h": 1}` |
| `engine_busy_us` | by engine |
| `overlap_us` | by pair of kinds: `{"kernel&memcpy_d2h": 1210.242}` |
| `engine_overlap_us` | by pair of engines, and by three of them: `{"compute&h2d": 1327.110, "compute&h2d&d2h": 12.500}` is the time in which all of these were busy. Of several GPUs both have each one's own: `{"gpu1: compute&p2p": 63.360}` |
| `concurrency_us` | `{"engines": [...], "kernels": [...], "streams": [...]}`: the time with exactly 0, 1, 2, ... of them busy |
| `streams` | list of `{"name", "id", "busy_us", "count"}`; of a trace that another program wrote, `id` is the number that this program gave the stream: 25 of "stream 25" |
| `verdict` | as `tl:verdict()`, with `code` for `cause`: `{"good", "joint", "gain_known", "gain_us", "most_us", "lost_us", "ratio", "code", "sentence"}` |
| `causes` | as `tl:causes()`, in that order: `{"code", "engine", "idle", "guess", "lost_us", "gain_us", "count", "operands", "sentence", "remedy"}`; `operands` is `{"waiter", "by"}`, each with `name`, `stream`, `where`, `correlation`, and `range`, if the program marks one with NVTX around its call |
| `remedies` | what single changes would gain, as the rows of `whatif:rank` in `streamlab whatif --json`; none above 20,000 operations, and none of a predicted timeline |]],
            example = [[
lab.open{ profile = "textbook" }  -- a GPU with round figures
local tl = lab.profile(lab.spin, 2)
print(tl:json():match('"busy_us": (%b{})'))  --> {"kernel": 2000.000}]],
            see = { "timeline:summary", "timeline:spans" },
        },
        {
            name = "timeline:save",
            brief = "writes a file: a trace, a picture or a page",
            arguments = {
                { "path", "string", "ends in `.json`, `.json.gz`, `.svg`, `.html`, `.et` or `.goal`, which says what is written" },
            },
            options = {
                { "rows", '"streams"|"engines"', "for an .svg: what a row stands for", default = '"streams"' },
                { "theme", '"auto"|"light"|"dark"', "for an .svg; auto follows the setting of the reader's system", default = '"auto"' },
                { "from_us", "number", "for an .svg: where it begins, from the first span's start", default = "0" },
                { "to_us", "number", "for an .svg: where it ends", default = "the last span's end" },
                { "width_px", "integer", "for an .svg: its width in pixels, from 200 to 20000", default = "960" },
                { "arrows", "boolean", "for an .svg: with the arrows of events and waits", default = "true" },
                { "beside", "timeline", "for an .svg: one of the same work before a change, drawn above it on the same axis", default = "none" },
                { "counters", "boolean", "for an .svg: with a row for each of `timeline:counters`, its maximum beside it; for a trace: as counter tracks", default = "false" },
            },
            returns = { { "timeline", "the timeline itself" } },
            errors = {
                { "SL_ESTATE", "the timeline is still recording" },
                { "SL_EINVAL", "the path ends otherwise, options are given that the file does not have, or nothing lies between from_us and to_us" },
                { "SL_EIO", "the file cannot be written; an old file is unchanged" },
                { "SL_EUNSUPPORTED", "of an .et or a .goal: another program wrote the trace, or ranks of a communicator are not in the timeline" },
            },
            about = [[
[Trace files](trace_files.md) describes the files. Options are for an `.svg` only. The same timeline gives the same
bytes.]],
            example = [[
local file = os.tmpname()
lab.profile(lab.spin, 1):save(file .. ".svg", { width_px = 400 })
for line in io.lines(file .. ".svg") do
    if line:find("<svg") then print(line:match('width="%d+"')) end  --> width="400"
end
os.remove(file .. ".svg")
os.remove(file)]],
            pytorch = "torch.profiler.profile.export_chrome_trace",
            see = { "lab.load", "timeline:show" },
        },
        { name = "timeline.makespan_us", type = "number", brief = "us from the first span's start to the last one's end, on the device; 0 if nothing ran" },
        { name = "timeline.range_us", type = "number[]|nil", brief = "where nine tenths of the makespans of `range_us.runs` more runs are expected; see `lab.profile`" },
        { name = "timeline.wall_us", type = "number", brief = "us of the host from the beginning to the end of the recording, the final synchronisation included" },
        { name = "timeline.span_count", type = "integer", brief = "how many operations it has" },
        { name = "timeline.stream_count", type = "integer", brief = "in how many streams they ran" },
        { name = "timeline.devices", type = "table[]", brief = "the GPUs that did something while it was recorded, `{ index =, name = }` each, the current one first" },
        { name = "timeline.device_name", type = "string", brief = "the first GPU; empty if a trace does not say" },
        { name = "timeline.device_index", type = "integer", brief = "the number of that GPU, from 0 on" },
        { name = "timeline.device_indices", type = "integer[]", brief = "for a loaded timeline, the first 16 GPUs with work in the file, and the timeline's own GPU" },
        { name = "timeline.simulated", type = "boolean", brief = "whether that GPU is a simulated one" },
        { name = "timeline.keep", type = "\"spans\"|\"summary\"", brief = "what is kept of the operations, as `lab.record` was asked" },
        { name = "timeline.recording", type = "boolean", brief = "true until the recording is stopped" },
        { name = "timeline.doubts", type = "table[]", brief = "what is in doubt about a loaded one, `{ kind =, count =, us =, sentence = }` each" },
        { name = "timeline.notice", type = "string|nil", brief = "the sentences of `timeline.doubts`, one a line; nil where nothing is in doubt" },
    },
}
