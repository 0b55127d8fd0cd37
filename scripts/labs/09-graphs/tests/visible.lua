-- The visible tests.

local common = include "common.lua"

test("results and scores are those of their frames", {
    points = 5,
    hint = "A graph reads the memory that was captured. A frame has to be copied there before each "
        .. "launch, and a result has to be copied away before the next one. "
        .. "Or does the host read before it has waited?",
}, function(t, student)
    local spec = { n = 64, trunk = 2, heads = { 1, 2 }, frames = 4, same_model = true }
    local run = common.profile(student, spec)
    common.all_of_it(t, spec, run)
    common.right(t, spec, run)
end)

test("another model, in the same tensors, is used as soon as it is loaded", {
    points = 5,
    hint = "The graph has to read the model's own tensors: a copy of them is out of date after a "
        .. "load. And serve() has to wait for model.loaded, in its stream and before the launch: a "
        .. "capture refuses an event from outside (cudaErrorStreamCaptureIsolation).",
}, function(t, student)
    local spec = { n = 4096, trunk = 3, heads = { 2, 2 }, frames = 3, loading_ms = 0.5 }
    local run = common.profile(student, spec)
    common.right(t, spec, run)
    t:no_race("frames, model and results are read after they were written")
end)

test("one frame is one launch, and the host waits for nothing between", {
    points = 10, pace = { "1.1", "1.2" },
    hint = "tl:calls() lists what the host called. item() and a copy that blocks wait for the GPU; "
        .. "malloc and free do not belong in a loop. Let the scores land in pinned memory and read "
        .. "them when all frames are done.",
}, function(t, student)
    local spec = { n = 4096, trunk = 6, heads = { 4 }, frames = 12 }
    local run = common.profile(student, spec)
    common.all_of_it(t, spec, run)
    t:call_count(run.tl, "cudaGraphLaunch", { at_least = 1, at_most = spec.frames },
        "serve() launches a graph for each frame")
    common.waits_at_the_end(t, run, "waits of the host before the last launch")
    for _, call in ipairs{ "cudaMalloc", "cudaFree" } do
        t:no_call(run.tl, call, "serve() does not call " .. call)
    end
end)

test("one head: the GPU hardly ever waits for the host", {
    points = 10, pace = { "1.1", "1.2" },
    hint = "The bound is the chain of kernels with 0.5 us between two. As separate launches each "
        .. "kernel takes the host 4 us: what is captured must be all kernels of a frame. Capture "
        .. "in prepare(), not in serve(). Guide, chapter Graphs.",
}, function(t, student)
    local spec = { n = 4096, trunk = 12, heads = { 8 }, frames = 20 }
    local run = common.profile(student, spec)
    common.all_of_it(t, spec, run)
    common.quick(t, spec, run, 10)
end)
