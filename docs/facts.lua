-- facts.lua - what this project states about streams: each fact once, with its source.
--
-- tests/repl/66-facts.t.lua checks from this table that the pages named here state a fact and that
-- no page contradicts it; tests/both/facts.t.lua runs the facts that can be run. `make docs` makes
-- docs/reference/facts.md of it.
--
-- A fact is {
--     id =, topic =, fact =    one sentence or two
--     holds =                  for which GPUs, versions, or for the laboratory alone
--     source =                 a list of names in docs/sources.lua; empty where no public source
--                              was found
--     measured =               a page of this repository with the measurement
--     stated =                 a list of {page, words}: the words stand on the page
--     never =                  a list of {pattern, sentence}: no page has the pattern, outside of
--                              quotation marks; it is one of Lua in lower case, and matches the
--                              sentence, which is how it was once said wrongly
--     not_run =                why the fact is not run; else tests/both/observed.lua has its id
--     h200 =                   true: measured on one GPU, so that others may do otherwise
-- }
-- In pages line breaks, backticks and asterisks do not count.

local any <const> = "every GPU"
local h200 <const> = "measured on one H200 (CUDA 13.0, driver 580); simulated alike"
local streams_page <const> = "docs/guide/03-streams.md"
local events_page <const> = "docs/guide/04-events.md"
local pinned_page <const> = "docs/guide/05-pinned-memory.md"
local implicit_page <const> = "docs/guide/06-implicit-synchronisation.md"
local priorities_page <const> = "docs/guide/07-priorities.md"
local pipelines_page <const> = "docs/guide/08-pipelines.md"
local races_page <const> = "docs/guide/14-races.md"
local experiments_page <const> = "docs/results/experiments.md"

return {
    -- ---- Streams and kernels ---------------------------------------------------------------
    {
        id = "stream-order", topic = "Streams and kernels",
        fact = "Work in one stream runs in order, one operation after the other, unless a launch "
            .. "asks to begin before the kernel in front of it has ended (programmatic dependent "
            .. "launch).",
        holds = "every GPU; early launches from compute capability 9.0 on, and not in the laboratory",
        source = {"asynchronous", "dependent"},
        stated = {{streams_page, "Since compute capability 9.0 a launch can ask to begin before the "
            .. "kernel in front of it ends"}},
    },
    {
        id = "streams-permit", topic = "Streams and kernels",
        fact = "Work in different streams may run at the same time; nothing promises that it does.",
        holds = any, source = {"asynchronous"},
        stated = {{streams_page, "Work in different streams may run at the same time"},
            {"docs/guide/01-first-overlap.md", "a stream of their own"}},
        never = {{"different streams always run", "Kernels in different streams always run at once."}},
    },
    {
        id = "room-decides", topic = "Streams and kernels",
        fact = "Two kernels run side by side only where both find room on the SMs: threads, "
            .. "registers, shared memory, block slots.",
        holds = any, source = {"legacy"}, measured = experiments_page .. "#matmul_streams",
        stated = {{streams_page, "threads, registers, shared memory and block slots on the SMs"}},
    },
    {
        id = "resident-grids", topic = "Streams and kernels",
        fact = "At most 128 kernels are resident at a time; further ones wait.",
        holds = "compute capability 7.5 and later (older ones: 16 to 128); measured on one H200",
        source = {"capabilities"}, measured = experiments_page .. "#concurrent_kernels",
        stated = {{streams_page, "128 is the number of resident kernels (compute capability 7.5 and "
            .. "up; older ones 16 to 128)"}, {experiments_page, "Asked of one H200, none of the four"}},
        never = {{"at most 128 kernels at once | holds:",
                "at most 128 kernels at once | **holds**: 128"}},
    },
    {
        id = "channels", topic = "Streams and kernels",
        fact = "Streams share hardware channels, 8 unless CUDA_DEVICE_MAX_CONNECTIONS says "
            .. "otherwise (1 to 32). Each is first in, first out, so work of one stream can stand "
            .. "behind that of another.",
        holds = any, source = {"environment"},
        stated = {{streams_page, "by default eight (CUDA_DEVICE_MAX_CONNECTIONS, at most 32)"},
            {"docs/causes.md", "CUDA_DEVICE_MAX_CONNECTIONS, from 8"}},
    },
    {
        id = "tensor-cores", topic = "Streams and kernels",
        fact = "A matmul on Tensor cores and a kernel on CUDA cores can overlap, as far as both "
            .. "find room. For TF32 products of 4096 x 4096 beside pow the gain lies between "
            .. "0.93 and 1.07, depending on how the work is issued.",
        holds = "measured on one H200", source = {}, measured = experiments_page .. "#answer",
        stated = {{streams_page, "two streams were 7 % slower to 3 % quicker in cores.lua, 7 % "
            .. "quicker in answer.lua"}, {experiments_page, "69 % hidden at 1024, 63 % at 4096"}},
        never = {{"there is no room for blocks of pow", "There is no room for blocks of pow."},
            {"cannot be used at the same time", "Tensor cores and CUDA cores cannot be used at the "
                .. "same time."}},
        not_run = "The simulator hides less of pow than the GPU does.",
    },
    {
        id = "copies-within", topic = "Copies",
        fact = "A copy within the GPU's memory may run beside kernels. It needs SMs, as a kernel "
            .. "does, and a large one can hold back what comes behind it.",
        holds = any .. "; the second sentence measured on one H200", source = {"legacy"},
        measured = experiments_page .. "#concurrency_matrix",
        stated = {{streams_page, "hides 77 % beside kernels that leave room. But such a copy needs "
            .. "SMs, as a kernel does"}, {experiments_page, "77 %, kernel/D2D"}},
        never = {{"cop[a-z]* within [a-z' ]+ do not overlap with kernels",
            "Copies within the GPU's memory do not overlap with kernels."}},
    },
    -- ---- Copies ------------------------------------------------------------------------------
    {
        id = "copies-beside-kernels", topic = "Copies",
        fact = "Copies between host and GPU run beside kernels of other streams.",
        holds = "GPUs with asyncEngineCount of 1 or more", source = {"legacy"},
        measured = experiments_page .. "#concurrency_matrix",
        stated = {{pinned_page, "A pageable copy overlaps with whatever the host has issued before "
            .. "it stands in the copy"}, {experiments_page, "copies overlap kernels"}},
    },
    {
        id = "one-direction", topic = "Copies",
        fact = "Two copies in one direction take turns, in whichever streams they are.",
        holds = "H200, whose asyncEngineCount is 3", h200 = true, source = {"webinar"},
        measured = experiments_page .. "#concurrency_matrix",
        stated = {{pinned_page, "In one direction they take turns. In opposite directions they run "
            .. "together"}},
    },
    {
        id = "both-directions", topic = "Copies",
        fact = "Copies in opposite directions run at the same time if the GPU's asyncEngineCount is 2 "
            .. "or more, and take turns if it is 1.",
        holds = any, source = {"legacy"}, measured = experiments_page .. "#concurrency_matrix",
        stated = {{pinned_page, "Copies in opposite directions do: 2 or more."},
            {experiments_page, "both ways 91 %"}},
    },
    {
        id = "pinned-async", topic = "Copies",
        fact = "cudaMemcpyAsync of pinned memory returns at once, in both directions.",
        holds = any, source = {"legacy"}, measured = experiments_page .. "#async_with_host",
        stated = {{pinned_page, "The asynchronous copy never waits if the memory is pinned"},
            {experiments_page, "cudaMemcpyAsync from pinned 6 of 6 times"}},
    },
    {
        id = "pageable-to-host", topic = "Copies",
        fact = "cudaMemcpyAsync to pageable memory holds the host until the copy is done, and with "
            .. "it all that is in front of the copy in its stream.",
        holds = h200 .. "; NVIDIA: might be synchronous", h200 = true, source = {"api_sync"},
        measured = experiments_page .. "#async_with_host",
        stated = {{pinned_page, "To pageable memory it always does"},
            {implicit_page, "it holds the host until it is done"},
            {experiments_page, "cudaMemcpyAsync to pageable 0 of 6 times"}},
        never = {{"all else goes by",
                "All else goes by."}},
    },
    {
        id = "pageable-staging", topic = "Copies",
        fact = "cudaMemcpyAsync from pageable memory returns at once if the driver's buffers hold "
            .. "the bytes. A larger copy waits until its stream has come to it.",
        holds = "measured on one H200, border between 2 and 3 MiB; other drivers may differ",
        h200 = true, source = {"api_sync"}, measured = experiments_page .. "#async_with_host",
        stated = {{pinned_page, "what fits into the driver's buffers is taken at the call, and the "
            .. "call returns"}, {races_page, "32 MiB are more than the driver's buffers hold"},
            {"docs/design/simulator.md", "a copy to the device of 2 MiB returns in 0.2 ms and one "
            .. "of 3 MiB in 20.4 ms"}},
    },
    {
        id = "memcpy-waits", topic = "Copies",
        fact = "cudaMemcpy between host and GPU waits for the work in front of it, at every size "
            .. "and with either kind of memory.",
        holds = any, source = {"api_sync"}, measured = experiments_page .. "#async_with_host",
        stated = {{pinned_page, "From pageable memory cudaMemcpy waits for its stream at any size"},
            {experiments_page, "cudaMemcpy at no size"}},
    },
    {
        id = "64-kib", topic = "Copies",
        fact = "The 64 KB up to which copies from the host are said to be asynchronous are no border: "
            .. "cudaMemcpy waits below it, cudaMemcpyAsync does not wait above it.",
        holds = "measured on one H200; the CUDA C++ Programming Guide 13.0 has the sentence",
        h200 = true, source = {"legacy", "api_sync"}, measured = experiments_page .. "#async_with_host",
        stated = {{pinned_page, "CUDA's C++ Programming Guide calls copies of 64 KB or less from the "
            .. "host asynchronous."}, {"docs/design/simulator.md", "is no limit on the H200"}},
        never = {{"older guides put that border at 64 kb", "Older guides put that border at 64 KB."}},
    },
    {
        id = "memcpy-within", topic = "Copies",
        fact = "cudaMemcpy within the GPU's memory does not hold the host. It is work of the NULL "
            .. "stream; cudaMemcpyAsync is work of the stream that it names.",
        holds = any, source = {"api_sync", "stream_sync"},
        measured = experiments_page .. "#async_with_host",
        stated = {{implicit_page, "cudaMemcpy does, cudaMemcpyAsync in a stream does not"}},
    },
    {
        id = "read-when", topic = "Copies",
        fact = "A pinned buffer is read when the copy runs. A pageable one is read by the time the "
            .. "call returns.",
        holds = any, source = {"api_sync"},
        stated = {{pinned_page, "The pinned tensor is read when the copy runs"},
            {pinned_page, "The pageable one was taken at the call"}},
    },
    -- ---- Memory ------------------------------------------------------------------------------
    {
        id = "pin-in-place", topic = "Memory",
        fact = "pin_memory() makes a pinned copy, so that both exist for a while. Page-locking in "
            .. "place (cudaHostRegister, t:pin()) makes none.",
        holds = any, source = {"memory"}, measured = experiments_page .. "#pinned_memory",
        stated = {{pinned_page, "makes a pinned copy, so that both exist for a while"},
            {experiments_page, "by copy 1024 MiB"}},
    },
    {
        id = "pageable-reach", topic = "Memory",
        fact = "Copy engines reach page-locked memory only; with HMM or on Grace Hopper a GPU reaches "
            .. "the system's other memory as well.",
        holds = "HMM: CUDA 12.2 and later on some Linux systems", source = {"hmm"},
        stated = {{pinned_page, "With HMM, since CUDA 12.2 on some Linux systems, or on Grace Hopper, "
            .. "a GPU reaches the system's other memory as well."}},
        not_run = "The simulator has neither.",
    },
    {
        id = "memset-device", topic = "Memory",
        fact = "cudaMemset of device memory does not hold the host, but is work of the NULL stream; "
            .. "cudaMemsetAsync is work of the stream that it names.",
        holds = any, source = {"api_sync", "stream_sync"},
        measured = experiments_page .. "#async_with_host",
        stated = {{implicit_page, "Only cudaMemset, as an operation of the NULL stream."},
            {"docs/reference/cuda.md", "of device memory not"}},
    },
    {
        id = "memset-pinned", topic = "Memory",
        fact = "cudaMemset of pinned host memory waits until it is done.",
        holds = any .. " (by the document; the laboratory measured device memory only)",
        source = {"api_sync"},
        stated = {{"docs/reference/cuda.md", "of pinned memory until it is done, as in CUDA"},
            {experiments_page, "a set of pinned host memory or managed memory waits"}},
        never = {{"memory sets return at once | holds:",
                "memory sets return at once | **holds**: cudaMemset 6 of 6 times"}},
    },
    {
        id = "frees", topic = "Memory",
        fact = "cudaFree may synchronise. On an H200 it waits until the GPU has nothing to do, and so "
            .. "do cudaFreeHost and cudaHostUnregister.",
        holds = h200, h200 = true, source = {"driver_memory", "ordered"},
        stated = {{implicit_page, "NVIDIA's text is that it may synchronise"},
            {implicit_page, "until the GPU has nothing to do: cudaFree, cudaFreeHost, "
            .. "cudaHostUnregister"}, {"docs/guide/16-trust.md", "nobody promises but was measured: "
            .. "cudaFree waits"}},
        never = {{"who waits for whom is what cuda promises",
                "What is in which order and who waits for whom is what CUDA promises."}},
    },
    {
        id = "allocations", topic = "Memory",
        fact = "cudaMalloc, cudaMallocHost and cudaHostRegister neither wait for the GPU nor keep "
            .. "streams apart.",
        holds = h200 .. "; NVIDIA's guide says elsewhere that cudaMalloc synchronises", h200 = true,
        source = {"ordered"}, measured = experiments_page .. "#claims",
        stated = {{implicit_page, "cudaMalloc - together"},
            {experiments_page, "allocating device memory keeps streams apart"}},
    },
    {
        id = "malloc-async", topic = "Memory",
        fact = "cudaMallocAsync and cudaFreeAsync are work of a stream: the host does not wait, and "
            .. "other streams go on.",
        holds = "CUDA 11.2 and later", source = {"ordered"},
        stated = {{implicit_page, "cudaFreeAsync puts the freeing in its place in a stream"}},
    },
    -- ---- The NULL stream ---------------------------------------------------------------------
    {
        id = "null-stream", topic = "The NULL stream",
        fact = "Work in the NULL stream, an event too, waits for all work in blocking streams, and "
            .. "what comes later in these waits for it. The host does not wait.",
        holds = "every GPU, in programs without per-thread default streams",
        source = {"stream_sync"}, measured = experiments_page .. "#default_stream",
        stated = {{implicit_page, "It waits for all work in the other streams, and what comes later in "
            .. "these waits for it."}, {"docs/guide/01-first-overlap.md", "work in other streams waits "
            .. "for it, and it waits for them"}},
    },
    {
        id = "non-blocking", topic = "The NULL stream",
        fact = "A stream made with cudaStreamNonBlocking takes no part in that rule.",
        holds = any, source = {"stream_sync", "streams"},
        measured = experiments_page .. "#default_stream",
        stated = {{implicit_page, "streams with cudaStreamNonBlocking take no part"},
            {"docs/guide/01-first-overlap.md", "such a stream is exempt from the NULL stream's rule"}},
    },
    {
        id = "per-thread", topic = "The NULL stream",
        fact = "A per-thread default stream is no NULL stream: it keeps no other streams apart.",
        holds = any, source = {"stream_sync"},
        stated = {{implicit_page, "per-thread default stream"}},
    },
    {
        id = "cache-config", topic = "The NULL stream",
        fact = "Of the older guides' list of what keeps streams apart only commands of the NULL "
            .. "stream are left in the current guides.",
        holds = "late CUDA 12, CUDA 13; measured on one H200", h200 = true, source = {"asynchronous"},
        measured = experiments_page .. "#claims",
        stated = {{implicit_page, "the current guides (late CUDA 12, and 13) have the fifth, and no "
            .. "other"}},
    },
    -- ---- Events ------------------------------------------------------------------------------
    {
        id = "record-captures", topic = "Events",
        fact = "A wait is for the latest record of the event at the time of the call; later records do "
            .. "not change it.",
        holds = any, source = {"events"}, measured = experiments_page .. "#events_race",
        stated = {{events_page, "refers to the latest record at the moment of the call"}},
    },
    {
        id = "unrecorded-event", topic = "Events",
        fact = "An event that was never recorded counts as done: a wait for it waits for nothing.",
        holds = any, source = {"events"}, measured = experiments_page .. "#events_race",
        stated = {{events_page, "If there was none, it waits for nothing."}},
    },
    {
        id = "wait-on-device", topic = "Events",
        fact = "A stream waits for an event on the GPU; the host goes on.",
        holds = any, source = {"streams"}, measured = experiments_page .. "#explicit_sync",
        stated = {{events_page, "the order between the streams is kept on the GPU"}},
        never = {{"the only way if the kernels of one chunk",
                "A stream per engine is the only way if the kernels of one chunk need those before."}},
    },
    {
        id = "event-timed", topic = "Events",
        fact = "Here and in CUDA an event has a time unless it is asked to have none; PyTorch's events "
            .. "have one only if they are asked to. elapsed_time refuses events without.",
        holds = "CUDA; PyTorch's torch.cuda.Event and torch.cuda.Stream.record_event",
        source = {"events", "torch_event"},
        stated = {{"docs/guide/02-lua.md", "elapsed_time refuses them"}},
    },
    {
        id = "event-interval", topic = "Events",
        fact = "Two events give the time between two points of a stream, with all that it waited for "
            .. "between them.",
        holds = any, source = {"events"}, measured = experiments_page .. "#events",
        stated = {{events_page, "They give the time between two points of a stream, with all that it "
            .. "waited for"}},
    },
    {
        id = "event-cost", topic = "Events",
        fact = "A record with timing costs the GPU some 2 us between two kernels, one without nothing.",
        holds = "measured on one H200", source = {"events"}, measured = experiments_page .. "#events",
        stated = {{events_page, "a record with timing adds 2.1 us to the gap between two kernels, one "
            .. "without adds nothing"}},
        not_run = "How much it is on the simulator is a figure of the profile.",
    },
    {
        id = "event-resolution", topic = "Events",
        fact = "NVIDIA states a resolution of elapsed times of around 0.5 us. How well times repeat was "
            .. "not measured here; the step of 0.032 us on an H200 is no resolution.",
        holds = any, source = {"events"},
        stated = {{experiments_page, "a step says nothing of how well a time repeats"}},
        never = {{"resolution of around 0%.5 us: no longer holds", "elapsed times have a resolution of "
            .. "around 0.5 us: no longer holds, the finest step is 0.032"}},
        not_run = "On the simulator it is a parameter.",
    },
    {
        id = "no-implied-order", topic = "Events",
        fact = "Nothing orders two streams that use the same tensor: a tensor carries no event with it.",
        holds = "CUDA, PyTorch and the laboratory", source = {"torch_notes"},
        measured = experiments_page .. "#events_race",
        stated = {{events_page, "A tensor carries no event with it"}},
    },
    -- ---- The host ----------------------------------------------------------------------------
    {
        id = "launch-returns", topic = "The host",
        fact = "A kernel launch returns before the kernel has run.",
        holds = any, source = {"asynchronous"}, measured = experiments_page .. "#async_with_host",
        stated = {{experiments_page, "kernel launches return at once"}},
    },
    {
        id = "launch-queue", topic = "The host",
        fact = "A launch waits when the launch queue is full, on an H200 after some 1022 launches "
            .. "behind a long kernel. CUDA_SCALE_LAUNCH_QUEUES makes the queue longer.",
        holds = h200 .. "; the variable: recent versions of CUDA", h200 = true,
        source = {"environment"}, measured = experiments_page .. "#launch_queue",
        stated = {{implicit_page, "Until the launch queue is full: measured on an H200, 1022 launches "
            .. "behind a long kernel"}, {"docs/causes.md", "CUDA_SCALE_LAUNCH_QUEUES=4x"}},
    },
    {
        id = "item-waits", topic = "The host",
        fact = "item() waits until the value has been computed and copied.",
        holds = any, source = {"torch_notes"},
        stated = {{"docs/reference/tensors.md", "until the copy of what is looked at is done, in the "
            .. "current stream"}},
    },
    {
        id = "stream-synchronize", topic = "The host",
        fact = "cudaStreamSynchronize holds the host until one stream is done; the others go on.",
        holds = any, source = {"streams"}, measured = experiments_page .. "#explicit_sync",
        stated = {{experiments_page, "cudaStreamSynchronize lets others go on"}},
    },
    {
        id = "host-function-order", topic = "The host",
        fact = "A host function runs after the work in front of it, and holds back its stream until it "
            .. "has returned.",
        holds = any, source = {"executions"}, measured = experiments_page .. "#callbacks",
        stated = {{experiments_page, "a host function blocks its own stream"}},
    },
    {
        id = "host-function-calls", topic = "The host",
        fact = "A host function must not call CUDA.",
        holds = any, source = {"executions"}, measured = experiments_page .. "#callbacks",
        stated = {{experiments_page, "no CUDA calls in a host function"}},
    },
    {
        id = "first-launch", topic = "The host",
        fact = "A kernel's first launch loads its code, which may wait for the GPU (lazy loading).",
        holds = "by default since CUDA 12.2 on Linux, 12.3 on Windows", source = {"lazy"},
        stated = {{implicit_page, "the default since CUDA 12.2, a kernel's first launch loads its code "
            .. "and may wait for the GPU"}},
        not_run = "The simulator's profiles load nothing unless asked (`lazy_load_us`).",
    },
    {
        id = "any-call", topic = "The host",
        fact = "Any call of CUDA may block or synchronise, and may do otherwise in the next version: "
            .. "what was measured is no promise.",
        holds = any, source = {"api_sync"},
        stated = {{implicit_page, "\"any CUDA API call may block\", NVIDIA says"}},
        not_run = "It says that nothing can be relied on.",
    },
    -- ---- Priorities --------------------------------------------------------------------------
    {
        id = "priority-order", topic = "Priorities",
        fact = "Lower numbers are more urgent. An urgent kernel gets the room of the next blocks that "
            .. "end.",
        holds = any, source = {"streams"}, measured = experiments_page .. "#priorities",
        stated = {{priorities_page, "lower numbers are more urgent"}, {priorities_page,
            "it gets the room of the next blocks that end"}},
    },
    {
        id = "priority-blocks", topic = "Priorities",
        fact = "No running block is stopped for a priority: beside long blocks it changes nothing.",
        holds = any, source = {"streams"}, measured = experiments_page .. "#priorities",
        stated = {{priorities_page, "No running block is stopped for it."}},
    },
    {
        id = "priority-clamped", topic = "Priorities",
        fact = "A priority outside of the device's range is clamped to it without an error; the range "
            .. "is 0 to -5 on an H200.",
        holds = any, source = {"streams"}, measured = experiments_page .. "#priorities",
        stated = {{priorities_page, "CUDA takes any number and clamps it."}},
    },
    {
        id = "priority-default", topic = "Priorities",
        fact = "By default streams have priority 0, the least urgent.",
        holds = any, source = {"streams", "torch_class"}, measured = experiments_page .. "#priorities",
        stated = {{priorities_page, "0 is the least urgent"}},
    },
    {
        id = "priority-copies", topic = "Priorities",
        fact = "Priorities have no effect on copies between host and GPU.",
        holds = any, source = {"streams"},
        stated = {{priorities_page, "no effect on host-to-device and device-to-host memory operations"},
            {"docs/design/simulator.md", "Priorities have no effect on copies"}},
    },
    -- ---- PyTorch -----------------------------------------------------------------------------
    {
        id = "torch-streams", topic = "PyTorch",
        fact = "PyTorch makes its streams non-blocking, so that they take no part in the NULL stream's "
            .. "rule; a stream of the laboratory does unless it is made non_blocking.",
        holds = "PyTorch", source = {"torch_stream"},
        stated = {{implicit_page, "PyTorch makes all of its streams so, CUDA by itself none."},
            {"docs/guide/01-first-overlap.md", "There every stream is exempt"}},
        never = {{"torch%.cuda%.stream%(priority=%-1%) | lab%.stream{priority = %-1} |",
                "| `torch.cuda.Stream(priority=-1)` | `lab.stream{priority = -1}` |"}},
        not_run = "There is no PyTorch in the laboratory.",
    },
    {
        id = "to-cpu-pinned", topic = "PyTorch",
        fact = "The result of x.to(\"cpu\", non_blocking=True) is pinned, and must not be read before "
            .. "the copy is done; without non_blocking it is pageable.",
        holds = "PyTorch and the laboratory", source = {"torch_to"},
        stated = {{pinned_page, "must not be looked at before an event or a synchronisation says that "
            .. "it is there"}},
    },
    {
        id = "torch-reuse", topic = "PyTorch",
        fact = "PyTorch hands the memory of a freed tensor to the next one of the same stream at once. "
            .. "If another stream still uses it, Tensor.record_stream must say so.",
        holds = "PyTorch's allocator", source = {"torch_allocator", "torch_record"},
        stated = {{pipelines_page, "Tensor.record_stream is there for that"}},
        not_run = "There is no PyTorch in the laboratory.",
    },
    {
        id = "torch-allocator", topic = "PyTorch",
        fact = "By default PyTorch takes memory by cudaMalloc and keeps it in a cache; cudaMallocAsync "
            .. "is a choice.",
        holds = "PyTorch", source = {"torch_backend"},
        stated = {{"docs/reference/cuda-pytorch.md", "torch.empty"}},
        never = {{"cudamallocasync | torch%.empty", "`cudaMallocAsync` | `torch.empty` |"}},
        not_run = "There is no PyTorch in the laboratory.",
    },
    {
        id = "torch-profiler", topic = "PyTorch",
        fact = "cudaProfilerStart is torch.cuda.cudart().cudaProfilerStart() or "
            .. "torch.cuda.profiler.start(); torch.profiler is another thing.",
        holds = "PyTorch", source = {"torch_cudart"},
        stated = {{"docs/reference/cuda-pytorch.md", "torch.profiler.profile"}},
        never = {{"cudaprofilerstart | torch%.profiler", "`cudaProfilerStart` | `torch.profiler.profile.start` |"}},
        not_run = "There is no PyTorch in the laboratory.",
    },
    {
        id = "torch-default-stream", topic = "PyTorch",
        fact = "PyTorch's operations go to the current stream, at first the default one; NCCL's "
            .. "collectives have streams of their own.",
        holds = "PyTorch", source = {"torch_notes"},
        stated = {{experiments_page, "collectives of NCCL have streams of their own"}},
        never = {{"all pytorch cuda operations happen",
                "All PyTorch CUDA operations happen in the single default stream."}},
        not_run = "There is no PyTorch in the laboratory.",
    },
    -- ---- Tools -------------------------------------------------------------------------------
    {
        id = "racecheck", topic = "Tools",
        fact = "Compute Sanitizer's racecheck looks for races in shared memory within a kernel; its "
            .. "memcheck can follow the life of memory of cudaMallocAsync across streams.",
        holds = any, source = {"sanitizer"},
        stated = {{races_page, "among the threads of a block and in shared memory only"},
            {races_page, "--track-stream-ordered-races all"}},
        never = {{"among the threads of a block[.,;]",
                "It looks for races within a kernel, among the threads of a block."}},
        not_run = "It is a tool of NVIDIA's.",
    },
    {
        id = "torch-sanitizer", topic = "Tools",
        fact = "PyTorch's stream sanitizer takes the default stream for one like any other. For "
            .. "PyTorch's own streams that is right.",
        holds = "PyTorch", source = {"torch_sanitizer", "torch_stream"},
        stated = {{races_page, "which is right for PyTorch's own streams, since they are non-blocking"}},
        not_run = "There is no PyTorch in the laboratory.",
    },
    {
        id = "vpl-execution", topic = "Tools",
        fact = "In the Virtual Programming Lab vpl_evaluate.sh has to write vpl_execution, a program or "
            .. "a script that begins with #!/bin/sh, which is then run.",
        holds = "VPL 3.4.3", source = {"vpl"},
        stated = {{"docs/teaching.md", "vpl_evaluate.sh must write a file vpl_execution"}},
        never = {{"vpl_evaluate%.sh can be",
                "`vpl_evaluate.sh` can be a pipe."}},
        not_run = "It is a plugin of Moodle's.",
    },
}
