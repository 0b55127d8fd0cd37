local view = { { "tensor", "a view" } }

return {
    title = "Views",
    order = 45,
    about = [[
A view is a tensor that shares the memory of another, or a part of it: what is written through the one is read through the other. Making one copies nothing and takes no time
on the GPU, and works wherever the memory is: on a GPU, pinned or pageable. Everything that takes a tensor takes a view, and a view has a number of its own (`t.id`). All views
here are **contiguous**: their elements lie in one piece, row by row. A part that does not is refused, and `t:transpose` and `t:t`, which are views in PyTorch, copy.

With views a pipeline works on one tensor chunk by chunk:

```lua
local host, gpu = lab.ones(1 << 24, { device = "cpu", pinned = true }), lab.empty(1 << 24)
local from, to, streams = host:chunk(4), gpu:chunk(4), { lab.stream(), lab.stream() }
for i = 1, 4 do
    local s = streams[i % 2 + 1]
    to[i]:copy_(from[i], { non_blocking = true, stream = s })
    lab.pow(to[i], 2, { out = to[i], stream = s })
end
```

**Which bytes.** Operations on views that do not overlap touch different memory, so no event has to order them. `out` of a kernel may be the very bytes of an operand, but
not share a part of them (`SL_EINVAL`), and with `matmul` none at all; nor may the two sides of a copy share a part.

**Memory** stays as long as any tensor or operation needs it: `t:free()` of a tensor leaves its views as they are, and `v:free()` of a view only drops that view. The plain
calls of CUDA take the whole: `lab.cuda.free` and its like, `t:pin()` and `t:unpin()` refuse a view, and act on all views of the tensor that they are given; after
`lab.cuda.free(t)` these are freed, too. On a real GPU a view that does not begin at a multiple of 16 bytes makes kernels slower, and cuBLAS may choose another algorithm;
its results are right all the same.]],
    entries = {
        {
            name = "tensor:view",
            brief = "the same elements in other sizes",
            arguments = { { "...", "integer", "the sizes, up to 8; one may be -1: what is left; none: a scalar" } },
            returns = view,
            errors = {
                { "SL_ESHAPE", "the sizes do not hold just the tensor's elements, two are -1, one is less, or there are more than 8" },
            },
            example = [[
local t = lab.tensor{ 1, 2, 3, 4, 5, 6 }
local m = t:view(2, -1)
print(m)  --> tensor 2x3 float32 on cuda (view)
m:set(2, 1, 40)
print(t:get(4))  --> 40.0]],
            pytorch = "torch.Tensor.view",
            see = { "tensor:narrow", "tensor:size" },
        },
        {
            name = "tensor:narrow",
            brief = "a part of one dimension",
            arguments = {
                { "dim", "integer", "the dimension, from 1; -1 is the last" },
                { "start", "integer", "its first position in the part, from 1" },
                { "length", "integer", "how many positions" },
            },
            returns = view,
            errors = {
                { "SL_ESHAPE", "there is no such dimension, the positions are not there, or the part does not lie in one piece: a dimension before `dim` is larger than 1" },
                { "SL_EINVAL", "start is less than 1, or length than 0" },
            },
            example = [[
local t = lab.tensor{ { 1, 2 }, { 3, 4 }, { 5, 6 } }
local rows = t:narrow(1, 2, 2)
print(rows)  --> tensor 2x2 float32 on cuda (view)
print(rows:get(1, 1))  --> 3.0
local _, err = pcall(t.narrow, t, 2, 1, 1)
print(err.code)  --> SL_ESHAPE]],
            pytorch = "torch.narrow",
            differs = [[Dimensions and positions begin at 1, where PyTorch counts from 0, and the part must be contiguous.]],
            see = { "tensor:chunk" },
        },
        {
            name = "tensor:chunk",
            brief = "cuts the first dimension into parts",
            arguments = { { "n", "integer", "how many parts, from 1" } },
            returns = { { "tensor[]", "the views: n of one size, but the last may be smaller, and there may be fewer" } },
            errors = {
                { "SL_ESHAPE", "it is a scalar" },
                { "SL_EINVAL", "n is less than 1" },
            },
            about = [[
Each part has the first dimension's size divided by n, rounded up, as with torch.chunk: 10 in 4 parts are 3, 3, 3 and 1, and 9 in 4 are three parts of 3.]],
            example = [[
local parts = lab.ones(10, 2):chunk(4)
print(#parts, parts[1]:size(1), parts[4]:size(1))  --> 4	3	1
parts[4]:zero_()]],
            pytorch = "torch.chunk",
            see = { "tensor:narrow" },
        },
        {
            name = "tensor:storage_offset",
            brief = "how many elements of the memory lie before its first one",
            returns = { { "integer", "elements, 0 for a tensor that is no view" } },
            example = [[
local t = lab.ones(3, 4)
print(t:narrow(1, 2, 2):storage_offset())  --> 4]],
            pytorch = "torch.Tensor.storage_offset",
            see = { "tensor.is_view" },
        },
        {
            name = "tensor.is_view",
            type = "boolean",
            brief = "whether it was made of another tensor, whose memory it shares",
            about = [[The tensor that a view was made of stays what it was: `false`.]],
            see = { "tensor:view" },
        },
    },
}
