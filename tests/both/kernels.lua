-- kernels.lua - ten kernels of different kinds for lab.kernel, each with inputs and with what it
-- gives for them, worked out here in Lua. kernels.t.lua runs them on the backend that is open;
-- kernel_bits.lua writes what they give to a file, so that two backends can be compared bit for
-- bit.
--
-- A kind has name, opts (lab.kernel's), sizes, and run(k, size), which launches it on tensors of
-- that size and gives the list of those that it has written; want(size) gives as many lists of
-- numbers. Inputs are whole numbers or such that float32 holds every step exactly, so that no order
-- of additions and no contraction to FMA makes a difference; where that cannot be, tolerance is the
-- relative error allowed.
-- Sizes are odd, small, and such that a launch has more than 65,536 threads, which the simulator
-- runs in another build than smaller ones.

local N = require "both.numbers"

local kinds = {}

local function blocks_for(n, block) return (n + block - 1) // block end

-- Whole numbers, the same on each call.
local function whole(n, low, high, seed) return N.whole(n, low, high, seed) end

-- ---- elementwise -----------------------------------------------------------------------------

kinds[1] = {
    name = "elementwise",
    opts = {
        args = { "f32", "in f32*", "in f32*", "out f32*", "i32" },
        source = [[
__global__ void axpy(float a, const float *x, const float *y, float *z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = a * x[i] + y[i];
}]],
    },
    sizes = { 1, 31, 1000, 65537, 100003 },
    run = function(k, n)
        local z = lab.zeros(n)
        k(blocks_for(n, 256), 256, 2.5, lab.tensor(whole(n, -500, 500, 1)),
          lab.tensor(whole(n, -500, 500, 2)), z, n)
        return { z }
    end,
    want = function(n)
        local y = whole(n, -500, 500, 2)
        return { N.map(whole(n, -500, 500, 1), function(x, i) return 2.5 * x + y[i] end) }
    end,
}

-- ---- reduction: a sum of each block in shared memory --------------------------------------------

kinds[2] = {
    name = "reduction",
    opts = {
        args = { "in f32*", "out f32*", "i32" },
        source = [[
__global__ void block_sums(const float *x, float *sums, int n)
{
    extern __shared__ float part[];
    const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    part[t] = i < (unsigned)n ? x[i] : 0.0f;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = part[0];
}]],
    },
    sizes = { 1, 257, 5000, 100003 },
    run = function(k, n)
        local blocks = blocks_for(n, 256)
        local sums = lab.zeros(blocks)
        k(blocks, 256, { shared = 4 * 256 }, lab.tensor(whole(n, -1000, 1000, 3)), sums, n)
        return { sums }
    end,
    want = function(n)
        local sums = {}
        for i, x in ipairs(whole(n, -1000, 1000, 3)) do
            local block = (i - 1) // 256 + 1
            sums[block] = (sums[block] or 0) + x
        end
        return { sums }
    end,
}

-- ---- transpose: tiles in shared memory ----------------------------------------------------------

kinds[3] = {
    name = "transpose",
    opts = {
        args = { "in f32*", "out f32*", "i32", "i32" },
        source = [[
#define TILE 32
__global__ void transpose(const float *in, float *out, int rows, int columns)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += blockDim.y)
        if (x < columns && y + j < rows)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * columns + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += blockDim.y)
        if (x < rows && y + j < columns)
            out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}]],
    },
    sizes = { { 1, 1 }, { 33, 70 }, { 300, 257 }, { 601, 703 } },
    run = function(k, size)
        local rows, columns = table.unpack(size)
        local out = lab.zeros(rows * columns)
        k({ blocks_for(columns, 32), blocks_for(rows, 32) }, { 32, 8 },
          lab.tensor(whole(rows * columns, -9999, 9999, 4)), out, rows, columns)
        return { out }
    end,
    want = function(size)
        local rows, columns = table.unpack(size)
        local from, to = whole(rows * columns, -9999, 9999, 4), {}
        for i = 0, rows * columns - 1 do to[i + 1] = from[i % rows * columns + i // rows + 1] end
        return { to }
    end,
}

-- ---- stencil: five points, zero outside ---------------------------------------------------------

kinds[4] = {
    name = "stencil",
    opts = {
        args = { "in f32*", "out f32*", "i32", "i32" },
        source = [[
__device__ float at(const float *in, int y, int x, int height, int width)
{
    return y < 0 || y >= height || x < 0 || x >= width ? 0.0f : in[y * width + x];
}

__global__ void laplacian(const float *__restrict__ in, float *__restrict__ out, int height, int width)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    out[y * width + x] = 0.25f * (at(in, y - 1, x, height, width) + at(in, y + 1, x, height, width)
                                  + at(in, y, x - 1, height, width) + at(in, y, x + 1, height, width))
                         - at(in, y, x, height, width);
}]],
    },
    sizes = { { 1, 1 }, { 37, 53 }, { 301, 307 } },
    run = function(k, size)
        local height, width = table.unpack(size)
        local out = lab.zeros(height * width)
        k({ blocks_for(width, 16), blocks_for(height, 16) }, { 16, 16 },
          lab.tensor(whole(height * width, -1000, 1000, 5)), out, height, width)
        return { out }
    end,
    want = function(size)
        local height, width = table.unpack(size)
        local from, to = whole(height * width, -1000, 1000, 5), {}
        local function at(y, x)
            return y >= 0 and y < height and x >= 0 and x < width and from[y * width + x + 1] or 0
        end
        for i = 1, height * width do
            local y, x = (i - 1) // width, (i - 1) % width
            to[i] = (at(y - 1, x) + at(y + 1, x) + at(y, x - 1) + at(y, x + 1)) / 4 - at(y, x)
        end
        return { to }
    end,
}

-- ---- histogram: atomics in shared and in global memory ------------------------------------------

kinds[5] = {
    name = "histogram",
    opts = {
        args = { "in u8*", "inout i32*", "i32" },
        source = [[
__global__ void histogram(const unsigned char *x, int *bins, int n)
{
    __shared__ int part[64];
    for (int b = threadIdx.x; b < 64; b += blockDim.x) part[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&part[x[i] / 4], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < 64; b += blockDim.x) atomicAdd(&bins[b], part[b]);
}]],
    },
    sizes = { 1, 1001, 200003 },
    run = function(k, n)
        local bins = lab.zeros(64, { dtype = "int32" })
        local x = lab.tensor(whole(n, 0, 255, 6), { dtype = "uint8" })
        for _ = 1, 2 do k(math.min(300, blocks_for(n, 96)), 96, x, bins, n) end
        local wide = lab.zeros(64, { dtype = "int32" })
        k(blocks_for(n, 256), 256, x, wide, n)
        return { bins, wide }
    end,
    want = function(n)
        local once, twice = {}, {}
        for b = 1, 64 do once[b] = 0 end
        for _, x in ipairs(whole(n, 0, 255, 6)) do once[x // 4 + 1] = once[x // 4 + 1] + 1 end
        for b = 1, 64 do twice[b] = 2 * once[b] end
        return { twice, once }
    end,
}

-- ---- scan: each block's running sums, by shuffles -----------------------------------------------

kinds[6] = {
    name = "scan",
    opts = {
        args = { "in i32*", "out i32*", "i32" },
        source = [[
__device__ int warp_scan(int value)
{
    const int lane = threadIdx.x % 32;
    for (int away = 1; away < 32; away *= 2) {
        int other = __shfl_up_sync(0xffffffff, value, away);
        if (lane >= away) value += other;
    }
    return value;
}

__global__ void running_sums(const int *x, int *sums, int n)
{
    __shared__ int of_warp[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x / 32;
    int value = warp_scan(i < n ? x[i] : 0);
    if (threadIdx.x % 32 == 31) of_warp[warp] = value;
    __syncthreads();
    if (warp == 0) {
        const int total = threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : 0;
        of_warp[threadIdx.x] = warp_scan(total) - total;
    }
    __syncthreads();
    if (i < n) sums[i] = value + of_warp[warp];
}]],
    },
    sizes = { 1, 513, 3000, 100003 },
    run = function(k, n)
        local sums = lab.zeros(n, { dtype = "int32" })
        k(blocks_for(n, 512), 512, lab.tensor(whole(n, -1000000, 1000000, 7), { dtype = "int32" }),
          sums, n)
        return { sums }
    end,
    want = function(n)
        local sum = 0
        return { N.map(whole(n, -1000000, 1000000, 7), function(x, i)
            sum = ((i - 1) % 512 == 0 and 0 or sum) + x
            return sum
        end) }
    end,
}

-- ---- softmax: a block a row, shuffles and shared memory -----------------------------------------

kinds[7] = {
    name = "softmax",
    opts = {
        args = { "in f32*", "out f32*", "i32" },
        source = [[
struct Larger {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
    __device__ float operator()(float a, float b) const { return a + b; }
};

template <typename Operation>
__device__ float over_block(float value, float *part, float neutral, Operation combine)
{
    for (int away = 16; away > 0; away /= 2)
        value = combine(value, __shfl_xor_sync(0xffffffffu, value, away));
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x % 32 < blockDim.x / 32 ? part[threadIdx.x % 32] : neutral;
    for (int away = 16; away > 0; away /= 2)
        value = combine(value, __shfl_xor_sync(0xffffffffu, value, away));
    return value;
}

__global__ void __launch_bounds__(128) softmax(const float *x, float *y, int columns)
{
    __shared__ float part[32];
    const float *row = x + (size_t)blockIdx.x * columns;
    float most = -3e38f, sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) most = fmaxf(most, row[i]);
    most = over_block(most, part, -3e38f, Larger());
    for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += expf(row[i] - most);
    sum = over_block(sum, part, 0.0f, Sum());
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        y[(size_t)blockIdx.x * columns + i] = expf(row[i] - most) / sum;
}]],
    },
    sizes = { { 1, 1 }, { 7, 1003 }, { 601, 97 } },
    -- Of expf: 2 units in the last place, of each of the few additions of a thread half of one.
    tolerance = 32 * N.unit "float32",
    run = function(k, size)
        local rows, columns = table.unpack(size)
        local y = lab.zeros(rows * columns)
        k(rows, 128, lab.tensor(N.rounded(N.data(rows * columns, -8, 8, 8), "float32")), y, columns)
        return { y }
    end,
    want = function(size)
        local rows, columns = table.unpack(size)
        local x, y = N.rounded(N.data(rows * columns, -8, 8, 8), "float32"), {}
        for first = 0, (rows - 1) * columns, columns do
            local sum = 0
            for i = first + 1, first + columns do
                y[i] = math.exp(x[i])
                sum = sum + y[i]
            end
            for i = first + 1, first + columns do y[i] = y[i] / sum end
        end
        return { y }
    end,
}

-- ---- matmul: tiles in shared memory -------------------------------------------------------------

kinds[8] = {
    name = "matmul",
    opts = {
        args = { "in f32*", "in f32*", "out f32*", "i32", "i32", "i32" },
        source = [[
__global__ void matmul(const float *a, const float *b, float *c, int m, int k, int n)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int first = 0; first < k; first += TILE) {
        const int x = first + threadIdx.x, y = first + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] = row < m && x < k ? a[row * k + x] : 0.0f;
        tile_b[threadIdx.y][threadIdx.x] = y < k && column < n ? b[y * n + column] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; i++) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}]],
        options = { "-DTILE=16" },
    },
    sizes = { { 1, 1, 1 }, { 33, 17, 50 }, { 130, 64, 100 }, { 273, 21, 271 } },
    run = function(kernel, size)
        local m, k, n = table.unpack(size)
        local c = lab.zeros(m * n)
        kernel({ blocks_for(n, 16), blocks_for(m, 16) }, { 16, 16 },
               lab.tensor(whole(m * k, -50, 50, 9)),
               lab.tensor(whole(k * n, -50, 50, 10)), c, m, k, n)
        return { c }
    end,
    want = function(size)
        local m, k, n = table.unpack(size)
        local a, b, c = whole(m * k, -50, 50, 9), whole(k * n, -50, 50, 10), {}
        for row = 0, m - 1 do
            for column = 1, n do
                local sum = 0
                for i = 1, k do sum = sum + a[row * k + i] * b[(i - 1) * n + column] end
                c[row * n + column] = sum
            end
        end
        return { c }
    end,
}

-- ---- a template ---------------------------------------------------------------------------------

kinds[9] = {
    name = "template",
    opts = {
        name = "scale<float>",
        args = { "f32", "inout f32*", "i32" },
        source = [[
template <typename T>
__global__ void scale(T factor, T *x, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] *= factor;
}]],
    },
    sizes = { 1, 999, 150001 },
    run = function(k, n)
        local x = lab.tensor(whole(n, -4000, 4000, 11))
        k(math.min(400, blocks_for(n, 192)), 192, 0.375, x, n)
        return { x }
    end,
    want = function(n)
        return { N.map(whole(n, -4000, 4000, 11), function(x) return 0.375 * x end) }
    end,
}

-- ---- half: two elements a thread, with one rounding each ----------------------------------------

local function halves(n, seed) return N.rounded(N.data(n, -4, 4, seed), "float16") end

kinds[10] = {
    name = "half",
    opts = {
        args = { "in f16*", "in f16*", "out f16*", "out f32*", "i32" },
        source = [[
#include <cuda_fp16.h>
__global__ void fused(const __half *x, const __half *y, __half *z, float *sums, int n)
{
    const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    const __half2 a = __float2half2_rn(1.375f);
    if (i + 1 < n) {
        const __half2 pair = __hfma2(a, *(const __half2 *)(x + i), *(const __half2 *)(y + i));
        z[i] = __low2half(pair);
        z[i + 1] = __high2half(pair);
    } else if (i < n) {
        z[i] = __hfma(__low2half(a), x[i], y[i]);
    }
    for (int j = i; j < i + 2 && j < n; j++) sums[j] = __half2float(x[j]) + __half2float(y[j]);
}]],
    },
    sizes = { 1, 255, 140003 },
    run = function(k, n)
        local z, sums = lab.zeros(n, { dtype = "float16" }), lab.zeros(n)
        k(blocks_for(n, 2 * 256), 256, lab.tensor(halves(n, 12), { dtype = "float16" }),
          lab.tensor(halves(n, 13), { dtype = "float16" }), z, sums, n)
        return { z, sums }
    end,
    want = function(n)
        local y = halves(n, 13)
        return {
            N.map(halves(n, 12), function(x, i) return N.round(1.375 * x + y[i], "float16") end),
            N.map(halves(n, 12), function(x, i) return N.round(x + y[i], "float32") end),
        }
    end,
}

-- A kernel of the kind, compiled for the current device.
function kinds.compile(kind) return lab.kernel(kind.opts) end

-- "601 x 97"
function kinds.size_text(size)
    return type(size) == "table" and table.concat(size, " x ") or tostring(size)
end

return kinds
