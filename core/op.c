/* op.c - the life of an operation. This is the hot path of the core: a pooled
 * struct, a handful of counts, one call of the backend. */
#include "op.h"

#include <string.h>

#include "buffer.h"
#include "device.h"
#include "graph/capture.h"
#include "observers.h"
#include "reuse.h"

/* What a device owns is held in another way (core/lifetime.c). */
static inline sl_stream *hold_stream(sl_stream *stream)
{
    if (stream->owned) return sl_stream_retain(stream);
    stream->refs++;
    return stream;
}

/* A buffer that an operand before it has is held already. */
static inline bool is_new(const sl_operand *list, uint32_t i)
{
    const sl_buffer *buffer = list[i].buffer;
    bool found = (i > 0 && list[0].buffer == buffer) || (i > 1 && list[1].buffer == buffer)
                 || (i > 2 && list[2].buffer == buffer);
    for (uint32_t j = 3; j < i && !found; j++)
        found = list[j].buffer == buffer;
    return !found;
}

/* `given` is what the list is, or is a copy of: what was just written is slower to read. */
static inline void hold(sl_operand *list, const sl_operand *given, uint32_t i, sl_stream *stream)
{
    sl_buffer *buffer = given[i].buffer;
    if (!given[i].held) {
        if (!buffer || !is_new(given, i)) return;
        list[i].held = true;
    }
    sl__reuse_hold(buffer, stream);
    buffer->refs++;
}

static void hold_custom(sl_op *op, sl_custom_call *custom)
{
    op->custom = custom;
    custom->refs++;
    op->operand = custom->arg;
    op->n_operands = custom->n;
    for (uint32_t i = 0; i < custom->n; i++)
        hold(custom->arg, custom->arg, i, op->stream);
}

/* Without a loop, which compilers leave as it is. */
static inline void hold_sides(sl_op *op, const sl_operand *side)
{
    memcpy(op->side, side, sizeof op->side);
    op->operand = op->side;
    op->n_operands = SL_SIDES;
    hold(op->side, side, 0, op->stream);
    hold(op->side, side, 1, op->stream);
    hold(op->side, side, 2, op->stream);
    hold(op->side, side, SL_OUTPUT, op->stream);
}

static inline void hold_operands(sl_op *op, const sl__operands *operands)
{
    op->event = operands->event;
    if (op->event) op->event->refs++;
    if (operands->side) hold_sides(op, operands->side);
    if (__builtin_expect(operands->custom != NULL, 0)) hold_custom(op, operands->custom);
}

static inline bool is_lent(const sl_operand *operand)
{
    return operand->buffer && operand->buffer->lender;
}

/* A graph may be launched in any stream. */
SL__RARE static sl_status settle_list(const sl_operand *list, uint32_t n, const sl_stream *stream,
                                      sl_error *err)
{
    sl_status status = SL_OK;
    for (uint32_t i = 0; i < n && status == SL_OK; i++) {
        if (!is_lent(&list[i])) continue;
        status = stream->branch ? sl__buffer_settle_all(list[i].buffer, err)
                                : sl__buffer_settle(list[i].buffer, stream, list[i].bytes, err);
    }
    return status;
}

static sl_status settle_custom(const sl_custom_call *call, const sl_stream *stream, sl_error *err)
{
    for (uint32_t i = 0; i < call->n; i++)
        if (is_lent(&call->arg[i])) return settle_list(call->arg, call->n, stream, err);
    return SL_OK;
}

static inline sl_status settle_memory(const sl__operands *operands, const sl_stream *stream,
                                      sl_error *err)
{
    const sl_operand *side = operands->side;
    if (operands->known) return SL_OK;
    if (operands->custom) return settle_custom(operands->custom, stream, err);
    if (!side
        || !(is_lent(&side[0]) || is_lent(&side[1]) || is_lent(&side[2])
             || is_lent(&side[SL_OUTPUT])))
        return SL_OK;
    return settle_list(side, SL_SIDES, stream, err);
}

/* What follows the work, by lines: a call of memset would be one more function, and GCC clears a
 * size that is a constant with `rep stos`, which is slow to start. The pool has room for the last
 * line. */
SL__STEP void clear(sl_op *op, size_t bytes)
{
    for (char *at = (char *)op + sizeof op->work; at < (char *)op + bytes; at += SL__OP_LINE)
        memset(at, 0, SL__OP_LINE);
}

SL__STEP sl_status begin(sl_stream *stream, const sl_work *work, const sl__operands *operands,
                         sl_op **op_out, sl_error *err)
{
    sl_device *device = stream->device;
    sl__device_core *core = device->core;
    sl_status status = settle_memory(operands, stream, err);
    if (status != SL_OK) return status;
    if (!core->free_ops && !sl__op_pool_grow(device))
        return sl__no_memory(err, "operations (%lld are in flight)",
                             (long long)core->stats.ops_in_flight);
    sl_op *op = core->free_ops;
    core->free_ops = op->next;
    __builtin_prefetch(op->next, 1); /* the next call would find it out of the nearest cache */
    clear(op, device->backend->op_bytes);
    op->work = *work;
    op->stream = hold_stream(stream);
    hold_operands(op, operands);
    op->seq = ++core->numbers->last_seq;
    op->where = core->where;
    op->thread = core->thread;
    if (__builtin_expect(work->kind == SL_WORK_MEMCPY, 0)) /* kernels come most often */
        op->span_flags = (uint8_t)sl__span_places(op->side[SL_OUTPUT].buffer, op->side[0].buffer);
    *op_out = op;
    return SL_OK;
}

sl_status sl__op_begin(sl_stream *stream, const sl_work *work, const sl__operands *operands,
                       sl_op **op, sl_error *err)
{
    return begin(stream, work, operands, op, err);
}

static sl_status enqueue_observed(sl_op *const *ops, size_t n, sl_error *err)
{
    sl_status status = SL_OK;
    sl__ask(status, enqueue, ops, n, err);
    if (status != SL_OK) return status;
    status = ops[0]->stream->device->backend->enqueue(ops, n, err);
    if (status == SL_OK)
        sl__tell(enqueued, ops, n);
    else
        sl__tell(cancelled, ops, n);
    return status;
}

static inline void count(sl_op *op)
{
    sl_device_stats *stats = &op->stream->device->core->stats;
    op->stream->last_seq = op->seq;
    op->stream->in_flight++;
    stats->ops_enqueued++;
    stats->ops_in_flight++;
}

void sl__op_undo(sl_op *const *ops, size_t n)
{
    while (n-- > 0) {
        sl_op *op = ops[n];
        sl_device *device = op->stream->device;
        sl__numbers *numbers = device->core->numbers;
        if (numbers->last_seq == sl__op_last_number(op)) numbers->last_seq = op->seq - 1;
        op->host_release = NULL; /* what it would release stays the caller's */
        sl__op_drop(device, op);
    }
}

/* Of operations that a capture may have to do with. */
SL__RARE static sl_status offer_to_captures(sl_op *const *ops, size_t n, bool *captured,
                                            sl_error *err)
{
    sl_status status = SL_OK;
    for (size_t i = 0; i < n && status == SL_OK; i++)
        if (sl__capture_concerns(ops[i])) status = sl__capture_take(ops[i], captured, err);
    return status;
}

static inline bool concern_captures(sl_op *const *ops, size_t n)
{
    bool concern = false;
    for (size_t i = 0; i < n; i++)
        concern |= sl__capture_concerns(ops[i]);
    return concern;
}

static inline sl_status submit(sl_op *const *ops, size_t n, sl_error *err)
{
    sl_status status = SL_OK;
    bool captured = false;
    if (concern_captures(ops, n)) status = offer_to_captures(ops, n, &captured, err);
    if (captured && status == SL_OK) return SL_OK;
    if (status == SL_OK)
        status = sl__observers ? enqueue_observed(ops, n, err)
                               : ops[0]->stream->device->backend->enqueue(ops, n, err);
    if (status != SL_OK) {
        sl__op_undo(ops, n);
        return status;
    }
    for (size_t i = 0; i < n; i++)
        count(ops[i]);
    return SL_OK;
}

sl_status sl__op_submit(sl_op *op, sl_error *err)
{
    sl_op *const ops[1] = { op };
    return submit(ops, 1, err);
}

sl_status sl__op_submit_all(sl_op *const *ops, size_t n, sl_error *err)
{
    return submit(ops, n, err);
}

sl_status sl__op_enqueue(sl_stream *stream, const sl_work *work, const sl__operands *operands,
                         sl_error *err)
{
    sl_op *op = NULL;
    sl_status status = begin(stream, work, operands, &op, err);
    if (status != SL_OK) return status;
    status = sl__op_submit(op, err);
    return sl__device_finish(stream->device, status, err);
}
