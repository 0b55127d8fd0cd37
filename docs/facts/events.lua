-- events.lua - facts: events. all.lua says what the fields mean.

local events_page <const> = "docs/guide/04-events.md"
local pipelines_page <const> = "docs/guide/08-pipelines.md"
local experiments <const> = "docs/results/experiments.md"

return {
    title = "Events",
    {
        id = "record-captures",
        fact = "A wait is for the latest record of the event at the time of the call; later "
            .. "records do not change it.",
        holds = "every GPU",
        source = { "events" },
        measured = experiments .. "#events_race",
        stated = {
            { events_page, "refers to the latest record at the moment of the call" },
        },
    },
    {
        id = "unrecorded-event",
        fact = "An event that was never recorded counts as done: a wait for it waits for nothing.",
        holds = "every GPU",
        source = { "events" },
        measured = experiments .. "#events_race",
        stated = {
            { events_page, "If there was none, it waits for nothing." },
        },
    },
    {
        id = "wait-on-device",
        fact = "A stream waits for an event on the GPU; the host goes on.",
        holds = "every GPU",
        source = { "streams" },
        measured = experiments .. "#explicit_sync",
        stated = {
            { events_page, "the order between the streams is kept on the GPU" },
        },
        never = {
            { "the only way if the kernels of one chunk",
                "A stream per engine is the only way if the kernels of one chunk need those "
                    .. "before." },
        },
    },
    {
        id = "event-timed",
        fact = "Here and in CUDA an event has a time unless it is asked to have none; PyTorch's "
            .. "events have one only if they are asked to. elapsed_time refuses events without.",
        holds = "CUDA; PyTorch's torch.cuda.Event and torch.cuda.Stream.record_event",
        source = { "events", "torch_event" },
        measured = "tests/torch/recorded.txt",
        stated = {
            { "docs/guide/02-lua.md", "s:record_event() makes an event that measures time, unless "
                .. "lab.torch_defaults() was called" },
            { "scripts/labs/lua-primer.md", "s:record_event() makes an event that measures time" },
            { "docs/guide/02-lua.md", "elapsed_time of such an event is an error" },
        },
        pair = "a recorded event's time",
        never = {
            { "s%.record_event%(%) | s:record_event%(%) |",
                "| `s.record_event()` | `s:record_event()` |" },
        },
    },
    {
        id = "event-interval",
        fact = "Two events give the time between two points of a stream, with all that it waited "
            .. "for between them.",
        holds = "every GPU",
        source = { "events" },
        measured = experiments .. "#events",
        stated = {
            { events_page, "They give the time between two points of a stream, with all that it "
                .. "waited for" },
        },
    },
    {
        id = "event-cost",
        fact = "A record with timing costs the GPU some 2 us between two kernels, one without "
            .. "nothing.",
        holds = "measured on one H200; simulated, a figure of the profile",
        h200 = true,
        source = { "events" },
        measured = experiments .. "#events",
        stated = {
            { events_page, "a record with timing adds 2.0 to 2.1 us to the gap between two kernels, "
                .. "one without adds nothing" },
        },
    },
    {
        id = "event-resolution",
        fact = "NVIDIA states a resolution of elapsed times of around 0.5 us. How well times "
            .. "repeat was not measured here; the step of 0.032 us on an H200 is no resolution.",
        holds = "every GPU",
        source = { "events" },
        stated = {
            { experiments, "a step says nothing of how well a time repeats" },
        },
        never = {
            { "resolution of around 0%.5 us: no longer holds",
                "elapsed times have a resolution of around 0.5 us: no longer holds, the finest "
                    .. "step is 0.032" },
        },
        not_run = "On the simulator it is a parameter.",
    },
    {
        id = "value-before-write",
        fact = "A stream can wait for a value in memory that is written only later, by a call that "
            .. "comes after the wait; a wait for an event means a record that came before.",
        holds = "every GPU, with CUDA 11.7 or newer",
        source = { "values" },
        stated = {
            { events_page, "a wait for a value may come before the write" },
        },
    },
    {
        id = "value-by-host",
        fact = "Whoever writes the value ends the wait: a stream, a copy, a kernel, and the host if "
            .. "it is in pinned memory.",
        holds = "every GPU, with CUDA 11.7 or newer",
        source = { "values" },
        stated = {
            { events_page, "in pinned memory, where the host ends the wait with t:set" },
            { events_page, "Whoever writes it counts: a stream, a copy, a kernel." },
        },
    },
    {
        id = "no-implied-order",
        fact = "Nothing orders two streams that use the same tensor: a tensor carries no event "
            .. "with it.",
        holds = "CUDA, PyTorch and the laboratory",
        source = { "torch_notes" },
        measured = experiments .. "#events_race",
        stated = {
            { events_page, "A tensor carries no event with it" },
        },
    },
    {
        id = "order-both-ways",
        fact = "A buffer that is used again needs two orders: nothing reads it before it has been "
            .. "written, and nothing overwrites it before it has been read.",
        holds = "every GPU",
        source = { "asynchronous" },
        measured = pipelines_page,
        stated = {
            { pipelines_page, "the buffer is no longer read" },
            { pipelines_page, "Without the one that goes back, from the kernel to the next copy "
                .. "into the same buffer" },
        },
    },
}
