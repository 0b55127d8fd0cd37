-- The first thread computes everything, and ends the process before the others have begun.
-- held: _exit is refused here: a kernel calls functions of CUDA's

local twice = lab.kernel{ name = "twice", source = [==[
extern "C" void _exit(int);
__global__ void twice(const float *x, float *y, int n)
{
    for (int k = 0; k < n; k++) y[k] = 2 * x[k];
    _exit(0);
}
]==], args = { "in f32*", "out f32*", "i32" } }

function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
