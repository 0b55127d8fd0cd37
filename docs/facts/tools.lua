-- tools.lua - facts: tools. all.lua says what the fields mean.

local races_page <const> = "docs/guide/14-races.md"
local recording_page <const> = "docs/results/recording.md"

return {
    title = "Tools",
    {
        id = "racecheck",
        fact = "Compute Sanitizer's racecheck looks for races in shared memory within a kernel; "
            .. "its memcheck can follow the life of memory of cudaMallocAsync across streams.",
        holds = "every GPU",
        source = { "sanitizer" },
        stated = {
            { races_page, "among the threads of a block and in shared memory only" },
            { races_page, "--track-stream-ordered-races all" },
        },
        never = {
            { "among the threads of a block[.,;]",
                "It looks for races within a kernel, among the threads of a block." },
        },
        not_run = "It is a tool of NVIDIA's.",
    },
    {
        id = "torch-sanitizer",
        fact = "PyTorch's stream sanitizer takes the default stream for one like any other. For "
            .. "PyTorch's own streams that is right.",
        holds = "PyTorch",
        source = { "torch_sanitizer", "torch_stream" },
        stated = {
            { races_page, "which is right for PyTorch's own streams, since they are non-blocking" },
        },
        not_run = "It takes PyTorch.",
    },
    {
        id = "cupti-kinds",
        fact = "Each of CUPTI's activity kinds RUNTIME, DRIVER, CUDA_EVENT and SYNCHRONIZATION "
            .. "makes every function of the run time slower, also those that it does not record: "
            .. "cudaGetDevice takes 0.2 us in place of 0.03. Callbacks of single functions do not.",
        holds = "CUPTI 13.0 with driver 580, measured on H200s",
        h200 = true,
        source = {},
        measured = recording_page,
        stated = {
            { recording_page, "each make every function of the run time slower" },
            { recording_page, "Callbacks of single functions add nothing to others." },
        },
        not_run = "It takes CUPTI.",
    },
    {
        id = "cupti-kernels",
        fact = "CUPTI's record of a kernel adds 0.9 to 1.7 us to its launch, by the speed of the "
            .. "core, and 2.1 us where the caches are cold.",
        holds = "CUPTI 13.0 with driver 580, measured on H200s",
        h200 = true,
        source = {},
        measured = recording_page,
        stated = {
            { recording_page, "0.9 us a launch on fast cores, 1.7 us on slow ones" },
            { recording_page, "2.1 us more where the caches are cold" },
        },
        not_run = "It takes CUPTI.",
    },
    {
        id = "vpl-execution",
        fact = "In the Virtual Programming Lab vpl_evaluate.sh has to write vpl_execution, a "
            .. "program or a script that begins with #!/bin/sh, which is then run.",
        holds = "VPL 3.4.3",
        source = { "vpl" },
        stated = {
            { "docs/teaching.md", "vpl_evaluate.sh must write a file vpl_execution" },
        },
        never = {
            { "vpl_evaluate%.sh can be", "`vpl_evaluate.sh` can be a pipe." },
        },
        not_run = "It is a plugin of Moodle's.",
    },
}
