-- visible.lua - the tests that students have: `streamlab lab check` runs them. They are 1.1, 1.2
-- and so on, in their order here.
--
-- A test is a name, a sentence that says what holds; its points, of which it gives all or none; a
-- hint for those who fail it; and a function. It passes when at least one assertion was made and
-- all of them passed. Each test runs in a process of its own, with a GPU of its own, and loads
-- the submission again: no test affects another. `pace = true` says that a test asks for time: it
-- gives no points to a submission in which any test finds a race, since a missing wait is quick.

local common = include "common.lua"

test("both results are right", {
    points = 10,
    hint = "step returns two tensors: the product, then the batch on the GPU",
}, function(t, student)
    local weights, batch = common.inputs(256)
    local product, on_gpu = student.step(weights, batch)
    t:close(product, 256, "every element of the product is 256")
    t:close(on_gpu, batch, "the batch is the same on the GPU")
end)

test("the copy runs while the kernel works", {
    points = 20,
    pace = true,
    hint = "README.md, What to know: two streams, and a copy that does not block",
}, function(t, student)
    -- The timeline has only what the function enqueued. Timing needs large matrices; check values
    -- with small ones: only values that are read are computed, and without a BLAS library a
    -- product of this size takes 5 s of processor time.
    local tl = lab.profile(student.step, common.inputs(2048))
    -- In percent of the shorter one. gpu_at_least_percent is the limit on a real GPU; without it
    -- the assertion is skipped there.
    t:overlap(tl, "kernel", "memcpy_h2d", { at_least_percent = 80, gpu_at_least_percent = 50 })
end)
