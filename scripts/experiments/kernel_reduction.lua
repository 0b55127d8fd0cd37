-- A sum in three ways, with barriers, shuffles or atomics: which is the quickest?
--
-- It is often said that "shuffles are faster than shared memory". Each thread first adds up what it
-- finds with the stride of the grid. Then the threads of a block add their sums in a tree in shared
-- memory, with a barrier at each level; or each warp adds its own with shuffles, and one barrier is
-- left; or each thread adds its sum to the result with an atomic operation. Expected: where there
-- is much to read all of the time goes into reading, and the first two take equally long; the third
-- has one atomic operation for each thread, all on one address, and these take turns. A simulated
-- GPU cannot tell the first two apart: they take what `cost` says, what they read. Nor does it know
-- what so many atomics cost, so the third has no `cost`, and timelines call its time a guess.
local lab = require "streamlab"

local source <const> = [[
#define THREADS 256

__device__ float own_part(const float *x, int n)
{
    float sum = 0;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) sum += x[i];
    return sum;
}

__global__ void with_barriers(const float *x, float *result, int n)
{
    __shared__ float part[THREADS];
    part[threadIdx.x] = own_part(x, n);
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) atomicAdd(result, part[0]);
}

__device__ float sum_of_warp(float v)
{
    for (int lanes = 16; lanes > 0; lanes /= 2) v += __shfl_down_sync(0xffffffffu, v, lanes);
    return v;
}

__global__ void with_shuffles(const float *x, float *result, int n)
{
    __shared__ float part[THREADS / 32];
    float v = sum_of_warp(own_part(x, n));
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x >= 32) return;              // the first warp adds the eight that are left
    v = sum_of_warp(threadIdx.x < THREADS / 32 ? part[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) atomicAdd(result, v);
}

__global__ void with_atomics(const float *x, float *result, int n)
{
    atomicAdd(result, own_part(x, n));
}
]]

local reads <const> = { bytes = function(_, _, x) return x:nbytes() end }
local ways <const> = {
    { name = "with_barriers", cost = reads, barriers = 8, atomics = 1 },
    { name = "with_shuffles", cost = reads, barriers = 1, atomics = 1 },
    { name = "with_atomics", barriers = 0, atomics = 256 },
}
local result <const>, most_blocks <const> = lab.zeros(1), 8 * lab.device().sm_count
local function launch(way, x)
    way.kernel(math.min((x:numel() + 255) // 256, most_blocks), 256, x, result, x:numel())
end
-- Whether it is right for n ones: sums of whole numbers below 2^24 are exact in any order.
local function is_right(way, n)
    result:zero_()
    launch(way, lab.ones(n))
    return result:item() == n
end
local function us(way, x)
    launch(way, x)                              -- the first launch loads the kernel
    lab.synchronize()
    local tl = lab.profile(function() for _ = 1, 5 do launch(way, x) end end)
    return tl:busy_us() / 5, tl:spans()[1].guessed or false
end

local large <const> = lab.ones(1 << 26)
for _, way in ipairs(ways) do
    way.kernel = lab.kernel{ name = way.name, source = source,
        args = { "in f32*", "inout f32*", "i32" },
        cost = way.cost }
    way.right, way.shared_bytes = is_right(way, 1) and is_right(way, 5000), way.kernel.shared_bytes
    way.small_us = us(way, large:narrow(1, 1, 1 << 16))
    way.large_us, way.guess = us(way, large)
    way.gb_per_s = large:nbytes() / way.large_us / 1000
end
lab.table(ways, { title = "Sums of 64 thousand and 64 million; barriers and atomics of a block",
    columns =
    { "name", "right", "barriers", "atomics", "shared_bytes", "small_us", "large_us", "gb_per_s",
      "guess" } }):show()
local barriers <const>, shuffles <const>, atomics <const> = table.unpack(ways)
local note <const> = lab.device().simulated and "; simulated, only what they read counts"
local by, large_by = barriers.small_us / shuffles.small_us, barriers.large_us / shuffles.large_us
print(("Verdict: %s: shuffles are faster than shared memory: %.2f times for 64 thousand numbers, "
    .. "%.2f for 64 million%s"):format(large_by > 1.05 and "holds"
    or (by > 1.05 or note) and "depends"
    or "no longer holds", by, large_by, note or ""))
print(("Verdict: %s: atomics on one address are slow: with one for each thread %.1f and %.1f us, "
    .. "with one for each block %.1f and %.1f%s"):format(atomics.guess and "depends"
    or atomics.large_us > 1.2 * barriers.large_us and "holds" or "no longer holds",
    atomics.small_us,
    atomics.large_us, barriers.small_us, barriers.large_us,
    atomics.guess and "; the first two are a guess" or ""))
