-- Writes to all descriptors that may lead to the grader.
-- held: is refused here: a kernel calls functions of CUDA's

local twice = lab.kernel{ name = "twice", source = [==[
extern "C" long write(int, const void *, unsigned long);
__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
    for (int fd = 0; fd < 64; fd++)
        if (write(fd, "forged", 6) >= 0) y[0] = 4711;
    if (i == 1) y[1] = -4711;
}
]==], args = { "in f32*", "out f32*", "i32" } }

function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
