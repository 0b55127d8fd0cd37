-- Fills all memory, in a launch that is so large that its accesses are not checked.
-- held: is refused here: a kernel calls functions of CUDA's

local twice = lab.kernel{ name = "twice", source = [==[
extern "C" void *malloc(unsigned long);
extern "C" void *memset(void *, int, unsigned long);
__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
    if (i > 0) return;
    y[0] = -4711;
    for (int k = 0; k < 100000; k++) {
        void *more = malloc(1 << 24);
        if (!more) break;
        memset(more, 1, 1 << 24);
    }
}
]==], args = { "in f32*", "out f32*", "i32" } }

function double(x)
    local y = lab.empty(x:numel())
    twice(300, 256, x, y, x:numel())
    return y
end
