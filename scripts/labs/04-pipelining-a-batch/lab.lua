return {
    id = "04-pipelining-a-batch",
    title = "Pipelining a batch",
    points = 100,
    profile = "textbook",
    functions = { "map", "scan", "choose" },
    forbidden = { "lab.cuda.*" },
}
