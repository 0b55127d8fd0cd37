/* capture.c - captures: streams that take part, operations that become nodes, forks and joins by
 * events. */
#include "capture.h"

#include <stdlib.h>

#include "../device.h"
#include "../op.h"
#include "graph.h"

/* ---- branches ---- */

sl_status sl__capture_no_memory(sl_error *err) { return sl__no_memory(err, "a capture"); }

sl__branch *sl__capture_join(sl__capture *capture, sl_stream *stream)
{
    sl__branch *branch = calloc(1, sizeof *branch);
    if (!branch) return NULL;
    branch->capture = capture;
    branch->stream = sl_stream_retain(stream);
    branch->lane = capture->graph->body->n_lanes++;
    branch->next = capture->branches;
    capture->branches = branch;
    stream->branch = branch;
    return branch;
}

void sl__capture_leave(sl__branch *branch)
{
    branch->stream->branch = NULL;
    sl_stream_release(branch->stream);
    sl__nodes_release(branch->last);
    free(branch);
}

/* Takes the latest branch out again. */
static void unjoin(sl__capture *capture)
{
    sl__branch *branch = capture->branches;
    capture->branches = branch->next;
    capture->graph->body->n_lanes--;
    sl__capture_leave(branch);
}

/* ---- operations ---- */

static sl_status give(sl_op *op, sl_error *err)
{
    return op->stream->device->backend->enqueue(&op, 1, err);
}

/* The backend has taken the operation; nothing can fail from here on. */
static uint32_t append(sl__branch *branch, sl_op *op)
{
    const sl__nodes *last = branch->last;
    sl_body *body = branch->capture->graph->body;
    uint32_t i = sl__body_add(body, op, branch->lane, last ? last->at : NULL,
                              sl__nodes_count(last));
    body->nodes[i].prior = branch->prior;
    branch->prior = i + 1;
    return i;
}

/* The branch's next operation comes behind the one that was appended. */
static sl_status take_work(sl__branch *branch, sl_op *op, sl_error *err)
{
    sl_graph *graph = branch->capture->graph;
    sl__nodes *last = sl__nodes_to_become(branch->last);
    sl_status status = last ? sl__body_reserve(graph->body, sl__nodes_count(branch->last), err)
                            : sl__capture_no_memory(err);
    if (status == SL_OK) status = give(op, err);
    if (status != SL_OK) {
        sl__nodes_release(last);
        return status;
    }
    graph->lent |= sl__op_is_lent(op);
    sl__nodes_become(last, append(branch, op));
    sl__nodes_release(branch->last);
    branch->last = last;
    return SL_OK;
}

static sl_status take_record(sl__branch *branch, sl_op *op, sl_error *err)
{
    sl_event *event = op->event;
    sl__captured *record = sl__captured_new(branch);
    sl_status status = record ? sl__body_reserve(branch->capture->graph->body, 0, err)
                              : sl__capture_no_memory(err);
    if (status == SL_OK) status = give(op, err);
    if (status != SL_OK) {
        if (record) sl__nodes_release(record->nodes);
        free(record);
        return status;
    }
    record->record = append(branch, op);
    sl__captured_begin(branch->capture, record);
    sl__captured_free(event->captured);
    event->captured = record;
    return SL_OK;
}

/* The stream comes behind what its event's record came behind, and takes part if it did not. */
static sl_status take_wait(sl__capture *capture, sl_op *op, sl_error *err)
{
    const sl__captured *record = op->event->captured;
    sl__branch *had = op->stream->branch;
    sl__branch *branch = had ? had : sl__capture_join(capture, op->stream);
    sl_status status = branch ? sl__body_reserve(capture->graph->body, 0, err)
                              : sl__capture_no_memory(err);
    if (status == SL_OK && !sl__nodes_reserve(&branch->last, record->nodes))
        status = sl__capture_no_memory(err);
    if (status == SL_OK) status = give(op, err);
    if (status != SL_OK) {
        if (branch && !had) unjoin(capture);
        return status;
    }
    sl__nodes_join(&branch->last, record->nodes);
    capture->graph->body->nodes[append(branch, op)].record = record->record;
    return SL_OK;
}

sl_status sl__capture_take(sl_op *op, bool *taken, sl_error *err)
{
    sl_device *device = op->stream->device;
    sl__branch *branch = op->stream->branch;
    bool waits = op->work.kind == SL_WORK_EVENT_WAIT;
    sl__capture *joined = waits ? sl__capture_of(op->event->captured) : NULL;
    sl_status status = sl__capture_refuses_op(op, err);
    *taken = branch || joined;
    if (status != SL_OK || !*taken) return status;
    sl__op_capture(op);
    if (joined) return take_wait(joined, op, err);
    if (waits) { /* of an event that was never recorded, or of one outside: an edge to nothing */
        status = give(op, err);
        if (status == SL_OK) sl__op_drop(device, op);
        return status;
    }
    return op->work.kind == SL_WORK_EVENT_RECORD ? take_record(branch, op, err)
                                                 : take_work(branch, op, err);
}
