-- The lab that tests/labs/kernel-attacks/ is graded with: a kernel of the student's own.
return {
    id = "kernel-lab",
    title = "A kernel that doubles",
    points = 100,
    profile = "textbook",
    functions = { "double" },
    kernels = true,
    required = { "lab.kernel" },
    limits = { processor_s = 2, wall_s = 20, memory_mib = 64, output_kib = 16 },
}
