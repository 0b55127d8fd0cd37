-- Lab 5: three waits that nobody wrote, in a loop that looks asynchronous.
return {
    id = "05-implicit-synchronisation",
    title = "The hunt for implicit synchronisation",
    points = 100,
    profile = "textbook",
    functions = { "train" },
}
