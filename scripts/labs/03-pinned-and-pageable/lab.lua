return {
    id = "03-pinned-and-pageable",
    title = "Pinned and pageable memory",
    points = 100,
    profile = "textbook",
    functions = { "feed", "stage", "collect" },
    forbidden = { "lab.cuda.*" },
}
