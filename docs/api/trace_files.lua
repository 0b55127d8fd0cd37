return {
    title = "Trace files",
    order = 80,
    about = [[
What `timeline:save` and `streamlab --trace` write, and what `lab.load` and `streamlab show` read. The end of a file's name says what it is: `.svg` a picture, `.html` a
page for the browser, `.json` and `.json.gz` a trace.

A file is there whole or not at all, and an old one stays as it was if it cannot be written, which is `SL_EIO`: [files that are written](program.md#files-that-are-written). The same timeline
gives the same bytes.]],
    entries = {},
    more = [[
## Pictures: `.svg`

For papers and slides. The options are those of `timeline:save`, of which `streamlab show -o` has `--rows`, `--theme`, `--from` and `--to`:

| option | |
|---|---|
| `rows = "streams"` | or `"engines"`. What overlaps within a row lies in lanes below each other |
| `theme = "auto"` | or `"light"`, `"dark"`; `"auto"` is as the reader's system prefers, and light in programs that convert pictures |
| `from_us =, to_us =` | a part of it, from the first span's start |
| `width_px = 960` | from 200 to 20000 |
| `arrows = true` | false: without the arrows of events and waits |

Above the streams a row has the host's calls: hatched where it waited (synchronisations, pageable copies, `cudaFree`, a full launch queue), grey where it issued work, dark where it worked itself. A `<desc>` tells the picture in words.
A solid arrow leads from the work before an event's record to the work that waited for it; a dashed one says that the event had already happened. Operations too short
to be told apart are one bar, pale if it has gaps. In a browser each bar shows its name, stream, time, bytes and script line.

## Pages: `.html`

A page that needs nothing else and no network: the chart, busy times, overlaps, bounds, the explanation, and a table of the operations. Wheel or W and S zoom, dragging
or A and D move, 0 shows all, E changes between streams and engines, F zooms to what is selected, ? lists the keys. A click on an operation shows what it waited for;
Shift and drag measures a range, with the engines' busy and common times in it; a click on a finding marks its waits in the chart. No options.

## Traces: `.json`, `.json.gz`

In the form that PyTorch's profiler (kineto) writes, for Perfetto, chrome://tracing and Holistic Trace Analysis (HTA). No options. Nothing of a timeline is lost:
`lab.load` gives it back, the explanation and the script's lines with it. What there is to know for those who read the JSON:

- Times are in us from the beginning of the recording, with three decimals. The first process (4242) is the host, with the script's calls as `cuda_runtime` slices; the
  other one is the GPU, whose number is the device's index. It has a row (`tid`) a stream: the stream's id + 7, as in the traces of PyTorch's profiler, where the
  default stream is 7.
- A call and the operation that it launched have the same `correlation`, and an arrow (`ac2g`). What a synchronisation waited for is a `cuda_sync` slice on a row of its
  own, `tid` plus 1000000. A host function is a `cpu_op` of the host.
- A `user_annotation` named `streamlab` spans the recording; HTA's critical path is asked for by that name.
- Keys that are ours, and that other tools pass over:

| where | key | |
|---|---|---|
| the whole | `streamlab` | `version`, `backend`, `device`, `profile`, `simulated`, `pytorch` (its profiler wrote the file that was read), `async_engines`, `priorities`, `start_ns`, `wall_ns`, `streams` (`id` is 1 for `tid` 8; `number` is what another program called the stream whose file was read), `sources` (script lines) |
| a call | `loc` | its position in the script, in its `args` also as `where` |
| its `args` | `host waited`, `queue full`, `loaded`, `waited for device` | it returned only when the operation had ended; it waited for room in the launch queue; it loaded the kernel's code; it waited for all work of the device |
| | `device us`, `in stream`, `waits for`, `recorded in` | of an event's record or wait: when the stream reached it, which stream, for which record |
| an operation's `args` | `kernel`, `kind`, `engine`, `memory` | a kernel's own name; the others where they do not follow from `cat` and name |
| | `ready us`, `held cause`, `held by`, `start cause`, `start by` | what the operation waited for, on the simulator |
| a slice | `own ts`, `own dur` | its real times, where it had to be moved by some ns so that rows nest for readers with doubles |

HTA rounds starts up and ends down to whole us unless `HTA_DISABLE_NS_ROUNDING=1` is in its environment, and its kernel breakdown cuts each stretch to whole us in any
case.

## Traces of others

`lab.load` and `streamlab show` take kernels, copies and memsets, the calls that launched them (`cuda_runtime`, `cuda_driver`), and `cuda_sync` events; other events are
passed over. Of a trace with several GPUs `streamlab show` prints each (of more than 16 the first), and `lab.load` takes the one with the most operations or that which `device` names; times count from the trace's first event, for all GPUs alike. `timeline.notice` says so, and what
is missing: launches, or what calls waited for (PyTorch writes that with `experimental_config=torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True)`
only).

A file that is no trace, is cut short, damaged or has something in it that cannot be, is `SL_EINVAL`, with a sentence that says what and where; one that cannot be read
is `SL_EIO`.]],
}
