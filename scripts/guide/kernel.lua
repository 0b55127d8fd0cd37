local saxpy = lab.kernel{ args = { "f32", "in f32*", "inout f32*", "i32" }, source = [[
__global__ void saxpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
]] }

local n = 1000000
local x, y = lab.full(3, n), lab.ones(n)
print(saxpy)
saxpy((n + 255) // 256, 256, 2, x, y, n)            -- grid, block, then the kernel's arguments
print("y[1] = " .. y:get(1), "y[n] = " .. y:get(n))
lab.profile(function()
    lab.mul(x, 2, { out = x })
    saxpy((n + 255) // 256, 256, 2, x, y, n)
end):show()
