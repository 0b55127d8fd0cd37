-- graphs.lua - facts: graphs. all.lua says what the fields mean.

local page <const> = "docs/guide/17-graphs.md"
local experiments <const> = "docs/results/experiments.md"
local one_gpu <const> = "measured on one H200 (CUDA 13.0, driver 580); simulated alike"

return {
    title = "Graphs",
    {
        id = "graph-capture",
        fact = "What is enqueued in a stream while it is captured does not run: it becomes nodes of "
            .. "the graph, which run when that is launched.",
        holds = "every GPU",
        source = { "graphs" },
        stated = {
            { page, "what that enqueues does not run: the calls become nodes" },
        },
    },
    {
        id = "graph-addresses",
        fact = "A graph keeps addresses, not values: a launch reads what is in the captured memory "
            .. "then. Numbers that were given to a kernel are fixed.",
        holds = "CUDA, PyTorch and the laboratory",
        source = { "graphs", "torch_notes" },
        stated = {
            { page, "A launch does the same work with the same memory as when it was captured." },
            { page, "It keeps addresses: it reads what is there at the time of the launch" },
            { "scripts/labs/09-graphs/README.md",
                "a graph reads and writes the memory that was captured" },
        },
    },
    {
        id = "graph-edges",
        fact = "Inside a launch only edges order; to its stream a launch is one operation.",
        holds = "every GPU",
        source = { "graphs" },
        stated = {
            { page, "Inside a launch only edges order" },
            { page, "To a stream a launch is one operation" },
        },
    },
    {
        id = "graph-waits",
        fact = "A captured stream cannot be waited for or asked for, by the host or by a call that "
            .. "waits for the device: error 900, and the capture is spoiled.",
        holds = "every GPU",
        source = { "graphs" },
        stated = {
            { page, "The host cannot wait for work that does not run, nor read its results." },
        },
    },
    {
        id = "graph-outside-event",
        fact = "A captured stream cannot wait for an event that was recorded outside of the capture: "
            .. "error 905. Wait in the stream before the launch.",
        holds = "every GPU",
        source = { "graphs" },
        stated = {
            { page, "a wait for an event from outside | 905 | wait in the stream before the launch" },
        },
    },
    {
        id = "graph-malloc",
        fact = "A capture forbids cudaMalloc in the modes \"global\" and \"thread_local\", and "
            .. "permits it in \"relaxed\".",
        holds = "every GPU",
        source = { "graph_mode" },
        stated = {
            { page, "cudaMalloc is, except in mode \"relaxed\"." },
        },
    },
    {
        id = "graph-threads",
        fact = "In mode \"thread_local\" a capture leaves other threads of the host alone; in mode "
            .. "\"global\" it forbids them the same calls, and such a call spoils it.",
        holds = one_gpu,
        h200 = true,
        source = { "graph_mode" },
        stated = {
            { page, "The mode \"thread_local\" forbids these calls in the thread that "
                .. "captures, \"global\" in all" },
        },
    },
    {
        id = "graph-unjoined",
        fact = "A stream that takes part in a capture and has work there must be waited for before "
            .. "the end, else error 904. One without work need not be.",
        holds = one_gpu,
        h200 = true,
        source = { "graphs" },
        measured = page,
        stated = {
            { page, "A stream that forked and got no work need not be joined." },
            { page, "Every fork with work behind it" },
        },
    },
    {
        id = "graph-captured-event",
        fact = "An event whose latest record was captured has no time, also after the capture: "
            .. "cudaEventQuery, cudaEventElapsedTime and waits give cudaErrorInvalidValue.",
        holds = one_gpu,
        h200 = true,
        source = {},
        measured = page,
        stated = {
            { page, "An event whose latest record was captured has no time" },
        },
    },
    {
        id = "graph-one-at-a-time",
        fact = "Launches of one executable graph run one after the other, also in different streams; "
            .. "two executable graphs may run at the same time.",
        holds = "every GPU",
        source = { "graph_api" },
        measured = page,
        stated = {
            { page, "Launches of one graph run one after the other, also in different streams." },
        },
    },
    {
        id = "graph-priority",
        fact = "A node has the priority of the stream in which the graph is launched; with "
            .. "cudaGraphInstantiateFlagUseNodePriority that of the stream in which it was captured.",
        holds = "every GPU",
        source = { "graph_flags" },
        measured = experiments .. "#graph_priorities",
        stated = {
            { page, "Without the flag each kernel of a graph has the priority of the stream in which "
                .. "the graph is launched" },
        },
    },
    {
        id = "graph-pageable-source",
        fact = "A graph with a copy from pageable memory: the launch call reads the source. From "
            .. "pinned memory it is read when the node runs.",
        holds = one_gpu,
        h200 = true,
        source = {},
        measured = page,
        stated = {
            { page, "From pageable memory the launch call itself reads the source" },
        },
    },
    {
        id = "graph-pageable-target",
        fact = "A graph with a copy into pageable memory: the launch call returns when that is done.",
        holds = one_gpu,
        h200 = true,
        source = {},
        measured = page,
        stated = {
            { page, "with a copy into pageable memory in the graph, g:launch() waits until that is "
                .. "done" },
        },
    },
    {
        id = "graph-update",
        fact = "An executable graph can be updated by one with the same kinds of nodes and the same "
            .. "edges, and by no other.",
        holds = "every GPU",
        source = { "graphs" },
        measured = experiments .. "#graph_update",
        stated = {
            { page, "if there are the same kinds of nodes with the same edges" },
        },
    },
    {
        id = "graph-cost",
        fact = "1000 empty kernels take 4218 us in a stream and 687 as a graph, whose launch costs the "
            .. "host 5 us. Capture, instantiation and first launch take 3300 us once.",
        holds = "measured on one H200 (CUDA 13.0, driver 580)",
        h200 = true,
        source = { "graphs" },
        measured = page,
        stated = {
            { page, "9.9, 52, 489 and 4218 us in a stream; 6.6, 13.4, 75 and 687 us as a graph" },
        },
        not_run = "On the simulator these are figures of the profile.",
    },
}
