-- wrong-kernels.t.lua - what is refused of kernels before they run, on every backend: launches of
-- other tensors or sizes than the kernel can have, and sources that do not compile.

local T = require "tap"

T.open()
if not T.computes_kernels() then T.skip_all("there is no C++ compiler") end

local k = lab.kernel{ args = { "in f32*", "out f32*", "i32" }, source = [[
__global__ void copies(const float *x, float *y, int n)
{
    extern __shared__ float part[];
    part[threadIdx.x] = threadIdx.x < n ? x[threadIdx.x] : 0.0f;
    if (threadIdx.x < n) y[threadIdx.x] = part[threadIdx.x];
}]] }

local x, y = lab.ones(32), lab.zeros(32)
local with_memory <const> = { shared = 4096 }

local function refused(name, pattern, ...)
    local arguments = table.pack(...)
    T.throws_like(function() k(table.unpack(arguments, 1, arguments.n)) end, pattern, name)
end

refused("a tensor of another dtype",
        "copies: argument 1 is a tensor of float16, and the kernel's is in f32%*", 1, 32,
        with_memory, x:to("float16"), y, 32)
refused("a block of too many threads",
        "copies: a block of 64 x 32 x 1 has 2048 threads: it can have 1024", 1,
        { 64, 32 }, with_memory, x, y, 32)
refused("more shared memory than a block can have", "shared is 300000 bytes", 1, 32,
        { shared = 300000 }, x, y, 32)
refused("an argument too few", "2 arguments behind grid and block: the kernel has 3", 1, 32,
        with_memory, x, y)
refused("a tensor on the host", "argument 2 .* is on the cpu", 1, 32, with_memory, x,
        lab.zeros(32, { device = "cpu" }), 32)
k(1, 32, with_memory, x, y, 32)
T.is(y:sum():item(), 32, "after all that the kernel runs")

-- ---- compiling ---------------------------------------------------------------------------------

local function does_not_compile(name, pattern, source, args)
    local fine, err = pcall(lab.kernel, { source = source, args = args or { "out f32*" } })
    T.is(not fine and err.code, "SL_ECOMPILE", name .. " does not compile")
    T.like(tostring(err), pattern, name .. ": the error says where, or what")
end

does_not_compile("an unknown name", "wrong%-kernels%.t%.lua:51: .*count", [[
__global__ void k(float *y)
{
    y[0] = count;
}]])
does_not_compile("a parameter of another type than args has",
                 'args%[1%] is "out f32%*", and parameter 1 of k is double %*y: "inout f64%*"', [[
__global__ void k(double *y)
{
    y[0] = 1;
}]])
local reduction <const> = "__global__ void red(const float *__restrict__ x, float *y) { y[0] = "
    .. "x[0]; }"
does_not_compile("an argument more than parameters", "args has 3 entries, red takes 2$", reduction,
                 { "in f32*", "out f32*", "i32" })
does_not_compile("an argument fewer", "args has 1 entry, red takes 2$", reduction, { "in f32*" })
does_not_compile("a number for a pointer",
                 'args%[1%] is "f32", and parameter 1 of red is const float .*x: "in f32%*"$',
                 reduction,
                 { "f32", "out f32*" })
does_not_compile("parameters of a macro", ":%d+: .*", [[
#define PARAMETERS float *y, int n
__global__ void k(PARAMETERS) { y[0] = n; }]])
does_not_compile("too much static shared memory", "shared", [[
__global__ void k(float *y)
{
    __shared__ float large[80000];
    large[threadIdx.x] = y[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = large[79999 - threadIdx.x];
}]])

k, x, y = nil, nil, nil
T.done()
