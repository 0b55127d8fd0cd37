-- Lab 11: gradients are summed over two GPUs in buckets, beside the backward pass.

return {
    id = "11-bucket-size",
    title = "Find the bucket size",
    points = 100,
    profile = "textbook",
    gpus = 2,
    limits = { processor_s = 20, wall_s = 60 },  -- prepare() makes many passes on two GPUs
    functions = { "prepare", "backward" },
    hidden_visibility = "after_published",
}
