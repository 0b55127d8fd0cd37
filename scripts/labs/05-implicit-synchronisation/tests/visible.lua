-- The tests that you have. The points of a hidden test are for all three waits at once.
local common = include "common.lua"

test("losses and gradients are right, and nothing races", { points = 5, hint = "A wait that is "
    .. "needed was lost, or a number is read before it is there. The NULL stream's rule orders "
    .. "something, too: who waits for the weights? README.md: what must hold" },
function(t, student)
    local p = common.problem(6, { 1, 2, 3, 4, 5 }, 2)
    local weights = lab.empty(6, 6)
    lab.spin(0.3)               -- the weights come into being while `train` is called
    lab.mul(p.weights, 1, { out = weights })
    local losses = student.train({ table.unpack(p.batches) }, weights,
                                 { table.unpack(p.gradients) })
    common.gradients(t, p)
    common.losses(t, p, losses)
    t:no_race()
end)

test("giving memory back does not hold the host", { points = 5, pace = { "1.1" },
    hint = "Which call in the loop "
    .. "returns only when the GPU has nothing to do? Guide: Implicit synchronisation, 'freeing "
    .. "memory in the middle'; reference: tensor:free" },
function(t, student)
    local p = common.problem(8, { 3, 1, 2, 5, 4, 1, 2, 3 }, 1)
    local tl = common.record(student.train, p)
    t:call_count(tl, "cudaFree", { at_most = 2 }, "cudaFree is not called for each batch")
    common.complete(t, tl, p)
    common.gradients(t, p)
end)

test("nothing of the loop runs in the NULL stream", { points = 10, pace = { "1.1" },
    hint = "Look at the chart's "
    .. "row 'default'. lab.with(stream, ...) is for calls that take the current stream; which call "
    .. "of the loop goes to the NULL stream all the same? It stays needed, in its place, in "
    .. "another stream" },
function(t, student)
    local p = common.problem(8, { 2, 4, 2, 1, 3, 5, 1, 4 }, 3)
    local tl = common.record(student.train, p)
    local default = lab.default_stream()
    for _, kind in ipairs{ "memset", "kernel" } do
        t:span_count(tl, { stream = default, kind = kind }, { exactly = 0 },
            "no " .. kind .. " in the NULL stream")
    end
    common.complete(t, tl, p)
    common.gradients(t, p)
end)

test("no loss is read before the last batch is issued", { points = 10, pace = { "1.1" },
    hint = "Reading a number "
    .. "of the GPU waits for all that its stream holds. Keep the tensors of the losses, read them "
    .. "after the loop. Guide: Implicit synchronisation" },
function(t, student)
    local p = common.problem(8, { 5, 5, 1, 2, 2, 3, 4, 1 }, 2)
    local tl, losses = common.record(student.train, p)
    local last_upload_us, first_wait = 0, "none"
    for _, span in ipairs(tl:spans()) do
        if span.kind == "memcpy_h2d" then last_upload_us = span.host_start_us end
    end
    for _, call in ipairs(tl:calls()) do
        if call.kind:find("_sync$") and call.host_start_us < last_upload_us then
            first_wait = call.where
            break
        end
    end
    t:is(first_wait, "none", "the host's first wait that comes before the last upload is issued")
    common.complete(t, tl, p)
    common.losses(t, p, losses)
end)
