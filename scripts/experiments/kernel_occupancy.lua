-- What fits beside a matmul?
--
-- It is often said that "kernels in two streams run at the same time". A matmul is issued first,
-- and then in another stream a kernel of 20 us with a block for each SM: of few threads, of many,
-- or of few with much shared memory. Expected: an SM has four things to give, which k:occupancy()
-- counts: threads, registers, shared memory, and places for blocks. What the matmul's blocks leave
-- of each is what the kernel can have. Where a block finds no room it waits until one of the matmul
-- ends, and while a large matmul has more blocks, the next one of these is first.
-- The kernel does not use the shared memory that its launch asks for: asking takes the room. On a
-- simulated GPU a thread of it has 32 registers, and it takes what `cost` says.
local lab = require "streamlab"

local scale = lab.kernel{ args = { "in f32*", "out f32*", "i32" }, cost = { us = 20 }, source = [[
__global__ void scale(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    for (int k = 0; k < 4000; k++) v = v * 0.999f + 0.001f;
    y[i] = v;
}
]] }


local sms <const>, kib <const> = lab.device().sm_count,
    lab.device().max_shared_bytes_per_block // 1024
local shapes <const> = { { "few", 64, 0 }, { "many", 1024, 0 }, { "shared", 64, kib // 2 },
                         { "all_shared", 64, kib } }
local fits = {}
for i, s in ipairs(shapes) do
    fits[i] = { name = s[1], threads = s[2], shared_kib = s[3],
        blocks_per_sm = scale:occupancy(s[2], { shared = s[3] * 1024 }) }
end
lab.table(fits, { columns = { "name", "threads", "shared_kib", "blocks_per_sm" },
    title = "How many blocks of the kernel an empty SM holds" }):show()

local first, second = lab.stream{ name = "first" }, lab.stream{ name = "second" }
local x, y = lab.ones(1024 * sms), lab.empty(1024 * sms)
local function issue(a, tf32, threads, shared_kib)
    lab.matmul(a, a, { stream = first, tf32 = tf32 })
    scale(sms, threads, { stream = second, shared = shared_kib * 1024 }, x, y, threads * sms)
end

local rows, beside, cases = {}, 0, 0
for i, case in ipairs{ { 256 }, { 1024 }, { 2048 }, { 4096 }, { 4096, true } } do
    local a = lab.ones(case[1], case[1])
    local row = { n = case[1], tf32 = case[2] or false }
    for _, s in ipairs(shapes) do
        issue(a, row.tf32, s[2], s[3])          -- the first launches load the kernels
        local product, kernel = table.unpack(lab.profile(issue, a, row.tf32, s[2], s[3]):spans())
        if product.name == "scale" then product, kernel = kernel, product end
        row.blocks, row.threads, row.registers = product.blocks, product.threads, product.registers
        row.shared_kib, row.matmul_us = product.shared_bytes // 1024,
            product.end_us - product.start_us
        row[s[1]] = kernel.end_us - product.start_us
        if row.matmul_us > 100 then             -- long enough to tell beside from behind
            cases = cases + 1
            if row[s[1]] < row.matmul_us / 2 then beside = beside + 1 end
        end
    end
    rows[i] = row
end
lab.table(rows,
    { columns = { "n", "tf32", "blocks", "threads", "registers", "shared_kib", "matmul_us",
    "few", "many", "shared", "all_shared" }, title = "Matmul n x n, which takes matmul_us; "
    .. "us from its start until the kernel is done" }):show()
local one, other = rows[3], rows[4]
print(("Verdict: %s: kernels in two streams run at the same time: in %d of %d cases the kernel was "
    .. "done in half of the matmul's time; beside one of %d (%.0f us) after %.0f us with few "
    .. "threads, %.0f with all shared memory; of %d (%.0f us) after %.0f and "
    .. "%.0f"):format(beside == cases and "holds"
    or beside == 0 and "no longer holds" or "depends", beside, cases, one.n, one.matmul_us,
    one.few, one.all_shared, other.n, other.matmul_us, other.few, other.all_shared))
