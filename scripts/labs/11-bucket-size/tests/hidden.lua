-- The hidden tests: other models, and work of the caller's before and behind.

local common = include "common.lua"

test("layers of 2 MiB share all-reduces", {
    points = 20,
    hint = "How many bytes are in a bucket is what counts, not how many layers.",
}, function(t, student, comm)
    common.pace(t, student, comm, 8192, common.widths(24, 1024), 4)
    t:no_race("no gradient is read while another stream writes it")
end)

test("layers of 128 MiB do not wait for each other", {
    points = 20,
    hint = "A bucket that is large enough with one layer should not wait for another one.",
}, function(t, student, comm)
    common.pace(t, student, comm, 2048, common.widths(8, 8192), 4)
    t:no_race("no gradient is read while another stream writes it")
end)

test("layers of different sizes", {
    points = 20,
    hint = "Sizes differ from layer to layer: the place of a gradient in its bucket is the sum of the "
        .. "sizes before it.",
}, function(t, student, comm)
    common.right(t, student, comm, {16, 64, 32, 32, 8, 128, 16})
    common.right(t, student, comm, {32, 16})
    common.pace(t, student, comm, 4096, {8192, 8192, 4096, 4096, 4096, 1024, 1024, 1024, 1024, 1024, 1024,
                                         1024, 1024, 1024, 1024, 1024, 1024}, 4)
end)

test("a pass is in order with the caller's work on both GPUs, and the host waits for nothing", {
    points = 10,
    hint = "work:wait() lets a GPU's current stream wait, which is the caller's; work:synchronize() and "
        .. "the others that synchronize let the host wait.",
}, function(t, student, comm)
    common.in_order(t, student, comm, {32, 64, 32, 16, 32, 32})
    common.overlaps(t, student, comm, 8192, common.widths(12, 2048), 60)
end)
