local transpose = lab.kernel{ args = { "in f32*", "out f32*", "i32", "i32" }, source = [[
__global__ void transpose(const float *x, float *y, int rows, int cols)
{
    __shared__ float tile[32][33];                  // 33: a column of it lies in 32 banks
    int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    if (row < rows && col < cols) tile[threadIdx.y][threadIdx.x] = x[row * cols + col];
    __syncthreads();                                // every thread of the block comes here
    row = blockIdx.x * 32 + threadIdx.y;
    col = blockIdx.y * 32 + threadIdx.x;
    if (row < cols && col < rows) y[row * rows + col] = tile[threadIdx.x][threadIdx.y];
}
]] }
local rows, cols = 100, 70
local x, y = lab.rand(rows, cols), lab.empty(cols, rows)
transpose({ (cols + 31) // 32, (rows + 31) // 32 }, { 32, 32 }, x, y, rows, cols)
print("equal to lab.transpose", lab.allclose(y, x:t()))
print("shared memory of a block", transpose.shared_bytes)
print("blocks of 1024 threads on an SM", transpose:occupancy{ 32, 32 })
