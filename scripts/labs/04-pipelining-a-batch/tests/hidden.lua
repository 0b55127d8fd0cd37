-- Lab 4: the tests that only the grader has: other sizes, numbers and balances.

local common = include "common.lua"
local mib = common.mib

test("map takes batches that are not a multiple of the chunks", { points = 15, pace = true,
    hint = "10 rows in "
    .. "4 chunks are 3, 3, 3 and 1; and there can be fewer chunks than asked for, or one alone. "
    .. "tensor:chunk gives them, and tensor:narrow the part of a buffer that fits." },
    function(t, student)
        for _, case in ipairs{ { 10, 4 }, { 9, 4 }, { 7, 1 }, { 5, 8 }, { 23, 6 } } do
            local rows, chunks = table.unpack(case)
            local what = ("%d rows in %d chunks: "):format(rows, chunks)
            local input, values = common.batch(rows, math.random(2, 10))
            local output = lab.full(-1, rows, 2, { device = "cpu", pinned = true })
            local made = common.work(chunks + 1, 0, 30)
            student.map(input, output, chunks, made.work)
            t:close(output, common.times(values, chunks + 1), what .. "the output")
            t:is(made.elements, 2 * rows, what .. "work sees each element once")
        end
        t:no_race("no buffer is written while another stream or the host uses it")
        -- And as quickly: 50 rows of 1 MiB in 7 chunks are six of 8 rows, and one of 2.
        local pinned = { device = "cpu", pinned = true }
        local input, output = lab.zeros(50, mib, pinned), lab.zeros(50, mib, pinned)
        local made
        local tl = common.quickest(function()
            made = common.work(2, 19, 0)
            return lab.profile(student.map, input, output, 7, made.work)
        end)
        t:is(made.elements, 50 * mib, "50 MiB in 7 chunks: work sees each element once")
        t:overlap(tl, "kernel", "memcpy_h2d", { at_least_percent = 60, gpu_at_least_percent = 40 },
            "50 MiB in 7 chunks: the work runs beside copies up")
    end)

test("map keeps the pace where one engine is the slowest", { points = 20, pace = { "1.1", "2.1" },
    hint = "Three chunks on "
    .. "the GPU at a time, however many there are: what is made in the loop is freed in it. And no "
    .. "wait of the host in the loop." },
    function(t, student)
        for _, case in ipairs{
            { mib = 48, chunks = 12, us_per_mib = 26, overlap = { "kernel", "memcpy_h2d" } },
            { mib = 60, chunks = 15, us_per_mib = 9, overlap = { "memcpy_h2d", "memcpy_d2h" } },
        } do
            local size = case.mib * mib
            local input, output = common.pinned(size), common.pinned(size)
            local engines = common.engines_us(input, output,
                common.work(2, case.us_per_mib, 0).work)
            local made, before
            local tl = common.quickest(function()
                made, before = common.work(2, case.us_per_mib, 0), lab.live().device_bytes
                return lab.profile(student.map, input, output, case.chunks, made.work)
            end)
            local what = ("%d MiB in %d chunks: "):format(case.mib, case.chunks)
            t:is(made.elements, size, what .. "work sees each element once")
            t:span_count(tl, "memcpy_d2h", { exactly = case.chunks }, what .. "copies down")
            t:at_most(made.mib_beyond(before), 6 * case.mib // case.chunks,
                what .. "MiB of the GPU's memory")
            t:overlap(tl, case.overlap[1], case.overlap[2], { at_least_percent = 65,
                gpu_at_least_percent = 40 }, what .. "the two busiest kinds overlap")
            t:makespan(tl, { of_us = common.pipeline_us(engines, case.chunks), within_percent = 20,
                gpu_within_percent = 50 }, what .. "the makespan")
        end
    end)

test("scan is right and quick for other batches", { points = 20, pace = { "2.1" },
    hint = "A single chunk, two, or an "
    .. "odd number; steps that take much longer than copies, and the reverse. Which wait is "
    .. "missing, or stands in the wrong place?" }, function(t, student)
    for _, case in ipairs{ { 1, 1, 40 }, { 2, 3, 0 }, { 7, 2, 200 }, { 4, 5, 3 } } do
        local chunks, rows, fixed_us = table.unpack(case)
        local input, values = common.batch(chunks * rows, math.random(2, 10))
        local output = lab.full(-1, chunks * rows, 2, { device = "cpu", pinned = true })
        local made = common.step(0, fixed_us, rows, 2)
        student.scan(input, output, chunks, made.step)
        t:close(output, common.scanned(values, chunks), chunks .. " chunks: the output")
    end
    local size, chunks = 60 * mib, 12
    local input, output = common.pinned(size), common.pinned(size)
    local engines = common.engines_us(input, output, common.work(3, 28, 0).work)
    local made, before
    local tl = common.quickest(function()
        made = common.step(28, 0, size // chunks)
        before = lab.live().device_bytes
        return lab.profile(student.scan, input, output, chunks, made.step)
    end)
    t:no_race("no buffer is written while another stream or the host uses it")
    t:at_most(made.mib_beyond(before), 4 * 60 // chunks, "MiB of the GPU's memory")
    t:overlap(tl, "kernel", "memcpy_h2d", { at_least_percent = 65, gpu_at_least_percent = 45 },
        "the steps run beside copies up")
    t:makespan(tl, { of_us = common.pipeline_us(engines, chunks), within_percent = 20,
        gpu_within_percent = 50 }, "the makespan")
end)

test("choose finds a good number of chunks for other work", { points = 15, pace = { "1.1", "2.1" },
    hint = "A number that "
    .. "is right for one batch is wrong for the next, even of the same size: work that costs much "
    .. "for each call wants few chunks, and a large batch wants many." }, function(t, student)
    -- Of one size and other work: 2 to 4 chunks are good for the first, 6 to 48 for the second.
    common.good_choice(t, student, { mib = 16, us_per_mib = 20, fixed_us = 100 })
    common.good_choice(t, student, { mib = 16, us_per_mib = 30, fixed_us = 0 })
    common.good_choice(t, student, { mib = 128, us_per_mib = 18, fixed_us = 0,
        slowest_within_percent = 35 })
end)
