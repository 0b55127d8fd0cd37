-- Races in a launch of so many threads that the fast build would run it, if it were not a
-- stranger's.
-- held: without a barrier between them

local twice = lab.kernel{ name = "twice", source = [==[
__global__ void twice(const float *x, float *y, int n)
{
    __shared__ float t[257];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x * blockDim.x >= n) return;
    t[threadIdx.x] = i < n ? x[i] : 0;
    if (threadIdx.x > 0 && i - 1 < n) y[i - 1] = 2 * t[threadIdx.x - 1];
    if (threadIdx.x == blockDim.x - 1 && i < n) y[i] = 2 * t[threadIdx.x];
}
]==], args = { "in f32*", "out f32*", "i32" } }

function double(x)
    local y = lab.empty(x:numel())
    twice(1000, 256, x, y, x:numel())
    return y
end
