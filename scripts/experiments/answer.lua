-- Can Tensor cores and CUDA cores work at the same time, in two streams?
--
-- An often-read answer says yes, and shows TF32 matmuls of 1024 x 1024 in one stream beside pow in
-- another; of priorities it says "1 (high priority) and 0 (low priority)". Expected: yes, as far
-- as the matmuls leave room on the SMs; large ones leave little. In CUDA lower is more urgent.

local lab = require "streamlab"

local gate, matmul = lab.stream{name = "gate"}, lab.stream{name = "Tensor cores"}
local inputs, product, power

-- When the pows in stream `pow`, or all, are done, in ms from the release of both streams, which
-- are filled behind a gate: issuing takes time, too. The median of 5 runs behind a first one.
local function run(pow, matmuls, pows, wait_for_all)
    local times = {}
    for i = 0, 5 do
        lab.spin(30, {stream = gate})
        local released = gate:record_event()
        matmul:wait_event(released)
        pow:wait_event(released)
        for k = 1, matmuls do
            lab.matmul(inputs[k], inputs[k], {out = product, stream = matmul, tf32 = true})
        end
        for k = 1, pows do lab.pow(inputs[k], 3, {out = power, stream = pow}) end
        if wait_for_all then pow:wait_stream(matmul) end
        local done = pow:record_event()
        lab.synchronize()
        times[i] = released:elapsed_time(done)
    end
    table.sort(times)
    return times[3]
end

local rows, hidden, pows_ms = {}, {}, {}
for i, n in ipairs{1024, 4096} do
    local each, pow = n == 1024 and 200 or 10, lab.stream{name = "CUDA cores"}
    inputs, product, power = {}, lab.empty(n, n), lab.empty(n, n)
    for k = 1, each do inputs[k] = lab.rand(n, n) end
    local a, b, both = run(pow, each, 0, true), run(pow, 0, each), run(pow, each, each, true)
    hidden[i] = 100 * (a + b - both) / math.min(a, b)
    rows[i] = {n = n, each = each, matmuls_ms = a, pows_ms = b, both_ms = both, hidden = hidden[i]}
end
print(lab.table(rows, {columns = {"n", "each", "matmuls_ms", "pows_ms", "both_ms", "hidden"},
                       title = "Alone and together; hidden: % of the shorter one"}))
for i, number in ipairs{0, 1, lab.device().priority_range.greatest} do
    local stream = lab.stream{name = "CUDA cores", priority = number}
    pows_ms[i] = run(stream, 10, 10)
    print(("priority %d is %d: 10 pows of 4096 x 4096 beside 10 matmuls of priority 0 are done "
        .. "after %.2f ms"):format(number, stream.priority, pows_ms[i]))
end
local old = tonumber(lab.device().compute_capability) < 8       -- no TF32: no Tensor cores here
local least, most = math.min(hidden[1], hidden[2]), math.max(hidden[1], hidden[2])
print(("\nVerdict: %s: %s%.0f %% of the shorter one's time was hidden at n = 1024, %.0f %% at 4096")
    :format(not old and least > 50 and "holds" or (old or most > 10) and "depends"
    or "no longer holds", old and "TF32 needs a newer GPU; " or "", hidden[1], hidden[2]))
local gained = (100 * (pows_ms[1] - pows_ms[2]) / (pows_ms[1] - pows_ms[3]) + 0.5) // 1
print(("Verdict: %s: of what priority %d gains over 0, priority 1 gains %.0f %%")
    :format(pows_ms[3] > 0.98 * pows_ms[1] and "depends" or gained > 50 and "holds"
    or "no longer holds", lab.device().priority_range.greatest, gained))
