-- streams.lua - facts: streams and kernels. all.lua says what the fields mean.

local streams_page <const> = "docs/guide/03-streams.md"
local experiments <const> = "docs/results/experiments.md"

return {
    title = "Streams and kernels",
    {
        id = "stream-order",
        fact = "Work in one stream runs in order, one operation after the other, unless a launch "
            .. "asks to begin before the kernel in front of it has ended (programmatic dependent "
            .. "launch).",
        holds = "every GPU; early launches from compute capability 9.0 on, and not in the "
            .. "laboratory",
        source = { "asynchronous", "dependent" },
        stated = {
            { streams_page, "Since compute capability 9.0 a launch can ask to begin before the "
                .. "kernel in front of it ends" },
        },
        never = {
            { "stream runs one thing at a time[:.]", "A stream runs one thing at a time: the copy "
                .. "engine stands still until the kernel has ended." },
        },
    },
    {
        id = "streams-permit",
        fact = "Work in different streams may run at the same time; nothing promises that it "
            .. "does.",
        holds = "every GPU",
        source = { "asynchronous" },
        stated = {
            { streams_page, "Work in different streams may run at the same time" },
            { "docs/guide/01-first-overlap.md", "a stream of their own" },
        },
        never = {
            { "different streams always run", "Kernels in different streams always run at once." },
        },
    },
    {
        id = "room-decides",
        fact = "Two kernels run side by side only where both find room on the SMs: threads, "
            .. "registers, shared memory, block slots.",
        holds = "every GPU",
        source = { "legacy" },
        measured = experiments .. "#matmul_streams",
        stated = {
            { streams_page, "threads, registers, shared memory and block slots on the SMs" },
        },
    },
    {
        id = "resident-grids",
        fact = "At most 128 kernels are resident at a time; further ones wait.",
        holds = "compute capability 7.5 and later (older ones: 16 to 128); measured on one H200",
        source = { "capabilities" },
        measured = experiments .. "#concurrent_kernels",
        stated = {
            { streams_page, "128 is the number of resident kernels (compute capability 7.5 and up; "
                .. "older ones 16 to 128)" },
            { experiments, "Asked of one H200, none of the four" },
        },
        never = {
            { "at most 128 kernels at once | holds:",
                "at most 128 kernels at once | **holds**: 128" },
        },
    },
    {
        id = "channels",
        fact = "Streams share hardware channels, 8 unless CUDA_DEVICE_MAX_CONNECTIONS says "
            .. "otherwise (1 to 32). Each is first in, first out, so work of one stream can stand "
            .. "behind that of another.",
        holds = "every GPU; what stands behind what was measured on one H200",
        source = { "environment" },
        measured = streams_page,
        stated = {
            { streams_page, "by default eight (CUDA_DEVICE_MAX_CONNECTIONS, at most 32)" },
            { "docs/causes.md", "CUDA_DEVICE_MAX_CONNECTIONS, from 8" },
        },
    },
    {
        id = "tensor-cores",
        fact = "A matmul on Tensor cores and a kernel on CUDA cores can overlap, as far as both "
            .. "find room. For TF32 products of 4096 x 4096 beside pow the gain lies between 0.93 "
            .. "and 1.08, depending on how the work is issued.",
        holds = "measured on one H200; the simulator hides less of pow at 4096",
        h200 = true,
        source = {},
        measured = experiments .. "#answer",
        stated = {
            { streams_page, "two streams were 7 % slower to 3 % quicker in cores.lua, 7 to 8 % "
                .. "quicker in answer.lua" },
            { experiments, "71 % hidden at 1024, 73 % at 4096" },
        },
        never = {
            { "there is no room for blocks of pow", "There is no room for blocks of pow." },
            { "tensor and cuda cores at once | holds:",
                "Tensor and CUDA cores at once | **holds**: 69 %" },
            { "cannot be used at the same time",
                "Tensor cores and CUDA cores cannot be used at the same time." },
        },
    },
}
