-- fails: 1.2 2.1 2.2
-- No shared memory: each warp writes to 32 rows of y, 4 bytes in each.

local tiled = lab.kernel{ args = { "in f32*", "out f32*", "i32", "i32" }, source = [[
__global__ void transpose(const float *x, float *y, int rows, int cols)
{
    int col = blockIdx.x * 32 + threadIdx.x;
    for (int k = threadIdx.y; k < 32; k += blockDim.y) {
        int row = blockIdx.y * 32 + k;
        if (row < rows && col < cols) y[col * rows + row] = x[row * cols + col];
    }
}
]] }

local function tiles(n) return (n + 31) // 32 end

local function launch(x, y)
    local rows, cols = x:size(1), x:size(2)
    tiled({ tiles(cols), tiles(rows) }, { 32, 8 }, x, y, rows, cols)
end

function transpose(x)
    local y = lab.empty(x:size(2), x:size(1))
    launch(x, y)
    return y
end

-- Each stream has an x and a y of its own, and in a stream everything is in order.
function transpose_all(matrices)
    local results, slots = {}, {}
    for i, matrix in ipairs(matrices) do
        local rows, cols = matrix:size(1), matrix:size(2)
        local k = (i - 1) % 3 + 1
        slots[k] = slots[k] or { stream = lab.stream(), x = lab.empty(rows, cols), y = lab.empty(cols, rows) }
        local slot = slots[k]
        results[i] = lab.empty(cols, rows, { device = "cpu", pinned = true })
        lab.with(slot.stream, function()
            slot.x:copy_(matrix, { non_blocking = true })
            launch(slot.x, slot.y)
            results[i]:copy_(slot.y, { non_blocking = true })
        end)
    end
    for _, slot in ipairs(slots) do slot.stream:synchronize() end
    return results
end
