-- memory.lua - facts: memory. all.lua says what the fields mean.

local pipelines_page <const> = "docs/guide/08-pipelines.md"
local pinned_page <const> = "docs/guide/05-pinned-memory.md"
local implicit_page <const> = "docs/guide/06-implicit-synchronisation.md"
local experiments <const> = "docs/results/experiments.md"

return {
    title = "Memory",
    {
        id = "pin-in-place",
        fact = "pin_memory() makes a pinned copy, so that both exist for a while. Page-locking in "
            .. "place (cudaHostRegister, t:pin()) makes none.",
        holds = "every GPU",
        source = { "memory" },
        measured = experiments .. "#pinned_memory",
        stated = {
            { pinned_page, "makes a pinned copy, so that both exist for a while" },
            { experiments, "by copy 1024 MiB" },
        },
    },
    {
        id = "pinned-faster",
        fact = "A copy of pinned memory runs at the speed of the link, one of pageable memory at "
            .. "that at which the host copies.",
        holds = "measured on one H200: 1.2 and 8.3 ms for 64 MiB",
        h200 = true,
        source = { "memory" },
        measured = experiments .. "#puzzler_answer",
        stated = {
            { pinned_page, "The pinned copy runs at the speed of the link, the pageable one at the "
                .. "speed at which a processor copies memory." },
        },
    },
    {
        id = "pinning-costs",
        fact = "New page-locked memory takes longer than a pageable copy of the same size; "
            .. "page-locking memory in its place takes less than new memory.",
        holds = "measured on one H200's host",
        h200 = true,
        source = { "memory" },
        measured = experiments .. "#pinned_memory",
        stated = {
            { pinned_page, "new page-locked memory is much slower" },
        },
    },
    {
        id = "pageable-reach",
        fact = "Copy engines reach page-locked memory only; with HMM or on Grace Hopper a GPU "
            .. "reaches the system's other memory as well.",
        holds = "HMM: CUDA 12.2 and later on some Linux systems",
        source = { "hmm" },
        stated = {
            { pinned_page, "With HMM, since CUDA 12.2 on some Linux systems, or on Grace Hopper, a "
                .. "GPU reaches the system's other memory as well." },
        },
        not_run = "The simulator has neither.",
    },
    {
        id = "memset-device",
        fact = "cudaMemset of device memory does not hold the host, but is work of the NULL "
            .. "stream; cudaMemsetAsync is work of the stream that it names.",
        holds = "every GPU",
        source = { "api_sync", "stream_sync" },
        measured = experiments .. "#async_with_host",
        stated = {
            { implicit_page, "Only cudaMemset, as an operation of the NULL stream." },
            { "docs/reference/cuda.md", "of device memory not" },
        },
    },
    {
        id = "memset-pinned",
        fact = "cudaMemset of pinned host memory waits until it is done.",
        holds = "every GPU, by the document; measured on one H200, behind a kernel of a blocking "
            .. "stream",
        source = { "api_sync" },
        measured = experiments .. "#claims",
        stated = {
            { "docs/reference/cuda.md", "of pinned memory until it is done, as in CUDA" },
            { experiments, "a set of pinned host memory or managed memory waits" },
        },
        never = {
            { "memory sets return at once | holds:",
                "memory sets return at once | **holds**: cudaMemset 6 of 6 times" },
        },
    },
    {
        id = "frees",
        fact = "cudaFree may synchronise. On an H200 it waits until the GPU has nothing to do, "
            .. "and so do cudaFreeHost and cudaHostUnregister.",
        holds = "measured on one H200 (CUDA 13.0, driver 580); simulated alike",
        h200 = true,
        source = { "driver_memory", "ordered" },
        measured = implicit_page,
        stated = {
            { implicit_page, "NVIDIA's text is that it may synchronise" },
            { implicit_page, "until the GPU has nothing to do: cudaFree, cudaFreeHost, "
                .. "cudaHostUnregister" },
            { "docs/guide/16-trust.md", "nobody promises but was measured: cudaFree waits" },
            { "scripts/labs/05-implicit-synchronisation/README.md", "NVIDIA says only that it may "
                .. "synchronise" },
            { "docs/causes.md", "cudaFree may wait for all work on the device" },
            { "docs/reference/races.md", "Some calls wait although no documentation promises "
                .. "it: cudaFree waits for the device" },
        },
        never = {
            { "who waits for whom is what cuda promises",
                "What is in which order and who waits for whom is what CUDA promises." },
        },
    },
    {
        id = "allocations",
        fact = "cudaMalloc, cudaMallocHost and cudaHostRegister neither wait for the GPU nor keep "
            .. "streams apart.",
        holds = "measured on one H200 (CUDA 13.0, driver 580); simulated alike; NVIDIA's guide "
            .. "says elsewhere that cudaMalloc synchronises",
        h200 = true,
        source = { "ordered" },
        measured = experiments .. "#claims",
        stated = {
            { implicit_page, "cudaMalloc - together" },
            { experiments, "allocating device memory keeps streams apart" },
        },
    },
    {
        id = "stream-reuse",
        fact = "Memory that is freed in a stream is used again at once for that stream's next "
            .. "allocation of its size, even if the GPU still uses it. The laboratory uses it "
            .. "again only for work that comes after all work that uses it.",
        holds = "cudaFreeAsync and cudaMallocAsync (a pool may), PyTorch's allocator, the "
            .. "laboratory",
        source = { "ordered", "torch_allocator" },
        measured = pipelines_page,
        stated = {
            { "docs/guide/02-lua.md", "the memory of a tensor that is freed in a stream is used "
                .. "again at once for the next tensor of that size in this stream" },
            { pipelines_page, "what is freed in a stream is at once the memory of the stream's next "
                .. "tensor of that size" },
            { "docs/reference/tensors.md", "In the stream that the tensor was made in the next "
                .. "tensor of its size gets it at once" },
            { "scripts/labs/lua-primer.md", "The next tensor of that size in the stream uses "
                .. "this memory again at once" },
        },
        never = {
            { "each batch on its way needs memory of its own",
                "each batch on its way needs memory of its own" },
            { "memory again only when the gpu has finished with it",
                "it uses a tensor's memory again only when the GPU has finished with it" },
            { "eight inputs and products on the gpu at once, 256 mib",
                "So this listing has all eight inputs and products on the GPU at once, 256 MiB." },
        },
        pair = "memory is used again in a stream",
    },
    {
        id = "free-ordered",
        fact = "cudaFree of memory of cudaMallocAsync does not wait: the caller must know that nobody "
            .. "uses it any more.",
        holds = "every GPU, by the document; measured on one H200",
        source = { "memory" },
        measured = implicit_page,
        stated = {
            { implicit_page, "for memory of cudaMallocAsync it does not wait at all" },
        },
    },
    {
        id = "pool-trimmed",
        fact = "cudaMallocAsync's pool has a release threshold, 0 unless a program sets it: at each "
            .. "synchronisation of a stream, an event or the device it gives back what nobody uses, "
            .. "and the next allocation takes it from the system again. Both take long.",
        holds = "every GPU, by the document; the times measured on one H200",
        h200 = true,
        source = { "pools" },
        measured = implicit_page,
        stated = {
            { implicit_page, "at each synchronisation of a stream, an event or the device, what "
                .. "nobody uses goes back to the system" },
        },
    },
    {
        id = "malloc-async",
        fact = "cudaMallocAsync and cudaFreeAsync are work of a stream: the host does not wait, "
            .. "and other streams go on.",
        holds = "CUDA 11.2 and later",
        source = { "ordered" },
        measured = implicit_page,
        stated = {
            { implicit_page, "cudaFreeAsync puts the freeing in its place in a stream" },
        },
    },
    {
        id = "malloc-async-other-stream",
        fact = "Memory of cudaMallocAsync is there in the order of its stream: another stream that "
            .. "uses it has to wait for the allocation, also where nobody has used it yet.",
        holds = "CUDA 11.2 and later",
        source = { "ordered" },
        stated = {
            { "docs/reference/races.md", "another stream that uses it has to wait for that one" },
        },
        not_run = "What a GPU does without the wait is undefined; the race checker reports it.",
    },
}
