-- How much of the time is the bubble of a pipeline of GPUs?
--
-- It is often said that "1F1B has a smaller bubble than GPipe", and that "interleaving divides the
-- bubble". Each of p GPUs (arg[1], or 2) has four layers, and a batch has m parts (arg[2], or 8).
-- Expected: with v pieces of the model on each GPU (p - 1) / (v m + p - 1) of the time is idle,
-- with GPipe (all forward, then back) as with 1F1B (by turns), which keeps fewer parts. Copies come
-- on top.
local lab = require "streamlab"
local p <const>, m <const>, gpus, s, c = tonumber(arg[1] or 2), tonumber(arg[2] or 8), {}, {}, {}
local function access(to, from) pcall(lab.cuda.device_enable_peer_access, to, { device = from }) end
for k = 1, p do
    gpus[k] = lab.open{ index = k - 1 }
    s[k], c[k] = lab.stream(), lab.stream{ name = "copies" }
    for j = 1, k - 1 do access(gpus[j], gpus[k]) access(gpus[k], gpus[j]) end
end
-- GPU k takes `slope` steps forward for each GPU behind it, and `more`, before it goes back by
-- turns.
local function run(w, input, v, slope, more)
    local pieces <const>, x, ready, at = p * v, {}, {}, {}
    for d = 1, 2 * pieces do x[d], ready[d], at[d] = {}, {}, 0 end
    local function issue(k, f, back)            -- false if what it needs has not been issued
        local piece, i = f % pieces // p, f // pieces * p + f % p + 1
        local d = back and 2 * pieces + 1 - (v - 1 - piece) * p - k or piece * p + k
        local to = (d < pieces and d or d < 2 * pieces and 2 * pieces - d - 1 or k - 1) % p + 1
        local y = d > 1 and x[d - 1][i] or d == 1 and input
        if f < 0 or f >= m * v or x[d][i] then return true elseif not y then return false end
        if d > 1 then s[k]:wait_event(ready[d - 1][i]) end
        for _ = 1, (back and 8 or 4) // v do y = lab.matmul(y, w[k], { stream = s[k] }) end
        c[k]:wait_stream(s[k])
        x[d][i] = to == k and y or y:to(gpus[to], { stream = c[k], non_blocking = true })
        ready[d][i] = (to == k and s or c)[k]:record_event()
        return true
    end
    while at[1] < m * v + slope * (p - 1) + more do
        for k = 1, p do
            if issue(k, at[k]) and issue(k, at[k] - slope * (p - k) - more, true) then
                at[k] = at[k] + 1
            end
        end
    end
    return x[2 * pieces]
end
local function tensors(n, w)                    -- each matmul doubles
    for k, gpu in ipairs(gpus) do
        w[k] = lab.full(2 / n, n, n, { device = gpu, dtype = "bfloat16" })
    end
    return w, lab.ones(n // 8, n, { device = gpus[1], dtype = "bfloat16" })
end
local function row(name, v, slope, more)
    local right, busy, w, x = true, 0, tensors(64, {})
    for _, y in ipairs(run(w, x, v, slope, more)) do
        right = right and y:get(8, 64) == 2.0 ^ (12 * p)
    end
    w, x = tensors(8192, {})
    run(w, x, v, slope, more)                   -- the first launches load the kernels
    local tl = lab.profile(run, w, x, v, slope, more)
    for k = 1, p do busy = busy + 100 * tl:busy_us(s[k]) / p / tl.makespan_us end
    return { schedule = name, v = v, right = right, makespan_us = tl.makespan_us,
        bubble = 100 - busy,
        kept = math.min(m, (slope * (p - 1) + more + 1) / v),
        formula = 100 * (p - 1) / (v * m + p - 1) }
end
local rows = { row("GPipe", 1, 0, m), row("1F1B", 1, 1, 0), row("1F1B", 2, 2, p),
               row("1F1B", 4, 2, 3 * p) }
lab.table(rows, { columns = { "schedule", "v", "kept", "formula", "bubble", "makespan_us",
                              "right" } }):show()
local a <const>, b <const>, by <const> = rows[1].bubble, rows[2].bubble,
    rows[2].bubble / rows[4].bubble
print(("Verdict: %s: 1F1B has a smaller bubble: %.1f %%, GPipe %.1f; it keeps %d parts, GPipe "
    .. "%d"):format(
    b < 0.9 * a and "holds" or "no longer holds", b, a, rows[2].kept, rows[1].kept))
print(("Verdict: %s: interleaving divides the bubble: by %.1f with 4 pieces a "
    .. "GPU"):format(by > 3 and
    "holds" or by > 1.1 and "depends" or "no longer holds", by))
