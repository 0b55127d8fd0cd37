-- Lab 9, From many small kernels to a graph: what you start from. It is right, and the GPU waits
-- for the host nearly all the time.
--
--   streamlab submission.lua   runs the example at the end of this file
--   streamlab lab check        runs the visible tests

-- Gets ready for frames of n pixels, at most `most` of them in one call of serve(); its time does
-- not count. model has
--   trunk       a list of layers {scale =, shift =}: tensors of n numbers on the GPU
--   heads       a list of heads, each a list of such layers; may be empty
--   loaded      an event: behind it the tensors of all layers have their values
-- Returns whatever serve() needs.
function prepare(model, n, most)
    return { model = model }
end

local function layer(x, l)
    return lab.relu(lab.add(lab.mul(x, l.scale), l.shift))
end

-- What becomes of one frame: its result on the CPU, and its score, a number.
local function step(plan, frame)
    local model = plan.model
    lab.current_stream():wait_event(model.loaded)

    local pixels = lab.cuda.malloc(frame:numel())       -- uint8, as the frame
    pixels:copy_(frame)
    local x = pixels:float()
    for _, l in ipairs(model.trunk) do x = layer(x, l) end

    local result
    for _, head in ipairs(model.heads) do
        local y = x
        for _, l in ipairs(head) do y = layer(y, l) end
        result = result and lab.add(result, y) or y
    end
    result = result or x

    local score = lab.sum(result):item()
    lab.cuda.free(pixels)
    return result:to("cpu"), score
end

-- Takes a list of frames, tensors of n pixels (uint8) in pinned memory on the CPU; this is what is
-- timed. May be called several times with the same plan, after the frames, or the values of the
-- model's tensors, have changed. Returns two lists:
--   results     for each frame a tensor of n numbers on the CPU, valid until the next call
--   scores      for each frame the sum of its result, a number
function serve(plan, frames)
    local results, scores = {}, {}
    for i, frame in ipairs(frames) do results[i], scores[i] = step(plan, frame) end
    return results, scores
end

-- The example. Not run when the file is graded.
if arg then
    local n <const>, loader = 4096, lab.stream{ name = "loader" }
    local model = { trunk = {}, heads = {}, loaded = lab.event{ timing = false } }
    local function layers(list, count)
        for i = 1, count do list[i] = { scale = lab.full(0.5, n), shift = lab.full(i, n) } end
    end
    layers(model.trunk, 6)
    for i = 1, 4 do
        model.heads[i] = {}
        layers(model.heads[i], 4)
    end
    loader:wait_stream(lab.current_stream())
    model.loaded:record(loader)
    local frames = {}
    for i = 1, 10 do
        frames[i] = lab.full(i, n, { device = "cpu", pinned = true, dtype = lab.uint8 })
    end

    local plan = prepare(model, n, #frames)
    serve(plan, frames)                                 -- warm-up: the first launch loads kernels
    lab.synchronize()
    lab.check("warn")                                   -- the race checker reports on stderr
    local _, scores
    local tl = lab.profile(function() _, scores = serve(plan, frames) end)
    tl:show()
    print(("%.0f us for %d frames, %.0f us each; the GPU works in %.0f %% of the time"):format(
        tl.makespan_us, #frames, tl.makespan_us / #frames, 100 * tl:busy_us() / tl.makespan_us))
    print(("the score of the last frame is %.1f"):format(scores[#frames]))
    print(#lab.races() == 0 and "Nothing races." or "Something races: see the reports.")
end
