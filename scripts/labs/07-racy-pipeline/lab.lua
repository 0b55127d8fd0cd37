-- Lab 7: a pipeline of four streams that is fast and wrong, to be mended with no more waits than
-- it needs.

return {
    id = "07-racy-pipeline",
    title = "Mend a racy pipeline",
    points = 100,
    profile = "textbook",
    functions = { "pipeline" },
    hidden_visibility = "after_published",
}
