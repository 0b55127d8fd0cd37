-- Lab 3: the tests that the student has.

local common = include "common.lua"
local mib = common.mib

test("feed copies what is needed only once as it is", { points = 5, pace = true,
    hint = "Page-locking costs "
    .. "about as much as a copy of the same size. Does a single copy win that back? "
    .. "See the guide, chapter 5, \"A variant: what pinning costs\"." }, function(t, student)
    local epochs = common.epochs(4 * mib, 3)
    local pageable_us = common.pageable_us(epochs, 1)
    local tl = common.quickest("wall_us", function()
        return lab.profile(student.feed, epochs.source, 1, epochs.work)
    end)
    t:span_count(tl, { name = "Memcpy HtoD (Pageable -> Device)" }, { exactly = 1 },
        "the one copy is from pageable memory")
    t:span_count(tl, "memcpy_h2d", { exactly = 1 }, "there is one copy to the GPU")
    t:no_call(tl, "cudaHostRegister", "nothing is page-locked for it")
    t:at_most(tl.wall_us, (tl.simulated and 1.15 or 1.8) * pageable_us // 1,
        "it takes hardly longer than the copy itself, in us")
    t:is(epochs.source.pinned, false, "the source is pageable afterwards")
    t:is(epochs.found(1), 3.0, "work finds the source's 3s on the GPU")
end)

test("feed page-locks once what is needed 24 times", { points = 5, pace = true,
    hint = "From the second copy on "
    .. "pinned memory pays: page-lock before the loop, not in it, and copy with "
    .. "non_blocking = true. The source itself must stay pageable, so pin a copy of it, "
    .. "or undo it at the end." }, function(t, student)
    local epochs = common.epochs(4 * mib, 5)
    local pageable_us = common.pageable_us(epochs, 24)
    local tl = common.quickest("wall_us", function()
        return lab.profile(student.feed, epochs.source, 24, epochs.work)
    end)
    t:span_count(tl, { name = "Memcpy HtoD (Pinned -> Device)" }, { exactly = 24 },
        "all 24 copies are from pinned memory")
    t:span_count(tl, "memcpy_h2d", { exactly = 24 }, "there are 24 copies to the GPU")
    t:at_most(tl.wall_us, (tl.simulated and 0.6 or 0.85) * pageable_us // 1,
        "it takes much less than from pageable memory, in us")
    t:is(epochs.source.pinned, false, "the source is pageable afterwards")
    t:is(epochs.found(24), 5.0, "work finds the source's 5s on the GPU, also the 24th time")
end)

test("stage loads the next batch while the GPU works", { points = 10, pace = true,
    hint = "Two pinned buffers, "
    .. "made once. Before load(i, buffer) the host must wait until the copy of batch i - 2 has "
    .. "left that buffer, and for nothing else: record an event behind each copy, and "
    .. "synchronise with that event. See the guide, chapter 5, \"What surprises\"." },
    function(t, student)
        local size, count = 4 * mib, 8
        local function value(i) return i end
        local host_us, gpu_us = common.step_us(common.batches(size, 0, 0.28, value), size, 1)
        local batches
        local tl = common.quickest("makespan_us", function()
            batches = common.batches(size, 0, 0.28, value)
            return lab.profile(student.stage, count, size, batches.load, batches.work)
        end)
        t:no_race("no buffer is written while it is being copied")
        t:is(batches.found(), common.wanted(count, value), "the batches arrive, in order")
        t:is(batches.device, "cuda", "the device of the tensors that work gets")
        t:is(batches.buffers.memory, "pinned", "the memory that load gets")
        t:is(batches.buffers.elements, size, "the elements of a buffer")
        t:at_most(batches.buffers.count, 2, "at most two buffers are loaded into")
        t:span_count(tl, "memcpy_h2d", { exactly = count }, "each batch is copied once")
        t:makespan(tl, { within_percent = 16, gpu_within_percent = 40,
            of_us = (count - 1) * math.max(host_us, gpu_us) + gpu_us },
            "it takes as long as the slower of host and GPU")
    end)

test("collect uses a result while the GPU makes the next", { points = 10, pace = true,
    hint = "A copy that does "
    .. "not block has not happened when the call returns: record an event behind it, and "
    .. "synchronise with that before use(i, host). And issue result i + 1 before you wait for "
    .. "result i, into the other of two pinned buffers." }, function(t, student)
    local size, count = mib, 8
    local function value(i) return 10 * i end
    local host_us, gpu_us = common.result_us(common.results(size, 0.5, 0.4, value), size)
    local results
    local tl = common.quickest("makespan_us", function()
        results = common.results(size, 0.5, 0.4, value)
        return lab.profile(student.collect, count, size, results.make, results.use)
    end)
    t:no_race("no result is read before it has arrived")
    common.check_results(t, results, count, value, "use finds the results in its buffer")
    t:is(results.buffers.memory, "pinned", "the memory that use gets")
    t:is(results.buffers.elements, size, "the elements of a buffer")
    t:at_most(results.buffers.count, 2, "there are at most two buffers")
    t:span_count(tl, "memcpy_d2h", { exactly = count }, "each result is copied once")
    t:makespan(tl, { within_percent = 16, gpu_within_percent = 40,
        of_us = (count - 2) * math.max(host_us, gpu_us) + 2 * gpu_us },
        "it takes as long as the slower of host and GPU")
end)
