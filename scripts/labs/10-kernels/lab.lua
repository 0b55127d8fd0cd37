-- Lab 10: a kernel of the student's own, a transpose through tiles in shared memory, between
-- copies.

return {
    id = "10-kernels",
    title = "A transpose of your own",
    points = 100,
    profile = "textbook",
    functions = { "transpose", "transpose_all" },
    kernels = true,
    required = { "lab.kernel" },
    hidden_visibility = "after_published",
}
