/* collective.c - what one rank does: its tensors, its stream and its peer are checked, and named in
 * errors by their rank. */
#include "../buffer.h"
#include "../device.h"
#include "../stream.h"
#include "../tensor.h"
#include "../view.h"
#include "request.h"

/* ---- what each collective takes ---- */

static bool has_peer(sl_collective collective)
{
    return collective == SL_BROADCAST || collective == SL_SEND || collective == SL_RECV;
}

static bool reads(const sl_comm_call *call)
{
    if (call->collective == SL_BROADCAST) return call->peer == call->comm->rank;
    return call->collective != SL_RECV;
}

static bool writes(const sl_comm_call *call)
{
    if (call->collective == SL_BROADCAST) return call->peer != call->comm->rank;
    return call->collective != SL_SEND;
}

/* ---- a tensor ---- */

static sl_status check_tensor(const sl_comm *comm, const sl_tensor *tensor, const char *what,
                              sl_error *err)
{
    sl__rank_noun noun, rank;
    const char *text = sl__rank_noun_of(comm, what, &noun);
    sl_status status = sl__tensor_check(tensor, text, err);
    if (status != SL_OK) return status;
    if (tensor->spec.place != SL_ON_DEVICE) {
        sl_fail(err, SL_EPLACE, "%s is on the cpu, and must be on %s %d", text,
                comm->device->info.backend, comm->device->info.index);
        return sl_advise(err, SL_EPLACE, SL_ADVICE_COPY_TO_GPU, NULL);
    }
    return sl__device_check_same(tensor->device, text, comm->device,
                                 sl__rank_noun_of(comm, "", &rank), err);
}

static sl_status check_tensors(const sl_comm_call *call, sl_error *err)
{
    const char *in_noun = call->in == call->out || !writes(call) ? "'s tensor" : "'s input";
    const char *out_noun = call->in == call->out || !reads(call) ? "'s tensor" : "'s output";
    sl_status status = SL_OK;
    if (reads(call)) status = check_tensor(call->comm, call->in, in_noun, err);
    if (status == SL_OK && writes(call))
        status = check_tensor(call->comm, call->out, out_noun, err);
    if (status != SL_OK || !reads(call) || !writes(call)
        || call->in->spec.dtype == call->out->spec.dtype)
        return status;
    sl_fail(err, SL_EDTYPE, "rank %d's output is %s, and its input %s", call->comm->rank,
            sl_dtype_name(call->out->spec.dtype), sl_dtype_name(call->in->spec.dtype));
    return sl_advise(err, SL_EDTYPE, SL_ADVICE_CAST, sl_dtype_name(call->out->spec.dtype));
}

/* ---- sizes ---- */

static sl_status check_sizes(const sl_comm_call *call, sl_error *err)
{
    const int64_t size = call->comm->all->size;
    int64_t needed;
    if (!reads(call) || !writes(call)) return SL_OK;
    int64_t in = call->in->numel;
    int64_t out = call->out->numel;
    if (call->collective == SL_REDUCE_SCATTER) {
        if (in % size)
            return sl_fail(err, SL_ESHAPE,
                           "rank %d's input has %lld elements: they cannot be divided among %lld "
                           "ranks",
                           call->comm->rank, (long long)in, (long long)size);
        needed = in / size;
    } else {
        if (call->collective == SL_ALL_GATHER && in > INT64_MAX / size) in = INT64_MAX / size;
        needed = call->collective == SL_ALL_GATHER ? in * size : in;
    }
    if (out == needed) return SL_OK;
    return sl_fail(err, SL_ESHAPE,
                   "rank %d's output has %lld element%s, and needs %lld: its input has %lld, and "
                   "there %s %lld rank%s",
                   call->comm->rank, (long long)out, out == 1 ? "" : "s", (long long)needed,
                   (long long)in, size == 1 ? "is" : "are", (long long)size, size == 1 ? "" : "s");
}

/* NCCL's "in place": the smaller one is the rank's part of the larger one. */
static bool is_own_part(const sl_comm_call *call)
{
    const bool gathers = call->collective == SL_ALL_GATHER;
    const sl_tensor *part = gathers ? call->in : call->out, *all = gathers ? call->out : call->in;
    return (gathers || call->collective == SL_REDUCE_SCATTER)
           && part->offset == all->offset + (size_t)call->comm->rank * part->bytes;
}

static sl_status check_apart(const sl_comm_call *call, sl_error *err)
{
    const sl_tensor *in = call->in, *out = call->out;
    if (!reads(call) || !writes(call) || in->buffer != out->buffer) return SL_OK;
    if (sl__view_same_bytes(in, out) || is_own_part(call)
        || !sl__view_overlap(in, out, in->bytes, out->bytes))
        return SL_OK;
    return sl_fail(err, SL_EINVAL,
                   "rank %d's input and output share some of their bytes: they can be the same "
                   "tensor%s, or lie apart",
                   call->comm->rank,
                   in->numel == out->numel ? ""
                                           : ", the smaller one the rank's part of the larger");
}

/* ---- the rest ---- */

static sl_status check_peer(const sl_comm_call *call, sl_error *err)
{
    const sl_comm *comm = call->comm;
    const char *noun = call->collective == SL_BROADCAST ? "root"
                       : call->collective == SL_SEND    ? "dst"
                                                        : "src";
    if (!has_peer(call->collective) || (call->peer >= 0 && call->peer < comm->all->size))
        return SL_OK;
    return sl_fail(err, SL_EINVAL, "rank %d gives %d as %s: there are ranks 0 to %d", comm->rank,
                   call->peer, noun, comm->all->size - 1);
}

sl_status sl__comm_check_capture(const sl_comm *comm, const sl_stream *stream, sl_error *err)
{
    if (!stream->branch) return SL_OK;
    return sl_fail(err, SL_EUNSUPPORTED,
                   "rank %d's stream \"%s\" is captured: a graph of streamlab has no collectives",
                   comm->rank, sl__stream_name(stream));
}

static sl_status check_stream(const sl_comm_call *call, sl_error *err)
{
    sl__rank_noun stream, rank;
    sl_status status = sl__stream_enter(call->stream, sl_collective_name(call->collective), err);
    if (status != SL_OK) return status;
    status = sl__device_check_same(
        call->stream->device, sl__rank_noun_of(call->comm, "'s stream", &stream),
        call->comm->device, sl__rank_noun_of(call->comm, "", &rank), err);
    return status == SL_OK ? sl__comm_check_capture(call->comm, call->stream, err) : status;
}

static sl_status check(const sl_comm_call *call, sl_error *err)
{
    if (!call->comm || call->comm->all->freed)
        return sl_fail(err, SL_ECLOSED, "the communicator has been freed");
    sl_status status = check_stream(call, err);
    if (status == SL_OK) status = check_peer(call, err);
    if (status == SL_OK) status = check_tensors(call, err);
    if (status == SL_OK) status = check_sizes(call, err);
    return status == SL_OK ? check_apart(call, err) : status;
}

static void describe(const sl_comm_call *call, sl__request *request)
{
    const sl_tensor *in = reads(call) ? call->in : NULL, *out = writes(call) ? call->out : NULL;
    sl_work *work = &request->work;
    *work = (sl_work){
        .kind = SL_WORK_COLLECTIVE,
        .collective = (uint8_t)call->collective,
        .reduction = (uint8_t)call->reduction,
        .dtype = (uint8_t)(in ? in : out)->spec.dtype,
        .n = in ? in->numel : 0,
        .m = out ? out->numel : 0,
        .k = call->comm->all->size,
        .peer = has_peer(call->collective) ? call->peer : -1,
    };
    work->bytes = (size_t)(work->n > work->m ? work->n : work->m)
                  * sl_dtype_bytes((sl_dtype)work->dtype);
    request->side[0] = sl__operand_of(in, SL_READS);
    request->side[SL_OUTPUT] = sl__operand_of(out, SL_WRITES);
}

sl_status sl__request_make(const sl_comm_call *call, sl__request *request, sl_error *err)
{
    sl_status status = check(call, err);
    *request = (sl__request){ .comm = call->comm, .stream = call->stream };
    if (status != SL_OK) return status;
    request->where = call->comm->device->core->where;
    if (call->name)
        request->name = sl__strings_intern(&call->comm->device->core->strings, call->name);
    describe(call, request);
    return SL_OK;
}

void sl__request_hold(sl__request *request)
{
    sl_comm_retain(request->comm)->all->requests++;
    sl_stream_retain(request->stream);
    sl__buffer_retain(request->side[0].buffer);
    sl__buffer_retain(request->side[SL_OUTPUT].buffer);
}

void sl__request_drop(sl__request *request)
{
    sl__buffer_release(request->side[SL_OUTPUT].buffer);
    sl__buffer_release(request->side[0].buffer);
    sl_stream_release(request->stream);
    request->comm->all->requests--;
    sl_comm_release(request->comm);
}
