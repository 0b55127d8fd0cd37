/* op.c - the life of an operation. This is the hot path of the core: a pooled
 * struct, a handful of counts, one call of the backend. */
#include "op.h"

#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "device.h"
#include "race/checker.h"
#include "record.h"
#include "reuse.h"

enum { OPS_PER_CHUNK = 128 };

typedef struct sl__op_chunk {
    struct sl__op_chunk *next;
    max_align_t ops[];          /* OPS_PER_CHUNK operations of op_stride bytes */
} op_chunk;

static size_t op_stride(const sl_backend *backend)
{
    size_t align = sizeof(max_align_t);

    return (backend->op_bytes + align - 1) / align * align;
}

static bool pool_grow(sl_device *device)
{
    size_t stride = op_stride(device->backend);
    op_chunk *chunk = malloc(sizeof *chunk + OPS_PER_CHUNK * stride);

    if (!chunk)
        return false;
    chunk->next = device->core->op_chunks;
    device->core->op_chunks = chunk;
    for (int i = OPS_PER_CHUNK - 1; i >= 0; i--) {
        sl_op *op = (sl_op *)((char *)chunk->ops + (size_t)i * stride);
        op->next = device->core->free_ops;
        device->core->free_ops = op;
    }
    return true;
}

void sl__op_pool_free(sl_device *device)
{
    op_chunk *next;

    for (op_chunk *chunk = device->core->op_chunks; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    device->core->op_chunks = NULL;
    device->core->free_ops = NULL;
}

static sl_buffer *hold(sl_buffer *buffer, sl_stream *stream)
{
    if (buffer)
        sl__reuse_hold(buffer, stream);
    return sl__buffer_retain(buffer);
}

static void let_go(sl_buffer *buffer, const sl_stream *stream)
{
    if (buffer)
        sl__reuse_let_go(buffer, stream);
    sl__buffer_release(buffer);
}

size_t sl__work_bytes(const sl_work *work, int side)
{
    if (work->kind != SL_WORK_KERNEL)
        return work->bytes;
    return (size_t)sl_kernel_elems(work, side) * sl_dtype_bytes(sl_kernel_dtype(work, side));
}

static sl_status settle_side(sl_buffer *buffer, const sl_work *work, int side,
                             const sl_stream *stream, sl_error *err)
{
    if (!buffer || !buffer->lender)
        return SL_OK;
    return sl__reuse_settle(buffer, stream, sl__work_bytes(work, side), err);
}

static sl_status settle_memory(const sl__operands *operands, const sl_work *work,
                               const sl_stream *stream, sl_error *err)
{
    sl_status status = settle_side(operands->out, work, 2, stream, err);

    if (!status)
        status = settle_side(operands->in0, work, 0, stream, err);
    return status ? status : settle_side(operands->in1, work, 1, stream, err);
}

static void release_operands(sl_op *op)
{
    let_go(op->in[1], op->stream);
    let_go(op->in[0], op->stream);
    let_go(op->out, op->stream);
    sl_event_release(op->event);
    sl_stream_release(op->stream);
}

sl_status sl__op_begin(sl_stream *stream, const sl_work *work, const sl__operands *operands,
                       sl_op **op_out, sl_error *err)
{
    sl_device *device = stream->device;
    sl__device_core *core = device->core;
    sl_op *op;
    sl_status status = settle_memory(operands, work, stream, err);

    if (status)
        return status;
    if (!core->free_ops && !pool_grow(device))
        return sl_fail(err, SL_ENOMEM, "out of host memory for operations (%lld are in flight)",
                       (long long)core->stats.ops_in_flight);
    op = core->free_ops;
    core->free_ops = op->next;
    __builtin_prefetch(op->next, 1);    /* by the next call it has gone from the nearest cache */
    memset(op, 0, offsetof(sl_op, work));
    memset(op + 1, 0, device->backend->op_bytes - sizeof *op);
    op->stream = sl_stream_retain(stream);
    op->event = sl_event_retain(operands->event);
    op->out = hold(operands->out, stream);
    op->in[0] = hold(operands->in0, stream);
    op->in[1] = hold(operands->in1, stream);
    op->seq = ++core->last_seq;
    op->where = core->where;
    op->work = *work;
    *op_out = op;
    return SL_OK;
}

static sl_status enqueue_checked(sl_op *op, sl_error *err)
{
    sl_stream *stream = op->stream;
    sl__race_sent sent;
    sl_status status = sl__race_enqueue(op, &sent, err);

    if (status)
        return status;
    status = stream->device->backend->enqueue(op, err);
    if (status)
        sl__race_cancelled(op);
    else
        sl__race_enqueued(stream, &sent);
    return status;
}

sl_status sl__op_submit(sl_op *op, sl_error *err)
{
    sl_stream *stream = op->stream;
    sl_device *device = stream->device;
    sl__device_core *core = device->core;
    sl_status status = sl__race_on ? enqueue_checked(op, err) : device->backend->enqueue(op, err);

    if (status) {
        if (core->last_seq == op->seq)
            core->last_seq--;
        release_operands(op);
        op->next = core->free_ops;
        core->free_ops = op;
        return status;
    }
    stream->last_seq = op->seq;
    stream->in_flight++;
    core->stats.ops_enqueued++;
    core->stats.ops_in_flight++;
    return SL_OK;
}

sl_status sl__op_enqueue(sl_stream *stream, const sl_work *work, const sl__operands *operands,
                         sl_error *err)
{
    sl_op *op;
    sl_status status = sl__op_begin(stream, work, operands, &op, err);

    if (status)
        return status;
    status = sl__op_submit(op, err);
    return sl__device_finish(stream->device, status, err);
}

void sl__op_retire(sl_device *device, sl_op *op)
{
    sl__device_core *core = device->core;

    core->stats.ops_in_flight--;
    op->stream->in_flight--;
    if (op->work.kind == SL_WORK_EVENT_RECORD && !op->lost)
        op->event->retired_seq = op->seq;
    if (sl__race_on)
        sl__race_retired(op);
    if (op->lost)
        sl__fault_note(device, op);
    else if (core->recordings)
        sl__record_op(device, op);
    if (op->host_release)
        op->host_release(op->host_ud);
    release_operands(op);
    op->next = core->free_ops;
    core->free_ops = op;
}
