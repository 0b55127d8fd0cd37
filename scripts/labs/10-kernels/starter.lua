-- Lab 10, A transpose of your own: what you start from. It is right for squares of 32, 64, 96, ...,
-- its kernel goes to memory in the slowest way, and nothing overlaps.
--
--   streamlab submission.lua   runs the example at the end of this file
--   streamlab lab check        runs the visible tests

local naive = lab.kernel{ args = { "in f32*", "out f32*", "i32", "i32" }, source = [[
__global__ void transpose(const float *x, float *y, int rows, int cols)
{
    int col = blockIdx.x * 32 + threadIdx.x;
    int row = blockIdx.y * 32 + threadIdx.y;
    y[col * rows + row] = x[row * cols + col];
}
]] }

-- Takes a matrix of rows x cols on the GPU; gives its transpose, cols x rows. Enqueues one launch
-- of the kernel in the current stream, and does not wait for it.
function transpose(x)
    local rows, cols = x:size(1), x:size(2)
    local y = lab.empty(cols, rows)
    naive({ cols // 32, rows // 32 }, { 32, 32 }, x, y, rows, cols)
    return y
end

-- Takes a list of matrices of one size, in pinned memory on the CPU; gives the list of their
-- transposes, on the CPU, when all of them are there.
function transpose_all(matrices)
    local results = {}
    for i, matrix in ipairs(matrices) do results[i] = transpose(matrix:to("cuda")):to("cpu") end
    return results
end

-- The example. Not run when the file is graded.
if arg then
    local x = lab.rand(64, 64)
    local y = transpose(x)
    print("x[2][5] is " .. x:get(2, 5) .. ", and y[5][2] is " .. y:get(5, 2))

    local matrices = {}
    for i = 1, 8 do matrices[i] = lab.full(i, 2048, 2048, { device = "cpu", pinned = true }) end
    -- warm-up: the first launch loads the kernel
    transpose_all(matrices)
    lab.synchronize()
    lab.check("warn")                                   -- the race checker reports on stderr
    local tl = lab.profile(function() transpose_all(matrices) end)
    tl:show()
    local kernel
    for _, span in ipairs(tl:spans()) do kernel = span.kind == "kernel" and span or kernel end
    print(("%.2f ms; copies up run beside copies down for %.0f %% of their time"):format(
        tl.makespan_us / 1000,
        100 * tl:overlap_us("memcpy_h2d", "memcpy_d2h") / tl:busy_us("memcpy_h2d")))
    print(("a block of the kernel has %d threads and %d bytes of shared memory"):format(
        kernel.threads, kernel.shared_bytes or 0))
    print(#lab.races() == 0 and "Nothing races." or "Something races: see the reports.")
end
