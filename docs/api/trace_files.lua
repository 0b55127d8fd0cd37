return {
    title = "Trace files",
    order = 80,
    about = [[
These are the files that `timeline:save` and `streamlab --trace` write, and that `lab.load` and `streamlab show` read.
The end of a file's name gives the format: `.svg` is a picture, `.html` a page for the browser, `.json` and `.json.gz` a
trace, `.et` and `.goal` a program for simulators of larger machines; nothing reads the last two back.

A file is written whole or not at all: if it cannot be written (`SL_EIO`), an old file is unchanged; see [files that are
written](program.md#files-that-are-written). The same timeline gives the same bytes.]],
    entries = {},
    more = [[
## Pictures: `.svg`

Pictures are for papers and slides. The options are those of `timeline:save`; `streamlab show -o` has `--rows`,
`--theme`, `--from` and `--to` of these:

| option | |
|---|---|
| `rows = "streams"` | or `"engines"`. If operations of a row overlap, the row has several lanes |
| `theme = "auto"` | or `"light"`, `"dark"`; `"auto"` follows the setting of the reader's system, and is light in programs that convert pictures |
| `from_us =, to_us =` | the part to show; times count from the first span's start |
| `width_px = 960` | from 200 to 20000 |
| `arrows = true` | false: without the arrows of events and waits |

A row above the streams shows the host's calls: hatched where the host waited (synchronisations, pageable copies,
`cudaFree`, a full launch queue), grey where it issued work, dark where it worked itself. A `<desc>` element describes
the picture in words. A solid arrow leads from the work before an event's record to the work that waited for it; a
dashed arrow means that the event had already happened. Operations that are too short to be drawn separately share one
bar, which is pale if there are gaps between them. In a browser each bar shows its name, stream, time, bytes and script
line.

## Pages: `.html`

A page is one file, and needs no network. It has the chart with a row for each of `timeline:counters`, busy times, overlaps,
bounds, the explanation, and a table of the operations. Wheel or W and S zoom, dragging or A and D move, 0 shows all, E changes between streams and engines,
F zooms to the selected operation, O shows the ranges of the host (the 200,000 longest at most, 8 deep), ? lists the
keys. A click on an operation shows what it waited for, and C goes there; N and P go through the causes of lost time,
as a click on a finding does, which marks its waits in the chart. Shift and drag measures a range of time, M what is in
view: how long the engines were busy in it, each and together, and the most of each counter.

/ finds operations and ranges of the host by name: all words have to occur in it, and no word behind a `-`. Enter and
Shift with Enter go from one to the next; H, or "Only these", hides all else. A range of the host says what it lies in
and how much was issued in it, an operation in which ranges it was called. L copies a link to what is shown, which the
address has, too: `#view=FROM,TO` in ns from the first operation's start, `find=WORDS`, `only`, `ranges`, and what is
selected, `op=CORRELATION`, `call=CORRELATION` or `range=NUMBER`. There are no options.

Below the chart the page lists what single changes would gain, as `whatif:rank` has them, each with the command that tries it: of timelines with up to 20,000 operations. A click on one of the first three shows the program as it is predicted with it, on the same axis: chart, figures and causes, up to 10,000 operations. Its address has `change=1`, and *Back* leads back.

## Traces: `.json`, `.json.gz`

A trace has the format of PyTorch's profiler (kineto), for Perfetto, chrome://tracing and Holistic Trace Analysis (HTA).
With `counters = true` it has `timeline:counters` as counter tracks, and is half as long again. The file has everything that the timeline has: `lab.load` reads it back, with the explanation and
the script's lines. For readers of the JSON:

- Times are in us from the beginning of the recording, with three decimals. The first process (4242) is the host, with
  the script's calls as `cuda_runtime` slices; the others are the GPUs, whose numbers are the devices' indices. Each stream
  is a row (`tid`) in it: the stream's id + 7, as in the traces of PyTorch's profiler, where the default stream is 7.
- A call and the operation that it launched have the same `correlation`, and an arrow (`ac2g`). What a synchronisation waited for is a `cuda_sync` slice on a row of its
  own, `tid` plus 1000000. A host function is a `cpu_op` of the host.
- What a launch of a graph ran has the `correlation` of the call, `cudaGraphLaunch`, an arrow from it, and the keys of PyTorch's newer traces: `graph id`, and `graph node id`,
  the graph's number in the upper 32 bits and the node's in the lower ones. Records and waits that were captured are instants (`graph_edge`) in the rows of their streams.
- A copy from one GPU to another has their numbers, as in PyTorch's traces: `fromDevice`, `toDevice`.
- What the host was about ([`timeline:ranges`](timelines.md#timeline-ranges)) is written as PyTorch's profiler does: an operator is a `cpu_op`, a function or module in Python a
  `python_function`, a step, an annotation or a range of NVTX a `user_annotation`. They nest in rows of their own, from `tid` 1100000 on: "ranges" of the first thread, "ranges of
  thread 1" and so on, "ranges, 2" for those that overlap others without being in them.
- A `user_annotation` named `streamlab` spans the recording; give HTA this name to get its critical path.
- These keys are streamlab's own; other tools ignore them:

| where | key | |
|---|---|---|
| the top level | `streamlab` | `version`, `backend`, `device`, `profile`, `simulated`, `pytorch` (PyTorch's profiler wrote the file that was read), `recording_ns` (of a script on a real GPU: what recording adds to a call that gives the GPU work; the times of calls in the file have it), `async_engines`, `priorities`, `start_ns`, `wall_ns`, `devices` (of several GPUs: `id` and `profile`, in the timeline's order), `streams` (`id` is 1 for `tid` 8; `number` is the stream's number in the file of another program, `row_of` the stream that it is a further row of), `threads` (of another program: `name`, and `caller`, the first of the threads that it hands work over to), `sources` (script lines) |
| a call | `loc` | its position in the script; its `args` have it too, as `where` |
| a call's `args` | `host waited`, `queue full`, `loaded`, `waited for device` | it returned only when the operation had ended; it waited for room in the launch queue; it loaded the kernel's code; it waited for all work of the device |
| | `device us`, `in stream`, `waits for`, `recorded in` | (with the number of a second GPU, times 16777216, in streams' numbers) for an event's record or wait: when the stream reached it, which stream, which record it waits for and in which stream that is |
| an operation's `args` | `kernel`, `kind`, `engine`, `memory` | a kernel's own name; the other keys only if they do not follow from `cat` and the name |
| | `ready us`, `held cause`, `held by`, `start cause`, `start by` | what the operation waited for, on the simulator |
| | `issue`, `captured priority` | of what a graph ran: its number in the order of issue, and the priority of the stream where it was captured; its `args` also have the keys of calls, since it has no call of its own |
| | `Rank`, `Seq`, `Reduction`, `met us`, `late by`, `late rank` | of a collective, beside PyTorch's keys (`Collective name`, `Group size`, ...): the rank, which collective of its communicator it is, the reduction, and, on the simulator, when all ranks had come, and the operation and rank that came last |
| | `launched by` | the number of the launch, where `correlation` is not that: of host functions and `graph_edge` |
| a call that launches a graph | `graph`, `nodes`, `last issue`, `keeps priorities`, `uploads` | the graph's name and how many nodes it has; the number of the last that it ran; whether nodes keep the priorities of the streams where they were captured; whether it is the launch that uploads the graph |
| a range of the host | `range`, `thread` | its kind, and the number of its thread, as that of a call |
| a slice | `own ts`, `own dur` | its real times, if the file has it moved by some ns: programs that read times as doubles need that, or slices of a row would not nest; also of a range that began before the recording, which is drawn from there on |

HTA rounds starts up and ends down to whole us unless `HTA_DISABLE_NS_ROUNDING=1` is in its environment. Its kernel
breakdown always cuts each interval to whole us.

## Programs for larger simulators: `.et`, `.goal`

These have what was recorded as what each GPU does and what that comes behind, so that a simulator of networks can replay
it on a machine of its own. `run.et` becomes a file for each GPU, `run.0.et`, `run.1.et`, ..., execution traces of
MLCommons Chakra; `run.goal` is one program of all GPUs in GOAL, for LogGOPSim and ATLAHS. There are no options. In both:

- A GPU is a rank. Ranks are numbered from 0 in the order of the GPUs' numbers, without those that did nothing.
- An operation comes behind the one before it in its stream, what its stream waited for (events, the NULL stream), and what
  the host had waited for when it issued it. What already follows from others is left out.
- A copy from one GPU to another is a send on one and a receive on the other, with a tag of their own. Where an operation
  comes behind something on another GPU, it waits for a message of one byte from there.
- The host's own time is left out: a launch takes no time, nor does work of the host.
- All ranks of each communicator must be in the timeline, as in programs of one process. The trace of another program
  cannot be saved so: it has one GPU.

| | `.et` | `.goal` |
|---|---|---|
| times | whole us, start and end rounded: durations in a row add up | ns |
| a kernel, memset, copy within the GPU | `COMP_NODE` | `calc` |
| a copy from or to the host | `MEM_LOAD_NODE`, `MEM_STORE_NODE`, with `tensor_size` | `calc` |
| a host function | `COMP_NODE`, `is_cpu_op` | `calc` |
| a collective | `COMM_COLL_NODE` with `comm_type` and `comm_size`, the bytes that the rank puts in | the sends and receives of NCCL's ring; of a broadcast in pieces of 512 KiB, 64 at most |
| `send`, `recv` | `COMM_SEND_NODE`, `COMM_RECV_NODE`, with `comm_src`, `comm_dst`, `comm_tag`, `comm_size` | `send`, `recv` |
| a communicator of some GPUs | `pg_name`; a `METADATA_NODE` in front has its ranks | its ranks |
| streams | attribute `stream` | `cpu`; messages that belong to no stream have one more. Those from 256 on share them |
| dependencies | `data_deps` | `requires` |

ASTRA-sim's workload is the name without number and end: `--workload-configuration=run` reads `run.0.et` and so on, one
for each NPU. Kernels last as long as they did: leave the roofline model off, for which `num_ops` would be needed. For
copies from and to the host it needs a memory (`--remote-memory-configuration`). For LogGOPSim, `txt2bin -i run.goal -o
run.bin` and `LogGOPSim -f run.bin`. The time that a collective took in the recording is in the `.et` file, and not in
the `.goal`: both simulators compute it.

## Traces of other programs

`lab.load` and `streamlab show` read kernels, copies and memsets, the calls that launched them (`cuda_runtime`,
`cuda_driver`, and those of other GPUs, `xpu_runtime` for one), and `cuda_sync` events; they ignore other events. If a trace has several GPUs, `streamlab show` prints
each of them (the first 16 at most), and `lab.load` reads the one that `device` names, by default the one with the most
operations; times count from the trace's first event for all GPUs.

Calls belong to threads of the host, by `pid` and `tid`, which have the names of `thread_name` events. An operator has
what its own thread launched. Threads whose calls never overlap hand the work over to each other, as PyTorch's main
thread and that of autograd do: in what waits for what, in steps and in `--range` they are one, and what a thread launched
outside of all functions and modules of its own belongs to those of the other. Each process has its own `correlation`s.

**Which files are read**, by what they hold:

| file | of which program | what is known |
|---|---|---|
| events with categories (`kernel`, `gpu_memcpy`, ...) | PyTorch's profiler, on NVIDIA's, AMD's and Intel's GPUs; streamlab | all of this page |
| processes `/device:GPU:0`, rows `Stream #14(...)` | XLA's profiler: `HOST.trace.json.gz` in the folder `plugins/profile`, or the `perfetto_trace.json.gz` of `jax.profiler` | operations, by `correlation_id` their launches; `hlo_op` is the operator, the scopes in an operation's name are the module (`transpose(jvp())` around one is the backward pass), ranges with a `step_num` are steps, `$train.py:12 main` is a function of Python: of the program, unless it lies in one of the functions by which JAX is entered (`pjit.py`, `array.py`, ...), since the file's folder is not said. Rows that tell the same again (`XLA Ops`, `XLA Modules`, `Steps`) are left out. What waits are for is not in the file, nor operators of what a CUDA graph ran |
| `rocprofiler-sdk-tool` | AMD's `rocprofv3 --runtime-trace --output-format json -- COMMAND` | kernels, copies, calls of HIP, ranges of ROCTx. Before ROCm 7 streams are missing: kernels are in the rows of their queues, copies in rows of their own. Not read: what is allocated, counters |
| an SQLite database | Nsight Systems | as below |
| a spool | `streamlab record` | [recording](../guide/21-recording.md) |

Other files are refused with a sentence that says what they are, and with the command that writes what can be read: reports that are not exported (`.nsys-rep`, `.ncu-rep`),
tables of `nsys stats`, `ncu`, `nvprof` and rocprof, databases of `nvprof` and rocprofv3, Perfetto's protobuf (`.pftrace`), XLA's `.xplane.pb`, traces of TPUs, of TensorFlow 1, of
PyTorch's old profiler, of Intel's unitrace and of browsers, and execution traces (Chakra).

**Reports of Nsight Systems** are read where `nsys export --type sqlite report.nsys-rep` has made databases of them (schemas
of 2021 to 2026), by libsqlite3, which is loaded then. Calls, kernels, copies, memsets, synchronisations and records of events are what they are in
a recording of `streamlab record`, and so each wait is for the record that its `eventSyncId` names; in reports of versions that lack it, for
the event's last record before. What a report does not have (`nsys profile` asks for it by `--trace=cuda`) counts as not known. Ranges of NVTX, and
memory that is allocated and freed (`nsys profile --cuda-memory-usage=true`), are taken as well. Several processes
share the timeline. `nsys profile --cuda-graph-trace=node` also records what launches of graphs ran.

**What is in doubt** is said before anything else: above the verdict in `streamlab show`, `timeline:summary`,
`timeline:explain` and on pages, in JSON and in `timeline.doubts` as a list; where none of these is asked for, on stderr.
Beside a table of `--by` alone, only what is about operations is said: nothing in it depends on what the host waited for.

| kind | what is said |
|---|---|
| `ends_early` | a recording of `streamlab record` whose program did not end by itself, or that is damaged: what comes before that is read. Or a trace of XLA's profiler with as many events as it writes at most (1000000, since 2025 5000000): later ones are missing |
| `dropped` | records for which there was no room: operations and calls are missing |
| `dropped_marks` | ranges of NVTX (above 4,096 levels of a thread, or 65,536 that are started and not ended) and lines of calls (above 65,536 functions or lines) for which the recorder had no room |
| `processes` | how many processes made calls, and the time between them: no wait of the program's |
| `turns` | how long kernels of several recorded processes were under way at the same time: without MPS the GPU runs those of one process at a time |
| `no_time` | operations that start at 0 while all others lie far from it, as some versions of CUPTI wrote: they are left out |
| `too_long` | operations during which two or more later ones of their stream start and end: they are cut where the next one starts, and `us` is what was cut |
| `clock_early`, `clock_late` | the GPU's clock is not the host's: most launches into idle streams start before their calls (and no wait speaks against it, or most launches of all do), or most waits return before the work ends. All operations are moved by `us`, so that neither is so; to the middle where launches and waits together leave at most 100 us of choice |
| `before_call` | single operations that start before their calls, by up to `us`: they stay where they are |
| `after_wait` | single waits of the host that return before what they waited for ends, by up to `us`; the operations stay where they are |
| `failed_calls` | calls of a recording of `streamlab record`, or in a report of Nsight Systems, that returned an error, and the first of them. They stay calls of the host, and nothing is missed of what they were to do. Answers are no errors: not ready, enabled or registered already |
| `no_operation`, `no_nodes` | launches of kernels, and of graphs, that have no operation in the file: the GPU worked where it seems idle |
| `warnings` | warnings of Nsight Systems that are about CUDA, in a report of it: records may be missing |
| `whole_graphs` | launches of graphs that are one operation each in a report of Nsight Systems, which has what they ran only with `nsys profile --cuda-graph-trace=node` |
| `migrations` | pages of managed memory that moved, in a report of Nsight Systems: they are in no stream, and left out; `us` is their time |
| `profiler_stalls` | the profiler's own work within the makespan (`overhead`: Activity Buffer Request, Buffer Flush and the like), but for that of threads which make no calls. It is work of the host that no change of the program ends |
| `profiler_cost` | an estimate of what recording operators and calls adds to the host's time (1.3 us an operator, 1.0 us a call, 0.5 us a Python function of `with_stack`), where it is at least 5 % of the makespan and the GPU was idle for longer |
| `several_gpus` | which GPUs the file has, and which one this is |
| `no_launch` | operations without a launch: when the host issued them is not known |
| `unknown_waits` | calls of which the file does not say what they waited for. PyTorch writes that only with `experimental_config=torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True)` |
| `asking_loops` | loops of three or more `cudaEventQuery` or `cudaStreamQuery`, with nothing of the same thread in between but calls like `cudaGetDevice`, of which only the last one comes after the end of the work: the host waited, and each is shown as the synchronisation that it stands for |
| `no_lines` | programs recorded with `--python` whose lines are not known, and why: another Python than CPython 3.10 to 3.14 |
| `left_out` | of a part of a timeline (`timeline:part`, `--range`), the time between its ranges, in which none of its work ran: it is left out, so that nothing seems to wait in it |
| `played` | the times are not measured: it is a recorded program played again (`whatif:timeline`) |

A copy between two GPUs has their numbers in its name where the file has them: `Memcpy PtoP (Device 0 -> Device 1)`.

All that a `cudaGraphLaunch` ran has the call's `correlation` there. Each becomes an operation that the launch enqueued, a node of its graph: with the file's numbers (`graph id`, `graph node id`),
or, in traces from before 2026, counted in the order of their starts. Which edges a graph has is in no trace. Nodes that ran at the same time in one stream have rows of their own, "stream 7 (2)",
and an edge that an explanation names is a guess: from the node that ended last before.

A file of a million events is not refused for a few of them. `timeline.doubts` tells what is left out, how often, and where the first one is:

| what is wrong | what is done |
|---|---|
| a number, or a list of numbers, in quotes | it is what is in the quotes; nothing is reported |
| another value in `args` (`"grid": null`), or a name that is no text | the value counts as missing, which `bad_members` tells; an operation's stream is then its `tid`, its GPU its `pid` |
| an operation or a call without `ts` or `dur`, with one that cannot be or below 0; an operation of no known stream; what is no object | the event is left out: `bad_events` |
| a key twice | the last one counts, as in other readers: `double_keys` |
| the text ends too early, or is no JSON from somewhere on; compressed data that is cut short or damaged | what comes before is read: `cut_off` |

A file is refused (`SL_EINVAL`, with a sentence that says what is wrong and where) when it is no trace, or no operation can be read. One that cannot be read at all is `SL_EIO`. The text may have 4 GiB, unpacked, and
one event 64 MiB; it is read a part at a time, so that memory is needed for operations and calls only.]],
}
