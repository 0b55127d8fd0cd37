return {
    title = "Probing",
    order = 67,
    about = [[
Whether a call holds the host, or keeps streams from running at the same time: `lab.probe` asks that of any function, `lab.probes` of each of CUDA's calls, and `lab.claims`
holds the answers against what is said of them. `streamlab probe` prints all of it, and makes a profile of it: [program](program.md).]],
    entries = {
        {
            name = "lab.probe",
            brief = "asks whether a call holds the host or keeps streams from running at the same time",
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
A kernel of one block and `kernel_ms` goes to one stream, then `f` is called, then such a kernel goes to another stream. Two questions are answered:

| field | |
|---|---|
| `host_us` | how long `f` took on the host's clock |
| `host_blocked` | did `f` hold the host? `host_us` is more than half a kernel |
| `total_us` | from the first kernel's start to the second one's end; about one kernel if they ran at the same time, two if not |
| `serialised` | did `f` keep them from running at the same time? `total_us` is more than one and a half kernels |

A call that only takes long delays the second kernel as well: choose `kernel_ms` more than twice as long as the call takes by itself. The streams are blocking, as CUDA
makes them, so that work of `f` in the NULL stream shows, unless `non_blocking = true`. A function of the laboratory, as in `lab.probe(lab.cuda.cublas_create)`, is
called without the streams.]],
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
            brief = "asks of CUDA's calls whether they hold the host or keep streams apart",
            options = {
                { "calls", "string[]", "CUDA's names of those to ask about", default = "all" },
            },
            returns = {
                { "table[]", "a row for each call, size and kind of streams" },
            },
            blocks = "until the device is idle, before and after each",
            errors = {
                { "SL_ENOTFOUND", "a name is not among the calls" },
                { "SL_ENOMEM", "there is no memory for it" },
                { "SL_ESTATE", "called in a host function" },
            },
            about = [[
Each is a probe as of `lab.probe`, with kernels of 10 ms, or of four times what the call takes by itself if that is more. `streamlab probe` prints them as a table. A row has

| field | |
|---|---|
| `call` | CUDA's name |
| `memory` | the kind of memory, of memsets and copies: `"device"`, `"pageable to device"`; else nil |
| `bytes` | how many, or nil |
| `into` | the stream that the call was given: `"first"`, which has a kernel; `"second"`, which gets one; `"NULL"`; or nil |
| `streams` | the kind of the two streams: `"blocking"` or `"nonblocking"` |
| `alone_us` | what the call takes while the device is idle |
| `host_us` | what it took behind the kernel |
| `host_blocked` | did it wait? It took longer than alone by more than half a kernel |
| `kernel_us`, `total_us`, `serialised` | a kernel; as of `lab.probe` |]],
            example = [[
for _, row in ipairs(lab.probes{calls = {"cudaFree", "cudaFreeAsync"}}) do
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
            brief = "what is said of CUDA's calls, and whether it holds",
            arguments = {
                { "rows", "table[]", "rows of `lab.probes`" },
            },
            returns = {
                { "table[]", "a claim each, in the order of the calls" },
            },
            errors = {
                { "SL_EINVAL", "these are no such rows" },
            },
            about = [[
| field | |
|---|---|
| `call`, `memory`, `into` | what it is about, as of the rows |
| `by` | `"old list"`: the implicit synchronisations of NVIDIA's guides up to CUDA 11; `"old guide"`: their list of what is asynchronous with respect to the host; `"CUDA"`: present documents |
| `says` | the claim, in a few words |
| `streams` | the kind of streams that it is about; nil for both |
| `holds` | `"yes"`, `"no"`, `"partly"`; nil if it leaves things open ("may wait") |
| `rows`, `agree` | how many rows it is about, and in how many it holds |]],
            example = [[
for _, claim in ipairs(lab.claims(lab.probes{calls = {"cudaMalloc", "cudaFuncSetCacheConfig"}})) do
    print(claim.by, claim.says, claim.holds)
end
--> old list	allocating device memory keeps streams apart	no
--> old list	switching the L1 configuration keeps streams apart	no
--> CUDA	may keep streams apart	nil]],
            see = { "lab.probes" },
        },
    },
}
