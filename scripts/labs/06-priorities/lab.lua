-- Lab 6: requests that have to be answered soon, beside background work that fills the GPU.
return {
    id = "06-priorities",
    title = "Priorities and a latency target",
    points = 100,
    profile = "textbook",
    functions = { "start", "answer", "finish" },
    forbidden = { "lab.host_work" },    -- the tests' own calls of it tell whose turn it is
}
