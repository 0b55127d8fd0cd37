-- Lab 8: matmuls and copies both ways, to be arranged so that the GPU's busiest engine hardly ever
-- waits.

return {
    id = "08-puzzler",
    title = "The puzzler, with a makespan to beat",
    points = 100,
    profile = "textbook",
    functions = { "prepare", "run" },
    hidden_visibility = "after_published",
}
