-- Macros that stand for a thousand million words.
-- held: the compiler ran out of the memory that it may have

local twice = lab.kernel{ name = "twice", source = [==[
#define A(x) x x x x x x x x x x x x x x x x
#define B A(A(A(A(A(A(A(int a;)))))))
#define C A(A(A(A(A(A(A(B)))))))
__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
    C
}
]==], args = { "in f32*", "out f32*", "i32" } }

function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
