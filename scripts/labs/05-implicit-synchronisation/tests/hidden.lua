-- Not in the student's folder: all three waits at once, in time, and other numbers.
local common = include "common.lua"

-- With the three waits gone 85 to 90 % (textbook); with one of them left the worse of the two is 0.
local overlap <const> = { at_least_percent = 70, gpu_at_least_percent = 40 }

test("uploads and downloads run beside the kernels", { points = 25, pace = { "1.1", "2.3" },
    hint = "If it is the "
    .. "overlap: one of the three waits is still there, and one alone undoes nearly all. The chart "
    .. "shows which stream stands still, tl:explain() says what for. If it is a race: a wait that "
    .. "is needed was taken out with them" },
function(t, student)
    local p = common.large(1024, 11, 0)
    local tl, losses = common.record(student.train, p)
    t:overlap(tl, "kernel", "memcpy_h2d", overlap)
    t:overlap(tl, "kernel", "memcpy_d2h", overlap)
    common.complete(t, tl, p)
    local want = {}
    for i = 1, 11 do want[i] = (i % 5 + 1) * p.n end
    t:is(losses, want, "the losses, a number for each batch")
    t:no_race()
end)

test("the makespan is close to the time of the busiest engine",
    { points = 30, pace = { "1.1", "2.3" },
    hint = "One of the "
    .. "three waits is still there, or a new one. The busiest engine is that of the kernels: when "
    .. "does none run, and what did the host do then? tl:explain(). If it is a race: a wait that "
    .. "is needed was taken out" },
function(t, student)
    local p = common.large(1280, 13, 2)
    local tl = common.record(student.train, p)
    t:makespan(tl, { within_percent = 30, gpu_within_percent = 60 },
        "13 batches take 1.3 times what the kernels take, at most")
    common.complete(t, tl, p)
    t:no_race()
end)

test("other numbers of batches are right, down to one", { points = 15, hint = "A wait that is "
    .. "needed was lost, such as that for the weights, which the default stream may be writing, or "
    .. "the one at the end: all gradients are there when train returns; or the program counts on a "
    .. "certain number of batches" },
function(t, student)
    for _, case in ipairs{ { n = 5, count = 1 }, { n = 4, count = 2 }, { n = 9, count = 10 } } do
        local values = {}           -- others when a byte of this file changes
        for i = 1, case.count do values[i] = math.random(1, 9) end
        local p = common.problem(case.n, values, math.random(1, 4),
            function() return math.random(0, 3) end)
        local weights = lab.zeros(case.n, case.n)
        local tl, losses = lab.profile(function()
            lab.spin(0.3)       -- the default stream is still writing the weights
            weights:copy_(p.weights, { non_blocking = true })
            return student.train({ table.unpack(p.batches) }, weights,
                                 { table.unpack(p.gradients) })
        end)
        common.gradients(t, p)
        common.losses(t, p, losses)
        common.complete(t, tl, p)
        t:call_count(tl, "cudaFree", { at_most = 2 }, "cudaFree is not called for each batch")
    end
    -- Without a recording, whose end would wait for the last gradients.
    for _, count in ipairs{ 1, 2, 3, 4 } do
        local values = {}
        for i = 1, count do values[i] = math.random(1, 9) end
        local p = common.problem(6, values, 2, function(_, k) return k end)
        local losses = student.train({ table.unpack(p.batches) }, p.weights,
                                     { table.unpack(p.gradients) })
        common.gradients(t, p)
        common.losses(t, p, losses)
    end
    t:no_race()
end)
