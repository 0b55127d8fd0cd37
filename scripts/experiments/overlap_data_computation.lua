-- A copy in one stream, a matmul that reads it in another, nothing between: are they independent?
--
-- An often-read answer on concurrent PyTorch streams copies the input in stream1, a matrix in
-- stream2, and multiplies the two in stream2. It says: "the matrix multiplication within stream2
-- doesn't depend on the data being transferred in stream1", so that "these operations can
-- potentially execute concurrently". Expected: it does depend. As printed the product is right by
-- accident: the copy from pageable memory happens to hold the host. From pinned memory nothing
-- orders the two but the copy engine, which takes one copy after the other. With wait_stream it
-- is right by right, and no slower. What the race checker finds it also reports on stderr.

local lab = require "streamlab"

local function overlap_data_computation(case, size)
    local input_cpu = lab.randn(size, size, { device = "cpu", pinned = case.pinned })
    local matrix_cpu = lab.randn(size, size, { device = "cpu", pinned = case.pinned })
    local stream1 = lab.stream{ name = "stream1", non_blocking = true }
    local stream2 = lab.stream{ name = "stream2", non_blocking = true }
    local output_gpu
    case.tl = lab.profile(function()            -- ends with a synchronisation
        local input_gpu = lab.with(stream1, function()
            return input_cpu:to("cuda", { non_blocking = case.pinned })
        end)
        lab.with(stream2, function()
            local matrix_gpu = matrix_cpu:to("cuda", { non_blocking = case.pinned })
            if case.mended then stream2:wait_stream(stream1) end
            output_gpu = lab.matmul(input_gpu, matrix_gpu)
        end)
    end)
    local expected = lab.matmul(input_cpu:cuda(), matrix_cpu:cuda())
    case.right = lab.allclose(output_gpu, expected, { atol = 1e-2 })
end

local cases = { { case = "as printed" }, { case = "pinned", pinned = true },
                { case = "pinned, wait_stream", pinned = true, mended = true },
                { case = "wait_stream", mended = true } }
overlap_data_computation(cases[4], 1024) -- warm-up
for _, case in ipairs(cases) do
    lab.check("warn")
    overlap_data_computation(case, 1024)
    case.race, case.accident, case.stale = 0, 0, false
    for _, found in ipairs(lab.races()) do                  -- a GPU cannot tell what was read
        case[found.kind] = case[found.kind] + 1
        case.stale = case.stale or (found.stale == nil and "unknown" or found.stale)
    end
    lab.check("off")
    case.makespan_us, case.overlap_us = case.tl.makespan_us, case.tl:overlap_us("kernel", "h2d")
end
lab.table(cases, { columns = { "case", "race", "accident", "stale", "right", "overlap_us",
                               "makespan_us" } }):show()

local printed, pinned, right, mended = table.unpack(cases)
print(string.format("Verdict: %s: the matmul does not depend on the copy: races and accidents: %d "
    .. "and %d as printed, %d and %d from pinned memory, %d with wait_stream",
    printed.race + printed.accident == 0 and "holds" or "no longer holds", printed.race,
    printed.accident, pinned.race, pinned.accident,
    right.race + right.accident + mended.race + mended.accident))
print(string.format("Verdict: %s: copy and matmul run concurrently: for %.1f of %.1f us of matmul",
    printed.overlap_us > 0.05 * printed.tl:busy_us("kernel") and "holds" or "no longer holds",
    printed.overlap_us, printed.tl:busy_us("kernel")))
