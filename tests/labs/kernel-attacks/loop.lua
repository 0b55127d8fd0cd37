-- A kernel that never ends.
-- held: used up its 2 s of processor time
-- burns

local twice = lab.kernel{ name = "twice", source = [==[
__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
    for (volatile int k = 0; k < 2; k = 0) {}
}
]==], args = { "in f32*", "out f32*", "i32" } }

function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
