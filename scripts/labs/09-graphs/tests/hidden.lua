-- The hidden tests: more heads, and other sizes.

local common = include "common.lua"

test("four heads run at the same time", {
    points = 20, pace = { "1.1", "1.2" },
    hint = "The heads of a frame need nothing of each other. A stream that waits for the captured "
        .. "one becomes a branch of the graph; the captured one has to wait for it again, or the "
        .. "capture ends with cudaErrorStreamCaptureUnjoined.",
}, function(t, student)
    local spec = { n = 3000, trunk = 4, heads = { 10, 10, 10, 10 }, frames = 24 }
    local run = common.profile(student, spec)
    common.all_of_it(t, spec, run)
    common.quick(t, spec, run, 10)
end)

test("heads of different lengths, and results that are right", {
    points = 20, pace = { "1.1" },
    hint = "Do all results belong to their own frames? What a launch wrote is overwritten by the "
        .. "next launch, so it is copied away behind the one and before the other.",
}, function(t, student)
    local spec = { n = 1000, trunk = 3, heads = { 9, 6, 8 }, frames = 30 }
    local run = common.profile(student, spec)
    common.all_of_it(t, spec, run)
    common.right(t, spec, run)
    t:no_race("frames, model and results are read after they were written")
    common.quick(t, spec, run, 15)
end)

test("a model that is still being loaded is waited for on the GPU", {
    points = 15, pace = { "1.1" },
    hint = "The wait for model.loaded belongs before the first launch of each call of serve(), as "
        .. "a wait of the stream. And it is the model's own memory that the graph reads.",
}, function(t, student)
    local spec = { n = 2048, trunk = 8, heads = { 6, 6, 5 }, frames = 22, loading_ms = 2 }
    local run = common.profile(student, spec)
    common.right(t, spec, run)
    t:no_race("frames, model and results are read after they were written")
    t:call_count(run.tl, "cudaGraphLaunch", { at_least = 1, at_most = spec.frames },
        "serve() launches a graph for each frame")
    common.waits_at_the_end(t, run, "waits of the host before the last launch")
end)

test("no heads, one pixel, no frames, fewer frames than expected", {
    points = 15, pace = { "1.1" },
    hint = "Lists may be empty, and a call may have fewer frames than prepare() was told.",
}, function(t, student)
    for _, spec in ipairs{ { n = 4096, trunk = 20, heads = {}, frames = 3, most = 9 },
                           { n = 1, trunk = 0, heads = { 1 }, frames = 2 },
                           { n = 64, trunk = 2, heads = { 3, 0 }, frames = 0, most = 4 },
                           { n = 5000, trunk = 0, heads = { 6, 6, 6, 6, 6, 6 }, frames = 21 } } do
        local run = common.profile(student, spec)
        common.all_of_it(t, spec, run)
        common.right(t, spec, run)
        if spec.frames > 10 then common.quick(t, spec, run, 25) end
    end
    t:no_race("frames, model and results are read after they were written")
end)
