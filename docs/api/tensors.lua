-- What the functions that make tensors have in common.
local places = [["cuda"|"cpu"|string|device]]
local dtypes = [["float32"|"float64"|"bfloat16"|"float16"|"int32"|"uint8"]]
local sizes = { "...", "integer", "the sizes, each from 0 on, up to 8 of them; none: a scalar, which has one element" }

local function making(...)
    return {
        { "device", places, [[where: "cuda" (the current GPU), "cuda:1", "cpu", or a device of `lab.open`]], default = [["cuda"]] },
        { "pinned", "boolean", [[whether it is page-locked; only with `device = "cpu"`]], default = "false" },
        { "dtype", dtypes, "the type of the elements", default = [["float32"]] },
        { "stream", "stream", "the stream of the operations that fill it", default = "the current stream of its device" },
        ...
    }
end
local seed = { "seed", "integer", "the seed of the random numbers", default = "none: each tensor gets numbers of its own, by what `--seed` says, else 0" }

local function dtype(name)
    return { name = "lab." .. name, type = "string", brief = ([[the dtype: "%s"]]):format(name), pytorch = "torch." .. name }
end

local made = { { "tensor", "a new tensor" } }
local not_made = {
    { "SL_ESHAPE", "a size is negative or not whole, there are more than 8, or more elements than 64 bits count" },
    { "SL_EDTYPE", "there is no such dtype" },
    { "SL_EPLACE", "`pinned = true` without `device = \"cpu\"`" },
    { "SL_ENOTFOUND", "there is no GPU of that number" },
    { "SL_EDEVICE", "the stream is another device's" },
    { "SL_ENOMEM", "out of memory" },
}
local random_not_made = { table.unpack(not_made) }
random_not_made[2] = { "SL_EDTYPE", "there is no such dtype, or random numbers are not made in it: float64, int32, uint8" }

-- What copies have in common.
local copy_stream = {
    "stream", "stream", "the stream of the copy", default = "the current stream of the GPU that the copy comes from, else goes to",
}
local copy_non_blocking = { "non_blocking", "boolean", "whether the call may return before the copy is done", default = "false" }
local copy_blocks = "until the copy is done; with `non_blocking` see \"When copies block\" on the page Tensors"
local moving = {
    copy_non_blocking,
    {
        "pinned", "boolean", [[whether a result on the host is page-locked; only for "cpu"]],
        default = "any host tensor will do; a new one is pinned if `non_blocking`",
    },
    copy_stream,
}
local moved = { { "tensor", "a new tensor there; the tensor itself if it is there already" } }
local not_moved = {
    { "SL_EPLACE", "`pinned = true` for a GPU" },
    { "SL_EDEVICE", "the stream is of neither device, or the two are simulated devices" },
    { "SL_ENOTFOUND", "there is no GPU of that number" },
    { "SL_ENOMEM", "out of memory" },
}

local looking = "on the GPU: until the copy of what is looked at is done, in the current stream; on the host: not at all"

return {
    title = "Tensors",
    class = "tensor",
    order = 40,
    operators = { "add", "sub", "mul", "div", "pow", "neg" },
    about = [[
A tensor is an array of numbers in the memory of a GPU or of the host, row-major and dense; [views](views.md) share the memory of another. Indices start at 1. It lives on the current GPU unless it is
made with `device =`. Host memory belongs to no GPU: it can be copied to and from each, and is pageable unless `pinned = true`.

**dtypes**, by PyTorch's names, are `"float32"` (4 bytes), `"float64"` (8), `"bfloat16"` and `"float16"` (2), `"int32"` (4) and `"uint8"` (1). There is no int64 and no bool.

| | float32, bfloat16, float16 | float64 | int32 | uint8 |
|---|---|---|---|---|
| making, filling, copies, reading elements | yes | yes | yes | yes |
| `add`, `sub`, `mul`, `neg`, `relu`, `pow`, `sum` | yes | yes | yes | no |
| `div`, `matmul` | yes | yes | no | no |
| `transpose`, casts (`t:to(dtype)`) | yes | yes | yes | yes |
| `softmax`, `rand`, `randn` | yes | no | no | no |

A number from a script is rounded to the nearest value of the dtype (ties to even). For int32 and uint8, a number that is too small or too large becomes the least or the greatest
value, and NaN becomes 0. The script always gets floats, also from int32 and uint8 tensors (`3.0`).

Kernels of int32 keep the lower 32 bits of the result, as PyTorch's do; so does the sum, where `torch.sum` gives an int64. A number in an operation with an int32 tensor has to be
an integer (`t + 1.5` is an error, where PyTorch gives a float32), and an exponent an integer from 0 on. int32 has no `div` (in PyTorch it gives a float32): write `t:float() / 2`.

**Filling.** On the GPU the values of `zeros`, `ones`, `full`, `rand` and `randn` are written by a kernel in the stream (a memset for zero and for uint8), and the call does
not block; on the host the values are there when the call returns.

**Reading elements** (`get`, `item`, `totable`, `allclose`), and writing them with `set`. For a tensor on the GPU this is a synchronous copy in the current stream. For a host
tensor it uses the memory as it is at this moment, and does not wait. The simulator computes values only when they are read: a single `get` computes, on the CPU,
everything that its value depends on, for example all elements of a large `matmul`. That takes real time and no virtual time. On a real GPU the values are computed already, and
a `get` costs a copy of one element.

**Random numbers** are Philox4x32-10. With `seed =` they are those of the seed alone, the same each time: on every backend, on the host and on the GPU, as after
`torch.manual_seed`, though not PyTorch's numbers. Element i, counted row by row, has the i-th number of the seed. So the shape only says how the numbers are arranged, a
smaller tensor has the first numbers of a larger one, and a smaller dtype has them rounded. `rand` and `randn` with one seed use the same random bits: if you need independent
numbers, use two seeds. Without `seed =` the numbers depend on the seed of the run (`--seed`, else 0) and on the tensor's number (`t.id`): two tensors of one script
differ, and each of them is the same in every run of the script and on every backend.

**Memory.** A tensor that nothing refers to any more is freed by Lua's garbage collector; `t:free()` does it now. Operations that are enqueued keep the memory that they use
until they are done, or share it with later operations of their stream, so that none uses it too early. On a real GPU memory comes from pools: new device memory costs about 1 us, and some 80 us when the pool
has to grow; new pinned memory is page-locked, 2 ms for 4 MiB on an H200's host together with its freeing, and may wait for the GPU; memory of a freed tensor costs nothing.
So the first run of a script's loop is slower than the next ones. A simulated GPU has as much memory as its profile says; the host's memory is not limited there. Before streamlab
reports that a GPU is out of memory, it collects garbage and waits for work that still uses freed memory.

**Operators.** `a + b`, `a - b`, `a * b`, `a / b`, `a ^ e` and `-a` are `lab.add`, `lab.sub`, `lab.mul`, `lab.div`, `lab.pow` and `lab.neg`; one side of the first four may
be a number. `a == b` is true if both are the same tensor object; to compare values, use `lab.allclose`.

Of a freed tensor you can only read `t.freed`, and print it; everything else is an error, `SL_ECLOSED`.]],
    entries = {
        {
            name = "lab.empty",
            brief = "makes a tensor whose values are not set",
            arguments = { sizes },
            options = making(),
            returns = made,
            errors = not_made,
            about = [[
It enqueues nothing. On a real GPU the values are whatever the memory held; on the simulator they are zeros. The memory comes from a pool of the laboratory's, as PyTorch's comes
from its caching allocator (over `cudaMalloc` by default, `cudaMallocAsync` if so set).]],
            example = [[
local a, b = lab.ones(2, 4), lab.ones(4, 3)
local c = lab.empty(2, 3)
lab.matmul(a, b, { out = c })  -- sets all of it
print(c)  --> tensor 2x3 float32 on cuda
print(c:get(2, 3))  --> 4.0]],
            pytorch = "torch.empty",
            differs = [[Without `device =` it is on the GPU. Sizes are no list: `lab.empty(2, 3)`.]],
        },
        {
            name = "lab.zeros",
            brief = "makes a tensor of zeros",
            arguments = { sizes },
            options = making(),
            returns = made,
            errors = not_made,
            example = [[
local t = lab.zeros(2, 3, { dtype = "uint8", device = "cpu" })
print(t)  --> tensor 2x3 uint8 on cpu
print(t:get(2, 3))  --> 0.0]],
            pytorch = "torch.zeros",
            differs = [[Without `device =` it is on the GPU. Sizes are no list: `lab.zeros(2, 3)`.]],
            see = { "tensor:zero_" },
        },
        {
            name = "lab.ones",
            brief = "makes a tensor of ones",
            arguments = { sizes },
            options = making(),
            returns = made,
            errors = not_made,
            example = [[
local t = lab.ones(3, 5)
print(t)  --> tensor 3x5 float32 on cuda
print(lab.sum(t):item())  --> 15.0]],
            pytorch = "torch.ones",
            differs = [[Without `device =` it is on the GPU. Sizes are no list: `lab.ones(2, 3)`.]],
        },
        {
            name = "lab.full",
            brief = "makes a tensor of one value",
            arguments = { { "value", "number", "the value; other than in PyTorch it comes first" }, sizes },
            options = making(),
            returns = made,
            errors = not_made,
            example = [[
local t = lab.full(2.5, 2, 2, { device = "cpu", pinned = true })
print(t)  --> tensor 2x2 float32 on cpu (pinned)
print(t:get(1, 2))  --> 2.5]],
            pytorch = "torch.full",
            differs = [[Without `device =` it is on the GPU, and without `dtype =` of float32, also for a whole number, which PyTorch makes int64.]],
            see = { "tensor:fill_" },
        },
        {
            name = "lab.rand",
            brief = "makes a tensor of random numbers from 0 to 1",
            arguments = { sizes },
            options = making(seed),
            returns = { { "tensor", "a new tensor, uniform in [0, 1)" } },
            errors = random_not_made,
            example = [[
local a, b = lab.rand(4), lab.rand(4)
print(a:get(1) >= 0 and a:get(1) < 1)  --> true
print(lab.allclose(a, b))  --> false
print(lab.allclose(lab.rand(4, { seed = 7 }), lab.rand(4, { seed = 7 })))  --> true]],
            pytorch = "torch.rand",
            differs = [[A seed is for one tensor: another tensor with `{ seed = 7 }` has the same numbers, which are not PyTorch's. Without `device =` it is on the GPU. Sizes are arguments, not a list: `lab.rand(2, 3)`.]],
        },
        {
            name = "lab.randn",
            brief = "makes a tensor of normal random numbers",
            arguments = { sizes },
            options = making(seed),
            returns = { { "tensor", "a new tensor, of mean 0 and variance 1" } },
            errors = random_not_made,
            example = [[
local n = 10000
local t = lab.randn(n)
print(math.abs(lab.sum(t):item() / n) < 0.05)  --> true
print(math.abs(lab.sum(t ^ 2):item() / n - 1) < 0.1)  --> true]],
            pytorch = "torch.randn",
            differs = [[A seed is for one tensor: another tensor with `{ seed = 7 }` has the same numbers, which are not PyTorch's. Without `device =` it is on the GPU. Sizes are arguments, not a list: `lab.randn(2, 3)`.]],
        },
        {
            name = "lab.tensor",
            brief = "makes a tensor of given values",
            arguments = { { "values", "number|table", "a number, for a scalar, or lists of numbers, nested up to 8 deep" } },
            options = making(),
            returns = made,
            blocks = "on the GPU: until the values have been copied",
            errors = {
                { "SL_ESHAPE", "lists of one level have different lengths, or are nested too deeply" },
                { "SL_EINVAL", "an element is no number, or a list has other keys besides" },
                table.unpack(not_made, 2),
            },
            example = [[
local t = lab.tensor{ { 1, 2, 3 }, { 4, 5, 6 } }
print(t)  --> tensor 2x3 float32 on cuda
print(t:get(2, 1))  --> 4.0
local bytes = lab.tensor({ 1.5, 2.5, 300 }, { dtype = "uint8" })
print(table.concat(bytes:totable(), " "))  --> 2.0 2.0 255.0]],
            pytorch = "torch.tensor",
            differs = [[Without `device =` it is on the GPU, and without `dtype =` of float32, also for whole numbers, which PyTorch makes int64.]],
            see = { "tensor:totable" },
        },
        {
            name = "tensor:size",
            brief = "the sizes of the tensor",
            arguments = { { "dimension", "integer", "which, from 1; -1 is the last", default = "all of them" } },
            returns = { { "integer", "that size; without a dimension all of them, one value each" } },
            errors = { { "SL_ESHAPE", "there is no such dimension" } },
            example = [[
local t = lab.empty(4, 8)
local rows, columns = t:size()
print(rows .. " by " .. columns)  --> 4 by 8
print(t:size(-1))  --> 8]],
            pytorch = "torch.Tensor.size",
            see = { "tensor.ndim", "tensor:numel" },
        },
        {
            name = "tensor:numel",
            brief = "how many elements the tensor has",
            returns = { { "integer", "the product of its sizes; 1 for a scalar" } },
            example = [[
local t = lab.empty(4, 8)
print(t:numel())  --> 32]],
            pytorch = "torch.Tensor.numel",
        },
        {
            name = "tensor:nbytes",
            brief = "how many bytes the elements take",
            returns = { { "integer", "their bytes" } },
            example = [[
local t = lab.empty(4, 8, { dtype = "bfloat16" })
print(t:nbytes())  --> 64]],
            pytorch = "torch.Tensor.nbytes",
        },
        {
            name = "tensor:get",
            brief = "an element",
            arguments = { { "...", "integer", "its indices, one a dimension, from 1" } },
            returns = { { "number", "the value" } },
            blocks = looking,
            errors = { { "SL_ESHAPE", "an index is out of range, or there is not one a dimension" } },
            about = [[PyTorch: `t[i, j].item()`.]],
            example = [[
local t = lab.tensor{ { 1, 2 }, { 3, 4 } }
lab.spin(5)
local start_us = lab.now_us()
print(t:get(2, 1))  --> 3.0
print((lab.now_us() - start_us) // 1000 .. " ms")  --> 5.0 ms]],
            pytorch = "torch.Tensor.__getitem__",
            differs = [[Indices begin at 1, and none counts from the end. It gives the number and waits; PyTorch's `x[0, 0]` is a tensor, a view.]],
            see = { "tensor:item", "tensor:totable" },
        },
        {
            name = "tensor:set",
            brief = "sets an element",
            arguments = {
                { "...", "integer", "its indices, one a dimension, from 1" },
                { "value", "number", "the new value" },
            },
            returns = { { "tensor", "the tensor itself" } },
            blocks = looking,
            errors = { { "SL_ESHAPE", "an index is out of range, or there is not one a dimension" } },
            about = [[PyTorch: `t[i, j] = value`.]],
            example = [[
local t = lab.zeros(2, 2)
t:set(1, 2, 7):set(2, 1, 8)
print(lab.sum(t):item())  --> 15.0]],
            pytorch = "torch.Tensor.__setitem__",
            see = { "tensor:fill_" },
        },
        {
            name = "tensor:item",
            brief = "the number in a tensor of one element",
            returns = { { "number", "the value" } },
            blocks = looking,
            errors = { { "SL_ESHAPE", "the tensor has not exactly one element" } },
            example = [[
local loss = lab.sum(lab.full(0.5, 10))
print(loss)  --> tensor scalar float32 on cuda
print(loss:item())  --> 5.0]],
            pytorch = "torch.Tensor.item",
            differs = [[A number of an int32 or uint8 is a float as well, 1.0.]],
            see = { "tensor:get" },
        },
        {
            name = "tensor:totable",
            brief = "all values, as nested tables",
            returns = { { "table|number", "lists in lists, as deep as the tensor has dimensions; a number for a scalar" } },
            blocks = looking,
            example = [[
local rows = lab.tensor{ { 1, 2 }, { 3, 4 } }:totable()
print(#rows)  --> 2
print(rows[2][1])  --> 3.0]],
            pytorch = "torch.Tensor.tolist",
            differs = [[Numbers of an int32 or uint8 are floats as well, 1.0.]],
            see = { "lab.tensor", "tensor:get" },
        },
        {
            name = "lab.allclose",
            brief = "asks whether two tensors have nearly the same values",
            arguments = {
                { "a", "tensor", "one tensor, wherever it is" },
                { "b", "tensor", "another one of that shape; place and dtype may differ" },
            },
            options = {
                { "rtol", "number", "how far values may differ, relative to those of b", default = "1e-5" },
                { "atol", "number", "how far values may differ in any case", default = "1e-8" },
            },
            returns = { { "boolean", "whether each element of a differs from that of b by at most atol + rtol times the latter's absolute value; NaN is close to nothing" } },
            blocks = looking,
            errors = { { "SL_ESHAPE", "the shapes differ" } },
            example = [[
local a, b = lab.ones(3), lab.full(1.001, 3)
print(lab.allclose(a, b))  --> false
print(lab.allclose(a, b, { rtol = 0.01 }))  --> true]],
            pytorch = "torch.allclose",
            differs = [[The shapes are the same, and the two may be in different places and of different dtypes.]],
        },
        {
            name = "tensor:allclose",
            brief = "asks whether another tensor has nearly the same values",
            arguments = { { "other", "tensor", "the tensor b of `lab.allclose`" } },
            options = {
                { "rtol", "number", "as for `lab.allclose`", default = "1e-5" },
                { "atol", "number", "as for `lab.allclose`", default = "1e-8" },
            },
            returns = { { "boolean", "whether the values are close" } },
            blocks = looking,
            errors = { { "SL_ESHAPE", "the shapes differ" } },
            example = [[
local t = lab.rand(10)
print(t:allclose(t:cpu()))  --> true]],
            pytorch = "torch.Tensor.allclose",
            differs = [[The shapes are the same, and the two may be in different places and of different dtypes.]],
            see = { "lab.allclose" },
        },
        {
            name = "tensor:copy_",
            brief = "copies another tensor's values into this one",
            arguments = { { "src", "tensor", "the source, of the same shape and dtype, on the host or a GPU" } },
            options = { copy_non_blocking, copy_stream },
            returns = { { "tensor", "the tensor itself, the destination" } },
            blocks = copy_blocks,
            errors = {
                { "SL_ESHAPE", "the shapes differ" },
                { "SL_EDTYPE", "the dtypes differ: a copy does not convert" },
                { "SL_EDEVICE", "the stream is of neither device, or the two are simulated devices" },
                { "SL_EINVAL", "the two are views that share some of their bytes, but not all" },
            },
            about = [[A copy of a tensor onto itself does nothing. From GPU to GPU see "Several GPUs" on the page Devices.]],
            example = [[
local batch = lab.full(3, 4, { device = "cpu", pinned = true })
local input = lab.empty(4)  -- made once, filled again and again
input:copy_(batch, { non_blocking = true })
print(lab.sum(input):item())  --> 12.0]],
            cuda = "cudaMemcpyAsync",
            pytorch = "torch.Tensor.copy_",
            differs = [[It neither converts nor expands: shape and dtype are the same on both sides.]],
            see = { "tensor:to", "lab.cuda.memcpy_async" },
        },
        {
            name = "tensor:to",
            brief = "the tensor's values in another place or dtype",
            arguments = { { "place", places, [[where: "cuda", "cpu", "cuda:1", or a device of `lab.open`; or the name of a dtype]] } },
            options = moving,
            returns = moved,
            blocks = copy_blocks,
            errors = not_moved,
            about = [[
`"cuda"` without a number is the GPU of `stream`, else the current one. As in PyTorch, `t:to("cpu", { non_blocking = true })` makes a pinned result and without `non_blocking`
a pageable one, unless `pinned =` says otherwise. From GPU to GPU see "Several GPUs" on the page Devices.

With a dtype, `t:to("float64")`, it is a kernel that casts, `t:double()`, on the GPU alone and with the options `out` and `stream`. A place and a dtype are two calls. Numbers
are rounded to the nearest, to even between two; to int32 and uint8 they are cut off towards zero and saturate, and NaN becomes 0, where PyTorch leaves open what comes out.]],
            example = [[
local host = lab.ones(1000, 1000, { device = "cpu", pinned = true })
local s = lab.stream()
local t = host:to("cuda", { non_blocking = true, stream = s })
print(t)  --> tensor 1000x1000 float32 on cuda
print(s:query())  --> false
print(t:to("cuda") == t)  --> true]],
            cuda = "cudaMemcpyAsync",
            pytorch = "torch.Tensor.to",
            see = { "tensor:copy_", "tensor:cpu", "tensor:cuda", "tensor:float" },
        },
        {
            name = "tensor:cpu",
            brief = "the tensor's values on the host",
            options = moving,
            returns = moved,
            blocks = copy_blocks,
            errors = { not_moved[2], not_moved[4] },
            about = [[It is `t:to("cpu", ...)`. With `non_blocking` the values are there when the stream has come so far, and not before.]],
            example = [[
local t = lab.ones(1000)
lab.spin(1)
local host = t:cpu{ non_blocking = true }
print(host)  --> tensor 1000 float32 on cpu (pinned)
print(host:get(1))  --> 0.0
lab.synchronize()
print(host:get(1))  --> 1.0]],
            cuda = "cudaMemcpyAsync",
            pytorch = "torch.Tensor.cpu",
            see = { "tensor:to" },
        },
        {
            name = "tensor:cuda",
            brief = "the tensor's values on a GPU",
            arguments = { { "index", "integer", "the number of the GPU, from 0", default = "the GPU of `stream`, else the current one" } },
            options = {
                copy_non_blocking, { "pinned", "boolean", "only false fits, since memory of a GPU is not pinned", default = "false" },
                copy_stream,
            },
            returns = moved,
            blocks = copy_blocks,
            errors = { table.unpack(not_moved, 2) },
            about = [[It is `t:to("cuda", ...)`. The index can be left out before the options: `t:cuda{ non_blocking = true }`.]],
            example = [[
local host = lab.tensor({ 1, 2, 3 }, { device = "cpu" })
local t = host:cuda()
print(t)  --> tensor 3 float32 on cuda
print(t:cuda() == t)  --> true]],
            cuda = "cudaMemcpyAsync",
            pytorch = "torch.Tensor.cuda",
            see = { "tensor:to" },
        },
        {
            name = "tensor:pin_memory",
            brief = "a page-locked copy of a host tensor",
            returns = { { "tensor", "a new pinned tensor; the tensor itself if it is pinned" } },
            blocks = "for as long as the host needs to copy; on a real GPU page-locking new memory may wait for the GPU",
            errors = { { "SL_EPLACE", "the tensor is on a GPU" }, { "SL_ENOMEM", "out of memory" } },
            example = [[
local host = lab.ones(4, { device = "cpu" })
print(host:pin_memory())  --> tensor 4 float32 on cpu (pinned)
print(host.pinned)  --> false]],
            pytorch = "torch.Tensor.pin_memory",
            see = { "tensor:pin" },
        },
        {
            name = "tensor:pin",
            brief = "page-locks a host tensor's memory where it is",
            returns = { { "tensor", "the tensor itself" } },
            blocks = "for as long as the call takes, some 34 us a MiB on an H200's host; on a real GPU as CUDA does",
            errors = {
                { "SL_EPLACE", "the tensor is on a GPU" },
                { "SL_ESTATE", "it is pinned already" },
                { "SL_EINVAL", "it is a view: the tensor that it was made of is pinned, with all its views" },
            },
            about = [[It copies nothing, and costs less than new pinned memory. `lab.cuda.host_register` is the same.]],
            example = [[
local host = lab.ones(1024, 1024, { device = "cpu" }):pin()
local t = lab.empty(1024, 1024):copy_(host, { non_blocking = true })
print(lab.current_stream():query())  --> false
host:unpin()
print(host.pinned)  --> false]],
            cuda = "cudaHostRegister",
            see = { "tensor:unpin", "tensor:pin_memory", "lab.cuda.host_register" },
        },
        {
            name = "tensor:unpin",
            brief = "undoes what t:pin() did",
            returns = { { "tensor", "the tensor itself" } },
            blocks = "until all work of the device is done (simulator, by the profile); on a real GPU as CUDA does",
            errors = {
                { "SL_EPLACE", "the tensor is on a GPU" },
                { "SL_ESTATE", "it is not pinned, or was made pinned: only what `pin` has pinned can be unpinned" },
                { "SL_EINVAL", "it is a view" },
            },
            example = [[
local host = lab.ones(4, { device = "cpu" }):pin()
lab.spin(2)
host:unpin()  -- waits
print(lab.current_stream():query())  --> true
print(host)  --> tensor 4 float32 on cpu]],
            cuda = "cudaHostUnregister",
            see = { "tensor:pin", "lab.cuda.host_unregister" },
        },
        {
            name = "tensor:fill_",
            brief = "sets all elements to a value",
            arguments = { { "value", "number", "the value" } },
            options = { { "stream", "stream", "the stream", default = "the current stream of the tensor's device" } },
            returns = { { "tensor", "the tensor itself" } },
            errors = { { "SL_EDEVICE", "the stream is another device's" } },
            about = [[
On the GPU it is a kernel in the stream, and a memset for zero and for uint8; on the host it is done on return. A stream may also be given by itself, `t:fill_(1, s)`.]],
            example = [[
local t = lab.empty(4)
print(lab.sum(t:fill_(2.5)):item())  --> 10.0]],
            pytorch = "torch.Tensor.fill_",
            differs = [[A fraction is rounded in an int32; PyTorch cuts it off.]],
            see = { "tensor:zero_", "lab.full" },
        },
        {
            name = "tensor:zero_",
            brief = "sets all elements to zero",
            options = { { "stream", "stream", "the stream", default = "the current stream of the tensor's device" } },
            returns = { { "tensor", "the tensor itself" } },
            errors = { { "SL_EDEVICE", "the stream is another device's" } },
            about = [[On the GPU it is a memset in the stream; on the host it is done on return. A stream may also be given by itself, `t:zero_(s)`.]],
            example = [[
local t = lab.ones(4)
print(lab.sum(t:zero_()):item())  --> 0.0]],
            cuda = "cudaMemsetAsync",
            pytorch = "torch.Tensor.zero_",
            see = { "tensor:fill_" },
        },
        {
            name = "tensor:free",
            brief = "frees the tensor",
            errors = { { "SL_ESTATE", "called by a host function" } },
            about = [[
You cannot use the tensor any more. Queued work that uses it has its memory until it is done; then any new tensor may get it. In the stream that the tensor was made in the next
tensor of its size gets it at once, as in PyTorch, because its work comes behind what is queued there; unless another stream has work on it. (Of its size: not larger, and not smaller than about half.
PyTorch also gives out parts.) A new tensor whose first use is in another stream, or of a part (a view), has memory of its own all the same. Freeing a tensor again is an error (`SL_ECLOSED`). `local t <close> = lab.empty(n)`
frees it at the end of the block. The garbage collector frees tensors in the same way, when it runs.]],
            example = [[
local t = lab.zeros(1024)
lab.spin(2)
local sum = t + 1  -- still has to run
t:free()
print(lab.live().device_bytes)  --> 8192
local u = lab.zeros(1024)  -- has the memory of t
print(lab.live().device_bytes)  --> 8192
print(t.freed, u.freed)  --> true	false]],
            differs = [[PyTorch frees a tensor when its last name goes; here the garbage collector does at some time, or this call at once. `record_stream` is not needed: memory that another stream still uses is kept.]],
            see = { "lab.cuda.free", "lab.cuda.free_async", "lab.live", "tensor.freed" },
        },
        {
            name = "tensor:matmul",
            brief = "the matrix product with another matrix, or of stacks of them",
            arguments = { { "b", "tensor", "the matrix to its right, or a stack of as many" } },
            options = {
                { "out", "tensor", "where the result goes", default = "a new tensor" },
                { "stream", "stream", "the stream", default = "the current stream of the tensor's device" },
                { "tf32", "boolean", "whether a float32 product may use the tensor cores", default = "false" },
                { "bias", "tensor", "n elements, one of which is added to each column", default = "none" },
                { "activation", "string", "`relu` or `gelu`", default = "none" },
            },
            returns = { { "tensor", "the product" } },
            about = [[It is `lab.matmul(t, b, ...)`, errors included.]],
            example = [[
local a = lab.tensor{ { 1, 2 }, { 3, 4 } }
print(a:matmul(a):get(1, 1))  --> 7.0]],
            pytorch = "torch.Tensor.matmul, torch.Tensor.bmm",
            differs = [[Matrices and stacks of them: no vectors, and of broadcasting only one b for all matrices of the tensor. TF32 is an option of each call, off as in PyTorch. It is for tensors on a GPU alone.]],
            see = { "lab.matmul" },
        },
        {
            name = "tensor:pow",
            brief = "each element to a power",
            arguments = { { "exponent", "number", "the power" } },
            options = {
                { "out", "tensor", "where the result goes", default = "a new tensor" },
                { "stream", "stream", "the stream", default = "the current stream of the tensor's device" },
            },
            returns = { { "tensor", "the powers" } },
            about = [[It is `lab.pow(t, exponent, ...)`, errors included, and `t ^ exponent` is the same.]],
            example = [[
local t = lab.tensor{ 1, 2, 3 }
print(t:pow(2):get(3))  --> 9.0
print((t ^ 3):get(2))  --> 8.0]],
            pytorch = "torch.Tensor.pow",
            differs = [[The exponent is a number, and not the base. It is for tensors on a GPU alone.]],
            see = { "lab.pow" },
        },
        {
            name = "tensor:add",
            brief = "the sum with another tensor or a number",
            arguments = { { "b", "tensor|number", "what is added to each element" } },
            options = {
                { "out", "tensor", "where the result goes", default = "a new tensor" },
                { "stream", "stream", "the stream", default = "the current stream of the tensor's device" },
            },
            returns = { { "tensor", "the sums" } },
            about = [[It is `lab.add(t, b, ...)`, errors included, and `t + b` is the same.]],
            example = [[
local t = lab.tensor{ 1, 2 }
print(t:add(10):get(2))  --> 12.0
t:add(1, { out = t })  -- in place
print(t:get(1))  --> 2.0]],
            pytorch = "torch.Tensor.add",
            differs = [[Both sides have one shape and one dtype: nothing is expanded or promoted, and an int32 is not divided. It is for tensors on a GPU alone.]],
            see = { "lab.add" },
        },
        {
            name = "tensor:sub",
            brief = "the difference from another tensor or a number",
            arguments = { { "b", "tensor|number", "what is subtracted from each element" } },
            options = {
                { "out", "tensor", "where the result goes", default = "a new tensor" },
                { "stream", "stream", "the stream", default = "the current stream of the tensor's device" },
            },
            returns = { { "tensor", "the differences" } },
            about = [[It is `lab.sub(t, b, ...)`, errors included, and `t - b` is the same.]],
            example = [[
local t = lab.tensor{ 5, 7 }
print(t:sub(4):get(1))  --> 1.0
print((t - t):get(2))  --> 0.0]],
            pytorch = "torch.Tensor.sub",
            differs = [[Both sides have one shape and one dtype: nothing is expanded or promoted, and an int32 is not divided. It is for tensors on a GPU alone.]],
            see = { "lab.sub" },
        },
        {
            name = "tensor:mul",
            brief = "the product, element by element, with another tensor or a number",
            arguments = { { "b", "tensor|number", "what each element is multiplied with" } },
            options = {
                { "out", "tensor", "where the result goes", default = "a new tensor" },
                { "stream", "stream", "the stream", default = "the current stream of the tensor's device" },
            },
            returns = { { "tensor", "the products" } },
            about = [[It is `lab.mul(t, b, ...)`, errors included, and `t * b` is the same.]],
            example = [[
local t = lab.tensor{ 3, 4 }
print(t:mul(t):get(2))  --> 16.0]],
            pytorch = "torch.Tensor.mul",
            differs = [[Both sides have one shape and one dtype: nothing is expanded or promoted, and an int32 is not divided. It is for tensors on a GPU alone. An `out` of another shape is refused.]],
            see = { "lab.mul" },
        },
        {
            name = "tensor:div",
            brief = "the quotient, element by element, by another tensor or a number",
            arguments = { { "b", "tensor|number", "what each element is divided by" } },
            options = {
                { "out", "tensor", "where the result goes", default = "a new tensor" },
                { "stream", "stream", "the stream", default = "the current stream of the tensor's device" },
            },
            returns = { { "tensor", "the quotients" } },
            about = [[It is `lab.div(t, b, ...)`, errors included, and `t / b` is the same.]],
            example = [[
local t = lab.tensor{ 3, 4 }
print(t:div(2):get(1))  --> 1.5]],
            pytorch = "torch.Tensor.div",
            differs = [[Both sides have one shape and one dtype: nothing is expanded or promoted, and an int32 is not divided. It is for tensors on a GPU alone.]],
            see = { "lab.div" },
        },
        {
            name = "tensor:neg",
            brief = "each element with the other sign",
            options = {
                { "out", "tensor", "where the result goes", default = "a new tensor" },
                { "stream", "stream", "the stream", default = "the current stream of the tensor's device" },
            },
            returns = { { "tensor", "the values with the other sign" } },
            about = [[It is `lab.neg(t, ...)`, errors included, and `-t` is the same.]],
            example = [[
local t = lab.tensor{ 3, -4 }
print(t:neg():get(2))  --> 4.0]],
            pytorch = "torch.Tensor.neg",
            differs = [[It is for tensors on a GPU alone.]],
            see = { "lab.neg" },
        },
        {
            name = "tensor:relu",
            brief = "each element, and 0 for what is below 0",
            options = {
                { "out", "tensor", "where the result goes", default = "a new tensor" },
                { "stream", "stream", "the stream", default = "the current stream of the tensor's device" },
            },
            returns = { { "tensor", "the result" } },
            about = [[It is `lab.relu(t, ...)`, errors included.]],
            example = [[
local t = lab.tensor{ 3, -4 }
print(lab.sum(t:relu()):item())  --> 3.0]],
            pytorch = "torch.Tensor.relu",
            differs = [[It is for tensors on a GPU alone.]],
            see = { "lab.relu" },
        },
        {
            name = "tensor:softmax",
            brief = "the softmax over the last dimension",
            options = {
                { "out", "tensor", "where the result goes", default = "a new tensor" },
                { "stream", "stream", "the stream", default = "the current stream of the tensor's device" },
            },
            returns = { { "tensor", "the softmax" } },
            about = [[It is `lab.softmax(t, ...)`, errors included.]],
            example = [[
local t = lab.zeros(2, 4)
print(t:softmax():get(1, 1))  --> 0.25]],
            pytorch = "torch.Tensor.softmax",
            differs = [[Over the last dimension always. It is for tensors on a GPU alone.]],
            see = { "lab.softmax" },
        },
        {
            name = "tensor:sum",
            brief = "the sum of all elements",
            options = {
                { "out", "tensor", "where the result goes", default = "a new tensor" },
                { "stream", "stream", "the stream", default = "the current stream of the tensor's device" },
            },
            returns = { { "tensor", "a tensor of one element" } },
            about = [[It is `lab.sum(t, ...)`, errors included.]],
            example = [[
local t = lab.tensor{ 1, 2, 3 }
print(t:sum():item())  --> 6.0]],
            pytorch = "torch.Tensor.sum",
            differs = [[All elements are summed, not one dimension. The sum of int32 is an int32; PyTorch's an int64. It is for tensors on a GPU alone.]],
            see = { "lab.sum" },
        },
        {
            name = "tensor:transpose",
            brief = "two dimensions change places, in a copy",
            arguments = {
                { "d1", "integer", "one dimension, from 1; -1 is the last" },
                { "d2", "integer", "the other one" },
            },
            options = {
                { "out", "tensor", "where the result goes", default = "a new tensor" },
                { "stream", "stream", "the stream", default = "the current stream of the tensor's device" },
            },
            returns = { { "tensor", "the transposed tensor, no view" } },
            about = [[It is `lab.transpose(t, d1, d2, ...)`, errors included.]],
            example = [[
local t = lab.tensor{ { 1, 2, 3 }, { 4, 5, 6 } }
print(t:transpose(1, 2):get(3, 2))  --> 6.0]],
            pytorch = "torch.Tensor.transpose",
            differs = [[It is a kernel that copies; PyTorch's is a view. Dimensions begin at 1. It is for tensors on a GPU alone.]],
            see = { "lab.transpose", "tensor:t" },
        },
        {
            name = "tensor:t",
            brief = "the transposed matrix, a copy",
            options = {
                { "out", "tensor", "where the result goes", default = "a new tensor" },
                { "stream", "stream", "the stream", default = "the current stream of the tensor's device" },
            },
            returns = { { "tensor", "the transposed matrix, no view" } },
            errors = { { "SL_ESHAPE", "the tensor is no matrix" } },
            about = [[It is `lab.transpose(t, 1, 2, ...)`, a kernel.]],
            example = [[
local t = lab.tensor{ { 1, 2, 3 } }
print(t:t())  --> tensor 3x1 float32 on cuda
print(lab.matmul(t, t:t()):item())  --> 14.0]],
            pytorch = "torch.Tensor.t, torch.Tensor.T, torch.Tensor.mT",
            differs = [[It is a kernel that copies; PyTorch's is a view. It is for tensors on a GPU alone.]],
            see = { "lab.transpose", "tensor:transpose" },
        },
        {
            name = "tensor:float",
            brief = "the numbers in float32",
            options = {
                { "out", "tensor", "where the result goes, of that dtype; apart from the tensor", default = "a new tensor" },
                { "stream", "stream", "the stream", default = "the current stream of the tensor's device" },
            },
            returns = { { "tensor", "a tensor of float32; the tensor itself if it is one and there is no `out`" } },
            errors = {
                { "SL_EPLACE", "the tensor is on the host" },
                { "SL_EDTYPE", "`out` has another dtype" },
                { "SL_ESHAPE", "`out` has another shape" },
                { "SL_EINVAL", "`out` is the tensor, or shares memory with it" },
            },
            about = [[It is `t:to("float32", ...)`, which says what becomes of the numbers: a kernel on the GPU.]],
            example = [[
local t = lab.tensor({ 1, 2 }, { dtype = "int32" })
print(t:float() / 4)  --> tensor 2 float32 on cuda]],
            pytorch = "torch.Tensor.float",
            differs = [[It is for tensors on a GPU alone.]],
            see = { "tensor:to" },
        },
        {
            name = "tensor:double",
            brief = "the numbers in float64",
            options = {
                { "out", "tensor", "where the result goes, of that dtype; apart from the tensor", default = "a new tensor" },
                { "stream", "stream", "the stream", default = "the current stream of the tensor's device" },
            },
            returns = { { "tensor", "a tensor of float64; the tensor itself if it is one and there is no `out`" } },
            errors = {
                { "SL_EPLACE", "the tensor is on the host" },
                { "SL_EDTYPE", "`out` has another dtype" },
                { "SL_ESHAPE", "`out` has another shape" },
                { "SL_EINVAL", "`out` is the tensor, or shares memory with it" },
            },
            about = [[It is `t:to("float64", ...)`, which says what becomes of the numbers: a kernel on the GPU.]],
            example = [[
local t = lab.full(0.1, 2):double()
print(t:get(1) == 0.1)  --> false
print(t.dtype)  --> float64]],
            pytorch = "torch.Tensor.double",
            differs = [[It is for tensors on a GPU alone.]],
            see = { "tensor:to" },
        },
        {
            name = "tensor:half",
            brief = "the numbers in float16",
            options = {
                { "out", "tensor", "where the result goes, of that dtype; apart from the tensor", default = "a new tensor" },
                { "stream", "stream", "the stream", default = "the current stream of the tensor's device" },
            },
            returns = { { "tensor", "a tensor of float16; the tensor itself if it is one and there is no `out`" } },
            errors = {
                { "SL_EPLACE", "the tensor is on the host" },
                { "SL_EDTYPE", "`out` has another dtype" },
                { "SL_ESHAPE", "`out` has another shape" },
                { "SL_EINVAL", "`out` is the tensor, or shares memory with it" },
            },
            about = [[It is `t:to("float16", ...)`, which says what becomes of the numbers: a kernel on the GPU.]],
            example = [[
local t = lab.tensor{ 2049, 70000 }:half()
print(t:get(1) .. " " .. t:get(2))  --> 2048.0 inf]],
            pytorch = "torch.Tensor.half",
            differs = [[It is for tensors on a GPU alone.]],
            see = { "tensor:to" },
        },
        {
            name = "tensor:bfloat16",
            brief = "the numbers in bfloat16",
            options = {
                { "out", "tensor", "where the result goes, of that dtype; apart from the tensor", default = "a new tensor" },
                { "stream", "stream", "the stream", default = "the current stream of the tensor's device" },
            },
            returns = { { "tensor", "a tensor of bfloat16; the tensor itself if it is one and there is no `out`" } },
            errors = {
                { "SL_EPLACE", "the tensor is on the host" },
                { "SL_EDTYPE", "`out` has another dtype" },
                { "SL_ESHAPE", "`out` has another shape" },
                { "SL_EINVAL", "`out` is the tensor, or shares memory with it" },
            },
            about = [[It is `t:to("bfloat16", ...)`, which says what becomes of the numbers: a kernel on the GPU.]],
            example = [[
local t = lab.tensor{ 257 }:bfloat16()
print(t:get(1))  --> 256.0]],
            pytorch = "torch.Tensor.bfloat16",
            differs = [[It is for tensors on a GPU alone.]],
            see = { "tensor:to" },
        },
        {
            name = "tensor:int",
            brief = "the numbers in int32",
            options = {
                { "out", "tensor", "where the result goes, of that dtype; apart from the tensor", default = "a new tensor" },
                { "stream", "stream", "the stream", default = "the current stream of the tensor's device" },
            },
            returns = { { "tensor", "a tensor of int32; the tensor itself if it is one and there is no `out`" } },
            errors = {
                { "SL_EPLACE", "the tensor is on the host" },
                { "SL_EDTYPE", "`out` has another dtype" },
                { "SL_ESHAPE", "`out` has another shape" },
                { "SL_EINVAL", "`out` is the tensor, or shares memory with it" },
            },
            about = [[It is `t:to("int32", ...)`, which says what becomes of the numbers: a kernel on the GPU.]],
            example = [[
local t = lab.tensor{ 2.9, -2.9 }:int()
print(t:get(1) .. " " .. t:get(2))  --> 2.0 -2.0]],
            pytorch = "torch.Tensor.int",
            differs = [[It is for tensors on a GPU alone.]],
            see = { "tensor:to" },
        },
        {
            name = "tensor:byte",
            brief = "the numbers in uint8",
            options = {
                { "out", "tensor", "where the result goes, of that dtype; apart from the tensor", default = "a new tensor" },
                { "stream", "stream", "the stream", default = "the current stream of the tensor's device" },
            },
            returns = { { "tensor", "a tensor of uint8; the tensor itself if it is one and there is no `out`" } },
            errors = {
                { "SL_EPLACE", "the tensor is on the host" },
                { "SL_EDTYPE", "`out` has another dtype" },
                { "SL_ESHAPE", "`out` has another shape" },
                { "SL_EINVAL", "`out` is the tensor, or shares memory with it" },
            },
            about = [[It is `t:to("uint8", ...)`, which says what becomes of the numbers: a kernel on the GPU.]],
            example = [[
local t = lab.tensor{ 2.9, 300 }:byte()
print(t:get(1) .. " " .. t:get(2))  --> 2.0 255.0]],
            pytorch = "torch.Tensor.byte",
            differs = [[It is for tensors on a GPU alone.]],
            see = { "tensor:to" },
        },
        { name = "tensor.dtype", type = dtypes, brief = "the type of its elements", pytorch = "torch.Tensor.dtype" },
        {
            name = "tensor.device", type = [["cuda"|"cpu"]], brief = "where it is",
            pytorch = "torch.Tensor.device, torch.Tensor.is_cuda",
            differs = [[`"cuda"` without a number for the first GPU.]],
        },
        {
            name = "tensor.device_index", type = "integer|nil", brief = "the number of its GPU; nil on the host",
            pytorch = "torch.Tensor.get_device",
            differs = [[On the host nil, not -1.]],
        },
        { name = "tensor.pinned", type = "boolean", brief = "whether it is page-locked host memory", pytorch = "torch.Tensor.is_pinned" },
        { name = "tensor.ndim", type = "integer", brief = "how many dimensions it has; 0 of a scalar", pytorch = "torch.Tensor.ndim" },
        { name = "tensor.id", type = "integer", brief = "its number on its device, in the order of creation, which random numbers depend on" },
        { name = "tensor.freed", type = "boolean", brief = "whether it was freed; the one field that a freed tensor has" },
        dtype "float32", dtype "float64", dtype "bfloat16", dtype "float16", dtype "int32", dtype "uint8",
    },
    more = [[
## When copies block

Without `non_blocking`, until the copy is done. With it:

| | pinned | pageable |
|---|---|---|
| host to device | not | while the host copies the bytes into staging buffers, and for a free buffer; above `h2d_async_bytes` also for the earlier work of the stream |
| device to host | not | until the bytes have arrived |

`h2d_async_bytes` is a figure of the profile, 2 MiB on the H200. On a real GPU the driver decides about pageable memory; the profile of the H200 has what was measured
there. Copies within a GPU, and from one to another, never block, with `non_blocking` or without it; copies within the host are done on return.

A copy that does not block reads pinned memory when it runs, not when it is called: what a script writes there before that is copied, too.]],
}
