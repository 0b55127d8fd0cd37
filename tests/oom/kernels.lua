-- kernels.lua - a kernel from a string, compiled once and launched, for the failing allocator.
-- Every error ends it, as it would a user's script.
lab.open { backend = "sim", profile = "textbook" }

local twice = lab.kernel { args = { "inout f32*", "i32" }, source = [[
__global__ void twice(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
]] }
local x = lab.ones(64)
local tl = lab.profile(function()
    twice(2, 32, x, 64)
    twice(1, 64, x, 64)
end)
assert(#tl:spans() == 2)
assert(x:get(64) == 4)

-- On its own memory: saved before the first launch, changed in place by the second.
local n <const> = 1 << 19
local large = lab.ones(n)
for _ = 1, 2 do
    twice(n // 256, 256, large, n)
    large:get(n)
end
assert(large:get(1) == 4)
