-- copies.lua - facts: copies. all.lua says what the fields mean.

local streams_page <const> = "docs/guide/03-streams.md"
local pinned_page <const> = "docs/guide/05-pinned-memory.md"
local implicit_page <const> = "docs/guide/06-implicit-synchronisation.md"
local priorities_page <const> = "docs/guide/07-priorities.md"
local races_page <const> = "docs/guide/14-races.md"
local experiments <const> = "docs/results/experiments.md"

return {
    title = "Copies",
    {
        id = "copies-within",
        fact = "A copy within the GPU's memory may run beside kernels. It needs SMs, as a kernel "
            .. "does, and a large one can hold back what comes behind it.",
        holds = "every GPU; the second sentence measured on one H200",
        source = { "legacy" },
        measured = experiments .. "#concurrency_matrix",
        stated = {
            { streams_page, "hides 77 to 84 % beside kernels that leave room. But such a copy needs "
                .. "SMs, as a kernel does" },
            { experiments, "84 %, kernel/D2D" },
        },
        never = {
            { "cop[a-z]* within [a-z' ]+ do not overlap with kernels",
                "Copies within the GPU's memory do not overlap with kernels." },
        },
    },
    {
        id = "copies-beside-kernels",
        fact = "Copies between host and GPU run beside kernels of other streams.",
        holds = "GPUs with asyncEngineCount of 1 or more",
        source = { "legacy" },
        measured = experiments .. "#concurrency_matrix",
        stated = {
            { pinned_page, "A pageable copy overlaps with whatever the host has issued before it "
                .. "stands in the copy" },
            { experiments, "copies overlap kernels" },
        },
    },
    {
        id = "one-direction",
        fact = "Two copies in one direction take turns, in whichever streams they are.",
        holds = "H200, whose asyncEngineCount is 3",
        h200 = true,
        source = { "webinar" },
        measured = experiments .. "#concurrency_matrix",
        stated = {
            { "docs/causes.md", "There is one engine for each direction on GPUs with two or more" },
            { pinned_page, "In one direction they take turns. In opposite directions they run "
                .. "together" },
        },
        never = {
            { "there is one engine for each direction, first in",
                "There is one engine for each direction, first in, first out." },
        },
    },
    {
        id = "both-directions",
        fact = "Copies in opposite directions run at the same time if the GPU's asyncEngineCount "
            .. "is 2 or more, and take turns if it is 1.",
        holds = "every GPU",
        source = { "legacy" },
        measured = experiments .. "#concurrency_matrix",
        stated = {
            { "docs/reference/devices.md", "with 1 both directions take turns" },
            { "docs/design/simulator.md", "With an async_engine_count of 1 there is one engine for "
                .. "all copies" },
            { streams_page, "GPUs whose asyncEngineCount is 1 have one for both" },
            { pinned_page, "Copies in opposite directions do: 2 or more." },
            { experiments, "both ways 91 %" },
        },
        never = {
            { "one engine per direction, whatever", "One engine per direction, whatever "
                .. "`async_engine_count` says." },
            { "overlaps them whatever the profile says", "With 1 the two directions take turns (the "
                .. "simulator overlaps them whatever the profile says)." },
            { "number of engines is only reported", "The number of engines is only reported." },
            { "copies both ways take 2 engines | holds:",
                "copies both ways take 2 engines | **holds**: 91 % with 3" },
        },
    },
    {
        id = "pinned-async",
        fact = "cudaMemcpyAsync of pinned memory returns at once, in both directions.",
        holds = "every GPU",
        source = { "legacy" },
        measured = experiments .. "#async_with_host",
        stated = {
            { pinned_page, "The asynchronous copy never waits if the memory is pinned" },
            { experiments, "cudaMemcpyAsync from pinned 6 of 6 times" },
        },
    },
    {
        id = "pageable-to-host",
        fact = "cudaMemcpyAsync to pageable memory holds the host until the copy is done, and "
            .. "with it all that is in front of the copy in its stream.",
        holds = "measured on one H200 (CUDA 13.0, driver 580); simulated alike; NVIDIA: might be "
            .. "synchronous",
        h200 = true,
        source = { "api_sync" },
        measured = experiments .. "#async_with_host",
        stated = {
            { implicit_page, "cudaMemcpyAsync, to pageable host waits apart" },
            { pinned_page, "To pageable memory it always does" },
            { implicit_page, "it holds the host until it is done" },
            { experiments, "cudaMemcpyAsync to pageable 0 of 6 times" },
            { "scripts/labs/03-pinned-and-pageable/README.md", "To pageable memory of the host it "
                .. "always waits." },
            { "docs/reference/tensors.md", "device to host | not | until the bytes have arrived" },
            { "docs/design/races.md", "such copies only \"might be synchronous\"" },
        },
        never = {
            { "cudamemcpyasync, to pageable %- together",
                "cudaMemcpyAsync, to pageable     -           together" },
            { "all else goes by", "All else goes by." },
        },
    },
    {
        id = "pageable-staging",
        fact = "cudaMemcpyAsync from pageable memory returns at once if the driver's buffers hold "
            .. "the bytes. A larger copy waits until its stream has come to it.",
        holds = "measured on one H200, border between 2 and 3 MiB; other drivers may differ",
        h200 = true,
        source = { "api_sync" },
        measured = experiments .. "#async_with_host",
        stated = {
            { pinned_page, "what fits into the driver's buffers is taken at the call, and the call "
                .. "returns" },
            { races_page, "32 MiB are more than the driver's buffers hold" },
            { "docs/design/simulator.md", "a copy to the device of 2 MiB returns in 0.2 ms and one "
                .. "of 3 MiB in 20.4 ms" },
            { "scripts/labs/03-pinned-and-pageable/README.md", "does not wait for the kernel: it "
                .. "fits into the driver's buffers" },
            { "docs/reference/tensors.md", "h2d_async_bytes is a figure of the profile, 2 MiB on "
                .. "the H200" },
        },
    },
    {
        id = "memcpy-waits",
        fact = "cudaMemcpy between host and GPU waits for the work in front of it, at every size "
            .. "and with either kind of memory.",
        holds = "every GPU",
        source = { "api_sync" },
        measured = experiments .. "#async_with_host",
        stated = {
            { pinned_page, "From pageable memory cudaMemcpy waits for its stream at any size" },
            { experiments, "cudaMemcpy at no size" },
            { "docs/reference/cuda.md", "From pageable memory it waits for the earlier work of the "
                .. "NULL stream, at any size" },
        },
    },
    {
        id = "64-kib",
        fact = "The 64 KB up to which copies from the host are said to be asynchronous are no "
            .. "border: cudaMemcpy waits below it, cudaMemcpyAsync does not wait above it.",
        holds = "measured on one H200; the CUDA C++ Programming Guide 13.0 has the sentence",
        h200 = true,
        source = { "legacy", "api_sync" },
        measured = experiments .. "#async_with_host",
        stated = {
            { pinned_page, "CUDA's C++ Programming Guide calls copies of 64 KB or less from the "
                .. "host asynchronous." },
            { "docs/design/simulator.md", "is no limit on the H200" },
        },
        never = {
            { "older guides put that border at 64 kb", "Older guides put that border at 64 KB." },
        },
    },
    {
        id = "memcpy-within",
        fact = "cudaMemcpy within the GPU's memory does not hold the host. It is work of the NULL "
            .. "stream; cudaMemcpyAsync is work of the stream that it names.",
        holds = "every GPU",
        source = { "api_sync", "stream_sync" },
        measured = experiments .. "#async_with_host",
        stated = {
            { implicit_page, "cudaMemcpy does, cudaMemcpyAsync in a stream does not" },
        },
    },
    {
        id = "read-when",
        fact = "A pinned buffer is read when the copy runs. A pageable one is read by the time "
            .. "the call returns.",
        holds = "every GPU",
        source = { "api_sync" },
        measured = "docs/guide/12-real-gpu.md",
        stated = {
            { pinned_page, "The pinned tensor is read when the copy runs" },
            { pinned_page, "The pageable one was taken at the call" },
            { "scripts/labs/03-pinned-and-pageable/README.md", "A call that returns at once has "
                .. "not copied anything yet." },
            { "docs/reference/tensors.md", "reads pinned memory when it runs, not when it is "
                .. "called" },
        },
    },
    {
        id = "engine-channel",
        fact = "A copy engine stays with a hardware channel as long as that one has a copy that "
            .. "waits for nothing. So pieces of a large copy, in one stream, delay others like "
            .. "the whole.",
        holds = "measured on one H200 (CUDA 13.0, driver 580); simulated alike; no vendor "
            .. "promises it",
        h200 = true,
        source = {},
        measured = priorities_page,
        stated = {
            { priorities_page, "an engine stays with a stream's channel as long as that one has a "
                .. "copy that waits for nothing" },
            { "docs/guide/16-trust.md", "an engine stays with a channel" },
            { "scripts/labs/06-priorities/README.md", "copy engine stays with a stream" },
        },
    },
    {
        id = "peer-copies",
        fact = "Copies between two GPUs run beside all other kinds of work, and take turns with "
            .. "one another.",
        holds = "measured on two H200s",
        source = {},
        measured = "docs/guide/12-real-gpu.md",
        stated = {
            { "docs/guide/12-real-gpu.md", "copies between two GPUs, hidden beside any other kind, "
                .. "and beside one another" },
        },
        not_run = "An experiment measures it, on two real GPUs.",
    },
}
