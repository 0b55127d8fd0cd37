-- Fills with a function of C's that a compiler expands to code, which races where no check sees it.
-- held: write shared memory

local twice = lab.kernel{ name = "twice", source = [==[
__global__ void twice(const float *x, float *y, int n)
{
    __shared__ float t[257 + 32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float z[16];
    for (int k = 0; k < 16; k++) z[k] = 0;
    t[threadIdx.x] = i < n ? x[i] : 0;
    memset(&t[(threadIdx.x + 1) % blockDim.x], 0, 64);
    if (i < n) y[i] = 2 * x[i] + (z[0] == 12345.5f);
}
]==], args = { "in f32*", "out f32*", "i32" } }
function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
