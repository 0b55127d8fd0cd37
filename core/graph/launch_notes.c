/* launch_notes.c - a launch and its nodes in timelines. What was captured in other streams than the
 * first has rows of its own: a launch is ordered with its own stream, not with those. */
#include <stdio.h>

#include "../device.h"
#include "../op.h"
#include "../record.h"
#include "graph.h"

/* ---- launches ---- */

static bool add_launch(sl__recording *rec, const sl_op *launch)
{
    sl_launch_note note = {
        .correlation = launch->seq,
        .last = launch->seq + launch->body->n_nodes,
        .graph = launch->graph->id,
        .n_nodes = launch->body->n_work,
        .priorities = launch->graph->priorities,
        .uploads = launch->seq == launch->graph->uploaded_by,
    };
    return !sl_timeline_intern(rec->timeline, sl_graph_name(launch->graph), &note.name, NULL)
           && !sl_timeline_add_launch(rec->timeline, &note, NULL);
}

static bool add_call(sl__recording *rec, const sl_op *launch, uint32_t stream)
{
    sl_call call = {
        .host_start_ns = launch->host_start_ns,
        .host_end_ns = launch->host_end_ns,
        .correlation = launch->seq,
        .stream = stream,
        .kind = SL_CALL_PLAIN,
        .queue_full = (launch->span_flags & SL_SPAN_QUEUE_FULL) != 0,
    };
    return !sl_timeline_intern(rec->timeline, "cudaGraphLaunch", &call.name, NULL)
           && sl__record_text(rec->device, rec, launch->where, &call.where)
           && !sl_timeline_add_call(rec->timeline, &call, NULL)
           && sl__record_thread(rec, launch->seq, launch->thread);
}

/* Where events take the times, a launch has some and its nodes have none. */
static bool add_as_one(sl__recording *rec, const sl_op *launch, uint32_t stream)
{
    sl_op shown = *launch;
    if (launch->runs || launch->end_ns == SL_TIME_LATER) return true;
    shown.seq++; /* the first of the numbers of its nodes */
    return sl__record_note(rec->device, rec, &shown, stream, 0);
}

bool sl__graph_note_launch(sl__recording *rec, const sl_op *launch)
{
    uint32_t stream;
    return sl__record_stream(rec->device, rec, launch->stream, &stream)
           && add_call(rec, launch, stream) && add_launch(rec, launch)
           && add_as_one(rec, launch, stream);
}

/* ---- nodes ---- */

static uint32_t row(const sl__recording *rec, const sl_op *launch, const sl_node *node)
{
    return node->lane ? sl__record_row(rec, launch->stream->id, node->op->stream->id)
                      : sl_timeline_stream_id(rec->place, launch->stream->id);
}

static bool add_row(sl__recording *rec, const sl_op *launch, const sl_node *node)
{
    const sl_stream *captured = node->op->stream;
    sl_stream_note note = {
        .id = row(rec, launch, node),
        .priority = launch->graph->priorities ? captured->priority : launch->stream->priority,
        .non_blocking = true,
    };
    char name[128];
    if (node->lane == 0 || node->prior) return true;
    snprintf(name, sizeof name, "%.100s (graph)", sl__stream_name(captured));
    return !sl_timeline_intern(rec->timeline, name, &note.name, NULL)
           && !sl_timeline_add_stream(rec->timeline, &note, NULL);
}

bool sl__graph_note_node(sl__recording *rec, const sl_op *op)
{
    const sl_op *launch = op->launch;
    const sl_node *node = &launch->body->nodes[op->seq - launch->seq - 1];
    const sl_node_note note = { op->seq, launch->seq, launch->graph->id, node->number,
                                op->stream->priority };
    uint32_t target = 0;
    if (rec->place < 0) return false; /* the launch could not be noted */
    if (op->wait_target) target = row(rec, launch, &launch->body->nodes[node->record]);
    return add_row(rec, launch, node)
           && sl__record_note(rec->device, rec, op, row(rec, launch, node), target)
           && (!sl_has_span(op) || !sl_timeline_add_node(rec->timeline, &note, NULL));
}
