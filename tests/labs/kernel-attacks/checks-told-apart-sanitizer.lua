-- The same, by the macro of the compiler.
-- held: __SANITIZE_THREAD__ is refused here

local twice = lab.kernel{ name = "twice", source = [==[
__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef __SANITIZE_THREAD__
    if (i < n) y[i] = 2 * x[i];
#else
    y[i + 100000] = 5;
#endif
}
]==], args = { "in f32*", "out f32*", "i32" } }

function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
