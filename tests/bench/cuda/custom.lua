-- custom.lua - a kernel from a string beside NVRTC and cuLaunchKernel in C: compiling, finding it
-- in the cache, launching. A section of bench.lua.

local calls_a_batch, batches, compilations = 200, 100, 11
local args = { "f32", "in f32*", "inout f32*", "i32" }

-- The same kernel in a source that nothing has compiled yet.
local function source_of(text)
    return "// " .. text .. [[

extern "C" __global__ void saxpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
]]
end

-- A text that no earlier run has had.
local function fresh(b, what) return ("%s %d %d"):format(what, os.time(), b.raw.now_ns()) end

local function first(b)
    local samples = { raw = {}, lua = {} }
    for i = 0, b.size.starts do
        for _, side in ipairs { "raw", "lua" } do
            local command = ("%s %scustom_first.lua %s %s %s"):format(
                b.quote(b.program), b.quote(b.folder), b.quote(b.build), side,
                b.quote(fresh(b, "first")))
            local ms = tonumber(b.output(command))
            if not ms then error("this failed: " .. command, 0) end
            if i >= 1 then samples[side][i] = ms end
        end
    end
    b.table:ratio("compiled and loaded, the first of a process", b.report.summary(samples.raw),
                  b.report.summary(samples.lua), "ms", 1.2)
end

local function kernel(b, source)
    local began = b.raw.now_ns()
    local k = b.lab.kernel { source = source, name = "saxpy", args = args }
    return (b.raw.now_ns() - began) / 1e6, k
end

local function again(b, c)
    local compiled = { raw = {}, lua = {} }
    for i = 1, compilations do
        compiled.raw[i] = (c:compile(source_of(fresh(b, "raw"))) + c:load()) / 1e6
        compiled.lua[i] = kernel(b, source_of(fresh(b, "lua")))
    end
    b.table:ratio("compiled and loaded, later ones", b.report.summary(compiled.raw),
                  b.report.summary(compiled.lua), "ms", 1.2)
end

local function cached(b, c)
    local source, loaded, found = source_of(fresh(b, "cached")), {}, {}
    kernel(b, source)
    for i = 1, batches do
        loaded[i] = c:load() / 1e6
        found[i] = kernel(b, source)
        b.lab.synchronize()
    end
    loaded, found = b.report.summary(loaded, 0.1), b.report.summary(found, 0.1)
    b.table:row("from the cache; raw: a cubin in memory", ("%.3f ms"):format(loaded.median),
                ("%.3f (%.3f to %.3f) ms"):format(found.median, found.low, found.high),
                ("%.2f x"):format(found.median / loaded.median), "<= 1 ms", found.median <= 1)
end

local function launched(b, c)
    local lab, now = b.lab, b.raw.now_ns
    local n, samples = 4096, { raw = {}, lua = {} }
    local x, y = lab.tensor(b.pattern({ n }, 1)), lab.tensor(b.pattern({ n }, 2))
    local _, k = kernel(b, source_of "launched")
    local _ <close> = lab.use(lab.stream())
    local function batch()
        local began = now()
        for _ = 1, calls_a_batch do k(16, 256, 0.5, x, y, n) end
        local held = now() - began
        lab.synchronize()
        return held
    end
    local function sides(i)
        local raw, lua
        if i % 2 == 0 then lua = batch() end
        raw = c:batch(calls_a_batch)
        if i % 2 == 1 then lua = batch() end
        return raw / calls_a_batch / 1000, lua / calls_a_batch / 1000
    end
    for i = 0, batches do
        local raw, lua = sides(i)
        if i >= 1 then samples.raw[i], samples.lua[i] = raw, lua end
    end
    b.table:difference("launched, saxpy of 4096 elements", b.report.summary(samples.raw, 0.1),
                       b.report.summary(samples.lua, 0.1), "us", 0.2)
    b.check("saxpy", y:totable(), c:values(n))
end

return function(b)
    b.table:section("A kernel from a string", ([[
NVRTC, cuModuleLoadData and cuLaunchKernel in C beside lab.kernel and a call; by turns. Compiled: %d
processes (the first one) and %d sources. Launches: time of a call in batches of %d on a GPU that was
idle, median of %d (10 %% and 90 %% of them).]])
        :format(b.size.starts, compilations, calls_a_batch, batches), "raw CUDA C",
        "streamlab from Lua")
    local c <close> = b.closing(b.raw.custom())
    first(b)
    again(b, c.object)
    cached(b, c.object)
    launched(b, c.object)
end
