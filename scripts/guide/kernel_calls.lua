local twice = lab.kernel{ args = { "in f32*", "out f32*", "i32" }, source = [[
__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
]] }
local x, y = lab.ones(1000), lab.empty(1000)
local function try(...)
    local fine, problem = pcall(twice, ...)
    print(fine and "fine" or problem)
end
try(4, 256, x, y, 1000)
try(4, 256, x, y)
try(4, 256, x, lab.empty(1000, { dtype = "int32" }), 1000)
try(4, 256, lab.ones(1000, { device = "cpu" }), y, 1000)
try(1, 2048, x, y, 1000)
try(4, 256, { shared = 300000 }, x, y, 1000)
