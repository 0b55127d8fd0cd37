return {
    title = "Streams",
    class = "stream",
    order = 20,
    about = [[
A stream is a queue of a GPU: its operations run one after the other, in the order in which the script gave them, and those of different streams may run at the same time.
(In CUDA a kernel may begin before the one before it ends if its launch asks for that: programmatic dependent launch. streamlab does not have it.) A
call that enqueues an operation returns before the operation has run, unless its entry says that it blocks. It waits only while the launch queue is full (about a thousand operations).

**Which stream.** `stream =` names the stream of an operation. Without it the operation goes to the current stream of the device: at the start the default stream, later the one that `lab.with` or
`lab.use` set.

**The default stream's rules.** Work in the default stream (CUDA's legacy NULL stream) waits for all earlier work in the device's *blocking* streams, and later work in
blocking streams waits for it; the host waits for nothing. Streams made with `non_blocking = true` are exempt. `lab.stream` makes blocking ones, as `cudaStreamCreate` does;
PyTorch's streams are always exempt, and so are those that `lab.stream` makes after `lab.torch_defaults()`.

**Values.** Wherever a stream comes from (`lab.stream`, `lab.current_stream()`, ...), it is the same value until it is closed, so that streams can be keys of a table. The garbage collector closes a stream
that nothing refers to any more. Using a closed stream is an error, `SL_ECLOSED`.]],
    entries = {
        {
            name = "lab.stream",
            brief = "makes a stream",
            options = {
                {
                    "priority", [[integer|"high"|"low"]], "CUDA's number, lower is more urgent; its range is `device.priority_range`, whose ends are \"high\" and \"low\"",
                    default = [[the least urgent, 0]],
                },
                { "non_blocking", "boolean", "whether it is exempt from the default stream's rules", default = "false; after `lab.torch_defaults()` true" },
                { "name", "string", "what charts, traces and messages call it", default = [["stream 1" and so on, by its id]] },
                { "device", "\"cuda\"|string|device", [[whose stream it is: "cuda" (the current GPU), "cuda:1", a device of `lab.open`]], default = "the current one" },
            },
            returns = { { "stream", "a new stream" } },
            errors = {
                { "SL_ENOTFOUND", "there is no GPU of that number" },
                { "SL_ESTATE", "called by a host function" },
            },
            about = [[
A priority out of range is clamped, as in CUDA; the first time a line on stderr says so. Priorities decide which kernel's waiting blocks start first; a running block
is not stopped, and copies ignore priorities.]],
            example = [[
local a, b = lab.stream(), lab.stream{ name = "urgent", priority = "high" }
print(b)  --> stream 2 "urgent" (priority -5, blocking)
local start_us = lab.now_us()
lab.spin(4, { stream = a })
lab.spin(4, { stream = b })  -- at the same time
lab.synchronize()
print((lab.now_us() - start_us) // 1000 .. " ms")  --> 4.0 ms]],
            cuda = "cudaStreamCreateWithPriority, cudaStreamCreateWithFlags, cudaStreamCreate",
            pytorch = "torch.cuda.Stream",
            differs = [[PyTorch's are exempt from the default stream's rules, as here with `non_blocking = true` or after `lab.torch_defaults()`. PyTorch has 32 streams of each priority, reuses them, and uses only the first four priorities; here each call makes a new stream.]],
            see = { "lab.with", "stream:close", "device.priority_range" },
        },
        {
            name = "lab.default_stream",
            brief = "the default stream of the current device",
            returns = { { "stream", "stream 0 of CUDA, the legacy NULL stream" } },
            about = [[
Work goes there if the script names no stream. It has rules of its own, see the page Streams. Its `synchronize` and `query` include the work of all blocking streams.]],
            example = [[
local s, exempt = lab.stream(), lab.stream{ non_blocking = true }
lab.spin(3)                       -- in the default stream
lab.spin(1, { stream = s })       -- waits for it
lab.spin(2, { stream = exempt })  -- does not
exempt:synchronize()
print(s:query())  --> false
s:synchronize()
print(lab.default_stream():query())  --> true]],
            cuda = "cudaStreamLegacy",
            pytorch = "torch.cuda.default_stream",
            differs = [[PyTorch's does not include other streams, since they are exempt.]],
            see = { "lab.per_thread_stream", "lab.current_stream" },
        },
        {
            name = "lab.per_thread_stream",
            brief = "the per-thread default stream of the current device",
            returns = { { "stream", "an ordinary blocking stream" } },
            about = [[It is what stream 0 means in CUDA programs that are compiled with `--default-stream per-thread`. Each `lab.thread` has its own. PyTorch has no name for it.]],
            example = [[
local s = lab.per_thread_stream()
print(s)  --> stream 1 "per-thread" (priority 0, blocking)
lab.spin(2)
lab.spin(1, { stream = s })  -- after the default stream's, as in any blocking stream
s:synchronize()
print(lab.default_stream():query())  --> true]],
            cuda = "cudaStreamPerThread",
            see = { "lab.default_stream" },
        },
        {
            name = "lab.current_stream",
            brief = "the current stream of the current device",
            returns = { { "stream", "the stream of operations that name none; at the start the default stream" } },
            example = [[
print(lab.current_stream() == lab.default_stream())  --> true
local s = lab.stream{ name = "mine" }
lab.with(s, function() print(lab.current_stream().name) end)  --> mine]],
            pytorch = "torch.cuda.current_stream",
            see = { "lab.with", "lab.use" },
        },
        {
            name = "lab.with",
            brief = "calls a function with a stream as the current one",
            arguments = {
                { "stream", "stream", "the stream" },
                { "f", "function", "what is called" },
                { "...", "any", "f's arguments" },
            },
            returns = { { "any", "all that f returns" } },
            errors = { { "SL_ESTATE", "called by a host function" } },
            about = [[
During the call the stream's device is current, too. Afterwards, also after an error, the stream and the device that were current before are current again; an error of `f` is raised
unchanged. `lab.with` does not wait. `f` may yield: a stream that a coroutine has made current is current only while the coroutine runs.]],
            example = [[
local s = lab.stream()
local a = lab.with(s, function()
    lab.spin(2)
    return lab.ones(3)
end)
print(s:query())  --> false
print(lab.current_stream().name)  --> default
print(a)  --> tensor 3 float32 on cuda]],
            pytorch = "torch.cuda.stream",
            differs = [[A stream must be given; PyTorch takes `None` for the current one.]],
            see = { "lab.use", "lab.current_stream" },
        },
        {
            name = "lab.use",
            brief = "makes a stream current until the end of the block",
            arguments = { { "stream", "stream", "the stream" } },
            returns = { { "userdata", "a guard, for `local guard <close> =`, which makes the old stream current again" } },
            errors = { { "SL_ESTATE", "called by a host function" } },
            about = [[
It makes the stream's device current as well, and the guard also restores that. Without `local guard <close> =` the stream stays current, as with PyTorch's
`torch.cuda.set_stream`. At the prompt, where each entry is a block of its own, change the stream with `lab.use(s);`.

In a coroutine the stream is current only while the coroutine runs, or coroutines that it resumes. When it yields, the stream that was current outside is current again.]],
            example = [[
local s = lab.stream{ name = "mine" }
do
    local guard <close> = lab.use(s)
    print(lab.current_stream().name)  --> mine
end
print(lab.current_stream().name)  --> default]],
            pytorch = "torch.cuda.set_stream",
            see = { "lab.with" },
        },
        {
            name = "lab.torch_defaults",
            brief = "makes new streams and events as PyTorch does",
            arguments = { { "on", "boolean", "true: as PyTorch does; false: as CUDA does, the state at the start", default = "true" } },
            returns = { { "boolean", "what was set before" } },
            about = [[
For programs that are translated line by line from PyTorch. From then on `lab.stream{}` is exempt from the default stream's rules unless `non_blocking = false` is given, and
`lab.event{}` and `s:record_event()` measure no time unless `timing = true` is given. Streams and events that exist already do not change. Other differences from PyTorch stay; they are in
[the table of names](cuda-pytorch.md). The setting is for all devices of the script. Submissions of course labs do not have this function.]],
            example = [[
local before = lab.torch_defaults()
print(before, lab.stream{ name = "s" })  --> false	stream 1 "s" (priority 0, non-blocking)
local from, to = lab.event(), lab.event{ enable_timing = true }
print(from.timing, to.timing)  --> false	true
lab.torch_defaults(before)
print(lab.event().timing)  --> true]],
            see = { "lab.stream", "lab.event", "stream:record_event" },
        },
        {
            name = "stream:synchronize",
            brief = "waits for the stream's work",
            blocks = "until all that the stream holds is done; of the default stream, until the work of all blocking streams is",
            example = [[
local a, b = lab.stream(), lab.stream()
lab.spin(1, { stream = a })
lab.spin(5, { stream = b })
a:synchronize()
print(a:query())  --> true
print(b:query())  --> false]],
            cuda = "cudaStreamSynchronize",
            pytorch = "torch.cuda.Stream.synchronize",
            see = { "lab.synchronize", "event:synchronize", "stream:query" },
        },
        {
            name = "stream:query",
            brief = "asks whether the stream's work is done",
            returns = { { "boolean", "true if all that the stream was given has completed" } },
            about = [[Of the default stream: whether the work of all blocking streams has.]],
            example = [[
local s = lab.stream()
print(s:query())  --> true
lab.spin(2, { stream = s })
print(s:query())  --> false
lab.host_work(3)
print(s:query())  --> true]],
            cuda = "cudaStreamQuery",
            pytorch = "torch.cuda.Stream.query",
            see = { "stream:synchronize", "event:query" },
        },
        {
            name = "stream:record_event",
            brief = "records an event in the stream",
            arguments = { { "event", "event", "the event, of the same device; or the options of a new one", default = "a new one, as `lab.event()` makes it" } },
            options = {
                { "timing", "boolean", "whether the new event measures time", default = "true; after `lab.torch_defaults()` false" },
                { "enable_timing", "boolean", "the same by PyTorch's name", default = "as `timing`" },
            },
            returns = { { "event", "the event, which happens when the stream's work so far is done" } },
            errors = { { "SL_EDEVICE", "the event is another device's" } },
            about = [[
To make a new event with options, give the options instead of an event. The new event belongs to the stream's device.]],
            example = [[
local s = lab.stream()
lab.spin(1, { stream = s })
local e = s:record_event()
lab.spin(5, { stream = s })
e:synchronize()   -- waits for the first one only
print(s:query())  --> false]],
            cuda = "cudaEventRecord",
            pytorch = "torch.cuda.Stream.record_event",
            differs = [[The new event measures time; PyTorch's does not. `s:record_event{ timing = false }` makes one that does not, and so does `s:record_event()` after `lab.torch_defaults()`.]],
            see = { "event:record", "stream:wait_event" },
        },
        {
            name = "stream:wait_event",
            brief = "makes the stream wait for an event",
            arguments = { { "event", "event", "the event; what counts is its latest record at the time of this call" } },
            errors = { { "SL_EDEVICE", "the event is of a device that this one cannot wait for: one of another simulated machine" } },
            about = [[
Work that is put into the stream after this call waits, on the device; the host does not wait. If the event was never recorded, nothing waits. Recording it again does not change
a wait that is already enqueued.]],
            example = [[
local a, b = lab.stream(), lab.stream()
lab.spin(3, { stream = a })
b:wait_event(a:record_event())
lab.spin(1, { stream = b })
b:synchronize()
print(a:query())  --> true]],
            cuda = "cudaStreamWaitEvent",
            pytorch = "torch.cuda.Stream.wait_event",
            see = { "stream:record_event", "stream:wait_stream" },
        },
        {
            name = "stream:wait_stream",
            brief = "makes the stream wait for another one's work",
            arguments = { { "stream", "stream", "the other stream; only the work that it holds now is waited for" } },
            errors = { { "SL_EDEVICE", "the other stream is of a device that this one cannot wait for: one of another simulated machine" } },
            about = [[It is `s:wait_event` for an event, without timing, that is recorded in the other stream. The host does not wait.]],
            example = [[
local a, b, start_us = lab.stream(), lab.stream(), lab.now_us()
lab.spin(2, { stream = a })
b:wait_stream(a)
lab.spin(9, { stream = a })  -- comes too late to be waited for
lab.spin(1, { stream = b })
b:synchronize()
print((lab.now_us() - start_us) // 1000 .. " ms")  --> 3.0 ms]],
            cuda = "cudaEventRecord, cudaStreamWaitEvent",
            pytorch = "torch.cuda.Stream.wait_stream",
            see = { "stream:wait_event" },
        },
        {
            name = "stream:write_value",
            brief = "writes one number into memory when the stream has reached it",
            arguments = {
                { "t", "tensor", "pinned, `int32` or `float32`; or memory of `lab.cuda.malloc` of the stream's GPU, as `int32` words; on the simulator also a device tensor, with a notice" },
                { "i", "integer", "which element, from 1, in row order" },
                { "v", "number", "what it becomes; of an `int32` element a whole number" },
            },
            errors = {
                { "SL_EPLACE", "the tensor is pageable; on a real GPU also a device tensor: those are in memory of a pool, which CUDA's driver refuses here" },
                { "SL_EDTYPE", "its elements do not have 32 bits" },
                { "SL_ESHAPE", "there is no element `i`" },
                { "SL_EINVAL", "`v` is no whole number of 32 bits for an `int32` element" },
            },
            about = [[
The GPU's front end writes it, without a kernel: all that the stream did before can be seen by whoever sees the value. The host does not wait. Other streams wait for it
with `stream:wait_value`, the host sees it in pinned memory. In a capture it becomes a node of the graph, which writes the same value in each launch. In a timeline it is a
call, as an event's record is: no profiler has a row on the GPU for it.]],
            example = [[
local s, flag = lab.stream(), lab.zeros(1, { dtype = "int32", device = "cpu", pinned = true })
lab.spin(1, { stream = s })
s:write_value(flag, 1, 7)
print(flag:get(1))  --> 0.0
s:synchronize()
print(flag:get(1))  --> 7.0]],
            cuda = "cuStreamWriteValue32",
            see = { "stream:wait_value", "stream:record_event" },
        },
        {
            name = "stream:wait_value",
            brief = "makes the stream wait until a number in memory is what it waits for",
            arguments = {
                { "t", "tensor", "pinned, `int32` or `float32`; or memory of `lab.cuda.malloc` of the stream's GPU, as `int32` words; on the simulator also a device tensor, with a notice" },
                { "i", "integer", "which element, from 1, in row order" },
                { "v", "number", "what it is compared with" },
            },
            options = {
                {
                    "compare", [["geq"|"eq"|"and"]], "at least `v` (the element less `v`, as an `int32` that goes round, is not negative); equal to it; a bit in common with it. `float32` elements take \"eq\" alone",
                    default = [["geq"]],
                },
            },
            errors = {
                { "SL_EPLACE", "the tensor is pageable; on a real GPU also a device tensor: those are in memory of a pool, which CUDA's driver refuses here" },
                { "SL_EDTYPE", "its elements do not have 32 bits, or are `float32` and not compared with `\"eq\"`" },
                { "SL_ESHAPE", "there is no element `i`" },
                { "SL_EINVAL", "`v` is no whole number of 32 bits for an `int32` element; `\"and\"` with 0" },
            },
            about = [[
Work that is put into the stream after this call waits, on the device, until the value is there, whoever wrote it: `stream:write_value`, a kernel, a copy, or the host with
`t:set` in pinned memory. Unlike a wait for an event, it can be enqueued before what it waits for. The host does not wait.

If nothing can write the value any more, the call that waits for the stream raises `SL_ESTATE`, or the script's end, with the line of the wait, the element and the tensor; CUDA would wait
for ever. On a real GPU this is so while no other thread runs, and not of waits in graphs. A stream that shares its hardware channel with the one that writes (`CUDA_DEVICE_MAX_CONNECTIONS`)
may keep that from its turn: the simulator reports that, too, and a real GPU hangs.

The race checker takes a wait that finds a value of `stream:write_value` as one for an event recorded there. Behind a wait whose value has not been written yet it
finds no races, until a `stream:write_value` that ends the wait is enqueued, or the stream is empty: what is yet to be enqueued may come before all that stands behind the wait.]],
            example = [[
local a, b = lab.stream(), lab.stream()
local flag = lab.zeros(1, { dtype = "int32", device = "cpu", pinned = true })
b:wait_value(flag, 1, 1)
lab.spin(1, { stream = b })
print(b:query())  --> false
a:write_value(flag, 1, 1)
b:synchronize()
print(b:query())  --> true]],
            cuda = "cuStreamWaitValue32",
            see = { "stream:write_value", "stream:wait_event" },
        },
        {
            name = "stream:launch_host_func",
            brief = "lets the stream call a function on the host",
            arguments = { { "f", "function", "called without arguments when the stream has reached it; its results are ignored" } },
            about = [[
The stream waits until `f` has returned. `f` runs inside some later call of the laboratory, on the Lua thread. It must not enqueue or synchronise, on any device, nor make
objects, free tensors or change the current stream (`SL_ESTATE`). It may read host tensors and set their elements, read the clock, and call `lab.host_work`, so that
it takes longer. If it raises an error, the call in which it ran raises `SL_EHOSTFUNC`.

On a real GPU the stream waits until the script makes such a call (one that enqueues, asks or waits, or `lab.host_work`), and a call that may itself hold the host (a
pageable copy, `lab.cuda.free`, page-locking, a kernel's first launch) waits for all host functions first.]],
            example = [[
local s, order = lab.stream(), {}
lab.spin(1, { stream = s })
s:launch_host_func(function() table.insert(order, "host function") end)
table.insert(order, "script")
s:synchronize()
print(table.concat(order, ", "))  --> script, host function]],
            cuda = "cudaLaunchHostFunc",
            see = { "lab.host_work" },
        },
        {
            name = "stream:close",
            brief = "ends the stream",
            errors = { { "SL_EINVAL", "it is the default stream or the per-thread one, which belong to their device" } },
            about = [[
Its queued work still runs, and `close` does not wait for it. Closing it again does nothing. If it is the current stream it stays current until another one is made current.
`local s <close> = lab.stream()` closes it at the end of the block.]],
            example = [[
local s = lab.stream()
lab.spin(2, { stream = s })
local e = s:record_event()
s:close()
print(s)  --> stream (closed)
e:synchronize()
print(e:query())  --> true]],
            cuda = "cudaStreamDestroy",
        },
        {
            name = "stream.id", type = "integer", brief = "its number on its device, in the order of creation; 0 is the default stream",
            cuda = "cudaStreamGetId", pytorch = "torch.cuda.Stream.stream_id",
        },
        { name = "stream.name", type = "string", brief = [[its name; "default" and "per-thread" are those of the two default streams]] },
        {
            name = "stream.priority", type = "integer", brief = "its priority, after clamping; lower is more urgent",
            cuda = "cudaStreamGetPriority", pytorch = "torch.cuda.Stream.priority",
        },
        {
            name = "stream.non_blocking", type = "boolean", brief = "whether it is exempt from the default stream's rules",
            cuda = "cudaStreamGetFlags",
        },
        {
            name = "stream.device", type = "device", brief = "the device that it belongs to",
            cuda = "cudaStreamGetDevice", pytorch = "torch.cuda.Stream.device",
        },
    },
}
