-- Says that it is thread 0, so that no two threads race.
-- held: writes a variable that is not the kernel's

local twice = lab.kernel{ name = "twice", source = [==[
__global__ void twice(const float *x, float *y, int n)
{
    __shared__ float t[257];
    int k = threadIdx.x, i = blockIdx.x * blockDim.x + k;
    threadIdx.x = 0;
    t[k] = i < n ? x[i] : 0;
    if (k > 0 && i - 1 < n) y[i - 1] = 2 * t[k - 1];
    if (k == 255 && i < n) y[i] = 2 * t[k];
}
]==], args = { "in f32*", "out f32*", "i32" } }

function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
