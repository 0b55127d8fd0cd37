-- Changes with macros what stands behind its source.
-- held: without a barrier between them

local twice = lab.kernel{ name = "twice", source = [==[
__global__ void twice(const float *x, float *y, int n)
{
    __shared__ float t[257];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    t[threadIdx.x] = i < n ? x[i] : 0;
    if (threadIdx.x > 0 && i - 1 < n) y[i - 1] = 2 * t[threadIdx.x - 1];
    if (threadIdx.x == blockDim.x - 1 && i < n) y[i] = 2 * t[threadIdx.x];
}
#define static thread_local
#define const
#define return for (;;) return
#define call_kernel(x) (void)0
#define threadIdx blockIdx
#define blockDim gridDim
#define if while
#define for if
#define launch begin_block
]==], args = { "in f32*", "out f32*", "i32" } }

function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
