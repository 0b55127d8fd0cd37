return {
    id = "02-events-and-ordering",
    title = "Events and ordering",
    points = 100,
    profile = "textbook",
    functions = { "hand_over", "fan", "time_each", "relay" },
    forbidden = { "lab.cuda.*", "stream:launch_host_func" },
}
