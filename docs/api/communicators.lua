local streams_text = "for a list, a stream for each of its tensors"
local stream_option = { "stream", "stream", "where it runs; of one tensor", default = "the current stream of the tensor's GPU" }
local streams_option = { "streams", "stream[]", streams_text, default = "the current stream of each GPU" }
local async_option = { "async", "boolean", "runs it in a stream of the communicator's own, behind the work that is in the other one now, and gives a `work`", default = "false" }
local name_option = { "name", "string", "what the script calls it: where two ranks of this process give different names, the call is refused", default = "none" }
local op_option = { "op", [["sum"|"prod"|"min"|"max"|"avg"]], "how the ranks' elements become one", default = [["sum"]] }
local tensors = { "t", "tensor|tensor[]", "a tensor for each rank of this process, by rank; or that of one rank, which is the one of its GPU" }
local errors = {
    { "SL_ESHAPE", "sizes do not fit, in a rank or between two; the message names the rank" },
    { "SL_EDTYPE", "a rank's dtype differs from that of another, or of its output" },
    { "SL_EPLACE", "a tensor is on the cpu" },
    { "SL_EDEVICE", "a tensor or a stream is not of its rank's GPU" },
    { "SL_EINVAL", "an unknown rank, or ranks that call different collectives, or give different names, where they should meet" },
    { "SL_ESTATE", "on a real GPU: another rank of this process has no part in it" },
    { "SL_ECLOSED", "the communicator was freed" },
    { "SL_EUNSUPPORTED", "a stream is captured: graphs have no collectives here" },
}

return {
    title = "Collectives",
    class = "comm",
    order = 37,
    about = [[
A communicator connects GPUs, its *ranks*, which are counted from 0. `lab.comm{ devices = { 0, 1 } }` makes one whose ranks are all in this process, so that a script of one thread does what several
processes do elsewhere: a collective takes a list with a tensor for each rank. On real GPUs NCCL does the work.

**A collective is one operation in a stream of each rank.** It does not hold the host. On the GPU it begins when all ranks have reached it, and until then its blocks occupy their SMs. All ranks must call the
same collectives in the same order. What this process can know is checked before anything is enqueued. Two collectives of the same kind, size and dtype in different orders go unnoticed, and leave wrong
sums: `name = "layer 3"` tells them apart.

**Several calls as one.** `comm:group(f)` enqueues all that `f` calls at its end, as NCCL's groups do. A `comm:send` and the `comm:recv` of the other rank belong into one group where this process has both.

**Several processes** each have one rank: `lab.comm{ rank =, size =, id = FILE }`. Rank 0 writes the file, the others read it. On simulated GPUs all ranks are in one process, on one clock.

**Simulated** collectives hold SMs as NCCL's do, and take the time that a model after NCCL's own gives, corrected by what was measured on two GPUs; reductions are computed in float32 and rounded once. A rank may
call its part alone, without a group. If another one never calls its part, the wait for it ends with an error that says which ranks wait in which lines, as soon as nothing else can happen.

**NCCL** is opened at the first `lab.comm`: the file that `STREAMLAB_NCCL` names, else where the loader finds `libnccl.so.2`, else the one of the `nvidia-nccl` package that PyTorch has brought, of the `python3`
on `PATH` or of the active virtual environment. Multicast over NVLink stays off (`NCCL_NVLS_ENABLE=0`), and GPUs are connected as the communicator is made, not in its first collective (`NCCL_RUNTIME_CONNECT=0`), unless the environment says otherwise.]],
    entries = {
        {
            name = "lab.comm",
            brief = "makes a communicator",
            options = {
                { "devices", "table", [[the GPUs of this process, one for each rank: numbers, names as `"cuda:1"`, or what `lab.open` gave]] },
                { "rank", "integer", "which rank this process is, from 0", default = "what Slurm, MPI or torchrun says" },
                { "size", "integer", "how many ranks there are", default = "likewise" },
                { "id", "string", "a file that all processes see and that is not there yet" },
                { "timeout", "number", "how many seconds to wait for that file", default = "300" },
                { "device", "integer|string|device", "this process's GPU", default = "the current one" },
                { "channels", "integer", "how many blocks a collective's kernel has", default = "NCCL chooses" },
                { "copy_engines", "boolean", "asks NCCL to use copy engines instead of SMs where it can (`NCCL_CTA_POLICY_ZERO`, from 2.28 on). Measured with 2.28.9: no difference, since it can only in memory that is registered as a symmetric window, and tensors are not; nor is there one simulated. A copy between GPUs uses them", default = "false" },
            },
            returns = { { "comm", "the communicator" } },
            blocks = "while the GPUs are connected, up to seconds; with `id` until all ranks have come",
            errors = {
                { "SL_EUNSUPPORTED", "there is no NCCL, or it is too old; `id` with simulated GPUs" },
                { "SL_EINVAL", "a GPU comes twice, or rank and size make no sense" },
                { "SL_ESTATE", "rank 0 has not written the file in time" },
                { "SL_EIO", "the file is there already, or cannot be written or read" },
            },
            about = [[
On the simulator `streamlab --devices 2 script.lua` gives the machine the GPUs that `devices` names, or `lab.open{ index = 1 }` adds one. Give `devices`, or `id` with rank and size. Rank and size are read from `OMPI_COMM_WORLD_RANK` and `_SIZE`, `PMI_RANK` and `PMI_SIZE`, `SLURM_PROCID` and `SLURM_NTASKS`, or `RANK` and `WORLD_SIZE`.]],
            example = [[
for i = 0, 1 do lab.open{ backend = "sim", index = i } end
local comm = lab.comm{ devices = { 0, 1 } }
local t = { lab.full(1, 4, { device = "cuda:0" }), lab.full(2, 4, { device = "cuda:1" }) }
comm:all_reduce(t)
print(t[1]:get(1), t[2]:get(1))  --> 3.0	3.0]],
            cuda = "ncclCommInitAll, ncclCommInitRank, ncclGetUniqueId",
            pytorch = "torch.distributed.init_process_group",
            see = { "comm:all_reduce", "comm:group", "comm:free" },
        },
        {
            name = "comm:all_reduce",
            brief = "each rank gets the sum over all ranks, element by element",
            arguments = { tensors },
            options = { op_option, { "out", "tensor|tensor[]", "where the results go", default = "the tensors themselves" }, stream_option, streams_option, async_option, name_option },
            returns = { { "tensor|tensor[]", "the results; with `async` a `work` before them" } },
            errors = errors,
            about = [[The collective is in the current stream itself, unless `async` is true, as PyTorch's `all_reduce` is since 2.8; before, that ran in a stream of NCCL's and the current one waited for it.]],
            example = [[
for i = 0, 1 do lab.open{ backend = "sim", index = i } end
local comm = lab.comm{ devices = { 0, 1 } }
local t = { lab.full(1, 4, { device = "cuda:0" }), lab.full(5, 4, { device = "cuda:1" }) }
local work = comm:all_reduce(t, { op = "max", async = true })
work:wait()
print(t[1]:get(1))  --> 5.0]],
            cuda = "ncclAllReduce",
            pytorch = "torch.distributed.all_reduce",
            see = { "comm:reduce_scatter", "work:wait" },
        },
        {
            name = "comm:all_gather",
            brief = "each rank gets the tensors of all ranks, one behind the other",
            arguments = { tensors },
            options = { { "out", "tensor|tensor[]", "where the results go: `size` times as many elements. The rank's part of it may be `t` itself", default = "new tensors, whose first size is `size` times as large" }, stream_option, streams_option, async_option, name_option },
            returns = { { "tensor|tensor[]", "the results; with `async` a `work` before them" } },
            errors = errors,
            example = [[
for i = 0, 1 do lab.open{ backend = "sim", index = i } end
local comm = lab.comm{ devices = { 0, 1 } }
local all = comm:all_gather{ lab.full(1, 2, { device = "cuda:0" }), lab.full(2, 2, { device = "cuda:1" }) }
print(table.concat(all[1]:totable(), " "))  --> 1.0 1.0 2.0 2.0]],
            cuda = "ncclAllGather",
            pytorch = "torch.distributed.all_gather_into_tensor",
            see = { "comm:reduce_scatter" },
        },
        {
            name = "comm:reduce_scatter",
            brief = "each rank gets its part of the sum over all ranks",
            arguments = { tensors },
            options = { op_option, { "out", "tensor|tensor[]", "where the results go: one part of `size`. It may be the rank's part of `t` itself", default = "new tensors" }, stream_option, streams_option, async_option, name_option },
            returns = { { "tensor|tensor[]", "the results; with `async` a `work` before them" } },
            errors = errors,
            example = [[
for i = 0, 1 do lab.open{ backend = "sim", index = i } end
local comm = lab.comm{ devices = { 0, 1 } }
local part = comm:reduce_scatter{ lab.ones(4, { device = "cuda:0" }), lab.full(2, 4, { device = "cuda:1" }) }
print(part[2]:numel(), part[2]:get(1))  --> 2	3.0]],
            cuda = "ncclReduceScatter",
            pytorch = "torch.distributed.reduce_scatter_tensor",
            see = { "comm:all_gather" },
        },
        {
            name = "comm:broadcast",
            brief = "each rank gets the tensor of one",
            arguments = { tensors },
            options = { { "root", "integer", "the rank whose tensor it is", default = "0" }, stream_option, streams_option, async_option, name_option },
            returns = { { "tensor|tensor[]", "`t`; with `async` a `work` before it" } },
            errors = errors,
            example = [[
for i = 0, 1 do lab.open{ backend = "sim", index = i } end
local comm = lab.comm{ devices = { 0, 1 } }
local t = { lab.zeros(4, { device = "cuda:0" }), lab.ones(4, { device = "cuda:1" }) }
comm:broadcast(t, { root = 1 })
print(t[1]:get(4))  --> 1.0]],
            cuda = "ncclBroadcast",
            pytorch = "torch.distributed.broadcast",
        },
        {
            name = "comm:send",
            brief = "sends a rank's tensor to another rank",
            arguments = { { "t", "tensor", "of the rank of its GPU" } },
            options = { { "dst", "integer", "the rank that receives it" }, { "stream", "stream", "where it runs", default = "the current stream of the tensor's GPU" }, async_option, name_option },
            returns = { { "tensor", "`t`; with `async` a `work` before it" } },
            errors = errors,
            about = [[`dst` has to be given. The k-th `send` from one rank to another meets the k-th `recv` of that one. Where this process has both, both belong into one `comm:group`.]],
            example = [[
for i = 0, 1 do lab.open{ backend = "sim", index = i } end
local comm = lab.comm{ devices = { 0, 1 } }
local a, b = lab.full(7, 4, { device = "cuda:0" }), lab.zeros(4, { device = "cuda:1" })
comm:group(function() comm:send(a, { dst = 1 }); comm:recv(b, { src = 0 }) end)
print(b:get(1))  --> 7.0]],
            cuda = "ncclSend",
            pytorch = "torch.distributed.send, torch.distributed.isend",
            see = { "comm:recv", "comm:group" },
        },
        {
            name = "comm:recv",
            brief = "receives a tensor that another rank sends",
            arguments = { { "t", "tensor", "where it goes, on the GPU of the rank that receives it" } },
            options = { { "src", "integer", "the rank that sends it" }, { "stream", "stream", "where it runs", default = "the current stream of the tensor's GPU" }, async_option, name_option },
            returns = { { "tensor", "`t`; with `async` a `work` before it" } },
            errors = errors,
            about = [[`src` has to be given.]],
            example = [[
for i = 0, 1 do lab.open{ backend = "sim", index = i } end
local comm = lab.comm{ devices = { 0, 1 } }
local a, b = lab.ones(4, { device = "cuda:1" }), lab.zeros(4, { device = "cuda:0" })
comm:group(function() comm:send(a, { dst = 0 }); comm:recv(b, { src = 1 }) end)
print(b:get(1))  --> 1.0]],
            cuda = "ncclRecv",
            pytorch = "torch.distributed.recv, torch.distributed.irecv",
            see = { "comm:send", "comm:group" },
        },
        {
            name = "comm:group",
            brief = "enqueues all collectives that a function calls, as one",
            arguments = { { "f", "function", "called once" }, { "...", "any", "its arguments" } },
            returns = { { "any", "whatever `f` returned" } },
            errors = {
                { "SL_ESTATE", "a rank of this process has no part in one of them, on a real GPU; a `send` without its `recv`" },
                { "SL_EDEVICE", "collectives of two backends" },
            },
            about = [[
Groups nest; the outermost enqueues. Other operations that `f` calls are enqueued at once, before the group. If `f` raises an error, the group's collectives are forgotten, and the error passes as it is.
Collectives of other communicators belong to the group as well.]],
            example = [[
for i = 0, 1 do lab.open{ backend = "sim", index = i } end
local comm = lab.comm{ devices = { 0, 1 } }
local t = { lab.ones(4, { device = "cuda:0" }), lab.ones(4, { device = "cuda:1" }) }
comm:group(function() for rank = 1, 2 do comm:all_reduce(t[rank]) end end)
print(t[2]:get(1))  --> 2.0]],
            cuda = "ncclGroupStart, ncclGroupEnd",
            pytorch = "torch.distributed.batch_isend_irecv",
            see = { "comm:send" },
        },
        {
            name = "comm:free",
            brief = "ends the communicator",
            blocks = "while the GPUs are disconnected",
            errors = { { "SL_ESTATE", "collectives are in flight: synchronise first" }, { "SL_ECLOSED", "it was freed" } },
            about = [[The garbage collector frees a communicator to which nothing refers, once its collectives have ended.]],
            example = [[
for i = 0, 1 do lab.open{ backend = "sim", index = i } end
local comm = lab.comm{ devices = { 0, 1 } }
print(comm)  --> comm (2 ranks: rank 0 on sim 0, rank 1 on sim 1)
comm:free()
print(comm)  --> comm (freed)]],
            cuda = "ncclCommDestroy",
            pytorch = "torch.distributed.destroy_process_group",
            see = { "comm:abort" },
        },
        {
            name = "comm:abort",
            brief = "ends the communicator with the collectives that are in flight",
            blocks = "until they have ended",
            errors = { { "SL_ECLOSED", "it was freed" } },
            about = [[For a collective that waits for a rank which never comes: interrupt the wait with Ctrl-C, then call this. What the collectives have written is undefined.]],
            example = [[
for i = 0, 1 do lab.open{ backend = "sim", index = i } end
local comm = lab.comm{ devices = { 0, 1 } }
comm:all_reduce(lab.ones(4, { device = "cuda:0" }))  -- rank 1 never comes
comm:abort()
print(comm)  --> comm (freed)]],
            cuda = "ncclCommAbort",
            see = { "comm:free" },
        },
        { name = "comm.size", type = "integer", brief = "how many ranks it has", cuda = "ncclCommCount", pytorch = "torch.distributed.get_world_size" },
        { name = "comm.rank", type = "integer", brief = "which rank this process is, from 0; nil if it has several", cuda = "ncclCommUserRank", pytorch = "torch.distributed.get_rank" },
        { name = "comm.devices", type = "device[]", brief = "the GPUs of this process's ranks, by rank" },
    },
}
