-- Templates without end, doubling.
-- held: used up its 2 s of processor time
-- burns

local twice = lab.kernel{ name = "twice", source = [==[
template <int n, long path> struct deep {
    static constexpr long value = deep<n - 1, 2 * path>::value + deep<n - 1, 2 * path + 1>::value;
};
template <long path> struct deep<0, path> { static constexpr long value = path; };
__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i]; + deep<40, 1>::value;
}
]==], args = { "in f32*", "out f32*", "i32" } }

function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
