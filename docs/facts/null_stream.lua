-- null_stream.lua - facts: the NULL stream. all.lua says what the fields mean.

local implicit_page <const> = "docs/guide/06-implicit-synchronisation.md"
local experiments <const> = "docs/results/experiments.md"

return {
    title = "The NULL stream",
    {
        id = "null-stream",
        fact = "Work in the NULL stream, an event too, waits for all work in blocking streams, "
            .. "and what comes later in these waits for it. The host does not wait.",
        holds = "every GPU, in programs without per-thread default streams",
        source = { "stream_sync" },
        measured = experiments .. "#default_stream",
        stated = {
            { implicit_page, "It waits for all work in the other streams, and what comes later in "
                .. "these waits for it." },
            { "docs/guide/01-first-overlap.md", "work in other streams waits for it, and it waits "
                .. "for them" },
            { "scripts/labs/01-first-streams/README.md", "its work waits for all earlier work of "
                .. "the other streams, and their later work waits for it" },
            { "docs/reference/streams.md", "waits for all earlier work in the device's blocking "
                .. "streams, and later work in blocking streams waits for it; the host waits for "
                .. "nothing" },
            { "docs/causes.md", "waits for all streams" },
        },
    },
    {
        id = "non-blocking",
        fact = "A stream made with cudaStreamNonBlocking takes no part in that rule.",
        holds = "every GPU",
        source = { "stream_sync", "streams" },
        measured = experiments .. "#default_stream",
        stated = {
            { "scripts/labs/lua-primer.md", "lab.stream() follows the default stream's rules" },
            { implicit_page, "streams with cudaStreamNonBlocking take no part" },
            { "docs/guide/01-first-overlap.md", "such a stream is exempt from the NULL stream's "
                .. "rule" },
            { "scripts/labs/01-first-streams/README.md", "exempt from the rule" },
            { "docs/reference/streams.md", "Streams made with non_blocking = true are exempt" },
        },
    },
    {
        id = "per-thread",
        fact = "A per-thread default stream is an ordinary blocking stream: it keeps no other "
            .. "streams apart, and takes part in the rule if the program has a NULL stream as "
            .. "well.",
        holds = "every GPU",
        source = { "stream_sync" },
        stated = {
            { implicit_page, "per-thread default stream" },
            { "docs/design/simulator.md", "The per-thread default stream is an ordinary blocking "
                .. "stream" },
        },
    },
    {
        id = "cache-config",
        fact = "Of the older guides' list of what keeps streams apart only commands of the NULL "
            .. "stream are left in the current guides.",
        holds = "late CUDA 12, CUDA 13; measured on one H200",
        h200 = true,
        source = { "asynchronous" },
        measured = experiments .. "#claims",
        stated = {
            { implicit_page, "the current guides (late CUDA 12, and 13) have the fifth, and no "
                .. "other" },
        },
    },
}
