-- What do six steps in one stream cost the host and the GPU, and what waits for what?
--
-- An article walks through them: A and B, pinned, are made and copied to the GPU, then C, which is
-- pageable; then come matmul(A) and softmax(B). It says that the copy of C "will block CPU for a
-- while" in spite of non_blocking = true, and that "even though GPU is free" and A is there the
-- matmul does not start while the next copy in the stream is running. Expected: so it is, the more
-- so the larger they are. In a stream of its own, behind the copy of A, it starts earlier.

local lab = require "streamlab"
local main, side = lab.stream{ name = "main" }, lab.stream{ name = "side" }
local names <const> = { "A = zeros, pinned", "B = zeros, pinned", "A to GPU", "B to GPU",
                        "C = zeros, pageable", "C to GPU", "matmul(A)", "softmax(B)" }
local gpu_steps <const> = { 3, 4, 6, 7, 8 }

-- The steps with B of b x b, C of c x c and the matmul in a given stream.
local function walk(b, c, matmul_stream)
    local rows, fast = {}, { non_blocking = true, stream = main }
    local function step(f, ...)
        local before = lab.now_us()
        local result = f(...)
        rows[#rows + 1] = { step = names[#rows + 1], host_us = lab.now_us() - before }
        return result
    end
    collectgarbage()            -- so that memory is there from the time before
    local tl = lab.profile(function()
        local pinned = { device = "cpu", pinned = true }
        local A, B = step(lab.zeros, 1024, 1024, pinned), step(lab.zeros, b, b, pinned)
        local A_gpu = step(A.to, A, "cuda", fast)
        if matmul_stream ~= main then matmul_stream:wait_stream(main) end
        local B_gpu = step(B.to, B, "cuda", fast)
        local C = step(lab.zeros, c, c, { device = "cpu" })
        step(C.to, C, "cuda", fast)
        step(lab.matmul, A_gpu, A_gpu, { stream = matmul_stream })
        step(lab.softmax, B_gpu, { stream = main })
    end)
    for i, span in ipairs(tl:spans()) do
        rows[gpu_steps[i]].start_us, rows[gpu_steps[i]].end_us = span.start_us, span.end_us
    end
    return rows
end

local function typical(...)     -- of 9 walks the one whose call at C is the median
    local walks = {}
    for i = -1, 9 do walks[i] = walk(...) end           -- the first times are different
    table.sort(walks, function(one, other) return one[6].host_us < other[6].host_us end)
    return walks[5]
end
local rows, large = typical(32, 64, main), typical(2048, 2048, main)
local behind, beside = typical(2048, 64, main), typical(2048, 64, side)
print(lab.table(rows, { columns = { "step", "host_us", "start_us", "end_us" } }))
local small, pinned, big = rows[6].host_us, large[4].host_us, large[6].host_us
local function gap_us(walked) return walked[7].start_us - walked[3].end_us end
print(("\nVerdict: %s: a copy from pageable memory blocks the CPU: %.1f us at 64 x 64, %.1f at "
    .. "2048 x 2048, a pinned one %.1f"):format(big < 2 * pinned and "no longer holds"
    or small > 2 * pinned and "holds" or "depends", small, big, pinned))
print(("Verdict: %s: the matmul waits for the next copy: it began %.1f us behind A's, in its own "
    .. "stream %.1f"):format(behind[7].start_us >= behind[6].end_us and "holds"
    or "no longer holds", gap_us(behind), gap_us(beside)))
