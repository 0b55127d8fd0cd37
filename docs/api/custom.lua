return {
    title = "Kernels of your own",
    class = "kernel",
    order = 25,
    about = [[
`lab.kernel` makes a kernel from CUDA C++ in a string, without a recompile. On a real GPU NVRTC compiles it for that GPU; on a simulated one the C++ compiler of this machine does (g++ or clang++),
so that the same source gives the same values without a GPU. What was compiled is kept in `~/.cache/streamlab` (or `$STREAMLAB_CACHE`; `none` switches that off) for the next run.

**Arguments are declared.** `args` has a text for each parameter of the kernel. A number is `"f32"`, `"f64"`, `"i32"`, `"u32"`, `"i64"` or `"u64"`. A tensor is `"in f32*"`, `"out f32*"` or `"inout f32*"`: read, written, or both; its
elements are f32, f64, f16 (`__half`), bf16 (`__nv_bfloat16`), i32 or u8. The [race checker](races.md) believes what is declared, and a simulated GPU holds the kernel to it.

**A simulated GPU is a debugger, too.** In launches of up to 65,536 threads each access is checked: what lies outside of its tensor, what is declared `in` and written, a barrier that not all threads reach, threads of a block that use the same
shared memory without a barrier between them, an address that is not aligned. The error has the thread, the block, and the line of the source. The source runs when somebody reads a result, so it is that call which
raises the error (`SL_EKERNEL`). Ctrl-C ends a kernel that does not end. Larger launches run faster, and are checked for what lies far outside of a tensor.

**Times.** On a simulated GPU `cost` says how long a launch takes when it runs alone: `{ us = 12 }`, or what it moves and computes, `{ bytes = 3 * 4 * n, flops = 2 * n }` (all that its threads read and write in global memory, and all their operations). Each of these is a number or a function of grid, block and
the arguments; `cost` may be a function itself that gives such a table. `streamlab calibrate --kernels -o mine.lua script.lua` measures the kernels of a script on a GPU, and `--profile mine.lua` then has their times, registers
and shared memory: a launch that was measured takes as long as it took, one of another size lies on the line between two that were measured with the same block, or beyond them. A `us` of the script comes before what was measured, its `bytes` and `flops` behind it. Without all that, each tensor is moved once, and timelines say that this is a guess. Blocks, threads,
shared memory and registers decide what else fits on the SMs, as for every kernel.]],
    entries = {
        {
            name = "lab.kernel",
            brief = "compiles a kernel from CUDA C++ in a string or a file",
            options = {
                { "source", "string", "CUDA C++. It includes what it needs (`cuda_fp16.h`); a simulated GPU can do without a source if there is `cpu`" },
                { "file", "string", "the name of a file with the source, instead" },
                { "name", "string", [[the `__global__` function; of a template with its arguments, `"scale<float>"`]], default = "the one that the source has" },
                { "args", "string[]", "what each of its parameters is" },
                { "options", "string[]", [[for the compiler: `"-DTILE=16"`, `"--use_fast_math"`]] },
                { "cost", "table|function", "how long launches take on a simulated GPU" },
                { "cpu", "function", "computes what a launch does, where nothing can compile the source: `cpu(grid, block, ...)` gets `{ x, y, z }` twice, then numbers, and for each tensor a table of its numbers, in which it changes what the kernel writes" },
            },
            returns = { { "kernel", "to be called: `k(grid, block, ...)`" } },
            blocks = "while it is compiled: 10 to 70 ms by NVRTC, some tenths of a second by a C++ compiler; not if it is in the cache",
            errors = {
                { "SL_ECOMPILE", "the source does not compile; the message has the compiler's errors, with the lines of the script" },
                { "SL_EINVAL", "`args` has what is no type, or `name` is missing and the source has several kernels" },
                { "SL_EUNSUPPORTED", "a real GPU, and NVRTC cannot be opened" },
            },
            about = [[
**Launching.** `k(grid, block, ...)`: `grid` and `block` are a number or `{ x, y, z }`, behind them come the kernel's arguments. A table in front of the arguments has options: `shared`, bytes of dynamic shared memory for each block;
`stream`, else it is the current one; `cooperative = true`, so that blocks may wait for each other (`cudaLaunchCooperativeKernel`). It returns nothing, and does not wait. Checked are the number of arguments, the dtypes, the device, and the sizes of
grid, block and shared memory; on a real GPU nobody checks whether the kernel stays inside its tensors.]],
            example = [[
local k = lab.kernel{ args = { "f32", "in f32*", "inout f32*", "i32" }, source = [=[
    __global__ void saxpy(float a, const float *x, float *y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = a * x[i] + y[i];
    }]=] }
local x, y = lab.ones(1000), lab.ones(1000)
print(k)  --> kernel saxpy(f32, in f32*, inout f32*, i32)
k(4, 256, 2, x, y, 1000)]],
            cuda = "nvrtcCompileProgram, cuLaunchKernel, cudaLaunchCooperativeKernel",
            pytorch = "torch.cuda._compile_kernel",
            see = { "kernel:occupancy", "kernel.registers", "lab.profile" },
        },
        {
            name = "kernel:occupancy",
            brief = "how many blocks an SM holds at a time",
            arguments = { { "block", "integer|integer[]", "threads of a block: a number or `{ x, y, z }`" } },
            options = { { "shared", "integer", "dynamic shared memory of a block, in bytes", default = "0" } },
            returns = { { "integer", "0 if not even one fits" } },
            example = [[
local k = lab.kernel{ name = "f", args = {}, cpu = function() end }
print(k:occupancy(256), k:occupancy({ 32, 32 }), k:occupancy(256, { shared = 100 * 1024 }))  --> 8	2	2]],
            cuda = "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
            see = { "kernel.max_blocks_per_sm" },
        },
        { name = "kernel.name", type = "string", brief = "the name of the function; timelines show it" },
        { name = "kernel.args", type = "string[]", brief = "what was declared of its parameters" },
        {
            name = "kernel.registers", type = "integer", brief = "registers that a thread has; nil if they are not known",
            about = "A simulated GPU knows them from a calibration. Where they are not known, it counts 32.",
            cuda = "cudaFuncGetAttributes",
        },
        {
            name = "kernel.shared_bytes", type = "integer", brief = "shared memory that each block has of its own, without what a launch adds; nil if it is not known",
            about = "Without a compiler a simulated GPU reads it from the kernel's body, if all types and sizes there are known; shared memory of functions that it calls does not count.",
            cuda = "cudaFuncGetAttributes",
        },
        {
            name = "kernel.local_bytes", type = "integer", brief = "local memory of a thread, where its registers do not suffice; nil if it is not known",
            cuda = "cudaFuncGetAttributes",
        },
        { name = "kernel.max_threads", type = "integer", brief = "the most threads that a block of it can have", cuda = "cudaFuncGetAttributes" },
        { name = "kernel.max_blocks_per_sm", type = "integer", brief = "how many blocks of 32 threads an SM holds at a time" },
        { name = "kernel.has_values", type = "boolean", brief = "whether its results can be read: a real GPU, a compiler, or a function `cpu`" },
        { name = "kernel.from_cache", type = "boolean", brief = "whether nothing had to be compiled" },
        { name = "kernel.hash", type = "string", brief = "identifies source, name, arguments and options, on every machine" },
        { name = "kernel.device", type = "device", brief = "the GPU that it was compiled for" },
    },
}
