-- Writes wherever it can, into what the processes of a launch share as well.
-- held: kernel twice

local twice = lab.kernel{ name = "twice", source = [==[
__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
    for (char *at = (char *)((unsigned long)&i & ~4095ul);; at += 4096) *(volatile char *)at = 1;
}
]==], args = { "in f32*", "out f32*", "i32" } }

function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
