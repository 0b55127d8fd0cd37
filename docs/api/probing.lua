return {
    title = "Probing",
    order = 67,
    about = [[
A probe answers two questions about a call: does it hold the host, and does it keep two streams from running at the same
time? `lab.probe` answers them for any function, `lab.probes` for each of CUDA's calls, and `lab.claims` compares the
answers with what documents say. `lab.capture_probes` tells which calls a capture forbids. `streamlab probe` prints all of this, and can write a profile from it:
[program](program.md).]],
    entries = {
        {
            name = "lab.probe",
            brief = "finds out whether a call holds the host or keeps streams from running at the same time",
            arguments = {
                { "f", "function", "called once, as `f(first, second)` with the two streams" },
            },
            options = {
                { "kernel_ms", "number", "how long each of the two kernels runs, above 0 to 1e9", default = "50" },
                { "non_blocking", "boolean", "whether the two streams are exempt from the NULL stream's rules", default = "false" },
            },
            returns = {
                { "table", "`host_blocked`, `serialised` (boolean), `host_us`, `total_us`" },
            },
            blocks = "until the device is idle, before and after",
            errors = {
                { "SL_ESTATE", "called in a host function" },
            },
            about = [[
It launches a kernel with one block, which takes `kernel_ms`, in one stream, calls `f`, and launches such a kernel in
another stream. The result:

| field | |
|---|---|
| `host_us` | how long `f` took on the host's clock |
| `host_blocked` | did `f` hold the host? `host_us` is more than half a kernel |
| `total_us` | from the first kernel's start to the second one's end; about one kernel if they ran at the same time, two if not |
| `serialised` | did `f` keep them from running at the same time? `total_us` is more than one and a half kernels |

A call that takes long without waiting delays the second kernel as well: make `kernel_ms` more than twice as long as the
call alone takes. The streams are blocking streams, CUDA's default, so that work of `f` in the NULL stream has its
effect on them, unless `non_blocking = true`. If `f` is a function of streamlab, as in
`lab.probe(lab.cuda.cublas_create)`, it is called without the streams.]],
            example = [[
local m = lab.cuda.malloc(4096)
local free = lab.probe(function() lab.cuda.free(m) end)
print(free.host_blocked)  --> true
print(free.serialised)  --> true
local malloc = lab.probe(function() m = lab.cuda.malloc(4096) end)
print(malloc.serialised)  --> false]],
            see = { "lab.cuda.free", "lab.cuda.memset", "lab.measure" },
        },
        {
            name = "lab.probes",
            brief = "finds out which of CUDA's calls hold the host or keep streams from running at the same time",
            options = {
                { "calls", "string[]", "CUDA's names of the calls to probe", default = "all" },
            },
            returns = {
                { "table[]", "a row for each call, size and kind of stream" },
            },
            blocks = "until the device is idle, before and after each",
            errors = {
                { "SL_ENOTFOUND", "a name is not among the calls" },
                { "SL_ENOMEM", "there is no memory for it" },
                { "SL_ESTATE", "called in a host function" },
            },
            about = [[
Each row is a probe as by `lab.probe`, with kernels of 10 ms, or of four times what the call alone takes if that is
more. `streamlab probe` prints the rows as a table. A row has

| field | |
|---|---|
| `call` | CUDA's name |
| `memory` | for memsets and copies, the kind of memory: `"device"`, `"pageable to device"`; else nil |
| `bytes` | how many, or nil |
| `into` | the stream that the call was given: `"first"`, which has a kernel; `"second"`, which gets one; `"NULL"`; or nil |
| `streams` | the kind of the two streams: `"blocking"` or `"nonblocking"` |
| `alone_us` | how long the call takes while the device is idle |
| `host_us` | how long it took after the kernel was launched |
| `host_blocked` | did it wait? It took longer than alone by more than half a kernel |
| `kernel_us` | how long a kernel takes |
| `total_us`, `serialised` | as for `lab.probe` |]],
            example = [[
for _, row in ipairs(lab.probes{ calls = { "cudaFree", "cudaFreeAsync" } }) do
    if row.bytes == 65536 and row.streams == "blocking" then
        print(row.call, row.host_blocked, row.serialised)
    end
end
--> cudaFree	true	true
--> cudaFreeAsync	false	false]],
            see = { "lab.claims", "lab.probe" },
        },
        {
            name = "lab.claims",
            brief = "what documents say of CUDA's calls, and whether it holds",
            arguments = {
                { "rows", "table[]", "rows of `lab.probes`" },
            },
            returns = {
                { "table[]", "the claims, in the order of the calls" },
            },
            errors = {
                { "SL_EINVAL", "these are not such rows" },
            },
            about = [[
| field | |
|---|---|
| `call`, `memory`, `into` | the call that the claim is about, with the same fields as in the rows |
| `by` | `"old list"`: the implicit synchronisations of NVIDIA's guides up to CUDA 11; `"old guide"`: their list of what is asynchronous with respect to the host; `"CUDA"`: CUDA's present documents |
| `says` | the claim, in a few words |
| `streams` | the kind of stream that the claim is about; nil for both |
| `holds` | `"yes"`, `"no"`, `"partly"`; nil if the claim says only what may happen ("may wait") |
| `rows`, `agree` | how many rows the claim is about, and in how many it holds |]],
            example = [[
for _, claim in ipairs(lab.claims(lab.probes{ calls = { "cudaMalloc", "cudaFuncSetCacheConfig" } })) do
    print(claim.by, claim.says, claim.holds)
end
--> old list	allocating device memory keeps streams apart	no
--> old list	switching the L1 configuration keeps streams apart	no
--> CUDA	may keep streams apart	nil]],
            see = { "lab.probes" },
        },
        {
            name = "lab.capture_probes",
            brief = "finds out which calls are errors while a stream is captured",
            options = {
                { "calls", "string[]", "CUDA's names of the calls to make", default = "all" },
            },
            returns = {
                { "table[]", "a row for each call, mode and kind of captured stream" },
            },
            blocks = "until the device is idle, before and after each",
            errors = {
                { "SL_ENOTFOUND", "a name is not among the calls" },
                { "SL_ENOMEM", "there is no memory for it" },
                { "SL_ESTATE", "called in a host function" },
            },
            about = [[
Each row is a capture of its own: it begins, a kernel is captured, the call is made, and it ends. `streamlab probe
--capture` prints the rows as a table. A row has

| field | |
|---|---|
| `call` | CUDA's name, or that of a function of streamlab which makes several calls: `"tensor:item"` |
| `of` | what the call is given: `"captured stream"`, `"NULL stream"`, `"recorded outside"`; or nil |
| `group` | what kind of call it is: `"memory"`, `"events"`; `"in a spoiled capture"`: another call has spoiled it before |
| `mode` | `"global"`, `"thread_local"` or `"relaxed"` |
| `streams` | the kind of the captured stream: `"blocking"` or `"nonblocking"` |
| `number`, `error` | CUDA's error, 0 and nil if it succeeds: 900, `"cudaErrorStreamCaptureUnsupported"`; nil and `"SL_EUNSUPPORTED"` where streamlab does not have it in captures |
| `spoils` | whether the call spoils the capture: nothing more can be captured, and the end is an error |
| `end_number`, `end_error` | the error of the capture's end, 0 and nil if it gives a graph |
| `key` | a name of the row's own, the same in all modes |]],
            example = [[
for _, row in ipairs(lab.capture_probes{ calls = { "cudaMalloc", "cudaMemGetInfo" } }) do
    if row.streams == "nonblocking" and row.group == "memory" then
        print(row.call, row.mode, row.number, row.spoils)
    end
end
--> cudaMalloc	global	900	true
--> cudaMalloc	thread_local	900	true
--> cudaMalloc	relaxed	0	false
--> cudaMemGetInfo	global	0	false
--> cudaMemGetInfo	thread_local	0	false
--> cudaMemGetInfo	relaxed	0	false]],
            see = { "lab.graph", "stream:begin_capture", "lab.probes" },
        },
    },
}
