/* retire.c - the end of an operation: tells that it has ended, and drops its references. */
#include "op.h"

#include "buffer.h"
#include "device.h"
#include "graph/graph.h"
#include "observers.h"
#include "reuse.h"

/* These call what drops a reference only where more may follow: most often others are left. */
static inline void let_go(const sl_op *op, const sl_operand *operand)
{
    sl_buffer *buffer = operand->buffer;
    if (!operand->held) return;
    if (!op->captured) sl__reuse_let_go(buffer, op->stream);
    if (buffer->refs > 1 && buffer->refs - 1 != buffer->uses)
        buffer->refs--;
    else
        sl__buffer_release(buffer);
}

static inline void let_go_event(sl_event *event)
{
    if (!event) return;
    if (event->refs > 1)
        event->refs--;
    else
        sl_event_release(event);
}

static inline void let_go_stream(sl_stream *stream)
{
    if (!stream->owned && stream->refs > 1)
        stream->refs--;
    else
        sl_stream_release(stream);
}

static void let_go_custom(const sl_op *op)
{
    for (uint32_t i = op->n_operands; i-- > 0;)
        let_go(op, &op->operand[i]);
    sl_custom_call_drop(op->custom);
}

/* Without a loop, as they were held. */
static inline void let_go_sides(const sl_op *op)
{
    if (op->n_operands == 0) return;
    let_go(op, &op->side[2]);
    let_go(op, &op->side[1]);
    let_go(op, &op->side[0]);
    let_go(op, &op->side[SL_OUTPUT]);
}

void sl__op_capture(sl_op *op)
{
    op->captured = true;
    for (uint32_t i = 0; i < op->n_operands; i++)
        if (op->operand[i].held) sl__reuse_let_go(op->operand[i].buffer, op->stream);
}

void sl__op_drop(sl_device *device, sl_op *op)
{
    if (op->host_release) op->host_release(op->host_ud);
    if (__builtin_expect(op->custom != NULL, 0))
        let_go_custom(op);
    else
        let_go_sides(op);
    if (op->let_go) op->let_go(op);
    let_go_event(op->event);
    let_go_stream(op->stream);
    sl__op_put_back(device, op);
}

/* After a launch its nodes retire. */
static void tell(const sl_op *op)
{
    sl__tell(retired, op);
    if (op->graph) sl__graph_nodes_retire(op);
}

void sl__op_retire(sl_device *device, sl_op *op)
{
    sl__device_core *core = device->core;
    core->stats.ops_in_flight--;
    op->stream->in_flight--;
    if (sl_work_row_of(op->work.kind)->point == SL_POINT_RECORD && !op->lost)
        op->event->retired_seq = op->seq;
    if (__builtin_expect(sl__observers != NULL, 0)) tell(op);
    if (op->lost) sl__fault_note(device, op);
    sl__op_drop(device, op);
}
