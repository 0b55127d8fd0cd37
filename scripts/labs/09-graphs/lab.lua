-- Lab 9: a program that is bound by its launches becomes a graph.

return {
    id = "09-graphs",
    title = "From many small kernels to a graph",
    points = 100,
    profile = "textbook",
    functions = { "prepare", "serve" },
    hidden_visibility = "after_published",
}
