-- What fits beside a matmul?
--
-- It is often said that "kernels in two streams run at the same time". A matmul is issued first, and
-- then in another stream a kernel of 20 us with a block for each SM: of few threads, of many, or of
-- few with much shared memory. Expected: an SM has four things to give, which k:occupancy() counts:
-- threads, registers, shared memory, and places for blocks. What the matmul's blocks leave of each is
-- what the kernel can have. Where a block finds no room it waits until one of the matmul ends, and
-- while a large matmul has more blocks, the next one of these is first.
-- The kernel does not use the shared memory that its launch asks for: asking takes the room. On a
-- simulated GPU a thread of it has 32 registers, and it takes what `cost` says.
local lab = require "streamlab"

local device <const> = lab.device()
local scale = lab.kernel{args = {"in f32*", "out f32*", "i32"}, cost = {us = 20}, source = [[
__global__ void scale(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    for (int k = 0; k < 4000; k++) v = v * 0.999f + 0.001f;
    y[i] = v;
}
]]}

local half_kib <const> = device.max_shared_bytes_per_block // 2048
local shapes <const> = {
    {name = "few", threads = 64, shared_kib = 0},
    {name = "many", threads = 1024, shared_kib = 0},
    {name = "shared", threads = 64, shared_kib = half_kib},
    {name = "all_shared", threads = 64, shared_kib = 2 * half_kib},
}
for _, shape in ipairs(shapes) do
    shape.blocks_per_sm = scale:occupancy(shape.threads, {shared = shape.shared_kib * 1024})
    shape.threads_on_sm = shape.blocks_per_sm * shape.threads
end
lab.table(shapes, {columns = {"name", "threads", "shared_kib", "blocks_per_sm", "threads_on_sm"},
    title = "How many blocks of the kernel an empty SM holds"}):show()

local first, second = lab.stream{name = "first"}, lab.stream{name = "second"}
local x = lab.ones(1024 * device.sm_count)
local y = lab.empty(x:numel())

local function issue(a, options, shape)
    local n = shape.threads * device.sm_count
    options.stream = first
    lab.matmul(a, a, options)
    scale(device.sm_count, shape.threads, {stream = second, shared = shape.shared_kib * 1024}, x, y, n)
end

-- When the kernel is done, in us from the matmul's start, and the matmul's span.
local function done_us(a, options, shape)
    issue(a, options, shape)                    -- the first launches load the kernels
    lab.synchronize()
    local product, kernel
    for _, span in ipairs(lab.profile(issue, a, options, shape):spans()) do
        if span.name == "scale" then kernel = span else product = span end
    end
    return kernel.end_us - product.start_us, product
end

local rows = {}
for _, case in ipairs{{256}, {1024}, {2048}, {4096}, {4096, true}} do
    local a = lab.ones(case[1], case[1])
    local row = {n = case[1], tf32 = case[2] or false}
    for _, shape in ipairs(shapes) do
        local product
        row[shape.name], product = done_us(a, {tf32 = row.tf32}, shape)
        row.blocks, row.threads, row.registers = product.blocks, product.threads, product.registers
        row.shared_kib = product.shared_bytes // 1024
        row.matmul_us = product.end_us - product.start_us
    end
    rows[#rows + 1] = row
end
lab.table(rows, {columns = {"n", "tf32", "blocks", "threads", "registers", "shared_kib", "matmul_us",
    "few", "many", "shared", "all_shared"}, title = "Matmul n x n, which takes matmul_us; "
    .. "us from its start until the kernel is done"}):show()

-- Whether a kernel is done in less than half of the matmul's time, of those that take long enough.
local beside, behind = 0, 0
for _, row in ipairs(rows) do
    for _, shape in ipairs(shapes) do
        local early = row[shape.name] < row.matmul_us / 2
        if row.matmul_us > 100 and early then beside = beside + 1
        elseif row.matmul_us > 100 then behind = behind + 1
        end
    end
end
local one, other = rows[3], rows[4]
print(("Verdict: %s: kernels in two streams run at the same time: in %d of %d cases the kernel was done "
    .. "in half of the matmul's time; beside one of %d (%.0f us) after %.0f us with few threads, %.0f with "
    .. "all shared memory; of %d (%.0f us) after %.0f and %.0f"):format(behind == 0 and "holds"
    or beside == 0 and "no longer holds" or "depends", beside, beside + behind, one.n, one.matmul_us,
    one.few, one.all_shared, other.n, other.matmul_us, other.few, other.all_shared))
