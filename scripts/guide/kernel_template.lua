local source <const> = [[
#include <cuda_fp16.h>

template <typename T, int POWER>
__global__ void power(const T *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T v = x[i];
    for (int k = 1; k < POWER; k++) v = v * x[i];
    y[i] = v;
}
]]
local cube = lab.kernel{ name = "power<float, 3>", source = source,
                         args = { "in f32*", "out f32*", "i32" } }
local square = lab.kernel{ name = "power<__half, 2>", source = source,
                           args = { "in f16*", "out f16*", "i32" } }

local x, y = lab.full(1.5, 100), lab.empty(100)
cube(1, 128, x, y, 100)
local h, g = x:to("float16"), lab.empty(100, { dtype = "float16" })
square(1, 128, h, g, 100)
print(cube, y:get(1))
print(square, g:get(1))
