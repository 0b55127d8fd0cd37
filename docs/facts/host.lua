-- host.lua - facts: the host. all.lua says what the fields mean.

local implicit_page <const> = "docs/guide/06-implicit-synchronisation.md"
local experiments <const> = "docs/results/experiments.md"

return {
    title = "The host",
    {
        id = "launch-returns",
        fact = "A kernel launch returns before the kernel has run.",
        holds = "every GPU",
        source = { "asynchronous" },
        measured = experiments .. "#async_with_host",
        stated = {
            { experiments, "kernel launches return at once" },
        },
    },
    {
        id = "launch-queue",
        fact = "A launch waits when the launch queue is full, on an H200 after some 1022 launches "
            .. "behind a long kernel. CUDA_SCALE_LAUNCH_QUEUES makes the queue longer.",
        holds = "measured on one H200 (CUDA 13.0, driver 580); simulated alike; the variable: "
            .. "recent versions of CUDA",
        h200 = true,
        source = { "environment" },
        measured = experiments .. "#launch_queue",
        stated = {
            { implicit_page, "Until the launch queue is full: measured on an H200, 1022 launches "
                .. "behind a long kernel" },
            { "docs/causes.md", "CUDA_SCALE_LAUNCH_QUEUES=4x" },
        },
    },
    {
        id = "item-waits",
        fact = "item() waits until the value has been computed and copied.",
        holds = "every GPU",
        source = { "torch_notes" },
        stated = {
            { "docs/reference/tensors.md", "until the copy of what is looked at is done, in the "
                .. "current stream" },
        },
    },
    {
        id = "stream-synchronize",
        fact = "cudaStreamSynchronize holds the host until one stream is done; the others go on.",
        holds = "every GPU",
        source = { "streams" },
        measured = experiments .. "#explicit_sync",
        stated = {
            { experiments, "cudaStreamSynchronize lets others go on" },
        },
    },
    {
        id = "host-function-order",
        fact = "A host function runs after the work in front of it, and holds back its stream "
            .. "until it has returned.",
        holds = "every GPU",
        source = { "executions" },
        measured = experiments .. "#callbacks",
        stated = {
            { experiments, "a host function blocks its own stream" },
        },
    },
    {
        id = "host-function-calls",
        fact = "A host function must not call CUDA.",
        holds = "every GPU",
        source = { "executions" },
        measured = experiments .. "#callbacks",
        stated = {
            { experiments, "no CUDA calls in a host function" },
        },
    },
    {
        id = "first-launch",
        fact = "A kernel's first launch loads its code, which may wait for the GPU (lazy "
            .. "loading).",
        holds = "by default since CUDA 12.2 on Linux, 12.3 on Windows",
        source = { "lazy" },
        stated = {
            { implicit_page, "the default since CUDA 12.2, a kernel's first launch loads its code "
                .. "and may wait for the GPU" },
        },
        not_run = "The simulator's profiles load nothing unless asked (`lazy_load_us`).",
    },
    {
        id = "any-call",
        fact = "Any call of CUDA may block or synchronise, and may do otherwise in the next "
            .. "version: what was measured is no promise.",
        holds = "every GPU",
        source = { "api_sync" },
        stated = {
            { implicit_page, "\"any CUDA API call may block\", NVIDIA says" },
        },
        not_run = "It says that nothing can be relied on.",
    },
}
