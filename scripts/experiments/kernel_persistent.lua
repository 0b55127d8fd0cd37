-- A launch for each item, a block for each item, or blocks that stay and take items from a queue?
--
-- It is often said that "a persistent kernel saves launches". 300 items of work of different
-- lengths need the same table in shared memory first, so that an SM holds one block. They run as
-- one launch with a block for each item, which the GPU hands out as blocks end; as one launch of as
-- many blocks as fit, which take items with atomicAdd until none is left; and as 300 launches of a
-- block, in one stream and in eight. Expected: one grid saves the launches, too. What only the
-- persistent one saves is the table: it is made once for each block that stays, and not once for
-- each item.
-- On a simulated GPU launches take what `cost` says, an estimate: each SM gets the same work, and a
-- step takes 4 cycles.
local lab = require "streamlab"

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

// Items of 2000 to 20000 steps.
__device__ void work(int *out, int item)
{
    if (threadIdx.x == 0) out[item] = (int)steps(words[item % WORDS], 2000 + item * 7919 % 18001);
}

__global__ void item_of_block(int *out, int first, int table_steps)
{
    fill(table_steps);
    work(out, first + blockIdx.x);
}

__global__ void items_of_queue(int *out, int *next, int count, int table_steps)
{
    __shared__ int item;
    fill(table_steps);
    for (;;) {
        if (threadIdx.x == 0) item = atomicAdd(next, 1);
        __syncthreads();                        // all threads know the item
        if (item >= count) return;
        work(out, item);
        __syncthreads();                        // and have used it before the next one is taken
    }
}
]]

local count <const>, threads <const>, table_steps <const>, item_steps <const> = 300, 64, 8000, 11000
local opts <const> = { shared = lab.device().max_shared_bytes_per_block - 1024 }
local slots                                     -- how many blocks run at a time
local by_block = lab.kernel{ name = "item_of_block", args = { "out i32*", "i32", "i32" },
    source = source, cost =
    { us = function(grid)
        return math.max(grid / slots, 1) * (table_steps + item_steps) * 0.0022
    end } }
local by_queue = lab.kernel{ name = "items_of_queue",
    args = { "out i32*", "inout i32*", "i32", "i32" },
    source = source,
    cost = { us = function(grid) return (table_steps + count / grid * item_steps) * 0.0022 end } }
slots = lab.device().sm_count * by_block:occupancy(threads, opts)

local out, next_item = lab.zeros(count, { dtype = "int32" }), lab.zeros(1, { dtype = "int32" })
local streams = {}
for i = 1, 8 do streams[i] = lab.stream{ name = "s" .. i } end

local function one_grid() by_block(count, threads, opts, out, 0, table_steps) end
local function persistent()
    next_item:zero_()
    by_queue(math.min(slots, count), threads, opts, out, next_item, count, table_steps)
end
local function launches(n)
    return function(from)
        for i = from or 1, count do
            by_block(1, threads, { stream = streams[i % n + 1], shared = opts.shared }, out, i - 1,
                table_steps)
        end
    end
end

local wanted
local function row(way, f, from)                -- results are compared from item `from` on
    local r = { way = way, launches = #lab.profile(f):spans(),
                us = lab.measure(f, { reps = 5 }).median_us }
    out:zero_()
    f(from)
    wanted = wanted or out:totable()
    r.right = table.concat(out:totable(), " ", from) == table.concat(wanted, " ", from)
    return r
end
local rows = { row("a block for each item", one_grid, 1), row("blocks that stay", persistent, 1),
    row("a launch for each item", launches(1), 291),
    row("the same, in 8 streams", launches(8), 291) }
for _, r in ipairs(rows) do r.times_as_long = r.us / rows[2].us end
lab.table(rows, { columns = { "way", "launches", "us", "times_as_long", "right" },
    title = ("%d items; %d blocks fit"):format(count, slots) }):show()
local grid, one, eight = rows[1].times_as_long, rows[3].times_as_long, rows[4].times_as_long
print(("Verdict: %s: a persistent kernel is quicker since it saves launches: %d launches take %.1f "
    .. "times as long as blocks that stay, in 8 streams %.1f; one launch with a block for each "
    .. "item saves them as well, and takes %.2f"):format(grid < 1.05 and "holds" or "depends",
    count, one, eight, grid))
