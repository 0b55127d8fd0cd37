-- Can Tensor cores and CUDA cores work at the same time, in two streams?
--
-- An often-read answer says yes, and shows TF32 matmuls of 1024 x 1024 in one stream beside pow in
-- another; then it sets priority 1 of "1 (high priority) and 0 (low priority)". Expected: yes, as
-- far as the matmuls leave room on the SMs. In CUDA lower is more urgent, and 1 becomes 0; it shows
-- where a kernel has many waves of blocks: behind a running matmul of 8192 x 8192, without TF32.

local lab = require "streamlab"

local gate, matmul = lab.stream{ name = "gate" }, lab.stream{ name = "Tensor cores" }
local inputs, product, power

-- When the pows in stream `pow`, or all, are done, in ms from the release of both streams, which
-- are filled behind a gate: issuing takes time, too. The median of 5 runs behind a first one.
local function run(pow, matmuls, pows, wait_for_all, later_ms)
    local times = {}
    for i = 0, 5 do
        lab.spin(30, { stream = gate })
        local released = gate:record_event()
        matmul:wait_event(released)
        pow:wait_event(released)
        for k = 1, matmuls do
            lab.matmul(inputs[k], inputs[k],
                       { out = product, stream = matmul, tf32 = not later_ms })
        end
        if later_ms then lab.spin(later_ms, { stream = pow }) end
        for k = 1, pows do lab.pow(inputs[k], 3, { out = power, stream = pow }) end
        if wait_for_all then pow:wait_stream(matmul) end
        local done = pow:record_event()
        lab.synchronize()
        times[i] = released:elapsed_time(done)
    end
    table.sort(times)
    return times[3]
end

local rows, hidden, pows_ms, texts = {}, {}, {}, {}
for i, n in ipairs{ 1024, 4096 } do
    local each, pow = n == 1024 and 200 or 10, lab.stream{ name = "CUDA cores" }
    inputs, product, power = {}, lab.empty(n, n), lab.empty(n, n)
    for k = 1, each do inputs[k] = lab.rand(n, n) end
    local a, b, both = run(pow, each, 0, true), run(pow, 0, each), run(pow, each, each, true)
    hidden[i] = 100 * (a + b - both) / math.min(a, b)
    rows[i] = { n = n, each = each, matmuls_ms = a, pows_ms = b, both_ms = both,
                hidden = hidden[i] }
end
print(lab.table(rows, { columns = { "n", "each", "matmuls_ms", "pows_ms", "both_ms", "hidden" },
                        title = "Alone and together; hidden: % of the shorter one" }))
inputs, product, power = { lab.rand(8192, 8192) }, lab.empty(8192, 8192), lab.empty(8192, 8192)
for i, number in ipairs{ 0, 1, lab.device().priority_range.greatest } do
    local stream = lab.stream{ name = "CUDA cores", priority = number }
    pows_ms[i] = run(stream, 1, 1, false, 1)
    texts[i] = ("asked %d, got %d, done after %.2f ms"):format(number, stream.priority, pows_ms[i])
end
local old = tonumber(lab.device().compute_capability) < 8       -- no TF32: no Tensor cores here
local least, most = math.min(hidden[1], hidden[2]), math.max(hidden[1], hidden[2])
print(("\nVerdict: %s: Tensor and CUDA cores at once: %s%.0f %% hidden at 1024, %.0f %% at 4096")
    :format(not old and least > 50 and "holds" or (old or most > 10) and "depends"
    or "no longer holds", old and "TF32 needs a newer GPU; " or "", hidden[1], hidden[2]))
print(("Verdict: %s: priority 1 makes pow sooner: %s"):format(pows_ms[2] < 0.9 * pows_ms[1]
    and "holds" or "no longer holds", table.concat(texts, "; ")))
