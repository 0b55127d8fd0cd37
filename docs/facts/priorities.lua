-- priorities.lua - facts: priorities. all.lua says what the fields mean.

local priorities_page <const> = "docs/guide/07-priorities.md"
local experiments <const> = "docs/results/experiments.md"

return {
    title = "Priorities",
    {
        id = "priority-order",
        fact = "Lower numbers are more urgent. An urgent kernel gets the room of the next blocks "
            .. "that end.",
        holds = "every GPU",
        source = { "streams" },
        measured = experiments .. "#priorities",
        stated = {
            { priorities_page, "lower numbers are more urgent" },
            { priorities_page, "it gets the room of the next blocks that end" },
            { "scripts/labs/06-priorities/README.md", "lower numbers are more urgent" },
        },
    },
    {
        id = "priority-blocks",
        fact = "No running block is stopped for a priority: beside long blocks it changes "
            .. "nothing.",
        holds = "NVIDIA's current documents, measured on one H200; older editions say that running "
            .. "work may be preempted",
        source = { "streams" },
        measured = experiments .. "#priorities",
        stated = {
            { priorities_page, "No running block is stopped for it." },
        },
    },
    {
        id = "priority-clamped",
        fact = "A priority outside of the device's range is clamped to it without an error; the "
            .. "range is 0 to -5 on an H200.",
        holds = "every GPU",
        source = { "streams" },
        measured = experiments .. "#priorities",
        stated = {
            { priorities_page, "CUDA accepts any number and clamps it to the range." },
        },
    },
    {
        id = "priority-default",
        fact = "By default streams have priority 0, the least urgent.",
        holds = "every GPU",
        source = { "streams", "torch_class" },
        measured = experiments .. "#priorities",
        stated = {
            { priorities_page, "0 is the least urgent" },
        },
    },
    {
        id = "priority-copies",
        fact = "Priorities have no effect on copies between host and GPU.",
        holds = "every GPU",
        source = { "streams" },
        stated = {
            { priorities_page, "no effect on host-to-device and device-to-host memory operations" },
            { "docs/design/simulator.md", "Priorities have no effect on copies" },
            { "scripts/labs/06-priorities/README.md", "it ignores priorities" },
        },
    },
}
