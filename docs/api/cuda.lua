return {
    title = "Plain calls: lab.cuda",
    order = 90,
    about = [[
These functions are single CUDA calls, to find out what a call does: does it hold the host, does it serialise streams?
On a real GPU each function makes the CUDA call, and waits where CUDA waits. On the simulator the profile (its table
`calls`) says what each call costs and whether it waits. Where "blocks" below mentions the simulator, it means the
default of the profiles.

**Memory** is a uint8 tensor of as many bytes as you ask for. It does not come from the pools that tensors use: `malloc`
and `malloc_host` ask the driver each time, `malloc_async` the device's default pool. If a script drops such memory
without freeing it, it is freed later without a wait. A byte count is an integer from 0. Every later use of freed memory
is the error `SL_ECLOSED`.

**Out of memory**: `malloc`, `malloc_host` and `malloc_async` do not raise an error but return `nil`, a message and
`"SL_ENOMEM"`, since scripts use them to find out what fits. The simulator counts the device memory that these calls
gave out together with its tensors; it does not count host memory.

**Streams.** A call that takes a stream takes it as the last argument, as `{ stream = s }` or as the stream itself; the
default is the current stream of the device. **Devices** are objects of `lab.open`, not numbers.

A host function may call none of these: the error is `SL_ESTATE`.]],
    entries = {
        {
            name = "lab.cuda.malloc",
            brief = "allocates memory on the current device",
            arguments = { { "bytes", "integer", "how much, from 0" } },
            returns = {
                { "tensor|nil", "uint8, on the GPU; nil if there is not enough memory" },
                { "string|nil", "then a message: how many bytes were asked for, how many are free, and what is live" },
                { "string|nil", 'then the code, "SL_ENOMEM"' },
            },
            blocks = "real GPU: as CUDA does; on the simulator not",
            about = [[
Before this reports that a real GPU is out of memory, it collects garbage and waits for work that still uses freed
memory.]],
            example = [[
local m = lab.cuda.malloc(1000)
print(m)  --> tensor 1000 uint8 on cuda
local nothing, message, code = lab.cuda.malloc(2^40 | 0)
print(nothing)  --> nil
print(code)  --> SL_ENOMEM]],
            cuda = "cudaMalloc",
            see = { "lab.cuda.free", "lab.cuda.malloc_async", "lab.empty" },
        },
        {
            name = "lab.cuda.free",
            brief = "frees memory of malloc or malloc_async, or a tensor on the GPU",
            arguments = { { "m", "tensor", "device memory" } },
            blocks = "until the device is idle: on the simulator always, on a real GPU as CUDA does, for memory of malloc; for memory of malloc_async it does not block",
            errors = {
                { "SL_EPLACE", "it is host memory" },
                { "SL_EINVAL", "it is a view: free the tensor that it was made from" },
                { "SL_ECLOSED", "it was freed before" },
            },
            about = [[
Memory of `malloc_async` is freed at once, as in CUDA: the script must see to it that nobody uses it any more. The call
also frees a tensor on the GPU; on a real GPU it then waits for the work that uses the tensor.]],
            example = [[
local m = lab.cuda.malloc(4096)
lab.spin(5)
local start_us = lab.now_us()
lab.cuda.free(m)
print(lab.now_us() - start_us > 5000)  --> true
print(m.freed)  --> true]],
            cuda = "cudaFree",
            see = { "lab.cuda.free_async", "tensor:free", "lab.probe" },
        },
        {
            name = "lab.cuda.malloc_host",
            brief = "allocates page-locked memory of the host",
            arguments = { { "bytes", "integer", "how much, from 0" } },
            returns = {
                { "tensor|nil", "uint8, on the host, pinned; nil if there is not enough memory" },
                { "string|nil", "then a message" },
                { "string|nil", 'then the code, "SL_ENOMEM"' },
            },
            blocks = "for as long as page-locking takes, on an H200's host about 0.4 ms a MiB; real GPU: as CUDA does",
            example = [[
local m = lab.cuda.malloc_host(4096)
print(m.device)  --> cpu
print(m.pinned)  --> true]],
            cuda = "cudaMallocHost",
            see = { "lab.cuda.free_host", "lab.cuda.host_register" },
        },
        {
            name = "lab.cuda.free_host",
            brief = "frees memory of malloc_host, or a tensor that was made pinned",
            arguments = { { "m", "tensor", "pinned host memory" } },
            blocks = "until the device is idle: on the simulator always, on a real GPU as CUDA does",
            errors = {
                { "SL_EPLACE", "it is device memory, pageable, or was pinned later (then use host_unregister)" },
                { "SL_EINVAL", "it is a view: free the tensor that it was made from" },
                { "SL_ECLOSED", "it was freed before" },
            },
            example = [[
local m = lab.cuda.malloc_host(4096)
print(lab.probe(function() lab.cuda.free_host(m) end).host_blocked)  --> true]],
            cuda = "cudaFreeHost",
            see = { "lab.cuda.malloc_host" },
        },
        {
            name = "lab.cuda.malloc_async",
            brief = "allocates memory in the order of a stream",
            arguments = { { "bytes", "integer", "how much, from 0" } },
            options = { { "stream", "stream", "the stream; may be given alone, without a table", default = "the current stream" } },
            returns = {
                { "tensor|nil", "uint8, on the stream's GPU; nil if there is not enough memory" },
                { "string|nil", "then a message" },
                { "string|nil", 'then the code, "SL_ENOMEM"' },
            },
            about = [[
The memory comes from the device's default pool, on a real GPU too, and not from the pools of streamlab's tensors. It is
there in the order of the stream: another stream that uses it has to wait for this one first, else the
[race checker](races.md) reports it.

The pool's release threshold is 0, CUDA's default: each synchronisation of a stream, an event or the device gives back
what nobody uses, and the next call asks the system again. Both take long
([chapter 6](../guide/06-implicit-synchronisation.md)).]],
            example = [[
local s = lab.stream()
local m = lab.cuda.malloc_async(4096, s)
lab.cuda.memset_async(m, 7, s)
print(m:get(4096))  --> 7.0
lab.cuda.free_async(m, s)]],
            cuda = "cudaMallocAsync",
            see = { "lab.cuda.free_async", "lab.cuda.malloc" },
        },
        {
            name = "lab.cuda.free_async",
            brief = "frees device memory in the order of a stream",
            arguments = { { "m", "tensor", "device memory, of malloc_async or of a tensor" } },
            options = { { "stream", "stream", "the stream; may be given alone, without a table", default = "the current stream of its device" } },
            errors = {
                { "SL_EPLACE", "it is host memory" },
                { "SL_EDEVICE", "the stream is another device's" },
                { "SL_EINVAL", "it is a view: free the tensor that it was made from" },
                { "SL_ECLOSED", "it was freed before" },
            },
            about = [[
As in CUDA, the script must make sure that the stream reaches the free after all work with the memory; `t:free()` makes
sure of that by itself. The next `malloc_async` in the stream that you name here may get this memory
at once. On the simulator it does, if it asks for the same number of bytes or for at least about half of it.]],
            example = [[
local m = lab.cuda.malloc_async(4096)
lab.spin(5)
lab.cuda.free_async(m)
print(m.freed)  --> true
print(lab.current_stream():query())  --> false]],
            cuda = "cudaFreeAsync",
            see = { "tensor:free", "lab.cuda.free" },
        },
        {
            name = "lab.cuda.host_register",
            brief = "page-locks a host tensor where it is",
            arguments = { { "t", "tensor", "pageable, on the host" } },
            blocks = "for as long as page-locking takes; real GPU: as CUDA does",
            errors = {
                { "SL_EPLACE", "it is on the GPU" },
                { "SL_ESTATE", "it is pinned already" },
                { "SL_ECLOSED", "it was freed" },
            },
            about = [[The same as `t:pin()`, which returns the tensor. No copy is made.]],
            example = [[
local t = lab.ones(4, { device = "cpu" })
lab.cuda.host_register(t)
print(t.pinned)  --> true
lab.cuda.host_unregister(t)
print(t.pinned)  --> false]],
            cuda = "cudaHostRegister",
            see = { "lab.cuda.host_unregister", "tensor:pin", "tensor:pin_memory" },
        },
        {
            name = "lab.cuda.host_unregister",
            brief = "undoes host_register",
            arguments = { { "t", "tensor", "what host_register or `t:pin()` has page-locked" } },
            blocks = "until the device is idle: on the simulator always, on a real GPU as CUDA does",
            errors = {
                { "SL_EPLACE", "it is on the GPU" },
                { "SL_ESTATE", "it is not pinned, or was allocated pinned" },
                { "SL_ECLOSED", "it was freed" },
            },
            example = [[
local t = lab.ones(4, { device = "cpu" }):pin()
lab.spin(5)
lab.cuda.host_unregister(t)
print(lab.current_stream():query())  --> true]],
            cuda = "cudaHostUnregister",
            see = { "lab.cuda.host_register", "tensor:unpin" },
        },
        {
            name = "lab.cuda.memset",
            brief = "sets bytes, in the NULL stream",
            arguments = {
                { "m", "tensor", "device memory, or pinned memory of the host" },
                { "value", "integer", "of each byte, from 0 to 255" },
                { "bytes", "integer", "how many, from the first one", default = "all" },
            },
            blocks = "of pinned memory until it is done, as in CUDA; of device memory not",
            errors = {
                { "SL_EPLACE", "the memory is pageable: fill_ sets it" },
                { "SL_EINVAL", "more bytes than the memory has" },
                { "SL_ECLOSED", "the memory was freed" },
            },
            about = [[
Even where the host does not wait, streams do: in the NULL stream the memset waits for the work of all blocking streams,
and their later work waits for it.]],
            example = [[
local set = lab.probe(function()
    lab.cuda.memset(lab.cuda.malloc(4096), 0)
end)
print(set.host_blocked)  --> false
print(set.serialised)  --> true]],
            cuda = "cudaMemset",
            see = { "lab.cuda.memset_async", "tensor:zero_" },
        },
        {
            name = "lab.cuda.memset_async",
            brief = "sets bytes, in a stream",
            arguments = {
                { "m", "tensor", "device memory, or pinned memory of the host" },
                { "value", "integer", "of each byte, from 0 to 255" },
                { "bytes", "integer", "how many, from the first one", default = "all" },
            },
            options = { { "stream", "stream", "in which it runs; may be given alone, without a table", default = "the current stream of its device" } },
            errors = {
                { "SL_EPLACE", "the memory is pageable: fill_ sets it" },
                { "SL_EINVAL", "more bytes than the memory has" },
                { "SL_EDEVICE", "the stream is another device's" },
                { "SL_ECLOSED", "the memory or the stream is closed" },
            },
            example = [[
local m = lab.cuda.malloc(4)
lab.cuda.memset_async(m, 9)
lab.cuda.memset_async(m, 1, 2, { stream = lab.current_stream() })
print(m:get(2))  --> 1.0
print(m:get(3))  --> 9.0]],
            cuda = "cudaMemsetAsync",
            see = { "lab.cuda.memset", "tensor:zero_" },
        },
        {
            name = "lab.cuda.memcpy",
            brief = "copies bytes, in the NULL stream",
            arguments = {
                { "dst", "tensor", "anywhere" },
                { "src", "tensor", "anywhere; its shape and dtype do not matter" },
                { "bytes", "integer", "how many, from the first one", default = "all of the source" },
            },
            blocks = "between host and device until the copy is done, from pageable memory for the NULL stream and until the bytes are staged; within the device not",
            errors = {
                { "SL_EINVAL", "more bytes than one of the two has" },
                { "SL_EDEVICE", "they are on devices that do not copy to one another" },
                { "SL_ECLOSED", "one of the two was freed" },
            },
            about = [[
From pageable memory it waits for the earlier work of the NULL stream, at any size, and returns once the bytes are
staged, as CUDA's does. (`dst:copy_(src)` returns when they have arrived, and `lab.cuda.memcpy_async` waits from a
certain size on.) Between two GPUs it does not wait. A copy within the host is done when the call returns, and waits for
no GPU.]],
            example = [[
local a, b = lab.cuda.malloc_host(1 << 20), lab.cuda.malloc(1 << 20)
lab.spin(5)
lab.cuda.memcpy(b, a)
print(lab.current_stream():query())  --> true
lab.spin(5)
lab.cuda.memcpy(b, b)
print(lab.current_stream():query())  --> false]],
            cuda = "cudaMemcpy",
            see = { "lab.cuda.memcpy_async", "tensor:copy_" },
        },
        {
            name = "lab.cuda.memcpy_async",
            brief = "copies bytes, in a stream",
            arguments = {
                { "dst", "tensor", "anywhere" },
                { "src", "tensor", "anywhere; its shape and dtype do not matter" },
                { "bytes", "integer", "how many, from the first one", default = "all of the source" },
            },
            options = { { "stream", "stream", "in which it runs; may be given alone, without a table", default = "the current stream of the device; of the source's between two GPUs" } },
            blocks = "into pageable memory until the bytes have arrived, from pageable memory until they are staged; else not",
            errors = {
                { "SL_EINVAL", "more bytes than one of the two has" },
                { "SL_EDEVICE", "they are on devices that do not copy to one another, or the stream is a third one's" },
                { "SL_ECLOSED", "one of the two, or the stream, is closed" },
            },
            about = [[
It waits as `dst:copy_(src, { non_blocking = true })` does, which also checks shapes and dtypes. A copy within the host is
done when the call returns.]],
            example = [[
local pageable = lab.empty(1 << 20, { device = "cpu" })
local m = lab.cuda.malloc(4 << 20)
lab.spin(5)
lab.cuda.memcpy_async(m, pageable:pin_memory())
print(lab.current_stream():query())  --> false
lab.cuda.memcpy_async(pageable, m)
print(lab.current_stream():query())  --> true]],
            cuda = "cudaMemcpyAsync",
            see = { "lab.cuda.memcpy", "tensor:copy_" },
        },
        {
            name = "lab.cuda.func_set_cache_config",
            brief = "sets a kernel's preference for cache or shared memory",
            blocks = "real GPU: as CUDA does; on the simulator not",
            about = [[
The call sets the preference of the kernel of `lab.spin`: for shared memory, then for the L1 cache, by turns, so that
each call changes it. Old guides list this as a hidden barrier; `lab.probe` shows whether it still is one.]],
            example = [[
local set = lab.probe(lab.cuda.func_set_cache_config)
print(set.host_blocked)  --> false
print(set.serialised)  --> false]],
            cuda = "cudaFuncSetCacheConfig",
            see = { "lab.probe" },
        },
        {
            name = "lab.cuda.device_set_limit",
            brief = "changes a limit of the device",
            blocks = "real GPU: as CUDA does; on the simulator not",
            about = [[
The limit is the size of the buffer of `printf` in kernels: one call doubles it, the next call sets it back, so that
each call changes something. If CUDA refuses that, because a kernel that prints has run, the call sets the stack limit
to its present value.]],
            example = [[
local set = lab.probe(lab.cuda.device_set_limit)
print(set.host_blocked)  --> false]],
            cuda = "cudaDeviceSetLimit",
            see = { "lab.probe" },
        },
        {
            name = "lab.cuda.cublas_create",
            brief = "makes a handle of cuBLAS",
            blocks = "real GPU: as CUDA does, and the first one loads cuBLAS; on the simulator what the profile says",
            errors = {
                { "SL_EUNSUPPORTED", "real GPU: cuBLAS cannot be loaded" },
                { "SL_ENOMEM", "real GPU: no memory for it" },
            },
            about = [[
The handle belongs to the device, and nothing uses it: `matmul` has its own. It lives until `cublas_destroy`, or as long
as the device.]],
            example = [[
local create = lab.probe(lab.cuda.cublas_create)
print(create.host_blocked)  --> false
print(create.serialised)  --> false]],
            cuda = "cublasCreate",
            see = { "lab.cuda.cublas_destroy" },
        },
        {
            name = "lab.cuda.cublas_destroy",
            brief = "ends the latest handle of cublas_create",
            blocks = "until the device is idle: on the simulator always, on a real GPU as cuBLAS does",
            errors = { { "SL_ESTATE", "no handle of the current device is left" } },
            example = [[
lab.cuda.cublas_create()
print(lab.probe(lab.cuda.cublas_destroy).host_blocked)  --> true
local ok, err = pcall(lab.cuda.cublas_destroy)
print(err.code)  --> SL_ESTATE]],
            cuda = "cublasDestroy",
            see = { "lab.cuda.cublas_create" },
        },
        {
            name = "lab.cuda.mem_get_info",
            brief = "the free and the total bytes of the current device",
            returns = {
                { "integer", "free bytes" },
                { "integer", "bytes in all" },
            },
            about = [[
Memory that streamlab's pools keep for later tensors does not count as free. The simulator first collects garbage, so
that the answer does not depend on when Lua does.]],
            example = [[
local free = lab.cuda.mem_get_info()
local m = lab.cuda.malloc(1 << 20)
print(free - lab.cuda.mem_get_info())  --> 1048576]],
            cuda = "cudaMemGetInfo",
            pytorch = "torch.cuda.mem_get_info",
            differs = [[On the simulator the script alone uses memory: at the start all of it is free.]],
            see = { "lab.live" },
        },
        {
            name = "lab.cuda.device_can_access_peer",
            brief = "whether a device can reach the memory of another one",
            arguments = {
                { "d", "device", "the one that would access" },
                { "peer", "device", "whose memory" },
            },
            returns = { { "boolean", "true if it can be given access" } },
            errors = {
                { "SL_EINVAL", "both are the same GPU, or simulated: a simulated GPU has no peers" },
                { "SL_EDEVICE", "one is a real GPU and one is simulated" },
            },
            example = [[
local one, two = lab.open{ profile = "h200" }, lab.open{ profile = "t4" }
local ok, err = pcall(lab.cuda.device_can_access_peer, one, two)
print(err.code)  --> SL_EINVAL]],
            cuda = "cudaDeviceCanAccessPeer",
            pytorch = "torch.cuda.can_device_access_peer",
            see = { "lab.cuda.device_enable_peer_access" },
        },
        {
            name = "lab.cuda.device_enable_peer_access",
            brief = "lets a device reach the memory of another one",
            arguments = { { "peer", "device", "whose memory" } },
            options = { { "device", "device", "which gets access", default = "the current device" } },
            errors = {
                { "SL_ESTATE", "it has access already" },
                { "SL_EINVAL", "both are the same GPU, or simulated: a simulated GPU has no peers" },
                { "SL_EDEVICE", "one is a real GPU and one is simulated" },
                { "SL_EBACKEND", "CUDA cannot connect the two" },
            },
            about = [[
Copies between the two then go directly; without access they go through the host. Access covers memory of `malloc`, of
`malloc_async` and of tensors.]],
            example = [[
local one, two = lab.open{ profile = "h200" }, lab.open{ profile = "t4" }
local ok, err = pcall(lab.cuda.device_enable_peer_access, one, { device = two })
print(err.code)  --> SL_EINVAL]],
            cuda = "cudaDeviceEnablePeerAccess",
            see = { "lab.cuda.device_can_access_peer", "lab.cuda.device_disable_peer_access" },
        },
        {
            name = "lab.cuda.device_disable_peer_access",
            brief = "takes away the access to a peer's memory",
            arguments = { { "peer", "device", "whose memory" } },
            options = { { "device", "device", "which loses access", default = "the current device" } },
            blocks = "until both devices are idle",
            errors = {
                { "SL_ESTATE", "it has no access" },
                { "SL_EINVAL", "both are the same GPU, or simulated: a simulated GPU has no peers" },
                { "SL_EDEVICE", "one is a real GPU and one is simulated" },
            },
            example = [[
local one, two = lab.open{ profile = "h200" }, lab.open{ profile = "t4" }
local ok, err = pcall(lab.cuda.device_disable_peer_access, one)
print(err.code)  --> SL_EINVAL]],
            cuda = "cudaDeviceDisablePeerAccess",
            see = { "lab.cuda.device_enable_peer_access" },
        },
        {
            name = "lab.cuda.stream_begin_capture",
            brief = "begins a capture in a stream",
            arguments = {
                { "stream", "stream", "where" },
                { "mode", [["global"|"thread_local"|"relaxed"]], "as in `lab.graph`", default = [["global"]] },
            },
            errors = { { "SL_ECAPTURE", "the stream is being captured, or is the default stream" } },
            about = [[The same as `s:begin_capture(mode)`.]],
            example = [[
local s = lab.stream()
lab.cuda.stream_begin_capture(s)
print(lab.cuda.stream_is_capturing(s))  --> active
print(lab.cuda.stream_end_capture(s))  --> graph 1 "graph 1" (0 nodes, not instantiated)]],
            cuda = "cudaStreamBeginCapture",
            see = { "stream:begin_capture", "lab.graph" },
        },
        {
            name = "lab.cuda.stream_end_capture",
            brief = "ends the capture that began in a stream",
            arguments = { { "stream", "stream", "where the capture began" } },
            returns = { { "graph", "the graph, not instantiated" } },
            errors = { { "SL_ECAPTURE", "as in `stream:end_capture`" } },
            about = [[The same as `s:end_capture()`.]],
            example = [[
local s = lab.stream()
lab.cuda.stream_begin_capture(s, "relaxed")
lab.cuda.malloc(4096)
lab.spin(1, { stream = s })
print(#lab.cuda.stream_end_capture(s):nodes())  --> 1]],
            cuda = "cudaStreamEndCapture",
            see = { "stream:end_capture", "lab.cuda.graph_instantiate" },
        },
        {
            name = "lab.cuda.stream_is_capturing",
            brief = "asks whether a stream is being captured",
            arguments = { { "stream", "stream", "which" } },
            returns = { { [["none"|"active"|"invalidated"]], "as `s:capture_status()` gives it" } },
            example = [[
local s = lab.stream()
print(lab.cuda.stream_is_capturing(s))  --> none]],
            cuda = "cudaStreamIsCapturing",
            see = { "stream:capture_status" },
        },
        {
            name = "lab.cuda.graph_instantiate",
            brief = "makes a captured graph one that can be launched",
            arguments = { { "graph", "graph", "of `s:end_capture()`" } },
            options = { { "priorities", "boolean", "whether nodes keep the priorities of the streams where they were captured", default = "false" } },
            errors = { { "SL_ESTATE", "it is instantiated already, as what `lab.graph` gives is, or has updated another graph" }, { "SL_ECLOSED", "it was freed" } },
            about = [[CUDA makes a second object, a `cudaGraphExec_t`; here the graph itself becomes that.]],
            example = [[
local s = lab.stream()
s:begin_capture()
lab.spin(1, { stream = s })
local g = s:end_capture()
lab.cuda.graph_instantiate(g, { priorities = true })
print(g.instantiated, g.priorities)  --> true	true]],
            cuda = "cudaGraphInstantiate",
            see = { "lab.graph", "lab.cuda.graph_launch" },
        },
        {
            name = "lab.cuda.graph_launch",
            brief = "launches a graph",
            arguments = { { "graph", "graph", "an instantiated one" } },
            options = { { "stream", "stream", "in which it runs; may be given alone, without a table", default = "the current stream of its device" } },
            errors = { { "SL_ESTATE", "it is not instantiated" }, { "SL_ECLOSED", "it was freed, or the stream closed" } },
            about = [[The same as `g:launch(s)`.]],
            example = [[
local g = lab.graph(function() lab.spin(1) end)
lab.cuda.graph_launch(g, lab.stream())
print(g.launches)  --> 1]],
            cuda = "cudaGraphLaunch",
            see = { "graph:launch" },
        },
        {
            name = "lab.cuda.graph_exec_update",
            brief = "lets later launches of a graph do what another was captured to do",
            arguments = { { "graph", "graph", "an instantiated one" }, { "from", "graph", "of `s:end_capture()`, not instantiated" } },
            returns = {
                { "boolean", "false: it cannot be an update, and nothing has changed" },
                { "string|nil", "then why" },
            },
            errors = { { "SL_ESTATE", "the first is not instantiated, the second is, or has updated a graph before" }, { "SL_EDEVICE", "they are of different devices" }, { "SL_ECLOSED", "one of them was freed" } },
            about = [[
Free `from` if you need it no longer: as long as `graph` has its nodes, it can neither be instantiated nor update another graph, unlike in CUDA. `g:update(f)` captures and updates in one call.]],
            example = [[
local s, x = lab.stream(), lab.zeros(4)
local g = lab.graph(function() x:add(1, { out = x }) end)
s:begin_capture()
lab.with(s, function() x:add(7, { out = x }) end)
print(lab.cuda.graph_exec_update(g, s:end_capture()))  --> true
g:launch()
print(x:get(1))  --> 7.0]],
            cuda = "cudaGraphExecUpdate",
            see = { "graph:update" },
        },
        {
            name = "lab.cuda.graph_destroy",
            brief = "frees a graph",
            arguments = { { "graph", "graph", "instantiated or not" } },
            errors = { { "SL_ECLOSED", "it was freed before" } },
            about = [[Launches that are on their way still run.]],
            example = [[
local g = lab.graph(function() lab.spin(1) end)
lab.cuda.graph_destroy(g)
print(g.freed)  --> true]],
            cuda = "cudaGraphExecDestroy, cudaGraphDestroy",
            see = { "graph:free" },
        },
        {
            name = "lab.cuda.trap",
            brief = "launches a kernel that faults on purpose, to see what a lost device looks like",
            options = { { "stream", "stream", "in which it runs; may be given alone, without a table", default = "the current stream" } },
            errors = { { "SL_EUNSUPPORTED", "the device is simulated: it does not fail" } },
            about = [[
A real GPU is lost afterwards: the first call that finds out about the fault raises `SL_EFAULT`, and so does every later
call on that GPU. Other devices still work.]],
            example = [[
local ok, err = pcall(lab.cuda.trap)
print(err.code)  --> SL_EUNSUPPORTED]],
        },
    },
}
