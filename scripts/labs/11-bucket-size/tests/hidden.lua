-- The hidden tests: other models, and work of the caller's before and behind.

local common = include "common.lua"

test("layers of 2 MiB share all-reduces, and others as their model asks for", {
    points = 20, pace = { "1.1", "2.2" },
    hint = "With a small batch the sums take longer than the matmuls: then buckets are to be "
        .. "large, but not so large that the first one starts late. Does prepare() find the size "
        .. "of each model?",
}, function(t, student, comm)
    common.right(t, student, comm, common.widths(30, 16))
    common.right(t, student, comm, { 32, 64, 16, 16, 64, 8 })
    common.pace(t, student, comm, { { batch = 8192, widths = common.widths(24, 1024) },
                                    { batch = 512, widths = common.widths(12, 4096) },
                                    { batch = 1792, widths = common.widths(3, 4096) } })
end)

test("large layers do not wait for each other, where the matmuls take longer", {
    points = 20, pace = { "1.1" },
    hint = "With a large batch the sums are hidden but for the last one: a bucket that is large "
        .. "enough with one layer should not wait for another one.",
}, function(t, student, comm)
    common.right(t, student, comm, common.widths(27, 32))
    common.right(t, student, comm, { 32, 64, 16, 16, 64, 8 })
    common.pace(t, student, comm, { { batch = 2048, widths = common.widths(4, 8192) },
                                    { batch = 7168, widths = common.widths(3, 2048) },
                                    { batch = 512, widths = common.widths(13, 4096) } })
end)

test("layers of different sizes", {
    points = 20, pace = { "1.1", "2.2" },
    hint = "Sizes differ from layer to layer: the place of a gradient in its bucket is the sum of "
        .. "the sizes before it.",
}, function(t, student, comm)
    common.right(t, student, comm, { 16, 64, 32, 32, 8, 128, 16 })
    common.right(t, student, comm, { 32, 16 })
    local many = common.widths(30, 16)
    for i = 1, #many, 4 do many[i] = 64 end
    common.right(t, student, comm, many)
    common.pace(t, student, comm, {
        { batch = 6144, widths = { 4096, 4096, 2048, 2048 } },
        { batch = 512, widths = { 4096, 8192, 4096, 4096, 4096, 2048, 4096, 4096, 8192, 4096, 4096,
                                  4096 } },
    })
end)

test("a pass is in order with the caller's work on both GPUs, and the host waits for nothing", {
    points = 10, pace = { "1.1", "2.2" },
    hint = "work:wait() lets a GPU's current stream wait, which is the caller's; "
        .. "work:synchronize() and the others that synchronize let the host wait. In these streams "
        .. "a pass is as quick as in others.",
}, function(t, student, comm)
    common.in_order(t, student, comm, { 32, 64, 32, 16, 32, 32 })
    common.in_order(t, student, comm, common.widths(26, 16))
    common.pace(t, student, comm, { { batch = 512, widths = common.widths(14, 4096) },
                                    { batch = 1536, widths = common.widths(3, 4096) } })
end)
