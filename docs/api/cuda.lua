return {
    title = "Plain calls: lab.cuda",
    order = 90,
    about = [[
For probing what a CUDA call does. On a real GPU each is that call, and waits where CUDA does; on the simulator they cost what the profile says (its table `calls`), and
wait where it says so. What "blocks" says of the simulator is the default of the profiles.

**Memory** is a uint8 tensor of that many bytes. What is given here is not what tensors get: `malloc` and `malloc_host` ask the driver each time, `malloc_async` the
device's default pool. Memory that a script drops without freeing it goes without a wait. A byte count is a whole number from 0. Freed memory is `SL_ECLOSED` in every
later use.

**Where memory is short**, `malloc`, `malloc_host` and `malloc_async` return `nil`, a message and `"SL_ENOMEM"` instead of raising, since they are called to find out
what fits. The simulator counts what they have given out together with its tensors, and no host memory.

**Streams.** Where a call takes one, it is the last argument, as `{stream = s}` or as the stream itself; without it, it is the current stream of the device. **Devices**
are objects of `lab.open`, not numbers.

No call here may be made in a host function: that is `SL_ESTATE`.]],
    entries = {
        {
            name = "lab.cuda.malloc",
            brief = "allocates memory on the current device",
            arguments = { { "bytes", "integer", "how much, from 0" } },
            returns = {
                { "tensor|nil", "uint8, on the GPU; nil where memory is short" },
                { "string|nil", "then a message: how many bytes were asked for, how many are free, and what is live" },
                { "string|nil", 'then the code, "SL_ENOMEM"' },
            },
            blocks = "real GPU: as CUDA does; on the simulator not",
            about = [[Before a real GPU's memory is reported to be out, garbage has been collected and the work waited for that still held some.]],
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
            brief = "frees memory of malloc, or a tensor on the GPU",
            arguments = { { "m", "tensor", "device memory" } },
            blocks = "until the device is idle: on the simulator always, on a real GPU as CUDA does, for memory of malloc",
            errors = {
                { "SL_EPLACE", "it is host memory" },
                { "SL_EINVAL", "it is a view: the tensor that it was made of is freed" },
                { "SL_ECLOSED", "it was freed before" },
            },
            about = [[A tensor on the GPU is taken as well; on a real GPU the call then waits for the work that uses it.]],
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
                { "tensor|nil", "uint8, on the host, pinned; nil where memory is short" },
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
                { "SL_EPLACE", "it is device memory, pageable, or was pinned later: then it is host_unregister's" },
                { "SL_EINVAL", "it is a view: the tensor that it was made of is freed" },
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
            options = { { "stream", "stream", "in whose order; may stand alone in place of the table", default = "the current stream" } },
            returns = {
                { "tensor|nil", "uint8, on the stream's GPU; nil where memory is short" },
                { "string|nil", "then a message" },
                { "string|nil", 'then the code, "SL_ENOMEM"' },
            },
            about = [[It comes from the device's default pool, on a real GPU too, and not from the laboratory's.]],
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
            options = { { "stream", "stream", "in whose order; may stand alone in place of the table", default = "the current stream of its device" } },
            errors = {
                { "SL_EPLACE", "it is host memory" },
                { "SL_EDEVICE", "the stream is another device's" },
                { "SL_EINVAL", "it is a view: the tensor that it was made of is freed" },
                { "SL_ECLOSED", "it was freed before" },
            },
            about = [[
As in CUDA it is for the script to see to it that the stream comes to the free after all work with the memory; `t:free()` sees to it by itself. Memory of `malloc_async` may at once
be given to the next `malloc_async` in the stream that is named here; on the simulator it is, if that asks for as much, or for not less than about half of it.]],
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
local t = lab.ones(4, {device = "cpu"})
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
local t = lab.ones(4, {device = "cpu"}):pin()
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
                { "bytes", "integer", "how many, from the first on", default = "all" },
            },
            blocks = "of pinned memory until it is done, as in CUDA; of device memory not",
            errors = {
                { "SL_EPLACE", "the memory is pageable: fill_ sets it" },
                { "SL_EINVAL", "more bytes than the memory has" },
                { "SL_ECLOSED", "the memory was freed" },
            },
            about = [[
That it does not block is not all: in the NULL stream it waits for the work of all blocking streams, and they wait for it.]],
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
                { "bytes", "integer", "how many, from the first on", default = "all" },
            },
            options = { { "stream", "stream", "in which it runs; may stand alone in place of the table", default = "the current stream of its device" } },
            errors = {
                { "SL_EPLACE", "the memory is pageable: fill_ sets it" },
                { "SL_EINVAL", "more bytes than the memory has" },
                { "SL_EDEVICE", "the stream is another device's" },
                { "SL_ECLOSED", "the memory or the stream is closed" },
            },
            example = [[
local m = lab.cuda.malloc(4)
lab.cuda.memset_async(m, 9)
lab.cuda.memset_async(m, 1, 2, {stream = lab.current_stream()})
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
                { "bytes", "integer", "how many, from the first on", default = "all of the source" },
            },
            blocks = "between host and device until the copy is done, from pageable memory for the NULL stream and until the bytes are staged; within the device not",
            errors = {
                { "SL_EINVAL", "more bytes than one of the two has" },
                { "SL_EDEVICE", "they are on devices that do not copy to one another" },
                { "SL_ECLOSED", "one of the two was freed" },
            },
            about = [[
From pageable memory it waits for the earlier work of the NULL stream, at any size, and returns once the bytes are staged, as CUDA's does. (`dst:copy_(src)` returns when they have
arrived, and `lab.cuda.memcpy_async` waits from a certain size on.) Between two GPUs it does not wait. Within the host it is done on return, and waits for no GPU.]],
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
                { "bytes", "integer", "how many, from the first on", default = "all of the source" },
            },
            options = { { "stream", "stream", "in which it runs; may stand alone in place of the table", default = "the current stream of the device; of the source's between two GPUs" } },
            blocks = "into pageable memory until the bytes have arrived, from pageable memory until they are staged; else not",
            errors = {
                { "SL_EINVAL", "more bytes than one of the two has" },
                { "SL_EDEVICE", "they are on devices that do not copy to one another, or the stream is a third one's" },
                { "SL_ECLOSED", "one of the two, or the stream, is closed" },
            },
            about = [[
It waits as `dst:copy_(src, {non_blocking = true})` does, which also checks shapes and dtypes. Within the host it is done on return.]],
            example = [[
local pageable = lab.empty(1 << 20, {device = "cpu"})
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
            about = [[It is tried on the kernel of `lab.spin`. Old guides list this call as a hidden barrier; `lab.probe` tells what it is now.]],
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
The limit is the buffer of `printf` in kernels: twice what it was, and back at the next call, so that each call has something to do. Where CUDA refuses that, because a
kernel that prints has run, the limit of the stack is set to what it is.]],
            example = [[
local set = lab.probe(lab.cuda.device_set_limit)
print(set.host_blocked)  --> false]],
            cuda = "cudaDeviceSetLimit",
            see = { "lab.probe" },
        },
        {
            name = "lab.cuda.cublas_create",
            brief = "makes a handle of cuBLAS",
            blocks = "real GPU: as CUDA does, and the first one loads cuBLAS; on the simulator 16 ms of the host's time",
            errors = {
                { "SL_EUNSUPPORTED", "real GPU: cuBLAS cannot be loaded" },
                { "SL_ENOMEM", "real GPU: no memory for it" },
            },
            about = [[The handle is the device's, and does nothing: `matmul` has its own. It ends by `cublas_destroy`, or with the device.]],
            example = [[
local create = lab.probe(lab.cuda.cublas_create)
print(create.host_us > 1000)  --> true
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
What the laboratory's pools hold back is not free. The simulator first collects garbage, so that the answer does not depend on when Lua does.]],
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
                { "d", "device", "which would access" },
                { "peer", "device", "whose memory" },
            },
            returns = { { "boolean", "true if it can be given access" } },
            errors = {
                { "SL_EINVAL", "both are the same GPU, or simulated: those are alone" },
                { "SL_EDEVICE", "one is a real GPU and one is simulated" },
            },
            example = [[
local one, two = lab.open{profile = "h200"}, lab.open{profile = "t4"}
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
                { "SL_EINVAL", "both are the same GPU, or simulated: those are alone" },
                { "SL_EDEVICE", "one is a real GPU and one is simulated" },
                { "SL_EBACKEND", "CUDA cannot connect the two" },
            },
            about = [[
Copies between the two then go directly; without it they go by way of the host. It holds for memory of `malloc`, of `malloc_async` and of tensors.]],
            example = [[
local one, two = lab.open{profile = "h200"}, lab.open{profile = "t4"}
local ok, err = pcall(lab.cuda.device_enable_peer_access, one, {device = two})
print(err.code)  --> SL_EINVAL]],
            cuda = "cudaDeviceEnablePeerAccess",
            see = { "lab.cuda.device_can_access_peer", "lab.cuda.device_disable_peer_access" },
        },
        {
            name = "lab.cuda.device_disable_peer_access",
            brief = "takes that access away",
            arguments = { { "peer", "device", "whose memory" } },
            options = { { "device", "device", "which loses access", default = "the current device" } },
            blocks = "until both devices are idle",
            errors = {
                { "SL_ESTATE", "it has no access" },
                { "SL_EINVAL", "both are the same GPU, or simulated: those are alone" },
                { "SL_EDEVICE", "one is a real GPU and one is simulated" },
            },
            example = [[
local one, two = lab.open{profile = "h200"}, lab.open{profile = "t4"}
local ok, err = pcall(lab.cuda.device_disable_peer_access, one)
print(err.code)  --> SL_EINVAL]],
            cuda = "cudaDeviceDisablePeerAccess",
            see = { "lab.cuda.device_enable_peer_access" },
        },
        {
            name = "lab.cuda.trap",
            brief = "launches a kernel that faults on purpose, to see what a lost device looks like",
            options = { { "stream", "stream", "in which it runs; may stand alone in place of the table", default = "the current stream" } },
            errors = { { "SL_EUNSUPPORTED", "the device is simulated: it does not fail" } },
            about = [[
A real GPU is lost after it: every later call on it raises `SL_EFAULT`, the first one that hears of it and all others. Other devices go on.]],
            example = [[
local ok, err = pcall(lab.cuda.trap)
print(err.code)  --> SL_EUNSUPPORTED]],
        },
    },
}
