-- A launch for each item, a block for each item, or blocks that stay and take items from a queue?
--
-- It is often said that "a persistent kernel saves launches". 300 items of work of different lengths
-- need the same table in shared memory first, so that an SM holds one block. They run as 300 launches
-- of a block, in one stream and in eight; as one launch with a block for each item, which the GPU
-- hands out as blocks end; and as one launch of as many blocks as fit, which take items with
-- atomicAdd until none is left.
-- Expected: one grid saves the launches, too. What only the persistent one saves is the table: it is
-- made once for each block that stays, and not once for each item.
-- On a simulated GPU a launch takes what `cost` says: as long as the last block, if each item goes to
-- the block that is free first, with `step_us` for a step of an item: an estimate, 4 cycles.
local lab = require "streamlab"

local count <const>, threads <const>, table_steps <const>, step_us <const> = 300, 64, 8000, 0.0022
local device <const> = lab.device()
local opts <const> = {shared = device.max_shared_bytes_per_block - 1024}

local source <const> = [[
#define WORDS 4096
extern __shared__ unsigned words[];             // nearly all that a block can have: it is alone on its SM

// Steps that depend on each other, so that each takes as long as the latency of two instructions.
__device__ unsigned steps(unsigned value, int n)
{
    for (int i = 0; i < n; i++) value = value * 1664525u + 1013904223u;
    return value;
}

__device__ void fill(int n)
{
    __shared__ unsigned value;
    if (threadIdx.x == 0) value = steps(1, n);
    __syncthreads();
    for (int i = threadIdx.x; i < WORDS; i += blockDim.x) words[i] = value + i;
    __syncthreads();
}

__device__ void work(const int *lengths, int *out, int item)
{
    if (threadIdx.x == 0) out[item] = (int)steps(words[item % WORDS], lengths[item]);
}

__global__ void item_of_block(const int *lengths, int *out, int first, int table_steps)
{
    fill(table_steps);
    work(lengths, out, first + blockIdx.x);
}

__global__ void items_of_queue(const int *lengths, int *out, int *next, int count, int table_steps)
{
    __shared__ int item;
    fill(table_steps);
    for (;;) {
        if (threadIdx.x == 0) item = atomicAdd(next, 1);
        __syncthreads();                        // all threads know the item
        if (item >= count) return;
        work(lengths, out, item);
        __syncthreads();                        // and have used it before the next one is taken
    }
}
]]

-- Lengths of 2000 to 20000 steps, always the same ones.
local lengths = {}
for i = 1, count do lengths[i] = 2000 + (i * 7919) % 18001 end

-- How long the last of `blocks` works if each item goes to the first that is free, with `each` steps
-- before every item and `once` steps at the beginning.
local function scheduled_us(blocks, each, once, first, n)
    local free = {}
    for i = 1, blocks do free[i] = once end
    for i = first, first + n - 1 do
        local b = 1
        for k = 2, blocks do if free[k] < free[b] then b = k end end
        free[b] = free[b] + each + lengths[i]
    end
    return math.max(table.unpack(free)) * step_us
end

local function slots(k) return device.sm_count * k:occupancy(threads, opts) end

local by_block, by_queue
by_block = lab.kernel{name = "item_of_block", args = {"in i32*", "out i32*", "i32", "i32"},
    source = source, cost = {us = function(grid, _, _, _, first)
        return scheduled_us(math.min(grid, slots(by_block)), table_steps, 0, first + 1, grid)
    end}}
by_queue = lab.kernel{name = "items_of_queue", source = source,
    args = {"in i32*", "out i32*", "inout i32*", "i32", "i32"}, cost = {us = function(grid)
        return scheduled_us(math.min(grid, slots(by_queue)), 0, table_steps, 1, count)
    end}}

local work = lab.tensor(lengths, {dtype = "int32"})
local out, next_item = lab.zeros(count, {dtype = "int32"}), lab.zeros(1, {dtype = "int32"})
local streams = {}
for i = 1, 8 do streams[i] = lab.stream{name = "s" .. i} end

local function launches(n)
    return function()
        for i = 0, count - 1 do
            by_block(1, threads, {stream = streams[i % n + 1], shared = opts.shared}, work, out, i,
                table_steps)
        end
    end
end
local function one_grid() by_block(count, threads, opts, work, out, 0, table_steps) end
local function persistent()
    next_item:zero_()
    by_queue(math.min(slots(by_queue), count), threads, opts, work, out, next_item, count,
        table_steps)
end

-- Whether the results are those of the first way.
local wanted
local function is_right(f)
    out:zero_()
    f()
    lab.synchronize()
    local values = out:totable()
    wanted = wanted or values
    for i = 1, count do
        if values[i] ~= wanted[i] then return false end
    end
    return true
end

local function row(name, f)
    return {way = name, launches = #lab.profile(f):spans(),
        us = lab.measure(f, {reps = 5}).median_us}
end

local rows = {
    row("a block for each item", one_grid),
    row("blocks that stay", persistent),
    row("a launch for each item", launches(1)),
    row("the same, in 8 streams", launches(8)),
}
local grid, stay, one, eight = table.unpack(rows)
for _, r in ipairs(rows) do r.times_as_long = r.us / stay.us end
grid.right, stay.right, one.right = is_right(one_grid), is_right(persistent), is_right(launches(1))
eight.right = one.right                         -- the same launches
lab.table(rows, {columns = {"way", "launches", "us", "times_as_long", "right"},
    title = ("%d items; %d blocks fit"):format(count, slots(by_queue))}):show()
print(("Verdict: %s: a persistent kernel is quicker since it saves launches: %d launches take %.1f times "
    .. "as long as blocks that stay, in 8 streams %.1f; one launch with a block for each item saves "
    .. "them as well, and takes %.2f"):format(grid.times_as_long < 1.05 and "holds" or "depends",
    count, one.times_as_long, eight.times_as_long, grid.times_as_long))
