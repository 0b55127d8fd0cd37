local source <const> = [[
__global__ void polynomial(const float *x, float *y, int n, int degree)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i], sum = 0;
    for (int k = 0; k <= degree; k++) sum = sum * v + 1.0f;
    y[i] = sum;
}
]]
local args <const> = { "in f32*", "out f32*", "i32", "i32" }
local costs <const> = {
    { "no cost" },
    { "bytes and flops", { bytes = function(_, _, x) return 2 * x:nbytes() end,
        flops = function(_, _, _, _, n, degree) return 2 * n * (degree + 1) end } },
    { "us, as measured", { us = 150 } },
}
local n = 1 << 24
local x, y = lab.full(0.5, n), lab.empty(n)
for _, cost in ipairs(costs) do
    local k = lab.kernel{ source = source, args = args, cost = cost[2] }
    for _, degree in ipairs{ 2, 200 } do
        local tl = lab.profile(function() k(n // 256, 256, x, y, n, degree) end)
        local span = tl:spans()[1]
        print(("%-16s degree %3d: %6.1f us%s"):format(cost[1], degree, span.end_us - span.start_us,
            span.guessed and ", a guess" or ""))
    end
end
local k = lab.kernel{ source = source, args = args }
lab.profile(function() k(n // 256, 256, x, y, n, 200) end):explain()
