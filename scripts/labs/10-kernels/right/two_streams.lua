-- A tile of 16 x 16, and two streams, each with an x and a y of its own.
local tr = lab.kernel{ args = { "in f32*", "out f32*", "i32", "i32" }, source = [[
__global__ void tr(const float *x, float *y, int rows, int cols)
{
    __shared__ float t[16][17];
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    t[threadIdx.y][threadIdx.x] = i < rows && j < cols ? x[i * cols + j] : 0.0f;
    __syncthreads();
    i = blockIdx.x * 16 + threadIdx.y;
    j = blockIdx.y * 16 + threadIdx.x;
    if (i < cols && j < rows) y[i * rows + j] = t[threadIdx.x][threadIdx.y];
}
]] }
local function launch(x, y)
    local r, c = x:size(1), x:size(2)
    tr({ math.ceil(c / 16), math.ceil(r / 16) }, { 16, 16 }, x, y, r, c)
end
function transpose(x)
    local y = lab.empty(x:size(2), x:size(1))
    launch(x, y)
    return y
end
local lanes = {}
for i = 1, 2 do lanes[i] = { stream = lab.stream{ name = "lane " .. i, non_blocking = true } } end
function transpose_all(list)
    local out = {}
    for i, m in ipairs(list) do
        local lane = lanes[(i - 1) % 2 + 1]
        lab.with(lane.stream, function()
            if not lane.x or lane.x:size(1) ~= m:size(1) or lane.x:size(2) ~= m:size(2) then
                lane.x, lane.y = lab.empty(m:size(1), m:size(2)), lab.empty(m:size(2), m:size(1))
            end
            lane.x:copy_(m, { non_blocking = true })
            launch(lane.x, lane.y)
            out[i] = lab.empty(m:size(2), m:size(1), { device = "cpu", pinned = true })
            out[i]:copy_(lane.y, { non_blocking = true })
        end)
    end
    for _, lane in ipairs(lanes) do lane.stream:synchronize() end
    return out
end
