-- Lab 4: the tests that the student has.

local common = include "common.lua"
local mib = common.mib

test("map has put every chunk into the output when it returns", { points = 5, hint = "Chunk i of "
    .. "the input goes through one stream: up, work, down. And before map returns, the host has "
    .. "to wait for every stream that it has used, once." }, function(t, student)
    local input, values = common.batch(12, 5)
    local output = lab.zeros(12, 2, { device = "cpu", pinned = true })
    local made = common.work(3, 0, 50)
    student.map(input, output, 4, made.work)
    t:close(output, common.times(values, 3), "the output is three times the input")
    t:is(made.calls, 4, "work is called once for each chunk")
    t:is(made.device, "cuda", "the device of the tensors that work gets")
    t:no_race("no buffer is written while another stream or the host uses it")
end)

test("map keeps three engines busy with three chunks on the GPU", { points = 10, pace = { "1.1" },
    hint = "Three "
    .. "streams, each with an x and a y of its own: made before the loop, or made and freed in "
    .. "each round (x:free(); the garbage collector comes too late). Nothing in the loop may wait "
    .. "on the host, and all copies need non_blocking = true. See the guide, chapter 8, the first "
    .. "experiment." }, function(t, student)
    local size, chunks = 64 * mib, 8
    local input, output = common.pinned(size), common.pinned(size)
    local engines = common.engines_us(input, output, common.work(3, 19, 0).work)
    local made, before
    local tl = common.quickest(function()
        made, before = common.work(3, 19, 0), lab.live().device_bytes
        return lab.profile(student.map, input, output, chunks, made.work)
    end)
    t:is(made.elements, size, "work sees each element once")
    t:span_count(tl, "memcpy_h2d", { exactly = chunks }, "each chunk is copied up once")
    t:span_count(tl, "memcpy_d2h", { exactly = chunks }, "and down once")
    t:at_most(made.mib_beyond(before), 3 * 2 * 64 // chunks,
        "MiB of the GPU's memory: x and y of three chunks")
    t:stream_count(tl, { at_most = 3 }, "there are at most three streams")
    t:overlap(tl, "kernel", "memcpy_h2d", { at_least_percent = 65, gpu_at_least_percent = 45 },
        "the work runs beside copies up")
    t:overlap(tl, "memcpy_h2d", "memcpy_d2h", { at_least_percent = 60, gpu_at_least_percent = 35 },
        "copies up run beside copies down")
    t:makespan(tl, { of_us = common.pipeline_us(engines, chunks), within_percent = 15,
        gpu_within_percent = 45 }, "it takes as long as the slowest engine, and little more")
end)

test("scan takes the chunks in order, through two buffers", { points = 10, pace = true,
    hint = "Ask of "
    .. "each buffer, x[k] and y[k]: who writes it, and which work of an earlier round must be over "
    .. "by then? Some waits lead forward, from engine to engine, and some lead back. "
    .. "See the guide, chapter 8, \"The event that everybody forgets\"." }, function(t, student)
    local input, values = common.batch(15, 4)
    local output = lab.zeros(15, 2, { device = "cpu", pinned = true })
    local made = common.step(0, 50, 3, 2)
    student.scan(input, output, 5, made.step)
    t:close(output, common.scanned(values, 5), "the output is the scan of the input")
    t:is(made.order, { 1, 2, 3, 4, 5 }, "the steps are issued in order")

    local size, chunks = 64 * mib, 8
    input, output = common.pinned(size), common.pinned(size)
    local engines = common.engines_us(input, output, common.work(3, 19, 0).work)
    local before
    local tl = common.quickest(function()
        made = common.step(19, 0, size // chunks)
        before = lab.live().device_bytes
        return lab.profile(student.scan, input, output, chunks, made.step)
    end)
    t:no_race("no buffer is written while another stream or the host uses it")
    t:is(made.elements, size, "the steps see each element once")
    t:at_most(made.mib_beyond(before), 2 * 2 * 64 // chunks,
        "MiB of the GPU's memory: x and y of two chunks")
    t:overlap(tl, "kernel", "memcpy_h2d", { at_least_percent = 65, gpu_at_least_percent = 45 },
        "the steps run beside copies up")
    t:overlap(tl, "memcpy_h2d", "memcpy_d2h", { at_least_percent = 60, gpu_at_least_percent = 35 },
        "copies up run beside copies down")
    t:makespan(tl, { of_us = common.pipeline_us(engines, chunks), within_percent = 20,
        gpu_within_percent = 50 }, "it takes as long as the slowest engine, and little more")
end)

test("choose finds a good number of chunks for a large and a small batch",
    { points = 5, pace = { "1.1" },
    hint =
    "Few chunks: long ends, in which one engine works alone. Many: the host cannot issue them "
    .. "quickly enough. Where the best number lies depends on the batch and on the work, so "
    .. "measure: profile your own map for 1, 2, 4, ... 128 chunks. It needs a map that overlaps." },
    function(t, student)
        common.good_choice(t, student, { mib = 64, us_per_mib = 18, fixed_us = 5,
            slowest_within_percent = 40 })
        common.good_choice(t, student, { mib = 2, us_per_mib = 10, fixed_us = 20 })
    end)
