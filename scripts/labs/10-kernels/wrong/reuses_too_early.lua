-- fails: 1.3 2.1 2.2 2.3 2.4
-- The next kernel writes y while it is still being copied down.

local tiled = lab.kernel{ args = { "in f32*", "out f32*", "i32", "i32" }, source = [[
extern __shared__ float tile[];

__global__ void turn(const float *x, float *y, int rows, int cols)
{
    int n = blockDim.x;
    int row = blockIdx.y * n + threadIdx.y, col = blockIdx.x * n + threadIdx.x;
    if (row < rows && col < cols) tile[threadIdx.y * (n + 1) + threadIdx.x] = x[row * cols + col];
    __syncthreads();
    row = blockIdx.x * n + threadIdx.y;
    col = blockIdx.y * n + threadIdx.x;
    if (row < cols && col < rows) y[row * rows + col] = tile[threadIdx.x * (n + 1) + threadIdx.y];
}
]] }

local side <const> = 16

local function launch(x, y, stream)
    local rows, cols = x:size(1), x:size(2)
    tiled({ -(-cols // side), -(-rows // side) }, { side, side },
        { shared = 4 * side * (side + 1), stream = stream }, x, y, rows, cols)
end

function transpose(x)
    local y = lab.empty(x:size(2), x:size(1))
    launch(x, y, lab.current_stream())
    return y
end

function transpose_all(matrices)
    if #matrices == 0 then return {} end
    local up, kernels, down = lab.stream(), lab.stream(), lab.stream()
    local rows, cols = matrices[1]:size(1), matrices[1]:size(2)
    local x, y, read, results = {}, {}, {}, {}
    for i, matrix in ipairs(matrices) do
        local k = i % 2
        if i <= 2 then
            x[k], y[k] = lab.empty(rows, cols), lab.empty(cols, rows)
        else
            up:wait_event(read[k])                      -- x[k] has been read
        end
        results[i] = lab.empty(cols, rows, { device = "cpu", pinned = true })
        x[k]:copy_(matrix, { non_blocking = true, stream = up })
        kernels:wait_event(up:record_event())
        launch(x[k], y[k], kernels)
        read[k] = kernels:record_event()
        down:wait_event(read[k])
        results[i]:copy_(y[k], { non_blocking = true, stream = down })
    end
    down:synchronize()
    return results
end
