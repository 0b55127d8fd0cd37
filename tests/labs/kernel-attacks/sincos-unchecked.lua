-- Writes with a function of C's, which races where no check sees it.
-- held: use shared memory

local twice = lab.kernel{ name = "twice", source = [==[
namespace x { extern "C" void sincosf(float, float *, float *); }
__global__ void twice(const float *x, float *y, int n)
{
    __shared__ float c[257]; __shared__ float s[257];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x::sincosf(0.0f, &s[threadIdx.x], &c[threadIdx.x]);
    if (i < n) y[i] = 2 * x[i] * (threadIdx.x > 0 ? c[threadIdx.x - 1] : 1);
}
]==], args = { "in f32*", "out f32*", "i32" } }
function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
