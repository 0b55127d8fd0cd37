/* op.c - the life of an operation. This is the hot path of the core: a pooled
 * struct, a handful of counts, one call of the backend. */
#include "op.h"

#include <string.h>

#include "buffer.h"
#include "device.h"
#include "graph/capture.h"
#include "observers.h"
#include "record.h"
#include "reuse.h"

static void hold(sl_buffer *buffer, sl_stream *stream)
{
    if (!buffer) return;
    sl__reuse_hold(buffer, stream);
    sl__buffer_retain(buffer);
}

/* What a device owns is held in another way (core/lifetime.c). */
static inline sl_stream *hold_stream(sl_stream *stream)
{
    if (stream->owned) return sl_stream_retain(stream);
    stream->refs++;
    return stream;
}

static void hold_custom(sl_op *op, sl_custom_call *custom)
{
    op->custom = custom;
    custom->refs++;
    for (uint32_t i = 0; i < custom->n; i++)
        hold(custom->arg[i].buffer, op->stream);
}

/* Without a loop, which compilers leave as it is. */
static inline void hold_inputs(sl_op *op)
{
    if (sl__op_holds_input(op, 0)) hold(op->in[0], op->stream);
    if (sl__op_holds_input(op, 1)) hold(op->in[1], op->stream);
    if (__builtin_expect(op->in[2] != NULL, 0) && sl__op_holds_input(op, 2))
        hold(op->in[2], op->stream);
}

static void hold_operands(sl_op *op, const sl__operands *operands)
{
    op->event = operands->event;
    if (op->event) op->event->refs++;
    op->out = operands->out;
    memcpy(op->in, operands->in, sizeof op->in);
    hold(op->out, op->stream);
    if (op->in[0]) hold_inputs(op);
    if (__builtin_expect(operands->custom != NULL, 0)) hold_custom(op, operands->custom);
}

static bool is_lent(const sl_buffer *buffer) { return buffer && buffer->lender; }

static sl_status settle_side(sl_buffer *buffer, const sl_work *work, int side,
                             const sl_stream *stream, sl_error *err)
{
    if (!is_lent(buffer)) return SL_OK;
    return sl__buffer_settle(buffer, stream, sl__work_bytes(work, side), err);
}

/* `in_graph`: it may be launched in any stream. */
static sl_status settle_custom(const sl_custom_call *custom, const sl_stream *stream, bool in_graph,
                               sl_error *err)
{
    sl_status status;

    for (uint32_t i = 0; i < custom->n; i++) {
        sl_buffer *buffer = custom->arg[i].buffer;
        if (!is_lent(buffer)) continue;
        status = in_graph ? sl__buffer_settle_all(buffer, err)
                          : sl__buffer_settle(buffer, stream, custom->arg[i].bytes, err);
        if (status != SL_OK) return status;
    }
    return SL_OK;
}

/* A graph may be launched in any stream. */
static sl_status settle_for_graph(const sl__operands *operands, sl_error *err)
{
    sl_status status = sl__buffer_settle_all(operands->out, err);

    for (int i = 0; i < SL_INPUTS && status == SL_OK; i++)
        status = sl__buffer_settle_all(operands->in[i], err);
    return status;
}

static bool any_is_lent(const sl__operands *operands)
{
    sl_buffer *const *in = operands->in;

    return is_lent(operands->out) || is_lent(in[0]) || is_lent(in[1]) || is_lent(in[2]);
}

static sl_status settle_memory(const sl__operands *operands, const sl_work *work,
                               const sl_stream *stream, sl_error *err)
{
    sl_status status;

    if (operands->custom)
        return settle_custom(operands->custom, stream, stream->branch != NULL, err);
    if (!any_is_lent(operands)) return SL_OK;
    if (stream->branch) return settle_for_graph(operands, err);
    status = settle_side(operands->out, work, SL_OUTPUT, stream, err);
    for (int i = 0; i < SL_INPUTS && status == SL_OK; i++)
        status = settle_side(operands->in[i], work, i, stream, err);
    return status;
}

sl_status sl__op_begin(sl_stream *stream, const sl_work *work, const sl__operands *operands,
                       sl_op **op_out, sl_error *err)
{
    sl_device *device = stream->device;
    sl__device_core *core = device->core;
    sl_op *op;
    sl_status status = settle_memory(operands, work, stream, err);

    if (status != SL_OK) return status;
    if (!core->free_ops && !sl__op_pool_grow(device))
        return sl_fail(err, SL_ENOMEM, "out of host memory for operations (%lld are in flight)",
                       (long long)core->stats.ops_in_flight);
    op = core->free_ops;
    core->free_ops = op->next;
    __builtin_prefetch(op->next, 1); /* the next call would find it out of the nearest cache */
    /* At once, and of a size that is not a constant: GCC clears a constant size with `rep stos`, which
     * is slow to start. */
    memset((char *)op + sizeof op->work, 0, device->backend->op_bytes - sizeof op->work);
    op->work = *work;
    op->stream = hold_stream(stream);
    hold_operands(op, operands);
    op->seq = ++core->numbers->last_seq;
    op->where = core->where;
    op->thread = core->thread;
    if (__builtin_expect(work->kind == SL_WORK_MEMCPY, 0)) /* kernels come most often */
        op->span_flags = (uint8_t)sl__span_places(op->out, op->in[0]);
    *op_out = op;
    return SL_OK;
}

static sl_status enqueue_observed(sl_op *op, sl_error *err)
{
    sl_status status = SL_OK;

    sl__ask(status, enqueue, &op, 1, err);
    if (status != SL_OK) return status;
    status = op->stream->device->backend->enqueue(op, err);
    if (status == SL_OK)
        sl__tell(enqueued, &op, 1);
    else
        sl__tell(cancelled, &op, 1);
    return status;
}

void sl__op_enqueued(sl_op *op)
{
    sl__device_core *core = op->stream->device->core;

    op->stream->last_seq = op->seq;
    op->stream->in_flight++;
    core->stats.ops_enqueued++;
    core->stats.ops_in_flight++;
    if (__builtin_expect(core->recordings != NULL, 0)) sl__record_enqueued(op->stream->device, op);
}

sl_status sl__op_submit(sl_op *op, sl_error *err)
{
    sl_device *device = op->stream->device;
    sl__device_core *core = device->core;
    sl_status status = SL_OK;
    bool captured = false;

    if (__builtin_expect(core->captures || (op->event && op->event->captured), 0))
        status = sl__capture_take(op, &captured, err);
    if (captured && status == SL_OK) return SL_OK;
    if (status == SL_OK)
        status = sl__observers ? enqueue_observed(op, err) : device->backend->enqueue(op, err);
    if (status != SL_OK) {
        if (core->numbers->last_seq == sl__op_last_number(op))
            core->numbers->last_seq = op->seq - 1;
        sl__op_drop(device, op);
        return status;
    }
    sl__op_enqueued(op);
    return SL_OK;
}

sl_status sl__op_enqueue(sl_stream *stream, const sl_work *work, const sl__operands *operands,
                         sl_error *err)
{
    sl_op *op;
    sl_status status = sl__op_begin(stream, work, operands, &op, err);

    if (status != SL_OK) return status;
    status = sl__op_submit(op, err);
    return sl__device_finish(stream->device, status, err);
}
