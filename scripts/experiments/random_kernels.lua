-- random_kernels.lua - a script that nobody wrote, with kernels of one's own (lab.kernel): the same
-- one for a seed on every machine, to see whether a simulated GPU foresees what a real one makes of
-- them.
--
--   streamlab scripts/experiments/random_kernels.lua [--seed N] [--list]
--   streamlab calibrate --kernels --seeds 1-30 -o mine.lua scripts/experiments/random_kernels.lua
--   streamlab compare --profile mine.lua --seeds 1-30 scripts/experiments/random_kernels.lua
--
-- The second line measures on a GPU how long each of the launches takes alone; the third compares
-- how long the programs take there and simulated. Kernels are bound by memory, by arithmetic or by
-- latency, have few blocks or many, much shared memory or many registers, wait at barriers, use
-- atomics; they run in several streams, with copies, events and spins of the host between them.
-- --list prints the streams and each step.

local lab = require "streamlab"

-- From the folder of this file, also in a script that runs this one.
local folder = debug.getinfo(1, "S").source:match("^@(.*/)") or ""
local program = dofile(folder .. "../lib/random_program.lua")("random_kernels", arg or {}, {
    usage = "usage: streamlab scripts/experiments/random_kernels.lua [--seed N] [--list]",
    flags = { list = true }, numbers = { seed = { 0, 0 } },
})
local work = dofile(folder .. "../lib/random_work.lua")
local options, add, kept = program.options, program.add, program.kept
local chance, pick, log_even, random = program.chance, program.pick, program.log_even, math.random

-- The kernels ---------------------------------------------------------------------------------

local kernels = {}

-- Moves 12 bytes for two operations.
kernels.axpy = lab.kernel{ args = { "f32", "in f32*", "inout f32*", "i32" },
    cost = work.axpy, source = [[
__global__ void axpy(float a, const float *x, float *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}]] }

-- Two operations a round and chain; four chains a thread.
kernels.rounds = lab.kernel{ args = { "inout f32*", "i32", "i32" },
    cost = work.rounds, source = [[
__global__ void rounds(float *x, int n, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = x[i], b = a + 1.0f, c = a + 2.0f, d = a + 3.0f;
    for (int r = 0; r < rounds; r++) {
        a = a * 0.999f + 0.5f;
        b = b * 0.998f + 0.5f;
        c = c * 0.997f + 0.5f;
        d = d * 0.996f + 0.5f;
    }
    x[i] = a + b + c + d;
}]] }

-- Through a tile in shared memory, with a barrier.
kernels.transpose = lab.kernel{ args = { "in f32*", "out f32*", "i32" },
    cost = work.transpose, source = [[
__global__ void transpose(const float *in, float *out, int n)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}]] }

-- As much shared memory as the launch says, so that few blocks are on an SM at a time.
kernels.rotate = lab.kernel{ args = { "inout f32*", "i32", "i32" },
    cost = work.rotate, source = [[
__global__ void rotate(float *x, int held, int rounds)
{
    extern __shared__ float part[];
    float *mine = x + (size_t)blockIdx.x * held;
    for (int i = threadIdx.x; i < held; i += blockDim.x) part[i] = mine[i];
    __syncthreads();
    int at = threadIdx.x;
    float sum = 0.0f;
    for (int r = 0; r < rounds; r++) {
        sum += part[at];
        at += 33;
        if (at >= held) at -= held;
    }
    __syncthreads();
    mine[threadIdx.x] = sum;
}]] }

-- 64 sums in registers.
kernels.outer = lab.kernel{ args = { "in f32*", "out f32*", "i32", "i32" },
    cost = work.outer, source = [[
__global__ void __launch_bounds__(256) outer(const float *x, float *y, int n, int rounds)
{
    float sum[8][8] = {}, a[8], b[8];
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) % (n - 16);
    for (int k = 0; k < 8; k++) a[k] = x[i + k], b[k] = x[i + 8 + k];
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int j = 0; j < 8; j++)
#pragma unroll
            for (int k = 0; k < 8; k++) sum[j][k] += a[j] * b[k];
        a[r % 8 == 0 ? 0 : 1] += 1.0f;
    }
    float all = 0.0f;
    for (int j = 0; j < 8; j++)
        for (int k = 0; k < 8; k++) all += sum[j][k];
    y[blockIdx.x * blockDim.x + threadIdx.x] = all;
}]] }

kernels.histogram = lab.kernel{ args = { "in f32*", "inout i32*", "i32" },
    cost = work.histogram, source = [[
__global__ void histogram(const float *x, int *bins, int n)
{
    __shared__ int part[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) part[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&part[(int)(x[i] * 256.0f) & 255], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], part[b]);
}]] }

-- Each read depends on the one before.
kernels.chase = lab.kernel{ args = { "in i32*", "out i32*", "i32", "i32" },
    cost = work.chase, source = [[
__global__ void chase(const int *next, int *ends, int n, int steps)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned at = i;
    for (int s = 0; s < steps; s++) at = (next[at & (n - 1)] + at) * 1664525u + 1013904223u;
    ends[i] = (int)at;
}]] }

-- The streams ---------------------------------------------------------------------------------

local streams = {}

local function make_streams()
    local urgent = chance(0.3)
    for i = 1, pick{ 1, 1, 2, 4, 3, 4, 4, 3, 6, 1 } do
        local flags = { name = "s" .. i, priority = urgent and random(0, 5) * -1 or 0,
                        non_blocking = true }
        streams[i] = { name = flags.name, flags = flags, stream = lab.stream(flags) }
    end
end

-- The steps -----------------------------------------------------------------------------------
--
-- There is one tensor a size, stream and use.

local function tensor(s, use, n, dtype)
    return kept(("%s %s %d %s"):format(s.name, use, n, dtype or ""), function()
        return dtype and lab.zeros(n, { dtype = dtype }) or lab.rand(n)
    end)
end

local function pinned(s, use, n)
    return kept(("%s %s %d host"):format(s.name, use, n), function()
        return lab.ones(n, { device = "cpu", pinned = true })
    end)
end

local function launch(s, name, grid, block, shared, ...)
    local arguments = table.pack(...)
    local opts = { stream = s.stream, shared = shared }
    local grid_text = type(grid) == "table" and table.concat(grid, " x ") or tostring(grid)
    local numbers = {}
    for i = 1, arguments.n do
        if math.type(arguments[i]) == "integer" then
            numbers[#numbers + 1] = tostring(arguments[i])
        end
    end
    add("%s: %s(%s), %s blocks of %s%s", s.name, name, table.concat(numbers, ", "), grid_text,
        type(block) == "table" and table.concat(block, " x ") or block,
        shared > 0 and (", %d KiB of shared memory"):format(shared // 1024) or "", function()
            kernels[name](grid, block, opts, table.unpack(arguments, 1, arguments.n))
        end)
end

local choices = {}

function choices.axpy(s)
    local n, block = 1 << random(16, 25), pick{ 128, 1, 256, 3, 512, 1, 1024, 1 }
    local grid = chance(0.6) and n // block or pick{ 132, 1, 264, 1, 528, 1, 1056, 1 }
    launch(s, "axpy", grid, block, 0, 0.5, tensor(s, "x", n), tensor(s, "y", n), n)
end

function choices.rounds(s)
    local blocks, block = pick{ 4, 1, 16, 2, 66, 2, 132, 3, 264, 3, 1056, 3, 4224, 2 },
        pick{ 64, 1, 128, 2, 256, 3, 512, 1, 1024, 1 }
    local rounds = pick{ 100, 2, 500, 3, 2000, 3, 8000, 2 } // (blocks > 1000 and 8 or 1)
    launch(s, "rounds", blocks, block, 0, tensor(s, "x", blocks * block), blocks * block, rounds)
end

function choices.transpose(s)
    local n = pick{ 256, 1, 512, 1, 1024, 3, 2048, 3, 4096, 2 }
    launch(s, "transpose", { n // 32, n // 32 }, { 32, 8 }, 0, tensor(s, "x", n * n),
           tensor(s, "y", n * n), n)
end

function choices.rotate(s)
    local held, blocks = pick{ 2048, 2, 8192, 3, 12288, 2, 24576, 1 },
        pick{ 32, 1, 132, 2, 264, 2, 528, 2, 1320, 1 }
    local rounds = pick{ 200, 1, 1000, 2, 4000, 1 }
    launch(s, "rotate", blocks, pick{ 64, 1, 128, 2, 256, 2 }, 4 * held,
           tensor(s, "x", held * blocks), held, rounds)
end

function choices.outer(s)
    local blocks = pick{ 33, 1, 132, 2, 264, 2, 528, 2, 2112, 1 }
    launch(s, "outer", blocks, 256, 0, tensor(s, "x", 1 << 16),
        tensor(s, "y", blocks * 256), 1 << 16,
        pick{ 50, 1, 200, 2, 1000, 2 })
end

function choices.histogram(s)
    local n = 1 << random(18, 24)
    launch(s, "histogram", pick{ 66, 1, 132, 2, 528, 2 }, 256, 0, tensor(s, "x", n),
        tensor(s, "bins", 256, "int32"), n)
end

function choices.chase(s)
    local n, blocks = 1 << random(12, 22), pick{ 1, 2, 8, 2, 64, 2, 264, 1 }
    launch(s, "chase", blocks, 128, 0, tensor(s, "next", n, "int32"),
        tensor(s, "ends", blocks * 128, "int32"), n,
        pick{ 20, 1, 100, 2, 500, 2 })
end

local function kernel(s)
    pick{ choices.axpy, 4, choices.rounds, 4, choices.transpose, 2, choices.rotate, 2,
          choices.outer, 2,
          choices.histogram, 1, choices.chase, 2 }(s)
end

local function copy(s, direction)
    local n = math.floor(log_even(1 << 14, 1 << 22)) // 1024 * 1024
    local host, gpu = pinned(s, direction, n), tensor(s, direction, n)
    local opts = { non_blocking = true, stream = s.stream }
    add("%s: %s %.3f MiB", s.name, direction == "h2d" and "upload" or "download",
        n / 2^18, function()
        if direction == "h2d" then gpu:copy_(host, opts) else host:copy_(gpu, opts) end
    end)
end

local function wait_for(s, other)
    local event = lab.event{ timing = chance(0.3) }
    add("%s: record, and %s waits for it", other.name, s.name, function()
        event:record(other.stream)
        s.stream:wait_event(event)
    end)
end

-- The phrases ---------------------------------------------------------------------------------

local function any_stream() return streams[random(#streams)] end

local phrases = {}

function phrases.chain()
    local s = any_stream()
    for _ = 1, random(1, 6) do kernel(s) end
end

-- Kernels in turns over the streams.
function phrases.spread()
    for _ = 1, random(1, 3) do
        for _, s in ipairs(streams) do kernel(s) end
    end
end

function phrases.copies()
    local s, direction = any_stream(), pick{ "h2d", 3, "d2h", 2 }
    for _ = 1, random(1, 2) do copy(s, direction) end
end

function phrases.pipeline()
    local piece = pick{ choices.axpy, 1, choices.rounds, 1, choices.transpose, 1,
                        choices.rotate, 1 }
    for i = 1, random(2, 5) do
        local s = streams[(i - 1) % #streams + 1]
        copy(s, "h2d")
        piece(s)
        copy(s, "d2h")
    end
end

function phrases.join()
    local s = any_stream()
    for _, other in ipairs(streams) do
        if other ~= s then wait_for(s, other) end
    end
    kernel(s)
end

function phrases.wait()
    local s = any_stream()
    add("host: waits for %s", s.name, function() s.stream:synchronize() end)
end

function phrases.host()
    local ms = log_even(0.02, 0.5)
    add("host: works %.3f ms", ms, function() lab.host_work(ms) end)
end

local function draw()
    make_streams()
    local wanted = log_even(12, 60)
    while #program.steps < wanted do
        phrases[pick{ "chain", 6, "spread", 5, "copies", 3, "pipeline", 3, "join", 2, "wait", 0.7,
                      "host", 0.7 }]()
    end
end

-- The run -------------------------------------------------------------------------------------

local function list()
    for _, s in ipairs(streams) do
        print(("     %s: priority %d"):format(s.name, s.flags.priority))
    end
    program.list()
end

draw()
if options.list then list() end
lab.synchronize()               -- the tensors are filled on the NULL stream
program.run()                   -- warm-up
lab.synchronize()
collectgarbage()
program.show(lab.profile(program.run), streams)
