-- What do six steps in one stream cost the host and the GPU, and what waits for what?
--
-- An article walks through them: A and B, pinned, are made and copied to the GPU, then C, which is
-- pageable; then come matmul(A) and softmax(B). It says that the copy of C "will block CPU for a
-- while" in spite of non_blocking = true, and that "even though GPU is free" and A is there the
-- matmul does not start while the next copy in the stream is running. Expected: so it is, the more
-- so the larger they are. In a stream of its own, behind the copy of A, it starts earlier.

local lab = require "streamlab"

local main, side = lab.stream{name = "main"}, lab.stream{name = "side"}
local gpu_steps <const> = {"A to GPU", "B to GPU", "C to GPU", "matmul(A)", "softmax(B)"}

-- The steps with B of b x b, C of c x c and the matmul in a given stream: by name, and as a list.
local function walk(b, c, matmul_stream)
    collectgarbage()            -- so that memory is there from the time before
    local at, rows, fast = {}, {}, {non_blocking = true, stream = main}
    local function step(name, f, ...)
        local before = lab.now_us()
        local result = f(...)
        at[name] = {step = name, host_us = lab.now_us() - before}
        rows[#rows + 1] = at[name]
        return result
    end
    local tl = lab.profile(function()
        local pinned = {device = "cpu", pinned = true}
        local A = step("A = zeros, pinned", lab.zeros, 1024, 1024, pinned)
        local B = step("B = zeros, pinned", lab.zeros, b, b, pinned)
        local A_gpu = step("A to GPU", A.to, A, "cuda", fast)
        if matmul_stream ~= main then matmul_stream:wait_stream(main) end
        local B_gpu = step("B to GPU", B.to, B, "cuda", fast)
        local C = step("C = zeros, pageable", lab.zeros, c, c, {device = "cpu"})
        step("C to GPU", C.to, C, "cuda", fast)
        step("matmul(A)", lab.matmul, A_gpu, A_gpu, {stream = matmul_stream})
        step("softmax(B)", lab.softmax, B_gpu, {stream = main})
    end)
    for i, span in ipairs(tl:spans()) do
        at[gpu_steps[i]].start_us, at[gpu_steps[i]].end_us = span.start_us, span.end_us
    end
    return at, rows
end

for _ = 1, 2 do walk(2048, 2048, main) walk(2048, 64, side) end     -- the first times are different
local steps, rows = walk(32, 64, main)
local large = walk(2048, 2048, main)
local behind, beside = walk(2048, 64, main), walk(2048, 64, side)
print(lab.table(rows, {columns = {"step", "host_us", "start_us", "end_us"}}))
local function gap(at) return at["matmul(A)"].start_us - at["A to GPU"].end_us end
local pinned, big = large["B to GPU"].host_us, large["C to GPU"].host_us
local small = steps["C to GPU"].host_us
print(("\nVerdict: %s: the copy of C held the host for %.1f us at 64 x 64, %.1f at 2048 x 2048, "
    .. "a pinned one for %.1f"):format(big < 2 * pinned and "no longer holds" or small > 2 * pinned
    and "holds" or "depends", small, big, pinned))
print(("Verdict: %s: the matmul started %.1f us behind A's copy where B has 2048 x 2048, in its "
    .. "own stream %.1f us"):format(behind["matmul(A)"].start_us
    >= behind["C to GPU"].end_us and "holds" or "no longer holds", gap(behind), gap(beside)))
