-- Lab 10: a block takes a tile of 32 x 32 through shared memory, and three streams take turns.

local tiled = lab.kernel{ args = { "in f32*", "out f32*", "i32", "i32" }, source = [[
#define TILE 32

__global__ void transpose(const float *x, float *y, int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];  // a column more: a warp that reads one finds 32 banks
    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += blockDim.y)
        if (row + k < rows && col < cols)
            tile[threadIdx.y + k][threadIdx.x] = x[(row + k) * cols + col];
    __syncthreads();                        // all threads reach it, also those outside of x

    int out_col = blockIdx.y * TILE + threadIdx.x;
    int out_row = blockIdx.x * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += blockDim.y)
        if (out_row + k < cols && out_col < rows)
            y[(out_row + k) * rows + out_col] = tile[threadIdx.x][threadIdx.y + k];
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
        slots[k] = slots[k] or { stream = lab.stream(), x = lab.empty(rows, cols),
                                 y = lab.empty(cols, rows) }
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
