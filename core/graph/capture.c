/* capture.c - captures: streams that take part, operations that become nodes, forks and joins by
 * events, the end. */
#include "capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../device.h"
#include "../op.h"
#include "../stream.h"
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

static sl_status out_of_memory(sl_error *err)
{
    return sl_fail(err, SL_ENOMEM, "out of host memory for a capture");
}

/* The stream takes part from now on. NULL: out of memory. */
static sl__branch *join(sl__capture *capture, sl_stream *stream)
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

static void leave(sl__branch *branch)
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
    leave(branch);
}

/* Without its graph, which is the caller's. */
static void close_capture(sl_device *device, sl__capture *capture)
{
    sl__branch *next;

    for (sl__capture **link = &device->core->captures; *link; link = &(*link)->next)
        if (*link == capture) {
            *link = capture->next;
            break;
        }
    for (sl__branch *branch = capture->branches; branch; branch = next) {
        next = branch->next;
        leave(branch);
    }
    free(capture);
}

/* ---- records ---- */

sl__capture *sl__capture_of(const sl_device *device, const sl__captured *captured)
{
    sl__capture *capture = captured ? device->core->captures : NULL;

    while (capture && capture->graph->id != captured->graph_id)
        capture = capture->next;
    return capture;
}

void sl__captured_free(sl_event *event)
{
    free(event->captured);
    event->captured = NULL;
}

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

    if (sl__node_is_work(&body->nodes[node])) {
        branch->last.n = 1;
        branch->last.at[0] = node;
    }
    return node;
}

static sl_status take_work(sl__branch *branch, sl_op *op, sl_error *err)
{
    sl_graph *graph = branch->capture->graph;
    sl_status status = sl__body_reserve(graph->body, branch->last.n, err);

    if (status == SL_OK && !reserve_nodes(&branch->last, 1)) status = out_of_memory(err);
    if (status == SL_OK) status = op->stream->device->backend->enqueue(op, err);
    if (status != SL_OK) return status;
    graph->lent |= (op->out && op->out->lender) || (op->in[0] && op->in[0]->lender)
                   || (op->in[1] && op->in[1]->lender);
    append(branch, op);
    return SL_OK;
}

static sl_status take_record(sl__branch *branch, sl_op *op, sl_error *err)
{
    sl_event *event = op->event;
    sl__captured *record = new_record(branch);
    sl_status status = record ? sl__body_reserve(branch->capture->graph->body, 0, err)
                              : out_of_memory(err);

    if (status == SL_OK) status = op->stream->device->backend->enqueue(op, err);
    if (status != SL_OK) {
        free(record);
        return status;
    }
    record->record = append(branch, op);
    sl__captured_free(event);
    event->captured = record;
    return SL_OK;
}

/* The stream comes behind what its event's record came behind, and takes part if it did not. */
static sl_status take_wait(sl__capture *capture, sl_op *op, sl_error *err)
{
    const sl__captured *record = op->event->captured;
    sl__branch *had = op->stream->branch;
    sl__branch *branch = had ? had : join(capture, op->stream);
    sl_status status = branch ? sl__body_reserve(capture->graph->body, 0, err) : out_of_memory(err);

    if (status == SL_OK && !reserve_nodes(&branch->last, branch->last.n + record->n))
        status = out_of_memory(err);
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
        if (status == SL_OK) sl__op_drop_node(device, op);
        return status;
    }
    return op->work.kind == SL_WORK_EVENT_RECORD ? take_record(branch, op, err)
                                                 : take_work(branch, op, err);
}

/* ---- what spoils a capture ---- */

static bool is_invalidated(sl__capture *capture)
{
    const sl_backend *backend = capture->origin->device->backend;
    sl_capture_status now = SL_CAPTURE_STATUS_ACTIVE;

    if (!backend->checks_captures || capture->invalidated) return capture->invalidated;
    return backend->capture_status(capture->origin, &now, NULL) == SL_OK
           && now == SL_CAPTURE_STATUS_INVALIDATED;
}

/* The first capture that the call has spoiled, else one that was spoiled before. */
static sl__capture *find_spoiled(sl_device *device)
{
    sl__capture *spoiled = NULL;

    for (sl__capture *capture = device->core->captures; capture; capture = capture->next) {
        if (!is_invalidated(capture)) continue;
        if (!capture->told) return capture;
        if (!spoiled) spoiled = capture;
    }
    return spoiled;
}

/* The capture that a failed call has to do with, or NULL. */
static const sl__capture *find_concerned(sl_device *device, const sl_error *err)
{
    const sl_stream *stream = device->core->asked.stream;
    sl__capture *spoiled = find_spoiled(device);

    if (stream && stream->branch && err->backend_code != SL_CAPTURE_CAPTURED_EVENT)
        return stream->branch->capture;
    return spoiled && (!spoiled->told || err->backend_code == SL_CAPTURE_INVALIDATED)
               ? spoiled
               : device->core->captures;
}

/* Who has spoiled a capture is not known if this call is the first to hear of it. */
static void note_spoiled(sl_device *device, const char *call, int code)
{
    for (sl__capture *capture = device->core->captures; capture; capture = capture->next) {
        if (!is_invalidated(capture)) continue;
        capture->told = capture->invalidated = true;
        if (capture->spoiled_by || code == SL_CAPTURE_INVALIDATED) continue;
        capture->spoiled_by = call;
        capture->spoiled_where = device->core->where;
        capture->spoiled_code = code;
    }
}

void sl__capture_failed(sl_device *device, sl_error *err)
{
    const sl__capture *concerned = err ? find_concerned(device, err) : NULL;

    note_spoiled(device, device->core->asked.call, err ? err->backend_code : 0);
    if (err) sl__capture_explain(device, concerned, err);
}

void sl__capture_suspect(sl_device *device, const char *call)
{
    if (!device->backend->checks_captures)
        for (sl__capture *capture = device->core->captures; capture; capture = capture->next)
            capture->invalidated = true;
    note_spoiled(device, call, 0);
}

sl_status sl__capture_hidden(sl_device *device, sl_status status, sl_error *err)
{
    const sl__capture *spoiled = find_spoiled(device);

    if (status == SL_ECAPTURE || !spoiled || spoiled->told) return status;
    sl_fail(err, SL_ECAPTURE, "%s", sl_capture_error_name(SL_CAPTURE_UNSUPPORTED));
    if (err) err->backend_code = SL_CAPTURE_UNSUPPORTED;
    return SL_ECAPTURE;
}

/* ---- begin, end ---- */

sl_status sl_stream_begin_capture(sl_stream *stream, sl_capture_mode mode, sl_error *err)
{
    sl__capture *capture = NULL;
    sl_device *device;
    sl_status status = sl__stream_enter(stream, "begin_capture", err);

    if (status != SL_OK) return status;
    device = stream->device;
    if (!device->backend->capture_begin)
        return sl_fail(err, SL_EUNSUPPORTED, "the backend %s has no graphs", device->backend->name);
    status = sl__capture_refuses_begin(stream, err);
    if (status != SL_OK) return sl__device_leave(device, status, err);
    capture = calloc(1, sizeof *capture);
    if (!capture) return out_of_memory(err);
    status = sl__graph_create(device, &capture->graph, err);
    if (status == SL_OK) status = device->backend->capture_begin(stream, mode, err);
    if (status != SL_OK) goto fail;
    capture->origin = stream;
    capture->mode = mode;
    capture->next = device->core->captures;
    device->core->captures = capture;
    if (join(capture, stream)) return sl__device_finish(device, SL_OK, err);
    device->backend->capture_end(stream, NULL, NULL);
    device->core->captures = capture->next;
    status = out_of_memory(err);
fail:
    sl_graph_release(capture->graph);
    free(capture);
    return sl__device_leave(device, status, err);
}

static void name_graph(sl_graph *graph)
{
    char name[32];

    if (graph->name) return;
    snprintf(name, sizeof name, "graph %u", (unsigned)graph->id);
    sl_graph_set_name(graph, name, NULL);
}

/* The capture is over, whatever the status; *graph is NULL unless it is SL_OK. */
static sl_status end_capture(sl__capture *capture, sl_graph **graph, sl_error *err)
{
    sl_device *device = capture->origin->device;
    sl_status status = sl__capture_refuses_end(capture->origin, err);

    *graph = capture->graph;
    if (status == SL_OK)
        status = device->backend->capture_end(capture->origin, *graph, err);
    else
        device->backend->capture_end(capture->origin, NULL, NULL);
    if (status == SL_ECAPTURE) sl__capture_failed(device, err); /* before it is forgotten */
    close_capture(device, capture);
    if (status == SL_OK) return SL_OK;
    sl_graph_release(*graph);
    *graph = NULL;
    return status;
}

sl_status sl_stream_end_capture(sl_stream *stream, sl_graph **graph, sl_error *err)
{
    sl__capture *capture;
    sl_device *device;
    sl_status status = sl__stream_enter(stream, "end_capture", err);

    if (status != SL_OK) return status;
    device = stream->device;
    capture = stream->branch ? stream->branch->capture : NULL;
    if (!capture || capture->origin != stream)
        return sl__device_leave(device, sl__capture_refuses_end(stream, err), err);
    status = end_capture(capture, graph, err);
    if (status == SL_OK) name_graph(*graph);
    if (status != SL_ECAPTURE) return sl__device_leave(device, status, err);
    sl__device_reap(device);
    return status;
}

static void abandon(sl_device *device, sl__capture *capture)
{
    sl_graph *graph = capture->graph;

    device->backend->capture_end(capture->origin, NULL, NULL);
    close_capture(device, capture);
    sl_graph_release(graph);
}

void sl_stream_abandon_capture(sl_stream *stream)
{
    if (stream && stream->branch && stream->branch->capture->origin == stream)
        abandon(stream->device, stream->branch->capture);
}

void sl__captures_abandon(sl_device *device)
{
    while (device->core->captures)
        abandon(device, device->core->captures);
}

sl_status sl_stream_capture_status(sl_stream *stream, sl_capture_status *status, sl_error *err)
{
    sl_status entered = sl__stream_enter(stream, "capture_status", err);

    if (entered == SL_OK) entered = sl__capture_refuses_status(stream, err);
    if (entered != SL_OK) return stream ? sl__device_leave(stream->device, entered, err) : entered;
    *status = !stream->branch                           ? SL_CAPTURE_STATUS_NONE
              : is_invalidated(stream->branch->capture) ? SL_CAPTURE_STATUS_INVALIDATED
                                                        : SL_CAPTURE_STATUS_ACTIVE;
    return SL_OK;
}
