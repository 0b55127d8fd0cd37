local n = 1000
local twice = lab.kernel{ args = { "in f32*", "out f32*", "i32" }, source = [[
__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * X[i];
}
]] }
twice(4, 256, lab.ones(n), lab.empty(n), n)
