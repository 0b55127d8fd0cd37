-- Has the names of what runs it.
-- held: error

local twice = lab.kernel{ name = "twice", source = [==[
extern "C" int getppid();
#define return for (getppid();;) return
#define emu_image_entry emu_mine
extern "C" const void *emu_image_entry() { return 0; }
__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
]==], args = { "in f32*", "out f32*", "i32" } }

function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
