return {
    title = "Devices",
    class = "device",
    order = 10,
    about = [[
A device is a GPU, real or simulated. A script need not open one: the first call that needs a device opens the default one. The *current* device is the one that was
opened last; calls that name no device use its streams and memory. A device stays open until the program ends. The same device is always the same value, so that
devices can be keys of a table.

If no backend and no profile is named, the program uses a real GPU if one answers; else it simulates one, and a line on stderr says which, and why. If the
CUDA plugin is missing this line is short; `lab.open{ backend = "cuda" }` gives the full reason. If a GPU answers but cannot be opened (its memory is full), this is an error, and
no GPU is simulated instead.

The CUDA backend is the file `streamlab_cuda.so` beside the program or the module, or in `../lib/streamlab` from there; `STREAMLAB_CUDA_PLUGIN` names another one, or `none`
to do without.]],
    entries = {
        {
            name = "lab.device",
            brief = "the current device",
            returns = { { "device", "the current one; the default one is opened if there is none" } },
            blocks = "only if it has to open one, until a real GPU's context is made",
            errors = { { "SL_ENOTFOUND", "none is open, and the one that options or environment ask for is not there" } },
            about = [[PyTorch's function gives a number; that is `lab.device().index`.]],
            example = [[
local d = lab.device()
print(d)  --> device 0 NVIDIA H200 (sim, profile h200)
print(d.sm_count .. " SMs")  --> 132 SMs]],
            cuda = "cudaGetDevice, cudaGetDeviceProperties",
            pytorch = "torch.cuda.current_device, torch.cuda.get_device_properties",
            see = { "lab.open", "device:make_current" },
        },
        {
            name = "lab.devices",
            brief = "lists what can be opened",
            returns = { { "table[]", "each `{ backend =, index =, name =, profile = }`; a real GPU has no `profile`" } },
            about = [[
Real GPUs come first, then one entry a built-in profile of the simulator, the default one first. It opens nothing. Each entry can be given to `lab.open`, but for its `name`.]],
            example = [[
local profiles = {}
for _, d in ipairs(lab.devices()) do table.insert(profiles, d.profile) end
print(profiles[1])  --> h200]],
            cuda = "cudaGetDeviceCount",
            pytorch = "torch.cuda.device_count",
            see = { "lab.open" },
        },
        {
            name = "lab.open",
            brief = "opens a device and makes it current",
            options = {
                {
                    "backend", [["cuda"|"sim"]], "a real GPU or the simulator",
                    default = "see below",
                },
                {
                    "profile", "string|table", [[the simulated GPU: "h200", "h200_nvlink", "textbook", "h100", "b200", "a100", "a10", "l4", "v100", "t4", "rtx4090", "rtx4060_laptop", a file that ends in `.lua`, or a table]],
                    default = [[what `--profile` or `STREAMLAB_PROFILE` says, else "h200"]],
                },
                {
                    "host", "string|table", [[the simulated host: a profile's name, a file that ends in `.lua`, a saved recording, `"measured"` for what recordings on this machine's GPU have shown (`streamlab hosts`), or a table, of which the host's figures replace those of `profile`]],
                    default = "where the script names no profile, what `--host` or `STREAMLAB_HOST` says; else the profile's own",
                },
                { "index", "integer", "the number of the GPU, from 0; a simulated one from 1 on is in the machine of the current device", default = "what `--device` says, where the script does not ask for the simulator; else 0" },
                { "tune", "boolean", "whether the first `lab.matmul` of each shape measures first, as `lab.tune` does; no effect on a simulated GPU", default = "on a GPU that was not open, what `--tune` says; else as it is" },
                { "overrides", "table", "single figures of the profile that are replaced, in the form that it has", default = "none" },
            },
            returns = { { "device", "the device, which is the current one now" } },
            blocks = "until all work of the devices that are open is done; on a real GPU also until its context is made",
            errors = {
                { "SL_ENOTFOUND", "there is no such backend, device, profile or plugin, or no GPU answers" },
                { "SL_EINVAL", "`profile`, `host` or `overrides` with the backend `\"cuda\"`; a profile with a figure that is unknown, missing or out of range; a `host` without any figure of a host" },
                { "SL_EUNSUPPORTED", "the plugin of the CUDA backend cannot be loaded, or has no kernels for the GPU" },
                { "SL_EIO", "the profile's file cannot be read" },
                { "SL_ENOMEM", "the GPU's memory is full" },
                { "SL_ESTATE", "the simulated GPU is open with another profile; called by a host function; another thread of the process has opened a GPU" },
            },
            about = [[
The backend is the first of these that is given: the option `backend`; the program's `--backend`; the simulator if `profile`, `host`, `overrides`, `--profile` or `--host` is given;
`STREAMLAB_BACKEND`; `"cuda"` if a GPU answers for which the plugin has kernels; else `"sim"`.

Opening a real GPU that is open already returns the same device, without a wait. On the simulator a call without `index`, or with 0, opens GPU 0 of a new
machine, whose clock begins at 0; `index = 1` opens the next one in the machine of the current device, or returns it if it is open, unless another profile is asked for. One that is no longer current, and of which the script has no object, is closed when the next one is opened.

[docs/design/simulator.md](../design/simulator.md) has the names and meanings of the figures of a profile;
[scripts/profiles/h200.lua](../../scripts/profiles/h200.lua) is what `streamlab calibrate` wrote on an H200. `textbook` has round figures,
modelled on an H200, for lessons and for checks worked out by hand: it does not change. The other GPUs are derived from it by their data sheets. A profile can name a base, from which it takes all figures that it does not
have itself: `lab.open{ profile = { base = "h200", sm_count = 66 } }`. Overrides are nested like the profile: `overrides = { connections = 1, host =
{ launch_us = 10 } }`.

With `tune` a real GPU is tuned for each shape that is multiplied on it (`lab.tune`): a matmul of a new shape waits until all work of the GPU is done, then for up to seconds; what was
measured in an earlier run is taken at once. In a capture and for shapes that were multiplied in it first nothing is measured. If there is no memory to measure in, a line on stderr
says so, and tuning ends.

A profile has two parts: the GPU's figures are the same in every machine, the host's (what calls cost, how fast pageable memory is) are not. With `host` the GPU of one profile is simulated in
the machine of another. A file for `host` may have host figures alone; with a `base` it is also a profile by itself.]],
            example = [[
local t4 = lab.open{ profile = "t4" }
print(t4)  --> device 0 Tesla T4 (sim, profile t4)
local half = lab.open{ profile = "h200", overrides = { sm_count = 66 } }
print(half.sm_count)  --> 66
print(lab.open{ profile = "a100", host = "t4" }.profile)  --> a100 with host t4
half:make_current()
print(lab.device() == half)  --> true]],
            cuda = "cudaSetDevice",
            pytorch = "torch.cuda.set_device",
            see = { "lab.devices", "device:make_current" },
        },
        {
            name = "device:make_current",
            brief = "makes an open device current again",
            returns = { { "device", "the device itself" } },
            about = [[
New tensors, streams and events belong to it from now on, and `lab.synchronize` waits for it. Each device keeps its own current stream. Making a stream of another device
current (`lab.with`, `lab.use`) makes that device current as well.]],
            example = [[
local h200, t4 = lab.open{ profile = "h200" }, lab.open{ profile = "t4" }
print(lab.device().name)  --> Tesla T4
h200:make_current()
print(lab.device().name)  --> NVIDIA H200]],
            cuda = "cudaSetDevice",
            pytorch = "torch.cuda.set_device",
            see = { "lab.open", "lab.with" },
        },
        {
            name = "lab.synchronize",
            brief = "waits for all work of the current device",
            blocks = "until the work of all its streams is done",
            about = [[
It waits only for the current device. It raises an error that is not yet reported, for example that of a host function.]],
            example = [[
local a, b = lab.stream(), lab.stream()
lab.spin(3, { stream = a })
lab.spin(5, { stream = b })
local start_us = lab.now_us()
lab.synchronize()
print(a:query() and b:query())  --> true
print((lab.now_us() - start_us) // 1000 .. " ms")  --> 5.0 ms]],
            cuda = "cudaDeviceSynchronize",
            pytorch = "torch.cuda.synchronize",
            see = { "stream:synchronize", "event:synchronize" },
        },
        {
            name = "lab.host_work",
            brief = "keeps the host busy",
            arguments = { { "ms", "number", "for how many milliseconds, from 0 to 1e9" } },
            blocks = "for that long, in host time; the GPU goes on with its work",
            about = [[
Use it in place of what a real program computes on the CPU. On the simulator Lua's own work takes no time, so a script needs this call to let time pass. On a real GPU it keeps a processor
busy for that long. Host functions run meanwhile, and one that calls it lasts as long.]],
            example = [[
local start_us = lab.now_us()
lab.spin(4)
lab.host_work(3)  -- while the GPU works
lab.synchronize()
print((lab.now_us() - start_us) // 1000 .. " ms")  --> 4.0 ms]],
            see = { "lab.now_us", "stream:launch_host_func" },
        },
        {
            name = "lab.now_us",
            brief = "reads the host's clock",
            returns = { { "number", "microseconds; only differences mean something" } },
            about = [[
On a real GPU it is the machine's clock. On the simulator it is virtual, and each simulated machine has its own: only `lab.host_work` and the calls that reach the GPU or
wait for it move it. Reading it does not, so that a loop `while lab.now_us() < t do end` never ends there.]],
            example = [[
local start_us = lab.now_us()
for i = 1, 100000 do math.sqrt(i) end
print(lab.now_us() - start_us)  --> 0.0
lab.host_work(2)
print(lab.now_us() - start_us)  --> 2000.0]],
            see = { "lab.host_work", "lab.measure", "event:elapsed_time" },
        },
        {
            name = "lab.live",
            brief = "counts what is alive",
            returns = { { "table<string, integer>", "`streams`, `events`, `tensors`, `buffers`, `graphs`, `ops`, `device_bytes`, `pinned_bytes`, `pageable_bytes`" } },
            about = [[
It counts over all devices, and opens none. `ops` are the operations in flight, which is those that are not known to have completed; `buffers` are pieces of memory, also
those of freed tensors that operations in flight still use. The default streams are not counted. The bytes are what scripts hold, with memory that a freed tensor has left to the
next one of its stream counted once: what the laboratory's pools keep for later is not in them (`lab.cuda.mem_get_info` has what the GPU has left). What the garbage collector has not yet found counts; `collectgarbage()` makes it look.]],
            example = [[
local t = lab.empty(256, 256)
print(lab.live().tensors)  --> 1
print(lab.live().device_bytes)  --> 262144
t:free()
print(lab.live().device_bytes)  --> 0]],
            pytorch = "torch.cuda.memory_allocated",
            differs = [[What queued work still uses counts; PyTorch leaves it out once the tensor is gone. Sizes are not rounded up to 512 bytes.]],
            see = { "lab.cuda.mem_get_info", "tensor:free" },
        },
        { name = "lab.version", type = "string", brief = "the version of the laboratory" },
        {
            name = "device.name", type = "string", brief = [[what the GPU is called: "NVIDIA H200"]],
            cuda = "cudaDeviceProp::name", pytorch = "torch.cuda.get_device_name",
        },
        { name = "device.backend", type = [["cuda"|"sim"]], brief = "whether it is a real GPU or a simulated one" },
        { name = "device.profile", type = "string", brief = [[the simulated GPU's profile; "" on a real GPU]] },
        { name = "device.index", type = "integer", brief = "the number of the GPU in its machine, from 0" },
        { name = "device.simulated", type = "boolean", brief = "whether it is simulated" },
        {
            name = "device.sm_count", type = "integer", brief = "how many multiprocessors (SMs) it has",
            cuda = "cudaDeviceProp::multiProcessorCount", pytorch = "torch.cuda.get_device_properties().multi_processor_count",
        },
        {
            name = "device.async_engine_count", type = "integer", brief = "how many copy engines it has; with 1 both directions take turns",
            cuda = "cudaDeviceProp::asyncEngineCount",
        },
        {
            name = "device.memory_bytes", type = "integer", brief = 'how much memory it has, in bytes; `math.maxinteger` where the profile says `"unlimited"`',
            cuda = "cudaDeviceProp::totalGlobalMem", pytorch = "torch.cuda.get_device_properties().total_memory",
        },
        {
            name = "device.compute_capability", type = "string", brief = [[its compute capability, as NVIDIA writes it: "9.0"]],
            cuda = "cudaDeviceProp::major, cudaDeviceProp::minor", pytorch = "torch.cuda.get_device_capability",
            differs = [[A text, "9.0", where PyTorch gives two numbers.]],
        },
        {
            name = "device.priority_range", type = "table<string, integer>", brief = "the priorities of its streams: `{ least = 0, greatest = -5 }`",
            cuda = "cudaDeviceGetStreamPriorityRange", pytorch = "torch.cuda.Stream.priority_range",
            differs = [[PyTorch uses the first four priorities alone, 0 to -3.]],
        },
        {
            name = "device.max_threads_per_block", type = "integer", brief = "how many threads a block can have",
            cuda = "cudaDeviceProp::maxThreadsPerBlock",
        },
        {
            name = "device.max_shared_bytes_per_block", type = "integer", brief = "how much shared memory a block can ask for, in bytes",
            cuda = "cudaDeviceProp::sharedMemPerBlockOptin",
        },
    },
    more = [[
## Several GPUs

Wherever a device is named (`device =` of tensors and streams, `t:to(...)`), it is one of

- `"cuda"`: the current GPU;
- `"cuda:1"`: the GPU of that number on the current one's backend. If it is not open it is opened; the current device stays what it is;
- a device object of `lab.open`, which also tells GPUs of several simulated machines apart;
- `"cpu"`: the host, for tensors. Host memory belongs to no GPU: it can be copied to and from each.

```lua
local one, two = lab.open{ index = 0 }, lab.open{ index = 1 }
local a = lab.rand(1024, 1024, { device = one })    -- or "cuda:0"
local b = a:to("cuda:1")                            -- from GPU to GPU
```

A new tensor, event or stream belongs to the current device, unless `device =` names another one (an event: `s:record_event()` makes one on the device of `s`). Operations
go to the current stream of their tensors' device, as in PyTorch; `d:make_current()`, and `lab.with(s, f)` with a stream of it, change the current device.
`lab.synchronize()` waits for the current one only. A stream may wait for events and streams of another GPU.

A copy from GPU to GPU runs in the current stream of the source's device. As in PyTorch it comes after the work that the destination's current stream holds, and what that
stream gets next comes after the copy. A copy with `stream =`, a stream of either device, has that stream's order and nothing else. Such copies do not block. They go
directly where `lab.cuda.device_enable_peer_access` allows it, else by way of the host.

A simulated machine has one GPU, or as many as `--devices` says, and those that `lab.open{ index = n }` opened in it. GPUs of different simulated machines cannot copy to one another, nor
wait for one another's streams and events (`SL_EDEVICE`).]],
}
