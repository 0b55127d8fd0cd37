return {
    title = "Conventions and errors",
    order = 1,
    about = [[
`lab` is a global in the program; elsewhere `local lab = require "streamlab"`. Names and meanings are PyTorch's where PyTorch has one, CUDA's in snake_case otherwise.
If one of PyTorch's names does something else here, its entry says so ("differs"), and [the table of names](cuda-pytorch.md) lists all of them. The API is the same on a real GPU and on the simulator; if a function differs between the two, its entry says how.]],
    entries = {},
    more = [[
## Conventions

- Indices start at 1; tensors are row-major. Sizes are in bytes; durations are in the unit in the name (`_us`, `_ms`); `ms` arguments are milliseconds, from 0 to 1e9.
- Options come in a table at the end: `lab.spin(2, { blocks = 8 })`. A function that has only options is called with braces: `lab.stream{ priority = "high" }`. An unknown
  option is an error, and so is an extra argument. Every option may be left out.
- Call a function with a dot and a method with a colon: `lab.matmul(a, b)`, `a:matmul(b)`. If you mix them up, the error says so.
- `stream =` names the stream of an operation; without it the operation goes to the current stream of the device.
- If an object (tensor, stream, event, graph, device, timeline) does not have a field, reading or setting it is an error; you do not get `nil`. Error objects, spans and
  other results are plain tables.
- Devices and streams are the same value wherever they come from, so that they can be keys of a table. The garbage collector frees objects that a script no longer uses, without a wait;
  `local s <close> = lab.stream()` is closed at the end of the block.

**Blocks** in an entry says when the host waits; without it the host does not wait. On the simulator each call takes its host time (profile, `host.*`). On both backends a call
that enqueues waits while the launch queue is full (about a thousand operations); on a real GPU the first launch of a kernel loads it, which may wait for everything
that runs.

**Time** on the simulator is virtual: Lua's own work takes none, and only `lab.host_work` and the calls that reach the GPU or wait for it move the host's clock. Values
are computed there only when a script reads them. The same script takes the same time to the nanosecond in every run.

## Names of devices

Wherever a device is named (`device =` of tensors and streams, `t:to(...)`), it is one of

| | |
|---|---|
| `"cuda"` | the current GPU, real or simulated; where new tensors live unless `device =` says otherwise |
| `"cuda:1"` | the GPU of that number, from 0, on the current one's backend. If it is not open it is opened; the current device stays what it is. Simulated ones all have the number 0 |
| a device object | of `lab.open` or `lab.device`; it also tells simulated ones apart |
| `"cpu"` | the host, whose memory belongs to no GPU: it can be copied to and from each |

More on this is in [Devices](devices.md).

## Errors

Misuse, and calls that cannot be done, raise an error object with the fields `code`, `message`, `op` and `where`. It prints as one line:

```text
lab.lua:12: matmul: inner sizes differ: 4x3 times 4x3
```

Then nothing has been enqueued, and all objects can still be used. `pcall` returns the error object:

```lua
local ok, err = pcall(lab.matmul, lab.ones(4, 3), lab.ones(4, 3))
if not ok and err.code == "SL_ESHAPE" then print("failed: " .. err) end
```

`where` is the script's line; `op` is the function that the script called (empty if a field was read or set).
`..` joins the line of the error to a string.

If memory is short, the functions that try to allocate (`lab.cuda.malloc`, `malloc_host`, `malloc_async`) do not raise an error. They return `nil`, the message and the code:
`local m, message, code = lab.cuda.malloc(2^40 | 0)`. Wrong arguments raise an error.

| code | meaning |
|---|---|
| `SL_EINVAL` | wrong type or value of an argument, unknown option, no such field; a file that is not what it should be |
| `SL_ESHAPE` | shapes or sizes do not fit |
| `SL_EDTYPE` | dtypes do not fit, or there is no such dtype |
| `SL_EPLACE` | memory in the wrong place (a kernel on a host tensor) |
| `SL_EDEVICE` | objects of different devices |
| `SL_ECLOSED` | a freed tensor or graph, a closed stream or event |
| `SL_ESTATE` | not possible now: `elapsed_time` of an event that was not recorded, a call in a host function, a simulated device whose clock has passed 46 days |
| `SL_ENOMEM` | out of memory |
| `SL_ENOTFOUND` | no such backend, device, profile or stream |
| `SL_EUNSUPPORTED` | not in this version or on this backend, not an operator of tensors; or the CUDA plugin or one of NVIDIA's libraries cannot be loaded |
| `SL_EIO` | a file could not be read or written |
| `SL_EHOSTFUNC` | a host function failed; the message has its error |
| `SL_EINTERRUPT` | Ctrl-C ended a call that takes long; see [below](#ctrl-c) |
| `SL_EFAULT` | the GPU has failed (an illegal access, a trap) and is lost; the message names the operations that were in flight, with their positions |
| `SL_ERACE` | in `lab.check("error")` a call would have raced with one before it, and has not happened; see [Races](races.md) |
| `SL_ECOMPILE` | a [kernel of your own](custom.md) does not compile; the message has the compiler's errors |
| `SL_EKERNEL` | a simulated kernel of your own did what it must not: an access outside of its tensors, a barrier that not all threads reach; the message has the thread and the line |
| `SL_ECAPTURE` | a call that is not permitted while a stream is captured; the message names CUDA's error, see [Graphs](graphs.md) |
| `SL_EBACKEND` | a call of CUDA or cuBLAS failed, and the message has its name and error; or CUPTI lost the times of operations that were recorded |

`SL_EFAULT` and `SL_EBACKEND` are for real GPUs. Before a GPU's memory is reported to be out, garbage has been collected and the work waited for that still held some; the
message says how many bytes were asked for, how many are free, what is live, and which tensors are the largest.

The page of a function lists the errors that are its own. Any function may raise `SL_EINVAL` for wrong arguments and options and `SL_ECLOSED` for what was closed; any
that calls the device may raise `SL_ESTATE` in a host function, `SL_EHOSTFUNC` where a host function ran inside it and raised, and on a real GPU `SL_EFAULT` and
`SL_EBACKEND`, also for what an earlier call has caused.

**A GPU that has failed** stays lost: every later call on it raises `SL_EFAULT`, but host tensors can be read and everything can be freed. CUDA reports the fault at some
later call, which may be long after the one that caused it. The message names the three oldest operations that were in flight and how many more there were;
in flight is what was not known to have completed. Other devices go on, and another one can be opened. A trace (`--trace`) still has what was recorded. `lab.cuda.trap`
makes a GPU fail on purpose.

## Ctrl-C

Ctrl-C stops what runs. The error is `lab.lua:6: interrupted!`, with the position of the line that ran, and the program ends with status 130; the REPL shows its next prompt.
It reaches coroutines, host functions, metamethods, message handlers and loops around `pcall`. A script that catches it has ten thousand instructions, and at most a second, to
clean up; after that the error is raised at every instruction. Variables to be closed (`<close>`) are closed.

Calls that take long end at once, on both backends: waits, copies that wait, `lab.host_work`, computed values, large reads, `lab.load`, `tl:save` (the file stays as it was),
`tl:explain`, `tl:causes`, `tl:diff` and `tl:summary`. What was enqueued still runs, and the device works as before. On the simulator a wait that was stopped has waited up to
then, and a later one goes on from there; values are computed when they are looked at again. The current stream is the one from before `lab.with`, and the recording of a
stopped `lab.profile` has ended.

A program that ends by Ctrl-C waits for nothing more, but `--trace` saves what there is. A second Ctrl-C within two seconds ends the process with status 130, without its
trace. It is for a finalizer, or a function of Lua's libraries, that does not end: `string.find` with a bad pattern.

A program that was started with SIGINT ignored keeps ignoring it, and during `os.execute` Ctrl-C reaches the command alone. Under plain `lua5.4`, whose handler knows no GPU,
a call that takes long goes on to its end.]],
}
