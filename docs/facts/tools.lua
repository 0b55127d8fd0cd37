-- tools.lua - facts: tools. all.lua says what the fields mean.

local races_page <const> = "docs/guide/14-races.md"

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
