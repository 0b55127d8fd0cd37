/* cuda_collective.c - what ranks do: operations given to NCCL as one group.
 *
 * NCCL launches its kernels at the end of the group, and may run several collectives of one rank as
 * one kernel. A collective without elements is an empty kernel of ours, so that it keeps its place
 * in the stream and in timelines.
 */
#include "nccl.h"

static cuda_device *device_of(const sl_op *op) { return cuda_of(op->stream->device); }

/* By sl_dtype: ncclDataType_t. */
static const int types[SL_DTYPES] = {
    [SL_FLOAT32] = 7, [SL_BFLOAT16] = 9, [SL_FLOAT16] = 6,
    [SL_UINT8] = 1,   [SL_FLOAT64] = 8,  [SL_INT32] = 2,
};

/* sl_reduction has the numbers of ncclRedOp_t. */
static int call_nccl(const cuda_nccl *nccl, const sl_op *op)
{
    const sl_work *work = &op->work;
    const void *in = cuda_data(&op->side[0]);
    void *out = cuda_data(&op->side[SL_OUTPUT]);
    const int type = types[work->dtype], reduction = work->reduction, peer = (int)work->peer;
    const size_t n_in = (size_t)work->n, n_out = (size_t)work->m;
    cuda_nccl_comm comm = ((cuda_comm *)op->comm)->handle;
    cudaStream_t stream = ((cuda_stream *)op->stream)->handle;
    switch ((sl_collective)work->collective) {
    case SL_ALL_REDUCE: return nccl->AllReduce(in, out, n_in, type, reduction, comm, stream);
    case SL_ALL_GATHER: return nccl->AllGather(in, out, n_in, type, comm, stream);
    case SL_REDUCE_SCATTER:
        return nccl->ReduceScatter(in, out, n_out, type, reduction, comm, stream);
    case SL_BROADCAST: /* the root has an input, the others an output: in place */
        return nccl->Broadcast(in ? in : out, out ? out : cuda_data(&op->side[0]),
                               in ? n_in : n_out, type, peer, comm, stream);
    case SL_SEND: return nccl->Send(in, n_in, type, peer, comm, stream);
    case SL_RECV: return nccl->Recv(out, n_out, type, peer, comm, stream);
    case SL_COLLECTIVES: break;
    }
    return 0;
}

static const char *call_name(const sl_op *op)
{
    static const char *const names[SL_COLLECTIVES] = {
#define X(id, name, nccl_name) nccl_name,
        SL_COLLECTIVE_TABLE(X)
#undef X
    };
    return names[op->work.collective];
}

static sl_status launch_nothing(sl_op *op, sl_error *err)
{
    const sl_work nothing = { .kind = SL_WORK_KERNEL, .kernel = SL_KERNEL_FILL, .dtype = SL_UINT8 };
    cuda_use(device_of(op));
    return cuda_kernel_launch(device_of(op), &nothing, NULL, NULL, NULL, NULL,
                              ((cuda_stream *)op->stream)->handle, &op->blocks, &op->threads, err);
}

/* Inside of a group NCCL's calls only note what is to be done. */
static sl_status launch_group(const cuda_nccl *nccl, sl_op *const *ops, size_t n, sl_error *err)
{
    sl_status status = cuda_nccl_check(NULL, nccl->GroupStart(), "ncclGroupStart", err);
    if (status != SL_OK) return status;
    for (size_t i = 0; i < n && status == SL_OK; i++) {
        cuda_use(device_of(ops[i]));
        status = ops[i]->work.bytes ? cuda_nccl_check(
                     (cuda_comm *)ops[i]->comm, call_nccl(nccl, ops[i]), call_name(ops[i]), err)
                                    : launch_nothing(ops[i], err);
    }
    int code = nccl->GroupEnd();
    cuda_use_again();
    if (status != SL_OK) return status;
    return cuda_nccl_check((cuda_comm *)ops[0]->comm, code,
                           n == 1 ? call_name(ops[0]) : "ncclGroupEnd", err);
}

static sl_status check_failed(sl_op *const *ops, size_t n, sl_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!((cuda_comm *)ops[i]->comm)->handle)
            return sl_fail(err, SL_ECLOSED, "the communicator has been freed");
    return cuda_comm_ask(err);
}

/* NCCL connects the ranks at the first use of an algorithm, which may wait for the devices: host
 * functions that are pending run before. */
sl_status cuda_comm_enqueue(sl_op *const *ops, size_t n, sl_error *err)
{
    const cuda_nccl *nccl = cuda_nccl_open(err);
    sl_status status = nccl ? check_failed(ops, n, err) : SL_EUNSUPPORTED;
    if (status == SL_OK && cuda_funcs_pending > 0) status = cuda_funcs_settle_all(err);
    if (status == SL_OK) status = cuda_activity_group_before(ops, n, err);
    if (status != SL_OK) return status;
    cuda_own_begin();
    status = launch_group(nccl, ops, n, err);
    cuda_own_end();
    cuda_activity_group_after(ops, n, status == SL_OK);
    for (size_t i = 0; i < n && status == SL_OK; i++) {
        ops[i]->engine = SL_ENGINE_COMM;
        cuda_queue_add(ops[i]);
    }
    return status;
}
