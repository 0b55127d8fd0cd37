return {
    title = "Races",
    order = 75,
    about = [[
Two operations race if both touch the same bytes, at least one of them writes, and nothing that CUDA guarantees puts them in order. The race checker finds this from the
calls that the script makes, not from what happened: a race is found also where the result was right this time. It works the same on the simulator and on a real GPU, for
all devices of the process together, and while it is on it costs host time but no virtual time.

`streamlab --check script.lua` turns it on for a whole run, `lab.check` for a part of one. [Chapter 14 of the guide](../guide/14-races.md) begins with an example.]],
    entries = {
        {
            name = "lab.check",
            brief = "turns the race checker on or off",
            arguments = {
                { "mode", [["off"|"warn"|"error"]], "the new mode; the races found so far are forgotten",
                  default = "only returns the mode" },
            },
            returns = { { "string", "the mode before" } },
            errors = {
                { "SL_EINVAL", "there is no such mode" },
                { "SL_ESTATE", "a mode is given in a host function" },
                { "SL_ENOMEM", "no memory for what the checker keeps; the mode is what it was" },
            },
            about = [[
| mode | a race | an accident |
|---|---|---|
| `"off"` | is not looked for, and nothing costs anything | |
| `"warn"` | is reported on stderr, once for each two lines and each origin of the memory, when both operations have completed | is reported as well |
| `"error"` | the second of the two calls raises `SL_ERACE` and has not happened | is reported on stderr |

Work that was enqueued before the checker was turned on counts as ordered. `"off"` keeps the list of races, so that `lab.races` still returns it.

In `"error"` mode what a host function reads or writes raises there, and so the call in which it runs raises `SL_EHOSTFUNC`. `lab.cuda.free` and `lab.cuda.free_host` do not raise: whether they
wait is known only afterwards, so that a race with one of them is reported on stderr.]],
            example = [[
print(lab.check("error"))  --> off
local producer, consumer = lab.stream{ name = "producer" }, lab.stream{ name = "consumer" }
local x = lab.zeros(4, 4)
lab.synchronize()
x:fill_(7, { stream = producer })
local ok, err = pcall(lab.mul, x, x, { stream = consumer })
print(ok, err.code)  --> false	SL_ERACE
print(lab.check("off"))  --> error]],
            see = { "lab.races", "stream:wait_stream", "stream:wait_event" },
        },
        {
            name = "lab.races",
            brief = "lists the races that were found",
            returns = { { "table[]", "one for each race, in the order in which they were found; printed, the list is its reports" } },
            about = [[
All since the last `lab.check(mode)`. At most 1000 are kept. Each is a table, and `print(race)` shows its report:

| field | |
|---|---|
| `kind` | `"race"`; `"accident"`: what orders the two is undocumented behaviour of the driver; `"use after free"`: a launch of a graph uses memory that a call, `first`, has freed since the capture |
| `first`, `second` | the two accesses, in the order of the script, see below |
| `tensor`, `made` | whose memory it is, and the script's line that made it |
| `first_byte`, `bytes` | the bytes that both touch, counted from 0 in that memory |
| `idle_wait` | a sentence about the latest wait for an event of the second access (with threads also of the first) that orders nothing: the event had no record yet, or another thread recorded it in no order with the wait; `nil`: there is none |
| `accident` | the behaviour that orders the two of an accident, a sentence |
| `remedy`, `remedy_where` | a call that would order them, and where to insert it: `consumer:wait_stream(producer)`, `before lab.lua:14`. A stream that has no name is `first` or `second` there, and `remedy_where` says which line made it |
| `stale` | on the simulator: `true` if they came in the other order, so that a stale value was in fact read or kept; `false` if it went right in this run. `nil` if it is not known |
| `count` | how often these two lines raced |
| `message` | the report |

An access has the fields

| field | |
|---|---|
| `access` | `"read"`, `"write"`, `"free"`, `"allocate"`, or `"atomic"`: a kernel of your own that touches the tensor by atomic functions alone |
| `what` | as in timelines, `matmul_f32`; of the host `read`, `write` or the name of the plain call, `cudaFree` |
| `where` | the script's line |
| `by` | `"stream"`, `"host"`, or `"host_func"`: a host function, in its stream's order |
| `stream`, `stream_id` | the stream's name and id; `nil` for the host; of a graph's node its row in timelines |
| `thread` | of the host's own access, where there are several threads: its number |
| `device` | the number of its GPU where several are open; `nil` for the host |
| `graph`, `launched` | of a graph's node: the graph's name, and the line of the launch; `where` is the line that captured the node |
| `correlation` | of the operation, as in `tl:spans()`; `nil` for the host |
| `first_byte`, `bytes` | what it touches, counted as above |]],
            example = [[
lab.check("error")
local a, b, x = lab.stream{ name = "a" }, lab.stream{ name = "b" }, lab.zeros(4, 4)
lab.synchronize()
x:fill_(7, { stream = a })
pcall(lab.mul, x, x, { stream = b })
local race = lab.races()[1]
print(race.first.what, race.second.what, race.remedy)  --> fill_f32	mul_f32	b:wait_stream(a)
lab.check("off")]],
            see = { "lab.check", ".races" },
        },
    },
    more = [[
## What puts two accesses in order

| | |
|---|---|
| the stream | what is in one stream runs in order |
| an event | work in `s` before `e:record(s)` comes before work in `t` after `t:wait_event(e)`, which means the latest record at the time of the call; `t:wait_stream(s)` is both calls |
| a wait of the host | `s:synchronize()`, `e:synchronize()`, `lab.synchronize()`, and a `query()` that gave `true`: what they waited for comes before everything that the host does later |
| a collective | what a rank's stream had before its part comes before what another rank's stream has behind its own: of `broadcast` from the root to the others, of a pair from `send` to `recv`, else between all ranks. Collectives of one group have no order among each other |
| the host | what it did before a call comes before the operation that the call enqueues |
| threads | a thread comes after what its starter did before `lab.thread`, and what it did comes before what follows `th:join()`, or a `th:done()` that gave `true`. An event that another thread records orders only if that call comes before the wait in this order; else the wait may find no record, and is none. Which thread had its turn first orders nothing |
| an edge of a graph | inside a launch nothing else orders two nodes, not even the streams in which they were captured, unless these are the same |
| a launch of a graph | all its nodes come after what its stream had before and after the graph's earlier launches, in whatever stream those were; what its stream gets later comes after all its nodes |
| the legacy default stream | its operations come after all that is in blocking streams, and before all that is enqueued there later; streams made with `non_blocking = true` are exempt |
| copies that wait | a blocking copy from pinned memory or to the host is over when its call returns; `lab.cuda.memcpy` from pageable memory begins when what the NULL stream had before is over |

Nothing else does: neither time, nor the order of the calls, nor a `query()` that gave `false`.

## What counts as an access

Kernels, copies and each rank's part of a collective read and write by their stream, host functions in their stream's order, and `t:get`, `t:set`, `t:totable` and the like on host tensors by the host. A
copy from pinned memory reads it by its stream, and so until it has run; one from pageable memory reads it by the host, in the call. Only the bytes that an operation names
count. `lab.cuda.free` and `lab.cuda.free_host` are accesses by the host to all bytes, `lab.cuda.free_async` by its stream.
`lab.cuda.malloc_async` is one, too: its memory is there in the order of its stream, and another stream that uses it has to wait for that one, also where nobody else has used it yet. Other allocations are none. `t:free()` and the garbage collector are none:
that memory goes to no tensor whose work could run before what is queued on it.

A launch of a graph is what its nodes do; a capture is nothing. A copy of a graph from pageable memory reads it by the stream of the launch, since no documentation says when: that the launch has
read it when it returns is an accident. `lab.cuda.free`, `free_host` and `free_async` free memory also where a graph names it: a later launch that uses it is a *use after free*, whatever orders the two.

## Accidents

Some calls wait although no documentation promises it: `cudaFree` waits for the device, a copy to pageable memory waits until it has arrived, a copy from pageable memory in a stream waits for the work before it, and other plain
calls may wait, too. A script in which only such a wait orders two operations works, until the driver, the size or the memory's kind changes. The checker says so under the name *accident*,
with what orders them. CUDA promises of a copy from pageable memory only that the source may be used again, not that the copy has arrived.

## Its limits

- It sees only what ran. It finds nothing in a branch that was not taken, or for sizes that were not tried.
- It does not know which collectives of two ranks belong together: two that look alike, called in different orders, are reduced as they come. With `name =` in the calls they are refused.
- Where simulated ranks call their parts one after the other, without a list or a group, what is enqueued in between has no order with other ranks' work yet.
- Where several threads put work into one stream, the order there is that of this run; a wait for a stream or the device counts for all that was in the stream when it ended. The remedy of a race between two threads may need a join, too: what it names has to come behind the first call.
- It checks only memory of the laboratory: tensors, and what `lab.cuda` allocates. It does not check Lua's own values.
- A host function is Lua and may read or write any host tensor; what it touches is known only once it has run.
- It does not check Lua's variables. If a script waits until a host function has set a variable, CUDA guarantees the order, but the checker reports a race. It knows `e:query()` and `s:query()`.
- It knows a use after free only if it was on when the memory was freed. It does not know addresses: that the freed memory belongs to another allocation by now is likely, and not reported.
- Kernels of your own count as what they declare. Two that only use atomic functions on a tensor do not race with each other, but the checker knows that only if the source shows it: an `inout` tensor whose
  name stands in the kernel nowhere but as the address in calls of CUDA's atomic functions, `atomicAdd(&t[i], x)` or `atomicAdd(t + i, x)`. If a function of yours gets the pointer, if a macro uses its name, for
  `atomicAdd_block`, and for a kernel without a source (`cpu =`) it does not know, and reports two such kernels as a race. It does not know either which elements a kernel touches: two that write different halves of a tensor
  race, unless they are given views of these halves.
- In a very long run old accesses may be dropped, to limit memory; a race with one of these is not found.

Where the rules come from, and how they are kept cheap: [design/races.md](../design/races.md).]],
}
