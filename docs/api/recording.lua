return {
    title = "Recording",
    order = 60,
    about = [[
A recording notes what a device does, and when: every kernel, copy, memset and host function, and the calls of the host. Its result is a
[timeline](timelines.md), which you can draw, analyse, explain and save.

A recording has the operations of all open devices of a machine, that of the current device, on one clock, also of those that are opened while it runs: `span.device`, `{ device = 1 }` as a selection, and
`timeline.devices` say of which GPU what is. Where more than one has work, names of streams and rows of engines begin with the GPU: "gpu1: copies". Recordings may nest. Work that was
enqueued before it began is not in it: both `lab.profile` and `lab.record` wait for all of these devices first.

On the simulator the times are exact, and recording costs nothing: without work in flight its beginning takes no time of the host, so that a script runs the same with
and without. On a real GPU the times come from CUPTI, which the first recording loads. If CUPTI cannot be used (its library is missing, a profiler such as nsys uses
it, `STREAMLAB_CUPTI` is 0), a line on stderr says why, and events around each operation measure the times. They are exact to about half a microsecond, and a span then includes
the time that the operation waited on the GPU after the event before it. Operations whose times were lost are left out, and the next call raises `SL_EBACKEND` once; if
there was no memory for them it raises `SL_ENOMEM`.

Profilers such as nsys show a recording as an NVTX range, and streams with their names. To record a whole run without changing the script: `streamlab --trace FILE`.]],
    entries = {
        {
            name = "lab.profile",
            brief = "records what a function enqueues",
            arguments = {
                { "f", "function", "what to record" },
                { "range", "table", "`{ spread = n }`: also find the makespan's range, in n more runs of `f`, from 2 to 1000; or `{ keep = \"summary\" }`: keep sums alone, as `lab.record` has it", default = "none" },
                { "...", "any", "the arguments of f" },
            },
            returns = {
                { "timeline", "what ran; the recording is complete" },
                { "any", "what f returned, all of it" },
            },
            blocks = "until the machine's devices are idle, before f and again after it",
            errors = {
                { "SL_ESTATE", "called in a host function" },
                { "SL_EINVAL", "`spread` is out of its range, or its rows change what a device has, such as the number of SMs; `keep` is something else" },
                { "SL_EUNSUPPORTED", "`keep` is `\"summary\"`, and the GPU is a real one" },
            },
            about = [[
An error in `f` ends the recording without waiting, and is raised again. The name of the NVTX range is `lab.profile` and the position of the call: `lab.profile first.lua:12`.

**A range.** A prediction from one machine's figures is exact only for that machine at that moment. With `{ spread = 20 }` as the only field of a table behind `f`, `f` is called 20 more times, on a
simulated GPU each time with figures drawn from what its profile says about their uncertainty (`spread`, [simulator](../design/simulator.md#7-parameters)). The draws are the same every time.
`timeline.range_us` is then the range in which nine tenths of such makespans are expected, one twentieth below and above: of fewer than 19 runs the lowest and the highest. It is wider by
what no figure varies, if the profile has that. `timeline:show`, `timeline:explain`, `timeline:summary`, pictures and saved traces say it: `makespan 97.2 ms (90.1 to
106)`. The timeline itself is that of the first run, with the figures as they are; they are so again afterwards, also when `f` fails. The first run alone writes files and starts commands, as in
[streamlab predict](program.md#streamlab-predict); what `f` prints comes in each run. On a real GPU the figures are what they are, and the range is that of 20 more runs.

The machine is that of the device that is current when `lab.profile` is called; this device is the timeline's first. Another simulated machine (`lab.open` without an `index`) has another clock:
what `f` enqueues there is not in the timeline.]],
            example = [[
local a, b = lab.stream(), lab.stream()
local tl = lab.profile(function()
    lab.spin(2, { stream = a })
    lab.spin(2, { stream = b })
end)
print(tl.span_count)  --> 2
lab.open{ profile = { base = "textbook", spin_fixed_us = 10, spread = { spins = { keys = { "spin_fixed_us" }, low = 0.5, high = 2 } } } }
print(lab.profile(lab.spin, { spread = 20 }, 0.1).range_us[1] < 110)  --> true]],
            pytorch = "torch.profiler.profile",
            see = { "lab.record", "timeline:show", "timeline:explain" },
        },
        {
            name = "lab.record",
            brief = "begins a recording",
            options = {
                { "name", "string", "of the NVTX range that profilers show",
                  default = "lab.record and the position of the call" },
                { "keep", '"spans"|"summary"', "what of the operations is kept: all of each, or sums over them", default = '"spans"' },
            },
            returns = { { "timeline", "it records until its stop; nothing can be read before" } },
            blocks = "until the machine's devices are idle; on simulated ones without work in flight not at all",
            errors = {
                { "SL_ESTATE", "called in a host function" },
                { "SL_EINVAL", "`keep` is neither of the two" },
                { "SL_EUNSUPPORTED", "`keep` is `\"summary\"`, and the GPU is a real one, whose times come only at the end" },
            },
            about = [[
Use it where `lab.profile` does not fit: if the beginning and the end are in different functions, or recordings overlap. Recordings may nest; each has the operations that were enqueued
between its beginning and its stop.

`local tl <close> = lab.record()` ends the recording also where an error leaves the block; it then ends without waiting, so that operations that are still in flight are
left out. The garbage collector ends a recording that nothing refers to any more.

**A summary.** An operation that is kept takes some 50 bytes. With `keep = "summary"` a recording of any length takes bounded memory, on simulated GPUs: that of the operations in flight, and of those that run during the
longest of them. The timeline then has its makespan and wall time, counts, busy times of engines, kinds, devices, streams and names (`tl:busy_us`), the overlaps of engines, kinds and devices, and of up to 64 streams
(`tl:overlap_us`), `tl:totals` and `tl:summary`. They are exactly those of all spans. Whatever needs the spans themselves raises `SL_ESTATE`.]],
            example = [[
local tl = lab.record{ name = "first part" }
lab.spin(1)
print(tl.recording)  --> true
tl:stop()
lab.spin(1)
print(tl.span_count)  --> 1]],
            pytorch = "torch.profiler.profile.start",
            see = { "timeline:stop", "lab.profile" },
        },
        {
            name = "lab.load",
            brief = "reads the timeline of a trace file",
            arguments = {
                { "path", "string", "a JSON trace, compressed with gzip or not: of streamlab, of the profiler of PyTorch, of JAX or TensorFlow, of AMD's rocprofv3, or of others that write such; a report of Nsight Systems that `nsys export --type sqlite` made a database of; or what `streamlab record` has kept of a program, a spool or a folder of spools" },
            },
            options = {
                { "device", "integer", "the number of the GPU, where the trace has several", default = "all of a trace of `tl:save`, else the one with the most operations" },
            },
            returns = { { "timeline", "complete; `notice` says what of the file is not in it" } },
            errors = {
                { "SL_EIO", "the file cannot be read, or it is a database and libsqlite3 is missing" },
                { "SL_ENOTFOUND", "the trace has no work on that GPU" },
                { "SL_EINVAL", "it is no trace, is cut short or damaged, or has something in it that cannot be; the sentence says what and where" },
            },
            about = [[
Opens no device. A trace that `tl:save` wrote gives back the timeline that was saved, its explanation and the quoted script lines included. What is taken of the traces
of others is in [Trace files](trace_files.md). Of a trace that another program wrote, a timeline is of one GPU; `timeline.device_indices` has those of the file, and charts of them have the same axis. One of
`tl:save` has all GPUs that were recorded; with `device` it has that one's operations and streams, and what they waited for on the others is not known.]],
            example = [[
local file = os.tmpname()
lab.profile(lab.spin, 1):save(file .. ".json")
local tl = lab.load(file .. ".json")
print(tl:spans()[1].name)  --> spin
print(tl.makespan_us // 1000 .. " ms")  --> 1.0 ms
os.remove(file .. ".json")
os.remove(file)]],
            see = { "timeline:save", "timeline.notice" },
        },
    },
}
