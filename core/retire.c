/* retire.c - the end of an operation: reports it to the race checker and the recordings, and drops
 * its references. */
#include "op.h"

#include "buffer.h"
#include "device.h"
#include "graph/capture.h"
#include "graph/graph.h"
#include "race/checker.h"
#include "record.h"
#include "reuse.h"

static void let_go(sl_buffer *buffer, const sl_stream *stream)
{
    if (buffer) sl__reuse_let_go(buffer, stream);
    sl__buffer_release(buffer);
}

void sl__op_release_operands(sl_op *op)
{
    for (int i = 1; i >= 0; i--)
        if (sl__op_holds_input(op, i)) let_go(op->in[i], op->stream);
    let_go(op->out, op->stream);
    sl_event_release(op->event);
    sl_stream_release(op->stream);
}

void sl__op_uses_no_more(const sl_op *op, sl_buffer *buffer)
{
    sl__reuse_let_go(buffer, op->stream);
}

static void put_back(sl_device *device, sl_op *op)
{
    op->next = device->core->free_ops;
    device->core->free_ops = op;
}

void sl__op_drop_node(sl_device *device, sl_op *op)
{
    if (op->host_release) op->host_release(op->host_ud);
    for (int i = 1; i >= 0; i--)
        if (sl__op_holds_input(op, i)) sl__buffer_release(op->in[i]);
    sl__buffer_release(op->out);
    sl_event_release(op->event);
    sl_stream_release(op->stream);
    put_back(device, op);
}

void sl__op_retire(sl_device *device, sl_op *op)
{
    sl__device_core *core = device->core;

    core->stats.ops_in_flight--;
    op->stream->in_flight--;
    if (op->work.kind == SL_WORK_EVENT_RECORD && !op->lost) op->event->retired_seq = op->seq;
    if (sl__race_on()) sl__race_retired(sl__race, op);
    if (op->lost)
        sl__fault_note(device, op);
    else if (core->recordings)
        sl__record_op(device, op);
    if (op->host_release) op->host_release(op->host_ud);
    if (op->graph) sl__graph_retired(op);
    sl__op_release_operands(op);
    put_back(device, op);
}
