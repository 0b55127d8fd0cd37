/* capture.c - captures: streams that take part, operations that become nodes, forks and joins by
 * events. */
#include "capture.h"

#include <stdlib.h>
#include <string.h>

#include "../device.h"
#include "../op.h"
#include "graph.h"

/* ---- sets of nodes ---- */

static bool has_node(const sl__nodes *set, uint32_t node)
{
    for (uint32_t i = 0; i < set->n; i++)
        if (set->at[i] == node) return true;
    return false;
}

static bool reserve_nodes(sl__nodes *set, uint32_t n)
{
    uint32_t cap = set->cap ? set->cap : 4;
    uint32_t *grown;

    if (n <= set->cap) return true;
    while (cap < n)
        cap *= 2;
    grown = realloc(set->at, cap * sizeof *grown);
    if (!grown) return false;
    set->at = grown;
    set->cap = cap;
    return true;
}

/* There is room. */
static void add_nodes(sl__nodes *set, const uint32_t *nodes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!has_node(set, nodes[i])) set->at[set->n++] = nodes[i];
}

/* ---- branches ---- */

sl_status sl__capture_no_memory(sl_error *err)
{
    return sl_fail(err, SL_ENOMEM, "out of host memory for a capture");
}

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
    free(branch->last.at);
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

/* ---- records ---- */

static sl__captured *new_record(const sl__branch *branch)
{
    sl__captured *record = malloc(sizeof *record + branch->last.n * sizeof *record->nodes);

    if (!record) return NULL;
    record->graph_id = branch->capture->graph->id;
    record->n = branch->last.n;
    if (record->n) memcpy(record->nodes, branch->last.at, record->n * sizeof *record->nodes);
    return record;
}

/* ---- operations ---- */

/* The backend has taken the operation; nothing can fail from here on. */
static uint32_t append(sl__branch *branch, sl_op *op)
{
    sl_body *body = branch->capture->graph->body;
    uint32_t node = sl__body_add(body, op, branch->lane, branch->last.at, branch->last.n);

    if (sl_is_work(body->nodes[node].op)) {
        branch->last.n = 1;
        branch->last.at[0] = node;
    }
    return node;
}

static sl_status take_work(sl__branch *branch, sl_op *op, sl_error *err)
{
    sl_graph *graph = branch->capture->graph;
    sl_status status = sl__body_reserve(graph->body, branch->last.n, err);

    if (status == SL_OK && !reserve_nodes(&branch->last, 1)) status = sl__capture_no_memory(err);
    if (status == SL_OK) status = op->stream->device->backend->enqueue(op, err);
    if (status != SL_OK) return status;
    graph->lent |= sl__op_is_lent(op);
    append(branch, op);
    return SL_OK;
}

static sl_status take_record(sl__branch *branch, sl_op *op, sl_error *err)
{
    sl_event *event = op->event;
    sl__captured *record = new_record(branch);
    sl_status status = record ? sl__body_reserve(branch->capture->graph->body, 0, err)
                              : sl__capture_no_memory(err);

    if (status == SL_OK) status = op->stream->device->backend->enqueue(op, err);
    if (status != SL_OK) {
        free(record);
        return status;
    }
    record->record = append(branch, op);
    free(event->captured);
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

    if (status == SL_OK && !reserve_nodes(&branch->last, branch->last.n + record->n))
        status = sl__capture_no_memory(err);
    if (status == SL_OK) status = op->stream->device->backend->enqueue(op, err);
    if (status != SL_OK) {
        if (branch && !had) unjoin(capture);
        return status;
    }
    add_nodes(&branch->last, record->nodes, record->n);
    capture->graph->body->nodes[append(branch, op)].record = record->record;
    return SL_OK;
}

sl_status sl__capture_take(sl_op *op, bool *taken, sl_error *err)
{
    sl_device *device = op->stream->device;
    sl__branch *branch = op->stream->branch;
    bool waits = op->work.kind == SL_WORK_EVENT_WAIT;
    sl__capture *joined = waits ? sl__capture_of(op->event->device, op->event->captured) : NULL;
    sl_status status = sl__capture_refuses_op(op, err);

    *taken = branch || joined;
    if (status != SL_OK || !*taken) return status;
    op->captured = true;
    if (joined) return take_wait(joined, op, err);
    if (waits) { /* of an event that was never recorded, or of one outside: an edge to nothing */
        status = device->backend->enqueue(op, err);
        if (status == SL_OK) sl__node_drop(device, op);
        return status;
    }
    return op->work.kind == SL_WORK_EVENT_RECORD ? take_record(branch, op, err)
                                                 : take_work(branch, op, err);
}
