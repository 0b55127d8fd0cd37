-- pytorch.lua - facts: PyTorch. all.lua says what the fields mean.

local events_page <const> = "docs/guide/04-events.md"
local pinned_page <const> = "docs/guide/05-pinned-memory.md"
local implicit_page <const> = "docs/guide/06-implicit-synchronisation.md"
local pipelines_page <const> = "docs/guide/08-pipelines.md"
local experiments <const> = "docs/results/experiments.md"

return {
    title = "PyTorch",
    {
        id = "torch-streams",
        fact = "PyTorch makes its streams non-blocking, so that they take no part in the NULL "
            .. "stream's rule; a stream of the laboratory does unless it is made non_blocking.",
        holds = "PyTorch",
        source = { "torch_stream" },
        measured = "tests/torch/recorded.txt",
        stated = {
            { implicit_page, "PyTorch makes all of its streams so; in CUDA you have to ask for it." },
            { "docs/guide/01-first-overlap.md", "There every stream is exempt" },
            { "scripts/labs/01-first-streams/README.md", "PyTorch makes all of its streams so" },
            { "docs/causes.md", "as all streams of PyTorch do not" },
        },
        never = {
            { "torch%.cuda%.stream%(priority=%-1%) | lab%.stream{ priority = %-1 } |",
                "| `torch.cuda.Stream(priority=-1)` | `lab.stream{ priority = -1 }` |" },
        },
        pair = "a stream and the default stream",
    },
    {
        id = "to-cpu-pinned",
        fact = "The result of x.to(\"cpu\", non_blocking=True) is pinned, and must not be read "
            .. "before the copy is done; without non_blocking it is pageable.",
        holds = "PyTorch and the laboratory",
        source = { "torch_to" },
        measured = "tests/torch/recorded.txt",
        stated = {
            { pinned_page, "before an event or a synchronisation says that the copy is done" },
        },
        pair = "a copy to the host that does not wait",
    },
    {
        id = "torch-reuse",
        fact = "PyTorch hands memory of a freed tensor to the next one of the stream that it was "
            .. "made in. If another stream still uses it, Tensor.record_stream must say so.",
        holds = "PyTorch's allocator",
        source = { "torch_allocator", "torch_record" },
        measured = "tests/torch/recorded.txt",
        stated = {
            { pipelines_page, "Tensor.record_stream prevents that" },
        },
        pair = "memory that another stream still reads",
    },
    {
        id = "torch-pool",
        fact = "PyTorch has 32 streams for each priority, and hands the first out again after the "
            .. "last. Each stream of the laboratory is a new one.",
        holds = "PyTorch",
        source = { "torch_stream" },
        measured = "tests/torch/recorded.txt",
        stated = {
            { "docs/guide/02-lua.md", "each call makes a new stream, while PyTorch reuses 32" },
        },
        pair = "33 streams",
    },
    {
        id = "torch-priorities",
        fact = "PyTorch offers the first four of the GPU's priorities, 0 to -3; the laboratory "
            .. "offers all.",
        holds = "PyTorch on an H200",
        source = { "torch_stream" },
        measured = "tests/torch/recorded.txt",
        stated = {
            { "docs/guide/02-lua.md", "all of the GPU's priorities, 0 to -5; PyTorch uses only "
                .. "the first four" },
        },
        pair = "the range of priorities",
    },
    {
        id = "torch-allocator",
        fact = "By default PyTorch takes memory by cudaMalloc and keeps it in a cache; "
            .. "cudaMallocAsync is a choice.",
        holds = "PyTorch",
        source = { "torch_backend" },
        stated = {
            { "docs/reference/cuda-pytorch.md", "torch.empty" },
        },
        never = {
            { "cudamallocasync | torch%.empty", "`cudaMallocAsync` | `torch.empty` |" },
        },
        not_run = "It takes PyTorch.",
    },
    {
        id = "torch-profiler",
        fact = "cudaProfilerStart is torch.cuda.cudart().cudaProfilerStart() or "
            .. "torch.cuda.profiler.start(); torch.profiler is another thing.",
        holds = "PyTorch",
        source = { "torch_cudart" },
        stated = {
            { "docs/reference/cuda-pytorch.md", "torch.profiler.profile" },
        },
        never = {
            { "cudaprofilerstart | torch%.profiler",
                "`cudaProfilerStart` | `torch.profiler.profile.start` |" },
        },
        not_run = "It takes PyTorch.",
    },
    {
        id = "torch-default-stream",
        fact = "PyTorch's operations go to the current stream, at first the default one; collectives "
            .. "with async_op=True have streams of their own.",
        holds = "PyTorch; before 2.8 all collectives had",
        source = { "torch_notes" },
        stated = {
            { experiments, "collectives with async_op=True have streams of their own" },
        },
        never = {
            { "all pytorch cuda operations happen",
                "All PyTorch CUDA operations happen in the single default stream." },
        },
        not_run = "It takes PyTorch.",
    },
    {
        id = "torch-query",
        fact = "PyTorch's counterpart to cudaStreamQuery is torch.cuda.Stream.query().",
        holds = "PyTorch",
        source = { "torch_class" },
        stated = {
            { events_page, "torch.cuda.Stream.query(); here s:query()" },
            { experiments, "Not so: it is torch.cuda.Stream.query." },
        },
        not_run = "It takes PyTorch.",
    },
}
