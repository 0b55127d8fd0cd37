-- several_gpus.lua - facts: several GPUs. all.lua says what the fields mean.

local page <const> = "docs/guide/19-several-gpus.md"
local devices <const> = "docs/results/devices.md"
local devices_h200 <const> = "docs/results/devices-h200.md"

return {
    title = "Several GPUs",
    {
        id = "gpus-events",
        fact = "A stream can wait for an event of another GPU.",
        holds = "every GPU",
        gpus = 2,
        source = { "multi_device" },
        stated = {
            { page, "an event of one GPU can be waited for on another one" },
        },
    },
    {
        id = "gpus-peer",
        fact = "A copy from GPU to GPU goes through the memory of the host, unless peer access is "
            .. "enabled: then it is faster.",
        holds = "GPUs that can access each other's memory",
        h200 = true,
        gpus = 2,
        source = { "multi_device" },
        stated = {
            { page, "Without peer access it goes through the memory of the host" },
        },
    },
    {
        id = "gpus-through-host",
        fact = "Without peer access a copy from GPU to GPU and a download from its source share an engine: "
            .. "together they take as long as one after the other.",
        holds = "an H200 with CUDA 13.0",
        h200 = true,
        gpus = 2,
        source = {},
        measured = devices_h200,
        stated = {
            { page, "a download from the first, or an upload to the second, goes between two of them, and the "
                .. "copy is later by it" },
        },
    },
    {
        id = "collective-stream",
        fact = "A collective has the order of the stream that it is called with, and the host does not "
            .. "wait for it.",
        holds = "NCCL",
        gpus = 2,
        source = { "nccl_streams" },
        stated = {
            { page, "It has the stream's order, and the host does not wait for it." },
        },
    },
    {
        id = "collective-late",
        fact = "A collective begins when all ranks have called it and come to it; on the others its "
            .. "kernel runs meanwhile.",
        holds = "NCCL",
        gpus = 2,
        source = { "nccl_collectives" },
        stated = {
            { page, "A collective begins when all ranks have come to it. Those that come first wait on "
                .. "their SMs" },
        },
    },
    {
        id = "collective-sms",
        fact = "A collective's kernel has blocks as others, and they hold their SMs from its start to "
            .. "its end, also while it waits for a rank.",
        holds = "NCCL without copy engines",
        h200 = true,
        gpus = 2,
        source = {},
        measured = devices,
        stated = {
            { page, "A block holds an SM from the start of the kernel to its end" },
        },
    },
    {
        id = "collective-order",
        fact = "All ranks call the collectives of a communicator in the same order, with the same sizes "
            .. "and dtypes.",
        holds = "NCCL",
        source = { "nccl_collectives" },
        stated = {
            { page, "All ranks call the same collectives of a communicator in the same order" },
            { "scripts/labs/11-bucket-size/README.md", "All GPUs have to sum the same buckets in the same "
                .. "order." },
        },
        not_run = "Real GPUs wait for ever, or mix up values; the laboratory refuses what it can see.",
    },
    {
        id = "all-reduce-bytes",
        fact = "In an all-reduce of B bytes by n ranks in a ring each rank sends 2 (n-1)/n B.",
        holds = "rings",
        source = { "nccl_tests" },
        stated = {
            { page, "2 (n-1)/n B" },
        },
        not_run = "It takes the counters of the links.",
    },
}
