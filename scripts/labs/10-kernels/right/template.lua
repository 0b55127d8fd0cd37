-- A template for the tile's side, and new tensors for each matrix, which are freed in their stream.

local source <const> = [[
template <int SIDE>
__global__ void transpose(const float *x, float *y, int rows, int cols)
{
    __shared__ float tile[SIDE * SIDE];
    const int x0 = blockIdx.x * SIDE, y0 = blockIdx.y * SIDE;
    for (int i = threadIdx.x; i < SIDE * SIDE; i += blockDim.x) {
        int r = i / SIDE, c = i % SIDE;
        if (y0 + r < rows && x0 + c < cols)
            tile[r * SIDE + (c + r) % SIDE] = x[(y0 + r) * cols + x0 + c];  // turned: no two in a bank
    }
    __syncthreads();
    for (int i = threadIdx.x; i < SIDE * SIDE; i += blockDim.x) {
        int r = i / SIDE, c = i % SIDE;
        if (x0 + r < cols && y0 + c < rows)
            y[(x0 + r) * rows + y0 + c] = tile[c * SIDE + (r + c) % SIDE];
    }
}
]]
local kernel = lab.kernel{ name = "transpose<32>", source = source,
    args = { "in f32*", "out f32*", "i32", "i32" } }

function transpose(x)
    local rows, cols = x:size(1), x:size(2)
    local y = lab.empty(cols, rows)
    kernel({ (cols + 31) // 32, (rows + 31) // 32 }, 256, x, y, rows, cols)
    return y
end

function transpose_all(matrices)
    local streams, results = { lab.stream(), lab.stream(), lab.stream() }, {}
    for i, matrix in ipairs(matrices) do
        results[i] = lab.empty(matrix:size(2), matrix:size(1), { device = "cpu", pinned = true })
        lab.with(streams[i % 3 + 1], function()
            local x = matrix:to("cuda", { non_blocking = true })
            local y = transpose(x)
            results[i]:copy_(y, { non_blocking = true })
            x:free()
            y:free()
        end)
    end
    for _, stream in ipairs(streams) do stream:synchronize() end
    return results
end
