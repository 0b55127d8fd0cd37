-- As memcmp-unchecked.
-- held: reads shared memory

local twice = lab.kernel{ name = "twice", source = [==[
namespace x { extern "C" unsigned long strlen(const char *); }
__global__ void twice(const float *x, float *y, int n)
{
    __shared__ char t[257];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    t[threadIdx.x] = 0;
    int r = x::strlen(&t[(threadIdx.x + 1) % blockDim.x]);
    if (i < n) y[i] = 2 * x[i] + (r == 12345);
}
]==], args = { "in f32*", "out f32*", "i32" } }
function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
