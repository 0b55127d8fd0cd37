-- Three streams hand their results on, and nothing says so: does the second stage wait?
--
-- An often-read answer on concurrent PyTorch streams copies in stream1, multiplies by one weight in
-- stream2 and by another in stream3. It says: "PyTorch handles these implicit dependencies for
-- operations within its context manager", and: "the matrix multiplies are potentially executed in
-- parallel". Expected: neither. Copies from pageable memory hold the host for a while, in which a
-- short stage 1 gets done; a longer one is overtaken, and stage 2 multiplies what its memory held.

local lab = require "streamlab"

local function multi_stage_pipeline(case, size)
    local cpu, s = {}, {}
    for i = 1, 3 do cpu[i] = lab.randn(size, size, { device = "cpu" }) end
    for i = 1, 3 do s[i] = lab.stream{ name = "stream" .. i, non_blocking = true } end
    local stage1_output, stage2_output
    local tl = lab.profile(function()            -- ends with a synchronisation
        local data_gpu = lab.with(s[1], function() return cpu[1]:to("cuda") end)
        lab.with(s[2], function()
            local weight1_gpu = cpu[2]:to("cuda")
            if case.mended then s[2]:wait_stream(s[1]) end
            if case.longer_ms then lab.spin(case.longer_ms) end
            stage1_output = lab.matmul(data_gpu, weight1_gpu)
        end)
        lab.with(s[3], function()
            local weight2_gpu = cpu[3]:to("cuda")
            if case.mended then s[3]:wait_stream(s[2]) end
            stage2_output = lab.matmul(stage1_output, weight2_gpu)
        end)
    end)
    case.makespan_us, case.overlap_us = tl.makespan_us, tl:overlap_us("kernel", "h2d")
    case.at_once_us = tl:overlap_us({ stream = s[2], kind = "kernel" },
                                         { stream = s[3], kind = "kernel" })
    local again = lab.matmul(lab.matmul(cpu[1]:cuda(), cpu[2]:cuda()), cpu[3]:cuda())
    case.right = lab.allclose(stage2_output, again, { rtol = 1e-3, atol = 0.1 })
end

local cases = { { case = "as printed" }, { case = "longer stage 1", longer_ms = 1 },
                { case = "longer, wait_stream", longer_ms = 1, mended = true } }
multi_stage_pipeline(cases[3], 512)       -- warm-up
for _, case in ipairs(cases) do
    lab.check("warn")
    multi_stage_pipeline(case, 512)
    case.race, case.accident, case.stale = 0, 0, false
    for _, found in ipairs(lab.races()) do                  -- a GPU cannot tell what was read
        case[found.kind] = case[found.kind] + 1
        case.stale = case.stale or (found.stale == nil and "unknown" or found.stale)
    end
    lab.check("off")
end
lab.table(cases, { columns = { "case", "race", "accident", "stale", "right", "at_once_us",
                               "overlap_us", "makespan_us" } }):show()
local printed, longer, mended = table.unpack(cases)
print(string.format("Verdict: %s: PyTorch handles these dependencies: races found: %d as printed, "
    .. "%d with a longer stage 1 (the result is %s), %d mended", printed.race + longer.race == 0
    and longer.right and "holds" or "no longer holds", printed.race, longer.race,
    longer.right and "right" or "wrong", mended.race))
print(string.format("Verdict: %s: the matmuls run in parallel: mended, for %.1f us; copies beside "
    .. "kernels for %.1f of %.0f us", mended.at_once_us > 0 and "holds" or "no longer holds",
    mended.at_once_us, mended.overlap_us, mended.makespan_us))
