local k = lab.kernel{ args = { "in f32*", "out f32*", "i32" }, cost = { us = 100 }, source = [[
__global__ void copy(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
]] }
for _, kib in ipairs{ 0, 32, 64, 100, 200 } do
    print(("256 threads and %3d KiB: %d blocks on an SM"):format(
        kib, k:occupancy(256, { shared = kib * 1024 })))
end

local one, two = lab.stream{ name = "one" }, lab.stream{ name = "two" }
local x, y, z, n = lab.ones(132 * 256), lab.empty(132 * 256), lab.empty(132 * 256), 132 * 256
for _, kib in ipairs{ 64, 200 } do                  -- a block for each of 132 SMs, twice
    lab.profile(function()
        k(132, 256, { stream = one, shared = kib * 1024 }, x, y, n)
        k(132, 256, { stream = two, shared = kib * 1024 }, x, z, n)
    end):show()
end
