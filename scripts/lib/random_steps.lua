-- random_steps.lua - steps that several random programs have (scripts/experiments/random_calls.lua,
-- random_graphs.lua): copies, kernels and fills of sizes that the caller draws.
--
--   local steps = dofile(folder .. "../lib/random_steps.lua")(program)     -- of random_program.lua
--
-- Each step is added to the program. A stream is {name =, stream =}. There is one tensor a size,
-- stream and use, so that steps of different streams never touch the same memory.

local lab = require "streamlab"

local folder = debug.getinfo(1, "S").source:match("^@(.*/)") or ""
local work = dofile(folder .. "random_work.lua")

-- Moves 12 bytes for two operations.
local axpy_source <const> = [[
__global__ void axpy(float a, const float *x, float *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}]]

-- Two operations a round and thread, each needing the one before.
local recur_source <const> = [[
__global__ void recur(float *x, int n, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = x[i];
    for (int r = 0; r < rounds; r++) a = a * 0.999f + 0.5f;
    x[i] = a;
}]]

-- "2.500 MiB", "0.016 KiB"
local function size(bytes)
    local unit = bytes < 1 << 20 and 1 << 10 or 1 << 20
    return ("%.3f %s"):format(bytes / unit, unit == 1 << 10 and "KiB" or "MiB")
end

return function(program)
    local add, kept, steps = program.add, program.kept, {}
    local axpy = lab.kernel{ args = { "f32", "in f32*", "inout f32*", "i32" },
                             source = axpy_source, cost = work.axpy }
    local recur = lab.kernel{ args = { "inout f32*", "i32", "i32" }, source = recur_source,
                              cost = work.recur }

    local function on_gpu(s, use, dtype, ...)
        local sizes = table.pack(...)
        sizes[#sizes + 1] = { dtype = dtype }
        return kept(table.concat({ s.name, use, dtype, ... }, " "),
            function() return lab.ones(table.unpack(sizes)) end)
    end

    local function on_host(s, use, bytes, pinned)
        return kept(table.concat({ s.name, use, bytes, pinned and "pinned" or "pageable" }, " "),
            function() return lab.ones(bytes // 4, { device = "cpu", pinned = pinned }) end)
    end

    -- A product of n x n.
    function steps.matmul(s, n, kind)
        local dtype = kind == "bfloat16" and kind or "float32"
        local a, b, out = on_gpu(s, "a", dtype, n, n), on_gpu(s, "b", dtype, n, n),
            on_gpu(s, "out", dtype, n, n)
        local opts = { out = out, tf32 = kind == "tf32", stream = s.stream }
        add("%s: matmul %s %d x %d x %d", s.name, kind, n, n, n,
            function() lab.matmul(a, b, opts) end)
    end

    -- `what`: "add", "mul", "pow", "relu" or "softmax", of rows x columns.
    function steps.elementwise(s, what, rows, columns)
        local a, out = on_gpu(s, "a", "float32", rows, columns),
            on_gpu(s, "out", "float32", rows, columns)
        local arguments = { a }
        if what == "add" or what == "mul" then
            arguments[2] = on_gpu(s, "b", "float32", rows, columns)
        elseif what == "pow" then
            arguments[2] = 3
        end
        arguments[#arguments + 1] = { out = out, stream = s.stream }
        add("%s: %s %d x %d", s.name, what, rows, columns,
            function() lab[what](table.unpack(arguments)) end)
    end

    -- Kernels of one's own over n elements: bound by memory, and by latency.
    function steps.axpy(s, n, block)
        local x, y = on_gpu(s, "x", "float32", n), on_gpu(s, "y", "float32", n)
        local grid, opts = (n + block - 1) // block, { stream = s.stream }
        add("%s: axpy(%d), %d blocks of %d", s.name, n, grid, block,
            function() axpy(grid, block, opts, 0.5, x, y, n) end)
    end

    function steps.recur(s, blocks, block, count)
        local x, opts = on_gpu(s, "x", "float32", blocks * block), { stream = s.stream }
        add("%s: recur(%d, %d), %d blocks of %d", s.name, blocks * block, count, blocks, block,
            function() recur(blocks, block, opts, x, blocks * block, count) end)
    end

    -- `direction`: "h2d" or "d2h"; bytes: a multiple of 4.
    function steps.copy(s, direction, bytes, pinned, non_blocking)
        local host, gpu = on_host(s, direction, bytes, pinned),
            on_gpu(s, direction, "float32", bytes // 4)
        local opts = { non_blocking = non_blocking, stream = s.stream }
        add("%s: %s %s, %s%s", s.name, direction == "h2d" and "upload" or "download",
            size(bytes), pinned and "pinned" or "pageable", non_blocking and "" or ", blocking",
            function()
                if direction == "h2d" then gpu:copy_(host, opts) else host:copy_(gpu, opts) end
            end)
    end

    function steps.within(s, bytes)
        local a, b = on_gpu(s, "from", "float32", bytes // 4), on_gpu(s, "to", "float32",
            bytes // 4)
        local opts = { non_blocking = true, stream = s.stream }
        add("%s: copy within the GPU %s", s.name, size(bytes),
            function() b:copy_(a, opts) end)
    end

    function steps.zero(s, bytes)
        local a = on_gpu(s, "to", "float32", bytes // 4)
        add("%s: zero %s", s.name, size(bytes),
            function() lab.with(s.stream, a.zero_, a) end)
    end

    -- A tensor from the pool, which goes back to it.
    function steps.new_tensor(s, n)
        add("%s: a new tensor of %s, filled", s.name, size(4 * n), function()
            lab.with(s.stream, function() lab.zeros(n):free() end)
        end)
    end

    function steps.host_function(s, ms)
        add("%s: a host function of %.3f ms", s.name, ms,
            function() s.stream:launch_host_func(function() lab.host_work(ms) end) end)
    end

    function steps.host_works(ms)
        add("host: works %.3f ms", ms, function() lab.host_work(ms) end)
    end

    return steps
end
