return {
    id = "01-first-streams",
    title = "First streams",
    points = 100,
    profile = "textbook",
    functions = { "side_by_side", "beside_library", "fetch" },
    forbidden = { "lab.cuda.*" },
}
