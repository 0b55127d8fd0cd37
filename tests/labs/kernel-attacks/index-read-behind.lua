-- Reads what lies behind threadIdx, to find what is ours.
-- held: reads a variable that is not the kernel's

local twice = lab.kernel{ name = "twice", source = [==[
__global__ void twice(const float *x, float *y, int n)
{
    volatile unsigned *at = &threadIdx.x;
    unsigned sum = 0;
    for (int k = -64; k < 64; k++) sum += at[k];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i] + 0 * sum;
}
]==], args = { "in f32*", "out f32*", "i32" } }

function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
