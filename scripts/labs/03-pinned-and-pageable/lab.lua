return {
    id = "03-pinned-and-pageable",
    title = "Pinned and pageable memory",
    points = 100,
    profile = "h200",
    functions = {"feed", "stage", "collect"},
    forbidden = {"lab.cuda.*"},
}
