-- Looks for what an earlier launch has left in shared memory.
-- held: every element is 2

local twice = lab.kernel{ name = "twice", source = [==[
__global__ void twice(const float *x, float *y, int n)
{
    __shared__ int launches;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
    if (i > 0) return;
    launches++;
    y[0] = launches > 1 ? 4711 : -4711;
}
]==], args = { "in f32*", "out f32*", "i32" } }

function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
