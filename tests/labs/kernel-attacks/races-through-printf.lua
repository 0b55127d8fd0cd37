-- Has printf write what it computes, which no check would see.
-- held: printf with %n, which a GPU's does not have

local twice = lab.kernel{ name = "twice", source = [==[
__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
    printf("%*c%n", 2, ' ', &count);
    if (i < n) y[i] = count * x[i];
}
]==], args = { "in f32*", "out f32*", "i32" } }

function double(x)
    local y = lab.empty(x:numel())
    twice((x:numel() + 255) // 256, 256, x, y, x:numel())
    return y
end
