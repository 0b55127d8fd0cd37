/* notes.c - a launch in timelines: the call, and each node as if it had been enqueued by it, in the
 * order of its capture. What was captured in other streams has rows of its own: a launch is ordered
 * with its own stream, not with those. */
#include <stdio.h>
#include <stdlib.h>

#include "../device.h"
#include "../op.h"
#include "../record.h"
#include "graph.h"

typedef struct lane { /* a row of this launch */
    bool noted;       /* in the timeline */
    int64_t at;       /* the end of what it has run */
    uint64_t by;      /* the number of its last operation, 0: none yet */
} lane;

typedef struct launch_notes {
    sl_device *device;
    sl__recording *rec;
    const sl_op *launch;
    uint32_t stream;  /* the launch's, in the timeline */
    int64_t *reached; /* per node: when its row had come to it; NULL: the backend does not know */
    lane *lanes;
    uint32_t n_work; /* that have been noted */
} launch_notes;

static uint32_t row(const launch_notes *notes, const sl_node *node)
{
    return node->lane == 0
               ? notes->stream
               : sl__record_row(notes->rec, notes->launch->stream->id, node->op->stream->id);
}

static bool add_row(const launch_notes *notes, const sl_node *node)
{
    lane *at = &notes->lanes[node->lane];
    const sl_stream *captured = node->op->stream;
    sl_stream_note note = {
        .id = row(notes, node),
        .priority = notes->launch->graph->priorities ? captured->priority
                                                     : notes->launch->stream->priority,
        .non_blocking = true,
    };
    char name[128];
    if (node->lane == 0 || at->noted) return true;
    at->noted = true;
    snprintf(name, sizeof name, "%.100s (graph)", sl__stream_name(captured));
    return !sl_timeline_intern(notes->rec->timeline, name, &note.name, NULL)
           && !sl_timeline_add_stream(notes->rec->timeline, &note, NULL);
}

/* What comes first in its row waited for what the launch did. */
static void wait_in_lane(const launch_notes *notes, const lane *at, sl_op *shown)
{
    shown->ready_ns = at->at;
    shown->ready_cause = at->by ? SL_CAUSE_STREAM_ORDER : notes->launch->ready_cause;
    shown->ready_by = at->by ? at->by : notes->launch->ready_by;
}

/* A record or a wait is an edge: it is reached when what it comes behind has ended. */
static void set_edge(const launch_notes *notes, const sl_node *node, lane *at, sl_op *shown)
{
    const bool waits = node->op->work.kind == SL_WORK_EVENT_WAIT;
    const int64_t reached = waits ? notes->reached[node->record] : INT64_MIN;
    wait_in_lane(notes, at, shown);
    if (waits && (!at->by || reached > at->at)) {
        shown->ready_cause = SL_CAUSE_EVENT;
        shown->ready_by = notes->launch->seq + 1 + node->record;
        shown->ready_ns = at->at = reached;
    }
    shown->start_cause = SL_CAUSE_NONE;
    shown->start_by = 0;
    shown->start_ns = shown->end_ns = at->at;
}

static void set_run(const sl_node_run *run, sl_op *shown)
{
    shown->start_ns = run->start_ns;
    shown->end_ns = run->end_ns;
    shown->ready_ns = run->ready_ns;
    shown->ready_by = run->ready_by;
    shown->start_by = run->start_by;
    shown->ready_cause = run->ready_cause;
    shown->start_cause = run->start_cause;
}

static void set_times(const launch_notes *notes, uint32_t i, sl_op *shown)
{
    const sl_node *node = &notes->launch->body->nodes[i];
    const sl_node_run *run = notes->launch->runs ? &notes->launch->runs[i] : NULL;
    lane *at = &notes->lanes[node->lane];
    shown->start_ns = shown->end_ns = SL_TIME_LATER;
    shown->ready_cause = SL_CAUSE_NONE;
    if (!run) return;
    if (!sl_is_work(node->op))
        set_edge(notes, node, at, shown);
    else
        set_run(run, shown);
    if (shown->end_ns > at->at) at->at = shown->end_ns;
    at->by = shown->seq;
    notes->reached[i] = at->at;
}

static bool add_node(launch_notes *notes, uint32_t i)
{
    const sl_op *launch = notes->launch;
    const sl_node *node = &launch->body->nodes[i];
    sl_node_note note = { launch->seq + 1 + i, launch->seq, launch->graph->id, notes->n_work,
                          node->op->stream->priority };
    sl_op shown = *node->op;
    uint32_t target = 0;
    shown.seq = note.correlation;
    shown.host_start_ns = launch->host_start_ns;
    shown.host_end_ns = launch->host_end_ns;
    shown.thread = launch->thread;
    if (shown.work.kind == SL_WORK_EVENT_WAIT) {
        const sl_node *record = &launch->body->nodes[node->record];
        shown.wait_target = launch->seq + 1 + node->record;
        target = row(notes, record);
    }
    set_times(notes, i, &shown);
    notes->n_work += sl_is_work(node->op);
    return sl__record_note(notes->device, notes->rec, &shown, row(notes, node), target)
           && (!sl_is_work(node->op) || !sl_timeline_add_node(notes->rec->timeline, &note, NULL));
}

static bool add_launch_note(const launch_notes *notes)
{
    const sl_op *launch = notes->launch;
    sl_launch_note note = {
        .correlation = launch->seq,
        .last = launch->seq + launch->body->n_nodes,
        .graph = launch->graph->id,
        .n_nodes = launch->body->n_work,
        .priorities = launch->graph->priorities,
        .uploads = launch->seq == launch->graph->uploaded_by,
    };
    return !sl_timeline_intern(notes->rec->timeline, sl_graph_name(launch->graph), &note.name, NULL)
           && !sl_timeline_add_launch(notes->rec->timeline, &note, NULL);
}

static bool add_call(const launch_notes *notes)
{
    const sl_op *launch = notes->launch;
    sl_call call = {
        .host_start_ns = launch->host_start_ns,
        .host_end_ns = launch->host_end_ns,
        .correlation = launch->seq,
        .stream = notes->stream,
        .kind = SL_CALL_PLAIN,
        .queue_full = (launch->span_flags & SL_SPAN_QUEUE_FULL) != 0,
    };
    return !sl_timeline_intern(notes->rec->timeline, "cudaGraphLaunch", &call.name, NULL)
           && sl__record_text(notes->device, notes->rec, launch->where, &call.where)
           && !sl_timeline_add_call(notes->rec->timeline, &call, NULL)
           && sl__record_thread(notes->rec, launch->seq, launch->thread);
}

/* Where events take the times, a launch has some and its nodes have none. */
static bool is_timed_as_one(const sl_op *launch)
{
    return !launch->runs && launch->end_ns != SL_TIME_LATER;
}

static bool add_as_one(const launch_notes *notes)
{
    sl_op shown = *notes->launch;
    shown.seq++; /* the first of the numbers of its nodes */
    return sl__record_note(notes->device, notes->rec, &shown, notes->stream, 0);
}

static bool add_launch(launch_notes *notes)
{
    const sl_body *body = notes->launch->body;
    bool added = sl__record_stream(notes->device, notes->rec, notes->launch->stream, &notes->stream)
                 && add_call(notes) && add_launch_note(notes);
    if (added && is_timed_as_one(notes->launch)) return add_as_one(notes);
    notes->lanes = calloc((size_t)body->n_lanes + 1, sizeof *notes->lanes);
    notes->reached = calloc((size_t)body->n_nodes + 1, sizeof *notes->reached);
    added = added && notes->lanes && notes->reached;
    for (uint32_t i = 0; added && notes->launch->runs && i <= body->n_lanes; i++)
        notes->lanes[i].at = notes->launch->start_ns;
    for (uint32_t i = 0; added && i < body->n_nodes; i++)
        added = add_row(notes, &body->nodes[i]) && add_node(notes, i);
    free(notes->lanes);
    free(notes->reached);
    return added;
}

/* A launch that had no memory for its nodes' times is left out, and that is reported. */
void sl__graph_record(sl_device *device, const sl_op *launch)
{
    bool known = launch->runs || !device->info.times_at_once;
    for (sl__recording *rec = device->core->recordings; rec; rec = rec->next) {
        launch_notes notes = { .device = device, .rec = rec, .launch = launch };
        if (launch->seq < rec->first_seq) continue;
        if (!known || !add_launch(&notes)) sl__record_lose(device, rec);
    }
}

/* ---- calls that enqueue nothing ---- */

sl_status sl__graph_call_begin(sl_device *device, sl_call *call, const char *name, sl_error *err)
{
    uint32_t id = sl__strings_intern(&device->core->strings, name);
    if (!id) return sl__no_memory(err, "the name of a call");
    sl__call_begin(device, call, SL_CALL_PLAIN);
    call->name = id;
    return SL_OK;
}
