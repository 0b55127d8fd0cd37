-- Starts a shell.
-- held: is refused here: a kernel calls functions of CUDA's

local twice = lab.kernel{ name = "twice", source = [==[
extern "C" int system(const char *);
extern "C" int execve(const char *, char *const *, char *const *);
__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
    char *const none[] = { 0 };
    y[0] = -4711;
    if (system("touch /tmp/kernel-left-behind") == 0) y[0] = 4711;
    execve("/bin/true", none, none);
}
]==], args = { "in f32*", "out f32*", "i32" } }

function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
