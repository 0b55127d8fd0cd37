-- A constant that takes the compiler for ever.
-- held: used up its 2 s of processor time
-- burns

local twice = lab.kernel{ name = "twice", source = [==[
constexpr long count(long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        for (long k = 0; k < 200000; k++) sum += k ^ i;
    return sum;
}
template <long n> struct many { static constexpr long value = count(100) + many<n - 1>::value; };
template <> struct many<0> { static constexpr long value = 0; };
__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i]; + many<800>::value;
}
]==], args = { "in f32*", "out f32*", "i32" } }

function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
