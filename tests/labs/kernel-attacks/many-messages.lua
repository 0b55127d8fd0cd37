-- A hundred thousand errors.
-- held: does not compile

local twice = lab.kernel{ name = "twice", source = [==[
#define A(x) x x x x x x x x x x
#define B A(undeclared += 1;)
__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
    A(A(A(A(B))))
}
]==], args = { "in f32*", "out f32*", "i32" } }

function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
