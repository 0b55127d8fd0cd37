-- A stack without end.
-- held: kernel twice

local twice = lab.kernel{ name = "twice", source = [==[
__device__ float down(const float *x, volatile int n) { volatile float a[100]; a[0] = n; return n < 0 ? 0 : down(x, n + 1 & 0x7fffffff) + a[0]; }
__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i]; + down(x, 1);
}
]==], args = { "in f32*", "out f32*", "i32" } }

function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
