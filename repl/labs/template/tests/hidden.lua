-- hidden.lua - the tests that only the grader has: 2.1, 2.2 and so on. They should test what
-- README.md asks for, with other sizes and streams, so that a submission cannot be written for
-- the visible tests alone.

local common = include "common.lua"

test("what comes next finds both results", {
    points = 10,
    hint = "the current stream must wait for both of your streams before it uses the results",
}, function(t, student)
    local weights, batch = common.inputs(512)
    local sum
    lab.with(lab.stream{ name = "caller" }, function()
        local product, on_gpu = student.step(weights, batch)
        sum = lab.add(product, on_gpu)
    end)
    lab.synchronize()
    t:no_race("the sum uses results that are finished")
    t:close(sum, lab.add(batch:to("cuda"), 512), "and is right")
end)

test("the host is not held up", {
    points = 60,
    pace = true,
    hint = "which of your calls comes back only when the GPU is done?",
}, function(t, student)
    local tl = lab.profile(student.step, common.inputs(4096))
    -- A function that does nothing does not block: check that the work is done as well.
    t:overlap(tl, "kernel", "memcpy_h2d", { at_least_percent = 80, gpu_at_least_percent = 50 })
    t:host_block(tl, { at_most_percent = 10, gpu_at_most_percent = 25 })
end)
