-- System calls without the C library, by number: open, ptrace, process_vm_readv.
-- held: is refused here: a kernel calls functions of CUDA's

local twice = lab.kernel{ name = "twice", source = [==[
extern "C" long syscall(long, ...);
extern "C" int getppid();
__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
    long numbers[] = { 2, 257, 101, 310, 41, 57, 59, 62, 425, 438 };
    y[0] = -4711;
    for (int k = 0; k < 10; k++)
        if (syscall(numbers[k], (long)getppid(), (long)getppid(), 0, 0, 0, 0) >= 0) y[0] = 4711;
}
]==], args = { "in f32*", "out f32*", "i32" } }

function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
