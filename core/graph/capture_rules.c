/* capture_rules.c - what a capture forbids, as measured on an H200 (docs/design/graphs.md has the
 * table).
 *
 * A backend whose library checks this itself reports what that says; for the others it is here. On
 * both it is core that refuses what it does not give to the backend. The sentences are in
 * sentences.c: here are the calls and the numbers.
 */
#include <stdlib.h>

#include "../device.h"
#include "capture.h"

/* ---- refusing ---- */

static void note_call(sl_device *device, const char *call, const sl_stream *stream)
{
    device->core->latest_call.call = call;
    device->core->latest_call.stream = stream;
}

static sl_status refuse(const sl_device *device, sl_capture_error code, sl_error *err)
{
    sl_fail(err, SL_ECAPTURE, "%s", sl_capture_error_name(code));
    if (err) {
        err->backend_code = code;
        err->operand = device->core->latest_call.call;
    }
    return SL_ECAPTURE;
}

static void spoil(sl__capture *capture, sl_capture_error code)
{
    const sl__device_core *core = capture->origin->device->core;
    if (capture->invalidated) return;
    capture->invalidated = true;
    capture->spoiled_by = core->latest_call.call;
    capture->spoiled_where = core->where;
    capture->spoiled_code = code;
}

/* A capture with a blocking stream: the NULL stream would have to wait for it. */
static bool is_blocking(const sl__capture *capture)
{
    for (const sl__branch *branch = capture->branches; branch; branch = branch->next)
        if (!branch->stream->non_blocking) return true;
    return false;
}

static bool any_blocking(const sl_device *device)
{
    for (const sl__capture *c = device->core->captures; c; c = c->next)
        if (is_blocking(c)) return true;
    return false;
}

/* As cudaThreadExchangeStreamCaptureMode says of threads that have not called it. */
static bool permits_unsafe(const sl__capture *capture)
{
    switch (capture->mode) {
    case SL_CAPTURE_GLOBAL: return false;
    case SL_CAPTURE_THREAD_LOCAL: return sl__capture_is_others(capture);
    case SL_CAPTURE_RELAXED: break;
    }
    return true;
}

/* What may wait for other work. */
static sl_status refuse_unsafe(sl_device *device, sl_error *err)
{
    bool refused = false;
    for (sl__capture *c = device->core->captures; c; c = c->next) {
        if (permits_unsafe(c)) continue;
        spoil(c, SL_CAPTURE_UNSUPPORTED);
        refused = true;
    }
    return refused ? refuse(device, SL_CAPTURE_UNSUPPORTED, err) : SL_OK;
}

static sl_status refuse_null_stream(sl_device *device, sl_error *err)
{
    for (sl__capture *c = device->core->captures; c; c = c->next)
        if (is_blocking(c)) spoil(c, SL_CAPTURE_IMPLICIT);
    return refuse(device, SL_CAPTURE_IMPLICIT, err);
}

/* ---- calls that enqueue nothing ---- */

static sl_status refuse_stream(sl_device *device, const sl_stream *stream, sl_error *err)
{
    if (stream->branch) {
        spoil(stream->branch->capture, SL_CAPTURE_UNSUPPORTED);
        return refuse(device, SL_CAPTURE_UNSUPPORTED, err);
    }
    return stream->legacy && any_blocking(device) ? refuse_null_stream(device, err)
                                                  : refuse_unsafe(device, err);
}

/* Once its capture has ended, an event whose latest record was captured is of no use. */
static sl_status refuse_ended(const sl_device *device, sl_error *err)
{
    return sl_fail(err, SL_EINVAL,
                   "%s: the event's latest record was in a capture that has ended, so that it has "
                   "neither a time nor anything to wait for: record it again "
                   "(cudaErrorInvalidValue, 1)",
                   device->core->latest_call.call);
}

static sl_status refuse_event(sl_device *device, const sl_event *event, sl_error *err)
{
    sl__capture *capture = sl__capture_of(event->captured);
    if (!capture) return refuse_unsafe(device, err);
    spoil(capture, SL_CAPTURE_CAPTURED_EVENT);
    return refuse(device, SL_CAPTURE_CAPTURED_EVENT, err);
}

static sl_status refuse_device(sl_device *device, sl_error *err)
{
    for (sl__capture *c = device->core->captures; c; c = c->next)
        spoil(c, SL_CAPTURE_UNSUPPORTED);
    return refuse(device, SL_CAPTURE_UNSUPPORTED, err);
}

sl_status sl__capture_refuses(sl_device *device, sl__called called, const char *call,
                              const sl_stream *stream, const sl_event *event, sl_error *err)
{
    note_call(device, call, stream);
    if (event && event->captured && !sl__capture_of(event->captured))
        return refuse_ended(device, err);
    if (called == SL__CALLED_ELAPSED) /* such an event has no time to ask a backend for */
        return event->captured ? refuse(device, SL_CAPTURE_CAPTURED_EVENT, err) : SL_OK;
    if (called == SL__CALLED_BY_CORE)
        return any_blocking(device) ? refuse_null_stream(device, err) : SL_OK;
    if (device->backend->checks_captures || !device->core->captures) return SL_OK;
    switch (called) {
    case SL__CALLED_STREAM: return refuse_stream(device, stream, err);
    case SL__CALLED_DEVICE: return refuse_device(device, err);
    case SL__CALLED_EVENT: return refuse_event(device, event, err);
    case SL__CALLED_ELAPSED:
    case SL__CALLED_BY_CORE:
    case SL__CALLED_UNSAFE: break;
    }
    return stream && stream->legacy && any_blocking(device) ? refuse_null_stream(device, err)
                                                            : refuse_unsafe(device, err);
}

sl_status sl__capture_refuses_memory_node(const sl_stream *stream, const char *call, sl_error *err)
{
    if (!stream || !stream->branch) return SL_OK;
    return sl_fail(
        err, SL_EUNSUPPORTED,
        "%s in stream \"%s\", which is captured, would make a memory node, and streamlab "
        "has none: call it before the capture or after it, or make a tensor, whose "
        "memory is the graph's",
        call, sl__stream_name(stream));
}

/* ---- operations ---- */

static const char *call_of(const sl_work *work)
{
    return sl_work_row_of(work->kind)->call[(work->flags & SL_WORK_SYNC) != 0];
}

static sl_status refuse_wait(sl_op *op, sl__capture *capture, sl__capture *other, sl_error *err)
{
    const sl_device *device = op->stream->device;
    if (other && other != capture) {
        spoil(capture, SL_CAPTURE_MERGE);
        spoil(other, SL_CAPTURE_MERGE);
        return refuse(device, SL_CAPTURE_MERGE, err);
    }
    if (other || !op->event->record_seq) return SL_OK;
    spoil(capture, SL_CAPTURE_ISOLATION);
    return refuse(device, SL_CAPTURE_ISOLATION, err);
}

/* In a stream that is captured. `joined`: the capture that the event of a wait is in. */
static sl_status refuse_captured(sl_op *op, sl__capture *joined, sl_error *err)
{
    const sl_device *device = op->stream->device;
    sl__capture *capture = op->stream->branch->capture;
    if (capture->invalidated) return refuse(device, SL_CAPTURE_INVALIDATED, err);
    if (op->work.kind == SL_WORK_GRAPH) { /* never given to a backend */
        spoil(capture, SL_CAPTURE_UNSUPPORTED);
        return refuse(device, SL_CAPTURE_UNSUPPORTED, err);
    }
    if (device->backend->checks_captures || op->work.kind != SL_WORK_EVENT_WAIT) return SL_OK;
    return refuse_wait(op, capture, joined, err);
}

sl_status sl__capture_refuses_op(sl_op *op, sl_error *err)
{
    sl_stream *stream = op->stream;
    sl_device *device = stream->device;
    sl__capture *joined = NULL;
    note_call(device, call_of(&op->work), stream);
    if (op->work.kind == SL_WORK_EVENT_WAIT && op->event->captured) {
        joined = sl__capture_of(op->event->captured);
        if (!joined) return refuse_ended(device, err);
        if (op->event->device != device)
            return sl_fail(err, SL_EUNSUPPORTED,
                           "the event was recorded in a capture of another device: streamlab has "
                           "no graphs of several devices");
    }
    if (stream->branch) return refuse_captured(op, joined, err);
    if (device->backend->checks_captures) return SL_OK;
    if (stream->legacy && (joined || any_blocking(device))) {
        if (joined) spoil(joined, SL_CAPTURE_IMPLICIT);
        return refuse_null_stream(device, err);
    }
    return joined && joined->invalidated ? refuse(device, SL_CAPTURE_INVALIDATED, err) : SL_OK;
}

/* ---- begin, end, status ---- */

sl_status sl__capture_refuses_begin(sl_stream *stream, sl_error *err)
{
    sl_device *device = stream->device;
    note_call(device, "cudaStreamBeginCapture", stream);
    if (device->backend->checks_captures) return SL_OK;
    if (stream->branch) return refuse(device, SL_CAPTURE_ILLEGAL_STATE, err);
    if (!stream->legacy) return SL_OK;
    return any_blocking(device) ? refuse_null_stream(device, err)
                                : refuse(device, SL_CAPTURE_UNSUPPORTED, err);
}

sl_status sl__capture_refuses_status(sl_stream *stream, sl_error *err)
{
    note_call(stream->device, "cudaStreamIsCapturing", stream);
    return stream->legacy && any_blocking(stream->device)
               ? refuse(stream->device, SL_CAPTURE_IMPLICIT, err)
               : SL_OK;
}

/* Marks what the set of nodes comes behind. `order` has room for all nodes. */
static void mark_before(const sl_body *body, bool *seen, uint32_t *order, const sl__nodes *last)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < sl__nodes_count(last); i++) {
        seen[last->at[i]] = true;
        order[n++] = last->at[i];
    }
    while (n > 0) {
        const sl_node *node = &body->nodes[order[--n]];
        for (uint32_t i = 0; i < node->n_before; i++) {
            uint32_t before = body->before[node->first_before + i];
            if (seen[before]) continue;
            seen[before] = true;
            order[n++] = before;
        }
    }
}

/* The latest, which is behind as many others as can be. Neighbours often share a set. */
static const sl_op *find_unjoined(const sl__capture *capture, const bool *seen)
{
    const sl__nodes *looked = NULL;
    const sl_op *found = NULL;
    uint32_t latest = 0;
    for (const sl__branch *branch = capture->branches; branch; branch = branch->next) {
        for (uint32_t i = 0; branch->last != looked && i < sl__nodes_count(branch->last); i++) {
            uint32_t node = branch->last->at[i];
            if (seen[node] || node < latest) continue;
            latest = node;
            found = capture->graph->body->nodes[node].op;
        }
        looked = branch->last;
    }
    return found;
}

sl_status sl__capture_unjoined(const sl__capture *capture, const sl_op **unjoined, sl_error *err)
{
    const sl_body *body = capture->graph->body;
    size_t n = (size_t)body->n_nodes + 1;
    bool *seen = calloc(n, sizeof *seen);
    uint32_t *order = malloc(n * sizeof *order);
    bool enough = seen && order;
    *unjoined = NULL;
    if (enough) {
        mark_before(body, seen, order, capture->origin->branch->last);
        *unjoined = find_unjoined(capture, seen);
    }
    free(seen);
    free(order);
    return enough ? SL_OK : sl__no_memory(err, "the end of a capture");
}

/* Of a stream that no capture began in. */
static sl_status refuse_other_end(sl_stream *stream, sl_error *err)
{
    sl_device *device = stream->device;
    if (stream->branch) {
        spoil(stream->branch->capture, SL_CAPTURE_UNMATCHED);
        return refuse(device, SL_CAPTURE_UNMATCHED, err);
    }
    return stream->legacy && any_blocking(device) ? refuse_null_stream(device, err)
                                                  : refuse(device, SL_CAPTURE_ILLEGAL_STATE, err);
}

sl_status sl__capture_refuses_end(sl_stream *stream, sl_error *err)
{
    const sl__capture *capture = stream->branch ? stream->branch->capture : NULL;
    const sl_op *unjoined;
    note_call(stream->device, "cudaStreamEndCapture", stream);
    if (!capture || capture->origin != stream) return refuse_other_end(stream, err);
    if (sl__capture_must_end_elsewhere(capture))
        return refuse(stream->device, SL_CAPTURE_WRONG_THREAD, err);
    if (capture->invalidated) return refuse(stream->device, SL_CAPTURE_INVALIDATED, err);
    if (stream->device->backend->checks_captures) return SL_OK;
    sl_status status = sl__capture_unjoined(capture, &unjoined, err);
    if (status != SL_OK || !unjoined) return status;
    return refuse(stream->device, SL_CAPTURE_UNJOINED, err);
}
