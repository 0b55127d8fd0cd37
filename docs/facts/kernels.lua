-- kernels.lua - facts: kernels of one's own. all.lua says what the fields mean.

local page <const> = "docs/guide/18-kernels.md"
local experiments <const> = "docs/results/experiments.md"

return {
    title = "Kernels of your own",
    {
        id = "kernel-room",
        fact = "Blocks of two kernels share an SM if it has threads, registers, shared memory and "
            .. "places for both. Else those of the later one wait, also in another stream.",
        holds = "every GPU",
        source = { "occupancy" },
        measured = experiments .. "#kernel_occupancy",
        stated = {
            { page, "An SM has four things to give to blocks: threads, registers, shared memory, and "
                .. "places for blocks." },
        },
    },
    {
        id = "kernel-barrier",
        fact = "All threads of a block have to reach the same __syncthreads(): in a condition it is "
            .. "permitted only if that is the same for all of them.",
        holds = "every GPU",
        source = { "barriers" },
        stated = {
            { page, "a barrier that some threads do not reach | undefined" },
            { "scripts/labs/10-kernels/README.md", "all threads of the block have to reach it" },
        },
        not_run = "What a GPU does then is undefined; the simulator reports it.",
    },
    {
        id = "kernel-warp-step",
        fact = "From compute capability 7.0 on each thread has a program counter of its own: the lanes "
            .. "of a warp need not run in step, and what relies on that needs __syncwarp().",
        holds = "compute capability 7.0 and newer",
        source = { "volta" },
        stated = {
            { page, "Since Volta each thread has a program counter of its own" },
        },
        not_run = "A GPU may run them in step nevertheless.",
    },
    {
        id = "kernel-arguments",
        fact = "A launch passes bits: the driver compares neither the types nor the bounds of a "
            .. "kernel's arguments with its parameters.",
        holds = "CUDA; the laboratory compares with what is declared",
        source = { "launch" },
        stated = {
            { page, "In CUDA the arguments of a launch are addresses of bits" },
        },
        not_run = "It would take a kernel that goes wrong.",
    },
    {
        id = "kernel-atomic-order",
        fact = "Atomic operations of different threads come in no fixed order, so the last bits of a "
            .. "float32 sum that is made of them may differ from run to run.",
        holds = "every GPU; simulated, the order is the same each time",
        source = { "atomics" },
        stated = {
            { page, "the order of atomic additions" },
        },
        not_run = "Two runs may agree by chance.",
    },
}
