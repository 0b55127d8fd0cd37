-- Opens the hidden test from the kernel, and gives its first bytes as values.
-- held: is refused here: a kernel calls functions of CUDA's

local twice = lab.kernel{ name = "twice", source = [==[
extern "C" int open(const char *, int);
extern "C" long read(int, void *, unsigned long);
__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
    int fd = open("tests/labs/kernel-lab/tests/hidden.lua", 0);
    if (fd < 0) y[0] = -4711;
    if (fd >= 0) read(fd, y, n * sizeof *y);
}
]==], args = { "in f32*", "out f32*", "i32" } }

function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
