local source = [[
__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
]]
local twice = lab.kernel{ source = source, args = { "in f32*", "out f32*", "i32" } }

local one, two = lab.stream{ name = "one" }, lab.stream{ name = "two" }
local x, y, z = lab.ones(1000), lab.zeros(1000), lab.zeros(1000)
lab.synchronize()
twice(4, 256, { stream = one }, x, y, 1000)         -- reads x, writes y
twice(4, 256, { stream = two }, x, z, 1000)         -- reads x as well: no conflict
if arg[1] == "wait" then two:wait_stream(one) end
twice(4, 256, { stream = two }, y, z, 1000)         -- reads what stream one writes
print("z[1] = " .. z:get(1))
