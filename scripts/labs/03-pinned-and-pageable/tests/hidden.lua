-- Lab 3: the tests that only the grader has: other sizes, numbers and paces.

local common = include "common.lua"
local mib = common.mib

test("feed decides rightly for other sizes and numbers", { points = 20, pace = true,
    hint = "Pageable for a "
    .. "single copy, page-locked once for many, whatever the size; and the source is not yours "
    .. "to change." }, function(t, student)
    for _, case in ipairs{ { mib = 2, times = 1 }, { mib = 6, times = 40 } } do
        local size, times = case.mib * mib, case.times
        local what = ("%d MiB, %s: "):format(case.mib, times == 1 and "once" or times .. " times")
        local found = math.random(2, 9)
        local epochs = common.epochs(size, found)
        local pageable_us = common.pageable_us(epochs, times)
        local tl = common.quickest("wall_us", function()
            return lab.profile(student.feed, epochs.source, times, epochs.work)
        end)
        local from = times == 1 and "Pageable" or "Pinned"
        t:span_count(tl, { name = ("Memcpy HtoD (%s -> Device)"):format(from) },
            { exactly = times },
            what .. from:lower() .. " copies")
        local share = times == 1 and (tl.simulated and 1.15 or 1.8) or tl.simulated and 0.6 or 0.85
        t:at_most(tl.wall_us, share * pageable_us // 1, what .. "the time it takes, in us")
        t:is(epochs.source.pinned, false, what .. "the source is pageable afterwards")
        t:close(epochs.source:narrow(1, 1, 8), found, what .. "the source's values are untouched")
        t:is(epochs.found(times), found + 0.0, what .. "the last work finds the values on the GPU")
    end
end)

test("stage keeps every batch whole, however many there are", { points = 15, hint = "One batch, or "
    .. "an odd number; and a host that is much quicker than the GPU, so that buffers are wanted "
    .. "back before their copies have run. Which event says that a buffer is free?" },
    function(t, student)
        for _, count in ipairs{ 1, 2, 7 } do
            local from = math.random(50, 100)
            local function value(i) return from - 3 * i end
            local batches = common.batches(96, 0, 0.2, value)
            student.stage(count, 96, batches.load, batches.work)
            lab.synchronize()
            t:is(batches.found(), common.wanted(count, value),
                ("of %d batches all arrive, in order"):format(count))
            t:is(batches.buffers.memory, "pinned", "the memory that load gets")
            t:is(batches.buffers.elements, 96, "the elements of a buffer")
            t:at_most(batches.buffers.count, 2, "at most two buffers are loaded into")
        end
        t:no_race("no buffer is written while it is being copied")
    end)

test("stage keeps the pace of a slow loader, of a slow GPU, and of both alternately",
    { points = 20, pace = { "2.2" },
    hint = "Neither may wait for the other longer than it must. Look for a call in the loop that "
        .. "holds the host until the GPU's work is done, and not only its copy; one buffer is not "
        .. "enough. A record stands for what the stream was given before it: is that more than "
        .. "the copy?" },
    function(t, student)
        for _, case in ipairs{ { host_ms = 0.2, gpu_ms = 0.4 }, { host_ms = 0, gpu_ms = 0.6 } } do
            local size, count = 3 * mib, 6
            local function value(i) return i % 3 end
            local function made() return common.batches(size, case.host_ms, case.gpu_ms, value) end
            local host_us, gpu_us = common.step_us(made(), size, 1)
            local batches
            local tl = common.quickest("makespan_us", function()
                batches = made()
                return lab.profile(student.stage, count, size, batches.load, batches.work)
            end)
            t:is(#batches.sums, count, "all batches are worked on")
            t:at_most(batches.buffers.count, 2, "at most two buffers are loaded into")
            t:makespan(tl, { within_percent = 16, gpu_within_percent = 40,
                of_us = (count - 1) * math.max(host_us, gpu_us) + gpu_us },
                ("batches of %.0f us on the host and %.0f us on the GPU"):format(host_us, gpu_us))
        end
        -- With work of 0.8 ms and none alternately the host has to load two batches beside each of
        -- the long ones: the second one as soon as the long one's own copy has been made.
        local size, count = mib // 4, 8
        local function value(i) return i end
        local function made() return common.batches(size, 0.4, { 0.8, 0 }, value) end
        local host_us, long_us = common.step_us(made(), size, 1)
        local _, short_us = common.step_us(made(), size, 2)
        local tl = common.quickest("makespan_us", function()
            local batches = made()
            return lab.profile(student.stage, count, size, batches.load, batches.work)
        end)
        t:makespan(tl, { within_percent = 16, gpu_within_percent = 25,
            of_us = count / 2 * math.max(2 * host_us, long_us + short_us) },
            ("batches of %.0f us on the host, on the GPU of %.0f and %.0f us alternately"):format(
                host_us, long_us, short_us))
    end)

test("collect is right and quick for other results", { points = 15, pace = true,
    hint = "One result, or an odd "
    .. "number; and a host that is quicker than the GPU, so that it comes for a result before "
    .. "that has arrived." }, function(t, student)
    for _, count in ipairs{ 1, 5 } do
        local from = math.random(1, 50)
        local function value(i) return 7 * i + from end
        local results = common.results(40, 0, 0.2, value)
        student.collect(count, 40, results.make, results.use)
        common.check_results(t, results, count, value, count .. " results have arrived")
        t:at_most(results.buffers.count, 2, "there are at most two buffers")
    end
    local size, count = mib // 2, 7
    local function value(i) return i end
    local host_us, gpu_us = common.result_us(common.results(size, 0.4, 0.6, value), size)
    local results
    local tl = common.quickest("makespan_us", function()
        results = common.results(size, 0.4, 0.6, value)
        return lab.profile(student.collect, count, size, results.make, results.use)
    end)
    t:no_race("no result is read before it has arrived")
    common.check_results(t, results, count, value, count .. " results have arrived")
    t:at_most(results.buffers.count, 2, "there are at most two buffers")
    t:makespan(tl, { within_percent = 16, gpu_within_percent = 40,
        of_us = (count - 2) * math.max(host_us, gpu_us) + 2 * gpu_us },
        ("results of %.0f us on the host and %.0f us on the GPU"):format(host_us, gpu_us))
end)
