local function try(what, source)
    local k = lab.kernel{ source = source, args = { "in f32*", "out f32*", "i32" } }
    local x, y = lab.ones(1000), lab.zeros(1000)
    k(4, 256, x, y, 1000)                           -- never fails: nothing has run yet
    local fine, problem = pcall(y.get, y, 1)        -- the source runs now
    print(what .. ": " .. (fine and "fine" or tostring(problem)))
end

try("no bounds", [[
__global__ void shift(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i];
}
]])
try("writes what it declares as read", [[
__global__ void clear(float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 0;
}
]])
try("no barrier", [[
__global__ void reverse(const float *x, float *y, int n)
{
    __shared__ float part[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? x[i] : 0;
    float other = part[255 - threadIdx.x];
    if (i < n) y[i] = other;
}
]])
try("a barrier that not all reach", [[
__global__ void reverse(const float *x, float *y, int n)
{
    __shared__ float part[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        part[threadIdx.x] = x[i];
        __syncthreads();
        y[i] = part[255 - threadIdx.x];
    }
}
]])
try("an index that overflows", [[
__global__ void far(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i * 4000000];
}
]])
try("four numbers at an odd address", [[
__global__ void fours(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 4 < n) *(float4 *)(y + 4 * i + 1) = make_float4(1, 2, 3, 4);
}
]])
