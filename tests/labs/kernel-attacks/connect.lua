-- Makes a socket.
-- held: is refused here: a kernel calls functions of CUDA's

local twice = lab.kernel{ name = "twice", source = [==[
extern "C" int socket(int, int, int);
__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
    y[0] = socket(2, 1, 0) < 0 ? -4711 : 4711;
}
]==], args = { "in f32*", "out f32*", "i32" } }

function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
