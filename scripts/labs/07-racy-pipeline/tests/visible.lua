-- The visible tests: two slots, eight batches.

local common = include "common.lua"
local balanced = { batches = 8, slots = 2, mib = 4, first_ms = 0.08, second_ms = 0.08, times = 10,
                   plus = 7 }

test("every output is that of its own batch", {
    points = 5,
    hint = "Look at the numbers: another batch's value, or one of which a stage is missing? "
        .. "Then find the buffer that was written or read too early. README, \"Two questions "
        .. "for each buffer\".",
}, function(t, student)
    local job, known = common.job{ batches = 8, slots = 2, mib = 1, first_ms = 0.1, second_ms = 0.2,
                                   times = 10, plus = 7 }
    local tl, values = lab.profile(student.pipeline, job)
    common.right(t, known, tl, values)
    common.outputs(t, known)
end)

test("nothing races", {
    points = 10,
    hint = "A report names two lines; the second must come after the first, by a wait between "
        .. "them. Right numbers are no proof: slower stages or a faster bus make the same "
        .. "script wrong. Guide, chapter Races.",
}, function(t, student)
    -- Stages so short that many a missing wait goes unpunished here: a race all the same.
    local job, known = common.job{ batches = 8, slots = 2, mib = 1, first_ms = 0.01,
                                   second_ms = 0.01, times = 3, plus = 1 }
    local tl, values = lab.profile(student.pipeline, job)
    t:no_race("each access comes after those that it needs")
    common.right(t, known, tl, values)
end)

test("all four steps run at the same time", {
    points = 10, pace = true,
    hint = "Who waits for more than it needs? The copy of batch 3 into slot 1 needs batch 1 to "
        .. "have left that buffer, not batch 2 in the other slot; wait_stream waits for all "
        .. "that the other stream holds at that moment. An event recorded earlier is for that. "
        .. "And the host need not wait in the loop. Guide, chapters Events and Pipelines.",
}, function(t, student)
    local job, known = common.job(balanced)
    local tl, values = lab.profile(student.pipeline, job)
    common.right(t, known, tl, values)
    common.outputs(t, known)
    t:overlap(tl, "memcpy_h2d", "kernel", { at_least_percent = 75, gpu_at_least_percent = 50 },
        "copies up run beside the stages")
    t:overlap(tl, "memcpy_d2h", "kernel", { at_least_percent = 75, gpu_at_least_percent = 50 },
        "copies down run beside the stages")
    t:overlap(tl, "memcpy_h2d", "memcpy_d2h", { at_least_percent = 50, gpu_at_least_percent = 30 },
        "copies up run beside copies down")
    common.quick(t, known, tl, "a batch ends whenever the longest step is done")
end)

test("there is no wait too many", {
    points = 5, pace = true,
    hint = "Each batch needs three waits for its data, and three for free buffers unless it is "
        .. "the first in its slot; and the host needs one, behind the loop. Which of yours "
        .. "would nobody miss?",
}, function(t, student)
    local job, known = common.job(balanced)
    local tl, values = lab.profile(student.pipeline, job)
    t:no_race("no wait is missing, either")
    common.right(t, known, tl, values)
    common.outputs(t, known)
    common.at_most_the_waits(t, known, tl)
end)
