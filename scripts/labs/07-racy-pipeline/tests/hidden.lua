-- The hidden tests: other numbers of batches and slots, other steps that are the longest. What the
-- stages compute is drawn, and is another when a byte of this file changes.

local common = include "common.lua"
local draw = math.random

test("three slots, and a slow first stage", {
    points = 20, pace = true,
    hint = "How many slots there are, #job.x says; with three of them batch 4 is the first that "
        .. "meets a used buffer.",
}, function(t, student)
    local job, known = common.job{ batches = 10, slots = 3, mib = 2, first_ms = 0.25,
                                   second_ms = 0.1, times = draw(3, 9), plus = draw(1, 9),
                                   from = draw(1, 40) }
    local tl, values = lab.profile(student.pipeline, job)
    t:no_race("each access comes after those that it needs")
    common.right(t, known, tl, values)
    common.outputs(t, known)
    common.quick(t, known, tl, "a batch ends whenever the first stage is done")
end)

test("a single slot, and five", {
    points = 15,
    hint = "With one slot each batch needs the buffers of the one before: i - 1, not i - 2. Is "
        .. "a 2 written somewhere in place of #job.x?",
}, function(t, student)
    for _, slots in ipairs{ 1, 5 } do
        local job, known = common.job{ batches = 11, slots = slots, mib = 1, first_ms = 0.2,
                                       second_ms = 0.1, times = draw(3, 9), plus = draw(1, 9),
                                       from = draw(1, 40) }
        local tl, values = lab.profile(student.pipeline, job)
        common.right(t, known, tl, values)
        common.outputs(t, known)
    end
    t:no_race("each access comes after those that it needs")
end)

test("a slow second stage, and long copies", {
    points = 20, pace = true,
    hint = "Copies take long as well here, so four batches must be on their way at a time, with "
        .. "two slots. They are if each buffer is used again as soon as it is free itself: x "
        .. "when the first stage has read it, and not only when the whole slot has been "
        .. "downloaded.",
}, function(t, student)
    local job, known = common.job{ batches = 9, slots = 4, mib = 1, first_ms = 0.05,
                                   second_ms = 0.1,
                                   times = draw(3, 9), plus = draw(1, 9) }
    local tl, values = lab.profile(student.pipeline, job)
    common.right(t, known, tl, values)
    common.outputs(t, known)
    job, known = common.job{ batches = 9, slots = 2, mib = 6, first_ms = 0.05, second_ms = 0.16,
                             times = draw(3, 9), plus = draw(1, 9) }
    tl, values = lab.profile(student.pipeline, job)
    common.right(t, known, tl, values)
    common.outputs(t, known)
    common.quick(t, known, tl, "a batch ends whenever the second stage is done")
end)

test("the same buffers a second time", {
    points = 15,
    hint = "When pipeline() returns, its caller may change the input and read the output. Is "
        .. "every copy over by then?",
}, function(t, student)
    local job, known = common.job{ batches = 10, slots = 3, mib = 1, first_ms = 0.2,
                                   second_ms = 0.2,
                                   times = draw(3, 9), plus = 5 }
    student.pipeline(job)
    for i, input in ipairs(known.input) do
        input:fill_(100 * i)
        known.output[i]:fill_(-1)
        known.want[i] = known.times * 100 * i + 5
    end
    common.begin(known)
    local tl, values = lab.profile(student.pipeline, job)
    t:no_race("nothing of the first call is still at work")
    common.right(t, known, tl, values)
    common.outputs(t, known)
end)
