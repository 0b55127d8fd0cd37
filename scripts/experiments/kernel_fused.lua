-- One kernel in place of three: when is that quicker, and why?
--
-- It is often said that "fusing kernels saves launches". relu(2 x + s) runs as three built-in
-- kernels call by call, as a graph of these three, and as one kernel of one's own, for 4 thousand
-- to 64 million numbers. Expected: where the tensors are small the launches are what is saved, and
-- a graph saves most of that as well. Where they are large the memory is: mul moves two tensors,
-- add three and relu two, and the fused kernel three, so that it takes 3 / 7 of the time, graph or
-- not.
-- On a simulated GPU the fused kernel takes what its `cost` says: three tensors, each moved once.
local lab = require "streamlab"

local fused = lab.kernel{ args = { "in f32*", "in f32*", "out f32*", "f32", "i32" },
    cost = { bytes = function(_, _, x) return 3 * x:nbytes() end }, source = [[
__global__ void scale_shift_relu(const float *x, const float *s, float *y, float a, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = fmaxf(a * x[i] + s[i], 0.0f);
}
]] }
local most_blocks <const> = 8 * lab.device().sm_count

local function us(f) return lab.measure(f, { reps = 9 }).median_us end

local function row(n)
    local x, s, y = lab.full(-1, n), lab.full(5, n), lab.empty(n)
    local function separate()
        lab.mul(x, 2, { out = y })
        lab.add(y, s, { out = y })
        lab.relu(y, { out = y })
    end
    local function one() fused(math.min((n + 255) // 256, most_blocks), 256, x, s, y, 2, n) end
    separate()
    local g = lab.graph(separate)
    local r = { numbers = n, calls_us = us(separate), graph_us = us(function() g:launch() end),
        fused_us = us(one) }
    r.calls_by, r.graph_by = r.calls_us / r.fused_us, r.graph_us / r.fused_us
    y:zero_()
    one()
    r.right = n > 1 << 16 or lab.allclose(y, lab.full(3, n))    -- of small ones: that is quick
    return r
end

local rows = {}
lab.with(lab.stream{ name = "s" }, function()
    for i, e in ipairs{ 12, 16, 20, 22, 24, 26 } do rows[i] = row(1 << e) end
end)
lab.table(rows,
    { columns = { "numbers", "calls_us", "graph_us", "fused_us", "calls_by", "graph_by" },
    title = "us until it is done, and how many times as long as fused" }):show()
local small, large = rows[1], rows[#rows]
print(("Verdict: %s: fusing saves launches and nothing else: %d numbers take %.2f times as long as "
    .. "three calls, %.2f as a graph; %d million %.2f and %.2f"):format(
    large.graph_by > 1.3 and "no longer holds" or "holds", small.numbers, small.calls_by,
    small.graph_by, large.numbers >> 20, large.calls_by, large.graph_by))
if not (small.right and rows[2].right) then print("The values are wrong.") end
