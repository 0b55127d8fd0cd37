-- What a course calls things that are no names: {words, text, see =}. The words are separated by
-- commas; "-" and "_" are blanks, and a plural is found, too. `see` has names of entries and files
-- of the guide, of the labs and of the experiments.
local topics = {
    { "overlap, concurrency, asynchrony, parallelism",
        "Work of two streams can run at the same time: copies to the GPU, copies from it and kernels have "
        .. "engines of their own. A copy needs pinned memory for it, and each dependency an event. "
        .. "`timeline:overlap_us` says how long two kinds ran at once, `tap:overlap` asserts it.",
        see = { "timeline:overlap_us", "lab.stream", "guide/01-first-overlap", "guide/03-streams" } },
    { "double buffering, second buffer, ping pong buffer, multi buffering",
        "While a kernel reads one buffer, the next batch is copied into another one. An event behind the "
        .. "kernel says when its buffer may be overwritten: the copy's stream waits for it.",
        see = { "stream:wait_event", "guide/08-pipelines", "labs/04-pipelining-a-batch" } },
    { "prefetch, prefetching, data loading, DataLoader",
        "The next batch is copied while this one is computed: from pinned memory, with `non_blocking`, in a "
        .. "stream of its own. PyTorch's `DataLoader(pin_memory=True)` prepares the pinned memory.",
        see = { "tensor:to", "guide/08-pipelines", "experiments/data_prefetching" } },
    { "pipeline, pipelining, software pipeline",
        "Copy in, compute, copy out: each stage in a stream or a batch in a stream, so that all engines are "
        .. "busy at once. The slowest stage bounds the throughput.",
        see = { "timeline:bounds", "guide/08-pipelines", "experiments/multi_stage_pipeline" } },
    { "pipeline bubble, bubble, pipeline parallelism",
        "Stages on several GPUs wait for the first micro-batches and for the last ones. More micro-batches "
        .. "make the waiting a smaller part.",
        see = { "guide/19-several-gpus", "experiments/pipeline_parallel" } },
    { "bandwidth, throughput, PCIe, copy speed",
        "A copy takes a latency and its bytes over a rate: `lab.measure` times it, and a timeline's totals "
        .. "have the bytes. Pageable memory is copied twice, which costs half of the rate or more.",
        see = { "lab.measure", "timeline:totals", "guide/05-pinned-memory" } },
    { "pinned memory, page-locked memory, page-locked, pinning",
        "The GPU copies page-locked host memory itself, while the host goes on. Page-locking costs time: do "
        .. "it once, and use the memory again.",
        see = { "lab.empty", "tensor:pin_memory", "guide/05-pinned-memory", "labs/03-pinned-and-pageable" } },
    { "pageable memory, staging buffer",
        "Ordinary host memory: the driver copies it through page-locked buffers of its own, and the call "
        .. "holds the host meanwhile.",
        see = { "tensor:copy_", "guide/05-pinned-memory" } },
    { "implicit synchronization, implicit synchronisation, hidden synchronization",
        "Calls that make streams wait although nobody asked: `lab.cuda.free`, work in the legacy default "
        .. "stream, page-locking. `lab.probe` tries them all.",
        see = { "lab.probe", "guide/06-implicit-synchronisation", "labs/05-implicit-synchronisation" } },
    { "default stream, legacy default stream, null stream, blocking stream",
        "Work in the default stream waits for all blocking streams, and they wait for it. Streams with "
        .. "`non_blocking = true` do not take part.",
        see = { "lab.default_stream", "lab.stream", "guide/06-implicit-synchronisation" } },
    { "per-thread default stream, ptds",
        "A default stream for each thread of the host. It is a blocking stream: the legacy default stream "
        .. "still waits for it.",
        see = { "lab.per_thread_stream", "guide/20-threads" } },
    { "dependency, stream dependency",
        "One operation must not begin before another one has ended. Within a stream all do; between streams "
        .. "an event says so: recorded behind the first, waited for before the second.",
        see = { "stream:wait_event", "event:record", "guide/04-events" } },
    { "priority, stream priority, urgent stream",
        "`lab.stream{ priority = -1 }`: where both have blocks that could begin, those of the stream with the "
        .. "lower number begin first. Blocks that run are not interrupted.",
        see = { "lab.stream", "guide/07-priorities", "labs/06-priorities" } },
    { "false dependency, false serialization",
        "Two streams wait for each other though their data do not: work in the default stream, a shared "
        .. "buffer, an event recorded too late, or more streams than hardware queues.",
        see = { "timeline:explain", "guide/03-streams", "guide/06-implicit-synchronisation" } },
    { "priority inversion, starvation",
        "An urgent stream waits for work that is not urgent: blocks that run are not interrupted, copies have "
        .. "no priority, and an event can make it wait for a slow stream.",
        see = { "lab.stream", "guide/07-priorities", "labs/06-priorities" } },
    { "deadlock, hang",
        "A wait that nothing can end: ranks that call their collectives in different orders, or a rank that "
        .. "never comes. The simulated GPU reports it with the lines that wait; events alone cannot "
        .. "deadlock, since a wait for one that was never recorded returns at once.",
        see = { "stream:wait_event", "comm:group", "guide/19-several-gpus" } },
    { "data race, hazard, race condition, read after write, write after read",
        "Two operations reach the same memory, one of them writes, and no order is guaranteed between them. "
        .. "`--check` or `lab.check` finds them and names both lines.",
        see = { "lab.check", "lab.races", "guide/14-races", "labs/07-racy-pipeline" } },
    { "use after free, lifetime, dangling tensor",
        "Memory that is freed while a stream still uses it. A tensor of streamlab is kept until the work that "
        .. "uses it is done; PyTorch's allocator needs `record_stream` for that.",
        see = { "tensor:free", "lab.check", "guide/14-races" } },
    { "atomics, atomic operation, atomic update",
        "`atomicAdd` and the like are CUDA C++ in the source of `lab.kernel`. Two kernels that only update the "
        .. "same memory atomically do not race.",
        see = { "lab.kernel", "guide/18-kernels", "guide/14-races" } },
    { "occupancy",
        "How many blocks of a kernel an SM holds at a time: registers, shared memory and threads limit it. "
        .. "What one kernel leaves free, another one can use.",
        see = { "kernel:occupancy", "guide/18-kernels", "experiments/kernel_occupancy" } },
    { "wave, tail effect, wave quantization",
        "A kernel with more blocks than fit runs in waves. In the last one SMs are idle, unless a kernel of "
        .. "another stream begins there.",
        see = { "lab.spin", "kernel:occupancy", "guide/03-streams" } },
    { "SM, streaming multiprocessor, concurrent kernels",
        "Kernels of several streams run at the same time if SMs are free: one that fills the GPU leaves "
        .. "nothing for others.",
        see = { "device.sm_count", "lab.spin", "guide/03-streams", "experiments/concurrent_kernels" } },
    { "thread block, block, grid, warp, kernel grid",
        "A kernel's grid consists of blocks, a block of threads, 32 of which are a warp: `k(grid, block, ...)`. "
        .. "A block stays on one SM, and its threads share `__shared__` memory.",
        see = { "lab.kernel", "kernel:occupancy", "guide/18-kernels" } },
    { "tensor core, mixed precision, fp16, half precision, bf16, AMP, autocast",
        "`lab.rand(n, n, { dtype = \"float16\" })` or `t:to(\"bfloat16\")`: a product of such matrices uses tensor "
        .. "cores and half of the bytes. There is no autocast: the dtype of a tensor decides.",
        see = { "lab.matmul", "tensor:to", "guide/13-simulated-time" } },
    { "CUDA context, context, primary context",
        "What a process holds of a GPU: its memory, streams and modules. `lab.open` uses the device's primary "
        .. "context, as PyTorch does; `d:make_current()` chooses a device.",
        see = { "lab.open", "device:make_current", "guide/19-several-gpus" } },
    { "warp divergence, branch divergence, coalescing, coalesced access, bank conflict",
        "These are properties inside a kernel. Its values are right on the simulated GPU, its time is not: "
        .. "the model counts bytes and arithmetic. Measure on a GPU, or with Nsight Compute.",
        see = { "lab.kernel", "guide/18-kernels" } },
    { "shared memory, tiling",
        "`__shared__` in the source of `lab.kernel`, and `shared =` in a launch. The simulated GPU checks that "
        .. "`__syncthreads()` separates writes from reads.",
        see = { "lab.kernel", "guide/18-kernels", "labs/10-kernels" } },
    { "roofline, arithmetic intensity, memory bound, compute bound",
        "A kernel takes the longer of its arithmetic over the GPU's rate and its bytes over the memory's "
        .. "bandwidth. The simulated GPU counts exactly that.",
        see = { "lab.kernel", "guide/18-kernels", "guide/13-simulated-time" } },
    { "launch overhead, launch bound, small kernels, launch latency",
        "A launch costs the host some microseconds: many short kernels leave the GPU idle between them. A "
        .. "graph launches them by one call.",
        see = { "lab.graph", "timeline:explain", "guide/17-graphs", "experiments/graph_launch" } },
    { "CUDA graph, graph capture, stream capture",
        "What a function enqueues is captured once and launched by one call, as often as needed.",
        see = { "lab.graph", "graph:launch", "guide/17-graphs", "labs/09-graphs" } },
    { "latency, latency hiding, response time",
        "How long one thing takes, where throughput is how many fit into a second. Latency is hidden by other "
        .. "work that runs meanwhile. `timeline:explain` with `stream =` says what one stream waited for.",
        see = { "timeline:explain", "event:elapsed_time", "guide/10-reading-a-timeline" } },
    { "critical path, bottleneck",
        "The chain of operations that the makespan consists of: only what shortens it shortens the whole. "
        .. "`timeline:makespan_parts` divides it, `timeline:explain` says what stood in it.",
        see = { "timeline:makespan_parts", "timeline:explain", "guide/10-reading-a-timeline" } },
    { "Amdahl, Amdahl's law, speedup",
        "What a part takes bounds what can be gained from it. `timeline:bounds` gives the shortest makespan of "
        .. "the same work, `timeline:causes` the gain of each single cause.",
        see = { "timeline:bounds", "timeline:causes", "guide/10-reading-a-timeline" } },
    { "utilization, utilisation, idle time, GPU busy",
        "The part of the time in which an engine worked. It does not say how many SMs were used, and 100 % is "
        .. "no proof of a good schedule.",
        see = { "timeline:busy_us", "timeline:summary", "timeline:gaps" } },
    { "copy engine, DMA",
        "Copies to the GPU and from it have an engine each, which does one copy at a time, in the order in "
        .. "which they become ready.",
        see = { "device.async_engine_count", "guide/08-pipelines" } },
    { "memory pool, caching allocator, stream-ordered allocation, allocator",
        "Tensors use memory again without a call of CUDA; `lab.cuda.malloc_async` allocates in the order of a "
        .. "stream, `lab.cuda.malloc` at once.",
        see = { "lab.cuda.malloc_async", "lab.cuda.malloc", "guide/06-implicit-synchronisation" } },
    { "time slicing, sharing a GPU, several processes",
        "Several processes share a GPU by turns (time slicing), at once (MPS), or each has a part (MIG). "
        .. "Here one process uses a simulated GPU; streams and `lab.thread` share it.",
        see = { "lab.thread", "guide/20-threads" } },
    { "allreduce, all-reduce, collective, gradient, gradient bucket, bucket",
        "All GPUs get the sum of what each has. In a stream of its own it runs beside the matmuls, and takes "
        .. "some SMs from them.",
        see = { "comm:all_reduce", "guide/19-several-gpus", "labs/11-bucket-size" } },
    { "data parallelism, tensor parallelism, distributed training, multi-gpu, several GPUs",
        "`lab.open{ index = 1 }` opens another GPU, `lab.comm` makes a communicator of several. The simulated "
        .. "machine has as many as `--devices` says.",
        see = { "lab.open", "lab.comm", "guide/19-several-gpus", "experiments/tensor_parallel" } },
    { "NVLink, peer access, peer to peer, P2P",
        "With peer access GPUs copy to each other directly, over NVLink where it is there; without, through "
        .. "the host.",
        see = { "lab.cuda.device_enable_peer_access", "guide/19-several-gpus" } },
    { "straggler, late rank, load imbalance",
        "A collective begins when the last rank has come: the others wait, and their kernels hold SMs.",
        see = { "lab.comm", "guide/19-several-gpus" } },
    { "callback, host function",
        "A stream can call a function on the host in its order. It must not call CUDA, and holds up its stream "
        .. "only.",
        see = { "stream:launch_host_func", "experiments/callbacks" } },
    { "host thread, multithreading, GIL",
        "`lab.thread` runs a function beside the script, with a Lua state of its own: values are passed as "
        .. "arguments.",
        see = { "lab.thread", "guide/20-threads" } },
    { "profiler, profiling, NVTX, Nsight, Nsight Systems, nsys, CUPTI, torch.profiler",
        "`lab.profile` records a timeline; `streamlab show` reads traces of PyTorch's profiler. Reports of "
        .. "Nsight Systems are not read: save a trace of PyTorch's profiler instead. Names of streams stand "
        .. "for NVTX ranges.",
        see = { "lab.profile", "lab.load", "guide/11-pictures-and-traces" } },
    { "benchmark, timing, warm-up, warm up, jitter, noise, cold start",
        "The first call loads, compiles and allocates: `lab.measure` warms up and gives the median and "
        .. "the spread; events time work of a stream on the GPU.",
        see = { "lab.measure", "event:elapsed_time", "guide/04-events", "guide/12-real-gpu" } },
    { "synchronization, wait, fence, barrier",
        "`stream:wait_event` lets a stream wait on the GPU, and the host goes on; `stream:synchronize` and "
        .. "`lab.synchronize` hold the host.",
        see = { "stream:wait_event", "stream:synchronize", "guide/04-events" } },
    { "queue, hardware queue, CUDA_DEVICE_MAX_CONNECTIONS, hyper-q",
        "Streams share a number of hardware queues, 8 unless CUDA_DEVICE_MAX_CONNECTIONS says otherwise: with "
        .. "more streams, work of one can stand behind that of another.",
        see = { "lab.stream", "guide/03-streams", "experiments/launch_queue" } },
}

local rows = { "| topic | in short | see |", "|---|---|---|" }
local folders <const> = { guide = "../guide/%s.md", labs = "../../scripts/labs/%s/README.md",
    experiments = "../../scripts/experiments/%s.lua" }
for _, topic in ipairs(topics) do
    local places = {}
    for i, name in ipairs(topic.see) do
        local folder, file = name:match("^(%a+)/(.*)$")
        places[i] = folder and ("[%s](%s)"):format(name, folders[folder]:format(file))
            or "`" .. name .. "`"
    end
    rows[#rows + 1] = ("| %s | %s | %s |"):format(topic[1], topic[2], table.concat(places, ", "))
end

return {
    title = "Topics",
    order = 985,
    about = [[
Words of courses and of other tools, what they mean here, and where there is more. `help "double buffering"` says the
same at the prompt, `streamlab help double buffering` in the shell.]],
    topics = topics,
    entries = {},
    more = table.concat(rows, "\n") .. "\n",
}
