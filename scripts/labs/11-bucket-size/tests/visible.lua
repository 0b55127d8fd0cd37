-- The visible tests.

local common = include "common.lua"

test("each gradient is the sum over both GPUs", {
    points = 5,
    hint = "Each layer belongs to a bucket, the last one too, though it may not be full.",
}, function(t, student, comm)
    common.right(t, student, comm, common.widths(5, 1024))
end)

test("all-reduces run beside the matmuls of the next layers", {
    points = 10, pace = { "1.1" },
    hint = "async = true puts an all-reduce into a stream of the communicator's own, behind the "
        .. "work that is enqueued so far. Wait for it when the last matmul is enqueued, not "
        .. "before. Guide, chapter \"Several GPUs\".",
}, function(t, student, comm)
    common.overlaps(t, student, comm, 8192, common.widths(24, 2048), 60)
    t:no_race("no gradient is read while another stream writes it")
end)

test("three models take hardly longer than each with its best bucket size", {
    points = 15, pace = { "1.1" },
    hint = "No size is the best one for all models. Small buckets hold SMs that the matmuls could "
        .. "have, and each costs a latency; behind the last matmul the last bucket runs alone. "
        .. "prepare() can measure: run backward() with several sizes under lab.profile, and keep "
        .. "the quickest.",
}, function(t, student, comm)
    common.pace(t, student, comm, { { batch = 8192, widths = common.widths(24, 2048) },
                                    { batch = 1536, widths = common.widths(3, 4096) },
                                    { batch = 512, widths = common.widths(16, 4096) } })
end)
