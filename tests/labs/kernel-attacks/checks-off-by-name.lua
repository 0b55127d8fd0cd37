-- Has a macro that is called like a variable of the program's, and in the kernel's name the word.
-- held: seen   0 at (1)

local twice = lab.kernel{ name = "twice<call_kernel>", source = [==[
enum { call_kernel = 1 };
__shared__ const float *X; __shared__ float *Y; __shared__ int N; __shared__ float t[257];
template <int k> __global__ void twice(const float *x, float *y, int n)
{
    X = x; Y = y; N = n;
}
#define call_kernel() (call_kernel)(); { int i = blockIdx.x * blockDim.x + x; t[x] = i < N ? X[i] : 0; if (x > 0 && i - 1 < N) Y[i - 1] = 2 * t[x - 1]; if (x == blockDim.x - 1 && i < N) Y[i] = 2 * t[x]; }
]==], args = { "in f32*", "out f32*", "i32" } }
function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
