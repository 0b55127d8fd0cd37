-- Does prefetching prefetch, if every step ends with a synchronisation?
--
-- An often-read answer on concurrent PyTorch streams loads a batch, copies it in stream1, works on
-- it in stream2, and synchronises before the next. It says: "While the data is being transferred
-- on stream1, the model can be computing the previous data on stream2." Expected: none is left, and
-- nothing puts the matmul behind the copy. Pinned memory, two buffers and events both ways mend it.
local lab = require "streamlab"
local stream1 = lab.stream{ name = "stream1", non_blocking = true }
local stream2 = lab.stream{ name = "stream2", non_blocking = true }
local buffers = { lab.empty(32, 1024), lab.empty(32, 1024) }

local function step(case, i)
    lab.host_work(case.load_ms)                                 -- load_data_cpu
    local data_cpu = lab.randn(32, 1024, { device = "cpu", pinned = case.mended })
    local data_gpu, made = buffers[i % 2 + 1], { data = data_cpu }
    if not case.mended then
        data_gpu = data_cpu:to("cuda", { non_blocking = true, stream = stream1 })
    else
        if i > 2 then stream1:wait_event(case.made[i - 2].used) end  -- the buffer is no longer read
        data_gpu:copy_(data_cpu, { non_blocking = true, stream = stream1 })
        stream2:wait_stream(stream1)                            -- the batch is there
    end
    lab.with(stream2, function()
        made.weights = lab.randn(1024, 1024)
        made.output = lab.matmul(data_gpu, made.weights)
        if case.model_ms then lab.spin(case.model_ms) end       -- as printed there is no more
    end)
    case.made[i], made.used = made, stream2:record_event()
    if not case.mended then lab.synchronize() end
end
local function run(case)
    case.made, case.race, case.accident, case.right, case.stale = {}, 0, 0, true, false
    lab.check("warn")
    local tl = lab.profile(function() for i = 1, 3 do step(case, i) end end)
    case.gpu_ms, case.loop_ms = tl:busy_us() / 1000, tl.wall_us / 1000
    case.overlap_ms = math.max(0, 3 * case.load_ms + case.gpu_ms - case.loop_ms)
    for _, found in ipairs(lab.races()) do
        case[found.kind] = case[found.kind] + 1             -- a GPU cannot tell what was read
        case.stale = case.stale or (found.stale == nil and "unknown" or found.stale)
    end
    lab.check("off")
    for _, m in ipairs(case.made) do
        case.right = case.right
            and lab.allclose(m.output, lab.matmul(m.data:cuda(), m.weights), { atol = 1e-2 })
    end
    return case
end

run{ load_ms = 0, model_ms = 1, mended = true }                 -- warm-up
local printed = run{ case = "as printed", load_ms = 100 }
local both = run{ case = "2 ms of each", load_ms = 2, model_ms = 2 }
local mended = run{ case = "2 ms, prefetching", load_ms = 2, model_ms = 2, mended = true }
lab.table({ printed, both, mended }, { columns = { "case", "race", "accident", "stale", "right",
    "gpu_ms", "loop_ms", "overlap_ms" } }):show()
print(("Verdict: %s: prefetching overlaps with the model: loading and the GPU for %.2f ms as "
    .. "printed, %.2f with 2 ms of each, %.2f mended"):format(both.overlap_ms > 0.1 * both.gpu_ms
    and "holds" or "no longer holds", printed.overlap_ms, both.overlap_ms, mended.overlap_ms))
print(("Verdict: %s: the copy is in order with the matmul: races found: %d as printed, %d mended")
    :format(printed.race == 0 and "holds" or "no longer holds", printed.race, mended.race))
