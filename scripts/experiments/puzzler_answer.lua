-- What does the puzzle on streams show: is its answer the answer?
--
-- A puzzle on streams multiplies matrices in s1, copies tensors to the CPU in s2 and others to the
-- GPU in s3. Its answer: with non_blocking = True the copies of s2 go to pinned memory and are
-- "much faster (33 ms)" than to pageable memory "(78 ms)"; "all three streams overlap", else "only
-- s1 and s2"; s3 overlaps with other copies "only when page-locked host memory is used". Expected:
-- copies are slower where the host takes part, but they overlap kernels and copies already issued.

local lab = require "streamlab"
local s1, s2, s3 = lab.stream{ name = "s1" }, lab.stream{ name = "s2" }, lab.stream{ name = "s3" }
local matrix, on_gpu, on_cpu, pinned = lab.rand(1024, 1024), {}, {}, {}
for i = 1, 100 do
    on_gpu[i], on_cpu[i] = lab.rand(1024, 1024), lab.rand(1024, 1024, { device = "cpu" })
    pinned[i] = lab.rand(1024, 1024, { device = "cpu", pinned = true })
end

local function puzzle(inputs, non_blocking, landed)
    for _ = 1, 1000 do lab.matmul(matrix, matrix, { stream = s1 }) end
    for _, t in ipairs(on_gpu) do
        landed[#landed + 1] = t:to("cpu", { non_blocking = non_blocking, stream = s2 })
    end
    for _, t in ipairs(inputs) do t:to("cuda", { non_blocking = non_blocking, stream = s3 }) end
end

-- Overlap in % of the time of the stream named first.
local function run(case, inputs, non_blocking)
    local landed = {}
    puzzle(inputs, non_blocking, {})            -- warm-up
    lab.synchronize()
    collectgarbage()                            -- so that memory is there from that time
    local tl = lab.profile(puzzle, inputs, non_blocking, landed)
    local function percent(a, b) return 100 * tl:overlap_us(a, b) / tl:busy_us(a) end
    return { case = case, lands_pinned = landed[1].pinned, d2h_ms = tl:busy_us("d2h") / 1000,
             h2d_ms = tl:busy_us("h2d") / 1000, makespan_ms = tl.makespan_us / 1000,
             ["s2/s1"] = percent(s2, s1), ["s3/s1"] = percent(s3, s1), ["s3/s2"] = percent(s3, s2) }
end

local no, yes = run("blocking", on_cpu, false), run("non_blocking", on_cpu, true)
local all = run("and pinned", pinned, true)
lab.table({ no, yes, all },
    { columns = { "case", "lands_pinned", "d2h_ms", "h2d_ms", "s2/s1", "s3/s1",
    "s3/s2", "makespan_ms" }, title = "ms of the copies; s2/s1: % of s2's time beside s1" }):show()
local function verdict(word, ...)
    word = word == true and "holds" or word or "no longer holds"
    print("Verdict: " .. word .. ": " .. string.format(...))
end
verdict(yes.lands_pinned and not no.lands_pinned and yes.d2h_ms < 0.8 * no.d2h_ms, "copies to "
    .. "pinned memory are faster: %.1f ms, to pageable %.1f", yes.d2h_ms, no.d2h_ms)
verdict(yes["s2/s1"] > 5 and yes["s3/s1"] > 5 and yes["s3/s2"] > 5, "non_blocking all overlap: "
    .. "s2/s1 %.0f %%, s3/s1 %.0f %%, s3/s2 %.0f %%", yes["s2/s1"], yes["s3/s1"], yes["s3/s2"])
verdict(no["s2/s1"] > 5 and no["s3/s1"] < 5 and no["s3/s2"] < 5, "blocking only s1 and s2 overlap: "
    .. "s2/s1 %.0f %%, s3/s1 %.0f %%, s3/s2 %.0f %%", no["s2/s1"], no["s3/s1"], no["s3/s2"])
verdict(yes["s3/s2"] < 5 and all["s3/s2"] > 5, "only pinned copies overlap copies: s3/s2 %.0f %% "
    .. "from pageable memory, %.0f %% from pinned", yes["s3/s2"], all["s3/s2"])
