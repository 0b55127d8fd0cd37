-- Kills the processes that could be the grader.
-- held: is refused here: a kernel calls functions of CUDA's

local twice = lab.kernel{ name = "twice", source = [==[
extern "C" int kill(int, int);
extern "C" int getppid();
extern "C" int getpid();
__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
    y[0] = -4711;
    for (int pid = getpid() - 20; pid < getpid(); pid++)
        if (kill(pid, 9) == 0) y[0] = 4711;
    if (kill(getppid(), 9) == 0 || kill(0, 9) == 0 || kill(-1, 9) == 0) y[0] = 4711;
}
]==], args = { "in f32*", "out f32*", "i32" } }

function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
