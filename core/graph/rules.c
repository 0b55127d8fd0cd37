/* rules.c - what a capture forbids, as measured on an H200 (docs/design/graphs.md has the table).
 *
 * A backend whose library checks this itself reports what that says; for the others it is here.
 */
#include <stdlib.h>

#include "../device.h"
#include "capture.h"

/* ---- what is invalidated ---- */

static void spoil(sl__capture *capture, const char *call, int code)
{
    if (capture->invalidated) return;
    capture->invalidated = true;
    capture->spoiled_by = call;
    capture->spoiled_where = capture->origin->device->core->where;
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

static void spoil_blocking(sl_device *device, const char *call, int code)
{
    for (sl__capture *c = device->core->captures; c; c = c->next)
        if (is_blocking(c)) spoil(c, call, code);
}

/* The thread's captures that forbid unsafe calls. */
static bool any_strict(const sl_device *device)
{
    for (const sl__capture *c = device->core->captures; c; c = c->next)
        if (c->mode != SL_CAPTURE_RELAXED) return true;
    return false;
}

static sl_status refuse_unsafe(sl_device *device, const char *call, sl_error *err)
{
    if (!any_strict(device)) return SL_OK;
    for (sl__capture *c = device->core->captures; c; c = c->next)
        if (c->mode != SL_CAPTURE_RELAXED) spoil(c, call, SL_CAPTURE_UNSUPPORTED);
    return sl__capture_fail(err, SL_CAPTURE_UNSUPPORTED,
                            "%s may wait for the device, which a capture in mode \"relaxed\" alone "
                            "permits",
                            call);
}

static sl_status refuse_null_stream(sl_device *device, const char *call, sl_error *err)
{
    spoil_blocking(device, call, SL_CAPTURE_IMPLICIT);
    return sl__capture_fail(err, SL_CAPTURE_IMPLICIT,
                            "%s in the NULL stream would wait for a stream that is captured: "
                            "capture a non-blocking stream, or use another stream here",
                            call);
}

/* ---- calls that enqueue nothing ---- */

static sl_status refuse_stream(sl_device *device, const char *call, const sl_stream *stream,
                               sl_error *err)
{
    if (!stream->branch)
        return stream->legacy && any_blocking(device) ? refuse_null_stream(device, call, err)
                                                      : refuse_unsafe(device, call, err);
    spoil(stream->branch->capture, call, SL_CAPTURE_UNSUPPORTED);
    return sl__capture_fail(err, SL_CAPTURE_UNSUPPORTED,
                            "%s asks for stream %s, which is captured: its work runs only when the "
                            "graph is launched",
                            call, sl_stream_name(stream));
}

static sl_status refuse_event(sl_device *device, sl__called called, const char *call,
                              const sl_event *event, sl_error *err)
{
    sl__capture *capture = sl__capture_of(device, event->captured);

    if (!capture && event->captured)
        return sl_fail(err, SL_EINVAL,
                       "the event's latest record was captured: it has no time, and nothing can "
                       "wait for it (cudaErrorInvalidValue)");
    if (!capture) return called == SL__CALLED_ELAPSED ? SL_OK : refuse_unsafe(device, call, err);
    if (called != SL__CALLED_ELAPSED) spoil(capture, call, SL_CAPTURE_CAPTURED_EVENT);
    return sl__capture_fail(err, SL_CAPTURE_CAPTURED_EVENT,
                            "%s asks for an event that was recorded in the capture: it is recorded "
                            "only in the graph",
                            call);
}

static sl_status refuse_device(sl_device *device, const char *call, sl_error *err)
{
    for (sl__capture *c = device->core->captures; c; c = c->next)
        spoil(c, call, SL_CAPTURE_UNSUPPORTED);
    return sl__capture_fail(err, SL_CAPTURE_UNSUPPORTED,
                            "%s waits for all streams, and one of them is captured", call);
}

sl_status sl__capture_refuses(sl_device *device, sl__called called, const char *call,
                              const sl_stream *stream, const sl_event *event, sl_error *err)
{
    bool is_event = called == SL__CALLED_EVENT || called == SL__CALLED_ELAPSED;

    if (device->backend->checks_captures) return SL_OK;
    if (is_event && event->captured) return refuse_event(device, called, call, event, err);
    if (!device->core->captures) return SL_OK;
    switch (called) {
    case SL__CALLED_STREAM: return refuse_stream(device, call, stream, err);
    case SL__CALLED_DEVICE: return refuse_device(device, call, err);
    case SL__CALLED_EVENT:
    case SL__CALLED_ELAPSED: return refuse_event(device, called, call, event, err);
    case SL__CALLED_UNSAFE: break;
    }
    if (stream && stream->branch) return SL_OK;
    return stream && stream->legacy && any_blocking(device) ? refuse_null_stream(device, call, err)
                                                            : refuse_unsafe(device, call, err);
}

/* ---- operations ---- */

static const char *call_of(const sl_work *work)
{
    bool sync = work->flags & SL_WORK_SYNC;

    switch ((sl_work_kind)work->kind) {
    case SL_WORK_KERNEL: return "cudaLaunchKernel";
    case SL_WORK_MEMCPY: return sync ? "cudaMemcpy" : "cudaMemcpyAsync";
    case SL_WORK_MEMSET: return sync ? "cudaMemset" : "cudaMemsetAsync";
    case SL_WORK_HOST_FUNC: return "cudaLaunchHostFunc";
    case SL_WORK_EVENT_RECORD: return "cudaEventRecord";
    case SL_WORK_EVENT_WAIT: return "cudaStreamWaitEvent";
    case SL_WORK_GRAPH: break;
    }
    return "cudaGraphLaunch";
}

static sl_status refuse_merge(sl__capture *a, sl__capture *b, sl_error *err)
{
    spoil(a, "cudaStreamWaitEvent", SL_CAPTURE_MERGE);
    spoil(b, "cudaStreamWaitEvent", SL_CAPTURE_MERGE);
    return sl__capture_fail(err, SL_CAPTURE_MERGE,
                            "the event was recorded in another capture: two captures cannot become "
                            "one graph");
}

static sl_status refuse_wait(sl_op *op, sl__capture *capture, sl_error *err)
{
    sl__capture *other = sl__capture_of(op->stream->device, op->event->captured);

    if (other && other != capture) return refuse_merge(capture, other, err);
    if (other || !op->event->record_seq) return SL_OK;
    spoil(capture, "cudaStreamWaitEvent", SL_CAPTURE_ISOLATION);
    return sl__capture_fail(err, SL_CAPTURE_ISOLATION,
                            "stream %s is captured, and the event was recorded outside of the "
                            "capture: wait for it before the capture, or in the stream of the "
                            "launch",
                            sl_stream_name(op->stream));
}

static sl_status refuse_captured(sl_op *op, sl_error *err)
{
    sl__capture *capture = op->stream->branch->capture;

    if (capture->invalidated)
        return sl__capture_fail(err, SL_CAPTURE_INVALIDATED,
                                "the capture of stream %s is spoiled: nothing can be added",
                                sl_stream_name(capture->origin));
    if (op->work.kind == SL_WORK_GRAPH) {
        spoil(capture, "cudaGraphLaunch", SL_CAPTURE_UNSUPPORTED);
        return sl__capture_fail(err, SL_CAPTURE_UNSUPPORTED,
                                "a graph cannot be launched in stream %s, which is captured",
                                sl_stream_name(op->stream));
    }
    return op->work.kind == SL_WORK_EVENT_WAIT ? refuse_wait(op, capture, err) : SL_OK;
}

sl_status sl__capture_refuses_op(sl_op *op, sl_error *err)
{
    sl_stream *stream = op->stream;
    sl_device *device = stream->device;
    sl__capture *joined = NULL;

    if (device->backend->checks_captures) return SL_OK;
    if (op->work.kind == SL_WORK_EVENT_WAIT && op->event->captured) {
        joined = sl__capture_of(device, op->event->captured);
        if (!joined) return refuse_event(device, SL__CALLED_ELAPSED, "wait_event", op->event, err);
    }
    if (stream->branch) return refuse_captured(op, err);
    if (!stream->legacy) return SL_OK;
    if (joined) spoil(joined, call_of(&op->work), SL_CAPTURE_IMPLICIT);
    return joined || any_blocking(device) ? refuse_null_stream(device, call_of(&op->work), err)
                                          : SL_OK;
}

/* ---- begin and end ---- */

sl_status sl__capture_refuses_begin(sl_stream *stream, sl_error *err)
{
    sl_device *device = stream->device;

    if (device->backend->checks_captures) return SL_OK;
    if (stream->branch)
        return sl__capture_fail(err, SL_CAPTURE_ILLEGAL_STATE, "stream %s is captured already",
                                sl_stream_name(stream));
    if (!stream->legacy) return SL_OK;
    if (any_blocking(device)) return refuse_null_stream(device, "cudaStreamBeginCapture", err);
    return sl__capture_fail(err, SL_CAPTURE_UNSUPPORTED,
                            "the NULL stream cannot be captured: make another stream current");
}

/* Marks what the set of nodes comes behind. `order` has room for all nodes. */
static void mark_before(const sl_body *body, bool *seen, uint32_t *order, const sl__nodes *last)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < last->n; i++)
        if (!seen[last->at[i]]) {
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

/* The branch with work that the origin's last nodes do not come behind, or NULL. */
static const sl__branch *find_unjoined(const sl__capture *capture, const bool *seen)
{
    for (const sl__branch *branch = capture->branches; branch; branch = branch->next)
        for (uint32_t i = 0; i < branch->last.n; i++)
            if (!seen[branch->last.at[i]]) return branch;
    return NULL;
}

sl_status sl__capture_refuses_end(sl_stream *stream, sl_error *err)
{
    const sl__capture *capture = stream->branch->capture;
    const sl_body *body = capture->graph->body;
    const sl__branch *unjoined;
    bool *seen;
    uint32_t *order;

    if (stream->device->backend->checks_captures) return SL_OK;
    if (capture->invalidated)
        return sl__capture_fail(err, SL_CAPTURE_INVALIDATED, "the capture of stream %s is spoiled",
                                sl_stream_name(stream));
    seen = calloc((size_t)body->n_nodes + 1, sizeof *seen);
    order = malloc(((size_t)body->n_nodes + 1) * sizeof *order);
    if (!seen || !order) {
        free(seen);
        free(order);
        return sl_fail(err, SL_ENOMEM, "out of host memory for the end of a capture");
    }
    mark_before(body, seen, order, &stream->branch->last);
    unjoined = find_unjoined(capture, seen);
    free(seen);
    free(order);
    if (!unjoined) return SL_OK;
    return sl__capture_fail(err, SL_CAPTURE_UNJOINED,
                            "stream %s takes part in the capture and has work that stream %s does "
                            "not wait for: make it wait before the end",
                            sl_stream_name(unjoined->stream), sl_stream_name(stream));
}
