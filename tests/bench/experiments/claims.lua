-- claims.lua - what is said of streams, and what answers it: a verdict of an experiment (the words
-- between its "Verdict: word: " and the next colon), or a row of streamlab probe.
--
-- A claim is {quote, source, experiment =, verdict =} or {quote, source, probe = {call, says,
-- memory =, into =}}; why: where the GPU and the simulator differ; beyond: what the claim says
-- beyond what was asked; note: what earlier runs said. Those of CUDA's manual and what is "often
-- said" are asked here only; the others are from four texts on streams.

local puzzle <const> = "answer to a puzzle on streams"
local course <const> = "course notes on streams"
local article <const> = "article on CPU and GPU in PyTorch"
local answer <const> = "answer on concurrent PyTorch streams"
local manual <const> = "CUDA's manual"

local claims = {}
local function add(quote, source, experiment, verdict, why)
    claims[#claims + 1] = { quote, source, experiment = experiment, verdict = verdict, why = why }
end
-- What the claim added last says beyond what was asked.
local function beyond(text) claims[#claims].beyond = text end
local function note(text) claims[#claims].note = text end
local function ask(quote, source, call, says, memory, into)
    claims[#claims + 1] = { quote, source, probe = { call, says, memory = memory, into = into } }
end

local small_products <const> = "In the simulation a call takes the host nearly as long as such a "
    .. "product takes the GPU, so that next to nothing is gained until all calls are queued."

-- The puzzle's answer.
add("the data transfer is much faster when page-locked memory is used (33 ms) in comparison to "
    .. "when pageable memory (78 ms) is used", puzzle, "puzzler_answer",
    "copies to pinned memory are faster")
add("all three streams overlap in the `non_blocking_streams` function", puzzle, "puzzler_answer",
    "non_blocking all overlap")
add("only s1 and s2 overlap in the `blocking_streams` function", puzzle, "puzzler_answer",
    "blocking only s1 and s2 overlap")
note("A matter of how fast the host copies: in an earlier run on an H200 it took 25.2 ms for what "
    .. "now took it 20.1 (simulated 16.9), s3/s1 was 2 %, and it held. The longer, the more of the "
    .. "matmuls is over before the first copy from the host is issued")
add("[from the host] can be overlapped with other data transfers only when page-locked host memory "
    .. "is used", puzzle, "puzzler_answer", "only pinned copies overlap copies")
add("Which operations can run concurrently on the GPU with one another? [six kinds]", puzzle,
    "concurrency_matrix", "all kinds run at once")
beyond("Asked of five, on one GPU. Copies between two GPUs ran beside all others as well "
    .. "([guide 12](../guide/12-real-gpu.md#the-listings-to-compare))")
add("Can data transfers to and from the device be overlapped? [...] the GPU must have "
    .. "`asyncEngineCount` equal to 2", puzzle, "concurrency_matrix",
    "copies both ways take 2 engines")
beyond("Asked of a GPU with 3; none with 1 was at hand")
add("Can data transfer and kernel execution be overlapped? Yes", puzzle, "concurrency_matrix",
    "copies overlap kernels")
add("asynchronous with respect to the host: Kernel launches", puzzle, "async_with_host",
    "kernel launches return at once")
add("asynchronous with respect to the host: Memory copies within a single device's memory", puzzle,
    "async_with_host", "copies within the device return at once")
add("Memory copy from host to device of a memory block if 64KB or less", puzzle,
    "async_with_host", "pageable copies of up to 64 KB return at once")
add("Memory copies performed by functions that are suffixed with Async", puzzle,
    "async_with_host", "functions suffixed with Async return at once")
add("asynchronous with respect to the host: Memory set function calls", puzzle, "async_with_host",
    "memory sets return at once")
beyond("Asked of the GPU's memory. By NVIDIA's API synchronization behavior a set of pinned host "
    .. "memory or managed memory waits; of pinned memory see the claim of CUDA's manual below")
add("At most 128 kernels can run concurrently on the P100, V100, A100 and H100", puzzle,
    "concurrent_kernels", "at most 128 kernels at once")
beyond("Asked of one H200, none of the four")
add("the number of streams that can run concurrently is 128", puzzle, "concurrent_kernels",
    "128 streams run at once")
beyond("Asked of one H200")
add("concurrent execution of more than a few streams is difficult to achieve as each kernel should "
    .. "run long enough [...] and not saturate the GPU", puzzle, "matmul_streams",
    "a boost from streams", small_products)
add("cudaDeviceSynchronize() - waits until all preceding commands in all streams [...] have "
    .. "completed", puzzle, "explicit_sync", "cudaDeviceSynchronize waits for all streams")
add("cudaStreamSynchronize() [...] allowing other streams to continue executing", puzzle,
    "explicit_sync", "cudaStreamSynchronize lets others go on")
add("cudaStreamWaitEvent() [...] makes the stream wait for the event to complete", puzzle,
    "explicit_sync", "cudaStreamWaitEvent makes a stream wait")
add("cudaStreamQuery() [...] to query an asynchronous stream for completion status", puzzle,
    "explicit_sync", "cudaStreamQuery asks")
ask("Streams block each other: Pinned host memory allocation", puzzle, "cudaMallocHost",
    "allocating page-locked memory keeps streams apart")
ask("Streams block each other: Device memory allocation", puzzle, "cudaMalloc",
    "allocating device memory keeps streams apart")
ask("Streams block each other: Device memory set", puzzle, "cudaMemset",
    "setting device memory keeps streams apart", "device", "NULL")
ask("Streams block each other: Memory copy between two addresses to the same device memory", puzzle,
    "cudaMemcpy", "a copy within the device keeps streams apart", "device to device", "NULL")
ask("Streams block each other: Any CUDA command to the default stream [a kernel]", puzzle,
    "cudaLaunchKernel", "any command in the NULL stream keeps streams apart", nil, "NULL")
ask("Streams block each other: Any CUDA command to the default stream [an event]", puzzle,
    "cudaEventRecord", "any command in the NULL stream keeps streams apart", nil, "NULL")
ask("Streams block each other: A switch between the L1/shared memory configurations", puzzle,
    "cudaFuncSetCacheConfig", "switching the L1 configuration keeps streams apart")
add("implicit synchronization events [...] can be major blockers to achieving concurrency", puzzle,
    "default_stream", "NULL-stream commands keep streams apart")
add("Can Tensor cores and CUDA cores be used simultaneously on different streams?", puzzle,
    "answer", "Tensor and CUDA cores at once", "At 1024 both hide most of it. At 4096 the "
    .. "simulated matmul leaves pow no room but behind its last blocks; the GPU finds some.")
beyond("Asked with all work queued before it begins. Issued as it comes, two streams were 7 % "
    .. "slower to 3 % quicker ([guide "
    .. "3](../guide/03-streams.md#a-variant-tensor-cores-and-cuda-cores))")
add("set the priority for s2 to 1 and see how the kernel execution changes", puzzle, "answer",
    "priority 1 makes pow sooner")
add("The possible values are 1 (high priority) and 0 (low priority)", puzzle, "priorities",
    "1 is high and 0 is low")
add("By default, streams have priority 0", puzzle, "priorities",
    "by default streams have priority 0")

-- The course notes.
add("kernels (aka functions) are mostly serialized", course, "concurrent_kernels",
    "kernels of one stream run one by one")
add("If one streams completely use all the available CUDA cores and/or memory [...] the execution "
    .. "will be serialized", course, "matmul_streams", "serialised where one product fills the GPU")
add("you may get even more performance boost by using CUDA streams", course, "matmul_streams",
    "a boost from streams", small_products)
add("CUDA operations must be in different, non-0, streams", course, "default_stream",
    "only non-0 streams overlap")
add("dependencies that force sequential executions", course, "explicit_sync",
    "cudaStreamWaitEvent makes a stream wait")
add("Utilize asynchronous CUDA API calls, such as cudaMemcpyAsync", course, "async_with_host",
    "functions suffixed with Async return at once")
add("[overused synchronization] forces the CPU to wait for GPU execution", course, "explicit_sync",
    "cudaDeviceSynchronize waits for all streams")

-- The article.
add("asynchronous operations: H2D transfer, kernel execution, D2H transfer [from pinned memory]",
    article, "async_with_host", "copies of pinned memory can be asynchronous")
add("Even with `non_blocking` set to True, this call will block CPU for a while", article,
    "single_stream", "a copy from pageable memory blocks the CPU",
    "At 2048 x 2048 both show it; at 64 x 64 it is a matter of a few us.")
add("If tensor to transfer is 1 GB, additional 1 GB buffer would have to be allocated", article,
    "pinned_memory", "a pageable copy takes as much again")
add("Pinning avoids dual copy and hence it's faster", article, "puzzler_answer",
    "copies to pinned memory are faster")
add("Even though GPU is free and `A_gpu` has been loaded into memory, GPU Core won't launch "
    .. "matmul-kernel", article, "single_stream", "the matmul waits for the next copy")
add("122ms total GPU time for overall processing (2.4x faster)", article, "pipeline",
    "streams are 2.4x faster")
add("Data transfers consume >50% of execution time (even when using pinned memory)", article,
    "pipeline", "copies take most of the time")
add("Kernel executions from SEPARATE streams can run in parallel", article, "concurrent_kernels",
    "128 streams run at once")
add("didn't observe parallel Memory transfers across multiple streams in the same direction",
    article, "pipeline", "no copies at once the same way")
add("Data copies from different streams do not overlap", article, "concurrency_matrix",
    "copies do not overlap")
add("Peak GPU Global Memory usage is 2 Gb Higher during streamed execution", article, "pipeline",
    "streams take more memory")
add("pinning \"512 MB Tensor\" in advance [...] (+515 MiB)", article, "pinned_memory",
    "pinned in advance 512 MiB take no more")
add("Pinning memory after tensor allocation uses approximately double the peak memory", article,
    "pinned_memory", "pinned later twice as much")

-- The answer on PyTorch's streams.
add("the matrix multiplication within `stream2` doesn't depend on the data being transferred in "
    .. "`stream1`", answer, "overlap_data_computation", "the matmul does not depend on the copy")
add("these operations can potentially execute concurrently", answer, "overlap_data_computation",
    "copy and matmul run concurrently")
beyond("Asked of the listing as it is printed. A copy of pinned memory and a matmul that does not "
    .. "read it do run at the same time (concurrency_matrix)")
add("used [...] before it was created in `stream1`, we would get a runtime error or incorrect "
    .. "behavior", answer, "events_race", "without an order a wrong result")
add("PyTorch handles these implicit dependencies for operations within its context manager", answer,
    "multi_stage_pipeline", "PyTorch handles these dependencies")
beyond("Asked of the same operations without PyTorch. In PyTorch its own sanitizer finds this race "
    .. "([races-pytorch.md](races-pytorch.md), `answer_2`)")
add("the matrix multiplies are potentially executed in parallel", answer, "multi_stage_pipeline",
    "the matmuls run in parallel")
add("While the data is being transferred on stream1, the model can be computing the previous data "
    .. "on stream2", answer, "data_prefetching", "prefetching overlaps with the model")
add("explicitly performs work after the data transfer operation on the GPU", answer,
    "data_prefetching", "the copy is in order with the matmul")
add("hardware limitations might still lead to serialization when too many operations are issued at "
    .. "once", answer, "launch_queue", "any number of launches is asynchronous")

-- What else is asked.
ask("[memsets are] asynchronous with respect to the host except when the target is pinned host "
    .. "memory", manual, "cudaMemset", "of pinned memory: the host waits", "pinned", "NULL")
add("events without timing will provide the best performance", manual, "events",
    "untimed events are the best")
add("two events around a kernel give the kernel's time", "often said", "events",
    "two events give the kernel's time")
add("waits are not affected by later calls to cudaEventRecord()", manual, "events_race",
    "a later record does not count")
add("before the first record an event represents an empty set of work", manual, "events_race",
    "before its first record an event is empty")
add("a host function will block work added after it", manual, "callbacks",
    "a host function blocks its own stream")
add("host functions of independent streams may be serialized", manual, "callbacks",
    "host functions take turns")
add("a host function must not make any CUDA API calls", manual, "callbacks",
    "no CUDA calls in a host function")
add("an urgent kernel preempts what runs", "often said", "priorities",
    "an urgent kernel preempts")
add("[of graphs] CPU launch costs are reduced compared to streams, because much of the setup is "
    .. "done in advance", manual, "graph_launch", "CPU launch costs are reduced")
add("a graph pays off from its first launch", "often said", "graph_launch", "a graph pays at once")
add("branches of a graph are free, an edge costs nothing", "often said", "graph_fork_join",
    "branches of a graph are free")
add("a captured kernel keeps its stream's priority", "often said", "graph_priorities",
    "a captured kernel keeps its stream's priority")
add("a graph is static: when an argument changes, capture it again", "often said", "graph_update",
    "a changed argument needs a new capture")
add("a graph makes a pipeline faster", "often said", "graph_pipeline",
    "a graph makes a pipeline faster")
add("CUDA graphs speed up a program by removing launch overhead", "often said",
    "graph_long_kernels", "graphs speed up a program")
local by_cost <const> = "On the simulator a kernel of one's own takes what the script's `cost` "
    .. "says, or what moving its tensors takes."
add("fusing kernels saves launches, and nothing else", "often said", "kernel_fused",
    "fusing saves launches and nothing else", by_cost)
add("kernels in two streams run at the same time", "often said", "kernel_occupancy",
    "kernels in two streams run at the same time", by_cost)
add("a persistent kernel is quicker since it saves launches", "often said", "kernel_persistent",
    "a persistent kernel is quicker since it saves launches", by_cost)
add("shuffles are faster than shared memory", "often said", "kernel_reduction",
    "shuffles are faster than shared memory", by_cost)
add("atomics on one address are slow", "often said", "kernel_reduction",
    "atomics on one address are slow", by_cost)

-- Several GPUs.
add("few large all-reduces are faster", "often said", "bucketed_all_reduce",
    "few large all-reduces are fastest")
add("the all-reduce is hidden behind the backward pass", "often said", "bucketed_all_reduce",
    "the all-reduce is hidden behind the backward pass")
add("1F1B has a smaller bubble than GPipe", "often said", "pipeline_parallel",
    "1F1B has a smaller bubble")
add("interleaving divides the bubble", "often said", "pipeline_parallel",
    "interleaving divides the bubble")
add("tensor parallelism divides the time by the number of GPUs", "often said", "tensor_parallel",
    "splitting divides the time by the number of GPUs")
add("two halves of the batch hide the all-reduce", "often said", "tensor_parallel",
    "two halves hide the all-reduce")
add("NCCL knows the best number of channels", "often said", "channels_against_matmul",
    "NCCL knows the best number of channels")
add("a collective beside matmuls costs nothing", "often said", "channels_against_matmul",
    "a collective beside matmuls costs nothing")
add("copy engines leave the SMs to the matmuls", "often said", "all_gather_engines",
    "copy engines leave the SMs to the matmuls")
add("an all-gather by copy engines is slower", "often said", "all_gather_engines",
    "an all-gather by copy engines is slower")

add("Work ordered after the operation will block until the condition is satisfied", manual,
    "value_waits", "work behind a wait for a value blocks until it is there")
add("a value in memory hands over sooner than an event", "often said", "value_waits",
    "a value hands over sooner than an event", "In the simulation writes and waits take no time of "
    .. "their own; measured on an H200, a write keeps its stream busy for 1.6 us, a wait for 1.2.")
add("a store of the host starts queued work sooner than a launch", "often said", "store_starts",
    "a store of the host starts queued work sooner than a launch")

-- Not a matter of measuring, or not with one process: {quote, source, what is known}.
local others = {
    { "cudaStreamQuery: None [in PyTorch]", puzzle, "Not so: it is `torch.cuda.Stream.query`. What "
      .. "the call itself does is measured by explicit_sync." },
    { "it's limited to a single process", course, "Not tested: the laboratory is one process. A "
      .. "stream belongs to a context, and that to a process." },
    { "Pinning severely effects whole system performance", article, "Not tested: it would take "
      .. "other programs and a machine short of memory." },
    { "all PyTorch CUDA operations happen in the single default stream", article, "Not tested: "
      .. "there is no PyTorch in it. Its operations go to the current stream, at first the default "
      .. "one; collectives with async_op=True have streams of their own." },
    { "elapsed times have a resolution of around 0.5 microseconds", manual, "Not tested: the times "
      .. "come in steps of 0.032 us on an H200, but a step says nothing of how well a time "
      .. "repeats, and in the simulation it is a figure of the profile (`event_tick_ns`)." },
    { "PyTorch might implicitly use additional streams", answer, "Not tested: there is no PyTorch "
      .. "in it. The laboratory uses none that the script did not name." },
    { "the overlap generated [...] will vary by GPU", puzzle, "So it does: give the experiments "
      .. "other profiles, `--profile t4`." },
}

return { claims = claims, others = others }
