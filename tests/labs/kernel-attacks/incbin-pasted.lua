-- The word asm is put together by a macro.
-- held: ## is refused here

local twice = lab.kernel{ name = "twice", source = [==[
#define PASTE(a, b) a##b
PASTE(as, m)(".incbin \"tests/hidden.lua\"");
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
