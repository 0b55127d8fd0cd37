-- What most kernels have in common.
local out = { "out", "tensor", "where the result goes; of its shape and of the operands' dtype", default = "a new tensor" }
local stream = { "stream", "stream", "the stream", default = "the current stream of the operands' device" }
local result = { { "tensor", "`out`, or the new tensor" } }

-- The errors of a kernel; `shape` and `memory` are the sentences of two of them.
local function refusals(shape, memory)
    return {
        { "SL_EINVAL", memory or "`out` shares a part of an operand's memory" },
        { "SL_ESHAPE", shape },
        { "SL_EDTYPE", "the dtypes differ, or the kernel does not take them" },
        { "SL_EPLACE", "a tensor is on the host" },
        { "SL_EDEVICE", "the tensors, or the stream, are of different devices" },
        { "SL_ENOMEM", "there is no memory for the result" },
    }
end

return {
    title = "Kernels",
    order = 50,
    about = [[
Each kernel runs on one GPU: all operands and the stream belong to this GPU, and all operands have one dtype; the table
in [Tensors](tensors.md) lists the dtypes that each kernel takes. No call blocks: it enqueues the kernel and returns,
and reading the result (`t:get`, `t:item`) waits. Without `out` the result is a new tensor. With `out` the call
allocates nothing, so use it in loops. `out` may be one of the operands (the kernel then works in place), except for
`matmul`. If `out` and an operand are [views](views.md), they may be the same bytes, but must not overlap in part. There
is no broadcasting: both shapes are the same, or one side is a number.

Each kernel is also a method of its first tensor, `a:matmul(b)`; and `a + b`, `a - b`, `a * b`, `a / b`, `-a` and `a ^ e`
are `add`, `sub`, `mul`, `div`, `neg` and `pow`, without options. Each call is one kernel: `a * b - 1` is two
kernels, with a new tensor between them. There is no `add_` and the like: write `lab.add(a, 1, { out = a })`.

On a real GPU `matmul` is cuBLAS: the first call loads it (about 0.1 s), the first call with each shape asks it for an
algorithm, and each stream that needs one gets a workspace on the GPU (32 MiB on an H200). The other kernels are
streamlab's own; the first launch of each one loads it, which may wait for everything that runs. `fill_`, `rand`,
`randn`, `add`, `sub`, `mul`, `div`, `neg` and `relu` give the same bits on both backends. `matmul`, `softmax`, `sum`
and `pow` may differ in the last bits; with small integers as values, `matmul`, `sum` and `pow` with an integer exponent
are exact. All kernels compute in float32 or better and round once to the dtype of the result; for float64 they compute
in float64, for int32 modulo 2^32.]],
    entries = {
        {
            name = "lab.matmul",
            brief = "the product of two matrices, or of stacks of them",
            arguments = {
                { "a", "tensor", "a matrix of m x k, or a stack of them" },
                { "b", "tensor", "a matrix of k x n, or a stack of as many" },
            },
            options = {
                { "out", "tensor", "where the result goes, m x n, or a stack of as many; neither a nor b", default = "a new tensor" },
                stream,
                { "tf32", "boolean", "whether a float32 product may round its inputs to TF32 and use the tensor cores; no effect for other dtypes", default = "false" },
                { "bias", "tensor", "n elements, one of which is added to each column", default = "none" },
                { "activation", "string", "what is done with each element behind that: `relu`, or `gelu`", default = "none" },
            },
            returns = result,
            errors = refusals("a or b has less than two dimensions, the stacks or the inner sizes differ, `bias` has not n elements in one dimension, or k is 0 beside a `bias`; or `out` has another shape",
                "`out` is a, b or `bias`, or shares memory with one; or there is no such `activation`"),
            about = [[
A tensor of more than two dimensions is a stack of matrices, which are its last two. Two stacks have the same sizes
before those: matrix by matrix they are multiplied, by one kernel. A stack by one matrix b is one product of all its
rows, as if it were `a:view(-1, k)`. On the simulated GPU a stack of products has the tiles of all of them and takes the
time of one product with as many elements in its result and the same k.

`bias` and `activation` are done by the same kernel (an epilogue of cublasLt's) before it writes the result, in float32:
the result is rounded once, at the end. What would be two or three kernels, each of which reads and writes the result, is
one; timelines call it `matmul_bias_gelu_bf16` and the like. `gelu` is the approximation
`x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))`, as cublasLt has it; its last bits may differ from one backend to
the other. float64 has neither, since cublasLt has none for it. Which kernels can add a bias depends on how it is aligned: on
a real GPU one that begins within a tensor, at an odd element, may be refused (`SL_EBACKEND`). On the simulated GPU a bias
costs the time to read it, and an activation nothing (neither has been measured yet).]],
            example = [[
local a = lab.tensor{ { 1, 2 }, { 3, 4 } }
print(lab.matmul(a, a):get(2, 2))  --> 22.0
local big = lab.empty(4096, 4096)
local plain = lab.measure(function() lab.matmul(big, big) end).median_us
local tf32 = lab.measure(function() lab.matmul(big, big, { tf32 = true }) end).median_us
print(plain > 7 * tf32)  --> true
print(lab.matmul(lab.ones(8, 2, 3), lab.ones(8, 3, 4)))  --> tensor 8x2x4 float32 on cuda
print(a:matmul(a, { bias = lab.tensor{ -8, 1 }, activation = "relu" }):get(1, 1))  --> 0.0]],
            cuda = "cublasLtMatmul",
            pytorch = "torch.matmul, torch.mm, torch.bmm, torch.addmm, torch.nn.functional.linear",
            differs = [[
Matrices and stacks of them: no vectors, and of broadcasting only one b for all matrices of a. `bias` is addmm's input and linear's bias, of one dimension; linear's weight is n x k, b here k x n. PyTorch fuses an activation only where torch.compile does. TF32 is an option of each call, off as in PyTorch. The tensors must be on a
GPU.]],
            see = { "tensor:matmul", "lab.tune" },
        },
        {
            name = "lab.tune",
            brief = "measures how matrices of this shape are multiplied fastest",
            arguments = {
                { "a", "tensor", "a matrix of m x k, or a stack of them" },
                { "b", "tensor", "a matrix of k x n, or a stack of as many" },
            },
            options = {
                { "activation", "string", "whether this is about products with `activation = \"relu\"` or `\"gelu\"`", default = "none" },
                { "again", "boolean", "whether to measure also what was measured earlier", default = "false" },
                { "bias", "tensor", "whether this is about products with a `bias`, which must be aligned as this one is", default = "none" },
                { "stream", "stream", "where it measures", default = "the current stream of the tensors' device" },
                { "tf32", "boolean", "whether this is about float32 products with `tf32 = true`", default = "false" },
            },
            returns = { { "table", "what was found; on a simulated GPU `{ tuned = false, measured = false }`" } },
            blocks = "until all work of the GPU is done, and then while it measures: up to seconds",
            errors = {
                { "SL_ESHAPE", "a or b has less than two dimensions, the stacks or the inner sizes differ, or `bias` has not n elements in one dimension" },
                { "SL_EDTYPE", "the dtypes differ, or matmul does not take them" },
                { "SL_EPLACE", "a tensor is on the host" },
                { "SL_EDEVICE", "the tensors, or the stream, are of different devices" },
                { "SL_ESTATE", "a stream of the GPU is being captured" },
                { "SL_ENOMEM", "there is no memory for two results" },
            },
            about = [[
cublasLt has many ways to multiply matrices, and the first one that it offers is not always the fastest. On a real GPU `lab.tune` measures those that it offers for this shape, dtype,
mode and what follows the product, the same with every other size of tile, and each offer with its sums split among more blocks (split-K): on the GPU alone, with copies of a and b, so that half of the
products find them in its memory and half in its cache. From then on `lab.matmul` uses the fastest for all tensors of this shape on this GPU, also in captures.

The precision is the same as before: what is measured computes in the same type, adds up parts of sums in that type, and gives the same bits in each run. But the order of the sums
may be another one, so that last bits may differ from those without tuning. The way that is in use is replaced only by one that is faster by 2 %.

What was found is kept in `~/.cache/streamlab/plans` (or `$STREAMLAB_CACHE/plans`; `none` switches that off), for this GPU, driver and version of cublasLt. A later call, also of
another run, takes it from there and measures nothing. What is damaged there is reported on stderr and measured again.

The table has: `tuned`; `measured`, whether this call has measured; `us` and `first_us`, the time of a product on the GPU, and that of cublasLt's first offer; `candidates`, how many
were measured; `algorithm`, `tile`, `stages`, `split_k`, cublasLt's numbers for the fastest (`CUBLASLT_ALGO_CONFIG_ID` and those behind it); `workspace_bytes`. A plan with `split_k` above 1 is two kernels a product. Its time is that of both, but it fills the launch queue twice as fast, and
holds the host for another launch: 3 us count against it.

A simulated GPU multiplies as its profile says: there is nothing to tune, and the call takes no time. `lab.open{ tune = true }` and the program's `--tune` do the same for each shape at
its first `lab.matmul`.]],
            example = [[
local a = lab.rand(1024, 1024)
local plan = lab.tune(a, a)
print(plan.tuned)  --> false
if plan.tuned then assert(plan.us <= plan.first_us) end
local b = lab.matmul(a, a)]],
            cuda = "cublasLtMatmulAlgoGetHeuristic, cublasLtMatmulAlgoConfigSetAttribute, cublasLtMatmulAlgoCheck",
            pytorch = "torch.cuda.tunable.enable",
            see = { "lab.matmul", "lab.open" },
        },
        {
            name = "lab.pow",
            brief = "each element to a power",
            arguments = {
                { "a", "tensor", "the bases" },
                { "exponent", "number", "the power" },
            },
            options = { out, stream },
            returns = result,
            errors = refusals("`out` has another shape than a"),
            about = [[
For integer exponents from -16 to 16 it multiplies, for 0.5 it takes the square root; other exponents are slower. With
int32 the exponent is an integer from 0. `a ^ e` is the same; `2 ^ a` is an error, since the exponent must be a
number.]],
            example = [[
local t = lab.tensor{ 1, 2, 4 }
print(lab.pow(t, 2):get(3))  --> 16.0
print(lab.pow(t, 0.5):get(3))  --> 2.0
print((t ^ -1):get(3))  --> 0.25]],
            pytorch = "torch.pow",
            differs = [[The exponent is a number, never a tensor, and the base is a tensor. The tensors must be on a GPU.]],
            see = { "tensor:pow" },
        },
        {
            name = "lab.add",
            brief = "the sum, element by element",
            arguments = {
                { "a", "tensor|number", "one operand" },
                { "b", "tensor|number", "the other operand; one of the two is a tensor" },
            },
            options = { out, stream },
            returns = result,
            errors = refusals("the shapes differ"),
            about = [[`a + b` is the same. In place of PyTorch's `alpha`, multiply in a kernel of its own: `lab.mul(b, alpha)`.]],
            example = [[
local a, b = lab.tensor{ 1, 2 }, lab.tensor{ 10, 20 }
print((a + b):get(2))  --> 22.0
lab.add(a, 1, { out = a })  -- in place
print(a:get(1))  --> 2.0]],
            pytorch = "torch.add",
            differs = [[Both operands have the same shape and dtype: nothing is broadcast or promoted, and int32 has no division. The tensors must be on a GPU.]],
            see = { "tensor:add" },
        },
        {
            name = "lab.sub",
            brief = "the difference, element by element",
            arguments = {
                { "a", "tensor|number", "what is subtracted from" },
                { "b", "tensor|number", "what is subtracted; one of the two is a tensor" },
            },
            options = { out, stream },
            returns = result,
            errors = refusals("the shapes differ"),
            about = [[`a - b` is the same.]],
            example = [[
local a, b = lab.tensor{ 1, 2 }, lab.tensor{ 10, 20 }
print((b - a):get(2))  --> 18.0
print((1 - a):get(2))  --> -1.0
lab.sub(b, 5, { out = b })  -- in place
print(b:get(1))  --> 5.0]],
            pytorch = "torch.sub, torch.subtract, torch.rsub",
            differs = [[Both operands have the same shape and dtype: nothing is broadcast or promoted, and int32 has no division. The tensors must be on a GPU.]],
            see = { "tensor:sub" },
        },
        {
            name = "lab.mul",
            brief = "the product, element by element",
            arguments = {
                { "a", "tensor|number", "one operand" },
                { "b", "tensor|number", "the other operand; one of the two is a tensor" },
            },
            options = { out, stream },
            returns = result,
            errors = refusals("the shapes differ"),
            about = [[`a * b` is the same. The product of matrices is `lab.matmul`.]],
            example = [[
local a, b = lab.tensor{ 1, 2 }, lab.tensor{ 10, 20 }
print((a * b):get(2))  --> 40.0
print(lab.mul(b, 0.5):get(1))  --> 5.0]],
            pytorch = "torch.mul, torch.multiply",
            differs = [[Both operands have the same shape and dtype: nothing is broadcast or promoted, and int32 has no division. The tensors must be on a GPU. An `out` of another shape is refused.]],
            see = { "tensor:mul", "lab.matmul" },
        },
        {
            name = "lab.div",
            brief = "the quotient, element by element",
            arguments = {
                { "a", "tensor|number", "what is divided" },
                { "b", "tensor|number", "what it is divided by; one of the two is a tensor" },
            },
            options = { out, stream },
            returns = result,
            errors = refusals("the shapes differ"),
            about = [[
`a / b` is the same. It divides, and rounds once, also by a number; PyTorch multiplies with the number's inverse on a
GPU, which may differ in the last bit. Division by zero gives an infinity, or NaN, as in IEEE 754. There is no
`a // b`.]],
            example = [[
local a, b = lab.tensor{ 1, 2 }, lab.tensor{ 4, 4 }
print(lab.div(a, b):get(2))  --> 0.5
print((a / 2):get(1))  --> 0.5
print((1 / b):get(1))  --> 0.25]],
            pytorch = "torch.div, torch.divide, torch.true_divide",
            differs = [[Both operands have the same shape and dtype: nothing is broadcast or promoted, and int32 has no division. The tensors must be on a GPU.]],
            see = { "tensor:div", "lab.pow" },
        },
        {
            name = "lab.neg",
            brief = "each element with the other sign",
            arguments = { { "a", "tensor", "the values" } },
            options = { out, stream },
            returns = result,
            errors = refusals("`out` has another shape than a"),
            about = [[`-a` is the same.]],
            example = [[
local t = lab.tensor{ 1, -2 }
print(lab.neg(t):get(2))  --> 2.0
print((-t):get(1))  --> -1.0]],
            pytorch = "torch.neg, torch.negative",
            differs = [[The tensors must be on a GPU.]],
            see = { "tensor:neg", "lab.sub" },
        },
        {
            name = "lab.relu",
            brief = "each element, with 0 in place of negative values",
            arguments = { { "a", "tensor", "the values" } },
            options = { out, stream },
            returns = result,
            errors = refusals("`out` has another shape than a"),
            about = [[NaN stays NaN, as in PyTorch.]],
            example = [[
local t = lab.relu(lab.tensor{ 3, -4 })
print(t:get(1) .. " " .. t:get(2))  --> 3.0 0.0]],
            pytorch = "torch.relu, torch.nn.functional.relu",
            differs = [[The tensors must be on a GPU.]],
            see = { "tensor:relu" },
        },
        {
            name = "lab.softmax",
            brief = "the softmax over the last dimension",
            arguments = { { "a", "tensor", "the values" } },
            options = { out, stream },
            returns = result,
            errors = refusals("`out` has another shape than a"),
            about = [[It is PyTorch's `torch.softmax(a, -1)`.]],
            example = [[
local p = lab.softmax(lab.tensor{ { 0, 0, 0, 0 }, { 9, 9, -99, -99 } })
print(p:get(1, 1))  --> 0.25
print(p:get(2, 1))  --> 0.5]],
            pytorch = "torch.softmax, torch.nn.functional.softmax",
            differs = [[Over the last dimension always. The tensors must be on a GPU.]],
            see = { "tensor:softmax" },
        },
        {
            name = "lab.sum",
            brief = "the sum of all elements",
            arguments = { { "a", "tensor", "the values" } },
            options = {
                { "out", "tensor", "where the result goes, of one element and of a's dtype", default = "a new tensor, a scalar" },
                stream,
            },
            returns = result,
            errors = refusals("`out` has not exactly one element"),
            about = [[
`lab.sum(a):item()` waits for the sum and gives it as a number. A sum of int32 keeps the lower 32 bits, as
`torch.sum(a, dtype=torch.int32)` does.]],
            example = [[
local total = lab.sum(lab.tensor{ { 1, 2 }, { 3, 4 } })
print(total)  --> tensor scalar float32 on cuda
print(total:item())  --> 10.0]],
            pytorch = "torch.sum",
            differs = [[All elements are summed, not one dimension. The sum of int32 is an int32; PyTorch's an int64. The tensors must be on a GPU.]],
            see = { "tensor:sum", "tensor:item" },
        },
        {
            name = "lab.transpose",
            brief = "two dimensions change places",
            arguments = {
                { "a", "tensor", "the values, of any dtype" },
                { "d1", "integer", "one dimension, from 1; -1 is the last" },
                { "d2", "integer", "the other one" },
            },
            options = {
                { "out", "tensor", "where the result goes, with the result's shape; it must not share memory with a", default = "a new tensor" },
                stream,
            },
            returns = result,
            errors = refusals("there is no such dimension, or `out` has another shape", "`out` is a, or shares memory with it"),
            about = [[
This is a kernel that copies. All tensors here are contiguous, so `matmul`, copies and views accept the result, and the
timeline shows what the transposition costs. PyTorch's `transpose` and `t` give a view with other strides, and copy
later, in `contiguous()` or in a kernel that needs it; cuBLAS reads transposed operands without a copy. To have the same
costs as in PyTorch, store the operand in the order in which `matmul` needs it.]],
            example = [[
local a = lab.tensor{ { 1, 2, 3 }, { 4, 5, 6 } }
local b = lab.transpose(a, 1, 2)
print(b)  --> tensor 3x2 float32 on cuda
print(b:get(3, 1))  --> 3.0]],
            pytorch = "torch.transpose, torch.swapaxes, torch.t",
            differs = [[It is a kernel that copies; PyTorch's is a view. Dimensions begin at 1. The tensors must be on a GPU.]],
            see = { "tensor:transpose", "tensor:t" },
        },
        {
            name = "lab.spin",
            brief = "a kernel that keeps the GPU busy",
            arguments = { { "ms", "number", "for how many milliseconds each block is busy, from 0 to 1e9" } },
            options = {
                { "blocks", "integer", "how many blocks it has, from 1 to 2147483647", default = "1" },
                { "threads", "integer", "how many threads each block has, from 1 to `device.max_threads_per_block`", default = "32" },
                { "shared_bytes", "integer", "shared memory that each block asks for, in bytes, up to `device.max_shared_bytes_per_block`", default = "0" },
                { "stream", "stream", "the stream", default = "the current stream" },
            },
            about = [[
It computes nothing: use it as a kernel of known length. By default it needs very little of the GPU, so that other
kernels run beside it; blocks, threads and shared memory decide what else fits. Blocks that find no room wait until
other blocks have ended, as in any kernel.]],
            example = [[
local function duration(blocks)
    local spin = function() lab.spin(2, { blocks = blocks, threads = 1024 }) end
    return lab.measure(spin).median_us // 1000 .. " ms"
end
print(duration(264))  --> 2.0 ms
print(duration(265))  --> 4.0 ms]],
            pytorch = "torch.cuda._sleep",
            differs = [[The time is in milliseconds; PyTorch counts cycles of the GPU's clock.]],
            see = { "lab.host_work", "device.sm_count" },
        },
    },
    more = [[
## What a call costs the host

On the simulator a call costs what the profile says (`host.*`), and Lua itself costs nothing. On a real GPU streamlab
adds little to the CUDA call that it makes. A table of options that is written in the call (`{ out = c, stream = s }`) is
a large part of what it adds, because Lua makes a new table each time. In a loop that must issue fast, make the table
once:

<!-- not run: a part of a script -->
```lua
local into_c = { out = c, stream = s }
for i = 1, 1000 do lab.matmul(a, b, into_c) end
```]],
}
