/* calls.c - the calls that begin and end captures. */
#include <stdio.h>
#include <stdlib.h>

#include "../device.h"
#include "../record.h"
#include "../stream.h"
#include "capture.h"
#include "graph.h"

static sl_status begin(sl_stream *stream, sl_capture_mode mode, sl_error *err)
{
    sl_device *device = stream->device;
    sl_call call;
    sl_status status = sl__call_begin_as(device, &call, "cudaStreamBeginCapture", err);
    if (status != SL_OK) return status;
    status = device->backend->capture_begin(stream, mode, err);
    sl__call_end(device, &call, stream, status);
    return status;
}

static sl_status end(sl_stream *stream, sl_graph *graph, sl_error *err)
{
    sl_device *device = stream->device;
    sl_call call;
    sl_status status = sl__call_begin_as(device, &call, "cudaStreamEndCapture", err);
    if (status != SL_OK) {
        device->backend->capture_end(stream, NULL, NULL);
        return status;
    }
    status = device->backend->capture_end(stream, graph, err);
    sl__call_end(device, &call, stream, status);
    return status;
}

sl_status sl_stream_begin_capture(sl_stream *stream, sl_capture_mode mode, sl_error *err)
{
    sl__capture *capture = NULL;
    sl_status status = sl__stream_enter(stream, "begin_capture", err);
    if (status != SL_OK) return status;
    sl_device *device = stream->device;
    if (!device->backend->capture_begin)
        return sl_fail(err, SL_EUNSUPPORTED, "the backend %s has no graphs", device->backend->name);
    status = sl__capture_refuses_begin(stream, err);
    if (status != SL_OK) return sl__device_leave(device, status, err);
    capture = calloc(1, sizeof *capture);
    if (!capture) return sl__capture_no_memory(err);
    status = sl__graph_create(device, &capture->graph, err);
    if (status == SL_OK) status = begin(stream, mode, err);
    if (status != SL_OK) goto fail;
    capture->origin = stream;
    capture->where = stream->device->core->where;
    capture->mode = mode;
    capture->thread = device->core->thread;
    if (sl__capture_join(capture, stream)) {
        SL__PUSH(device->core->captures, capture, next, link);
        return sl__device_finish(device, SL_OK, err);
    }
    device->backend->capture_end(stream, NULL, NULL);
    status = sl__capture_no_memory(err);
fail:
    sl_graph_release(capture->graph);
    free(capture);
    return sl__device_leave(device, status, err);
}

/* Without its graph, which is the caller's. */
static void close_capture(sl__capture *capture)
{
    sl__branch *next;
    SL__UNLINK(capture, next, link);
    while (capture->records)
        sl__captured_end(capture->records);
    for (sl__branch *branch = capture->branches; branch; branch = next) {
        next = branch->next;
        sl__capture_leave(branch);
    }
    free(capture);
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
        status = end(capture->origin, *graph, err);
    else
        device->backend->capture_end(capture->origin, NULL, NULL);
    if (status == SL_ECAPTURE) sl__capture_failed(device, err); /* before it is forgotten */
    close_capture(capture);
    if (status == SL_OK) return SL_OK;
    sl_graph_release(*graph);
    *graph = NULL;
    return status;
}

sl_status sl_stream_end_capture(sl_stream *stream, sl_graph **graph, sl_error *err)
{
    sl_status status = sl__stream_enter(stream, "end_capture", err);
    if (status != SL_OK) return status;
    sl_device *device = stream->device;
    sl__capture *capture = stream->branch ? stream->branch->capture : NULL;
    if (!capture || capture->origin != stream || sl__capture_must_end_elsewhere(capture))
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
    close_capture(capture);
    sl_graph_release(graph);
}

void sl_stream_abandon_capture(sl_stream *stream)
{
    sl__capture *capture = stream && stream->branch ? stream->branch->capture : NULL;
    if (capture && capture->origin == stream && !sl__capture_is_others(capture))
        abandon(stream->device, capture);
}

void sl__captures_abandon(sl_device *device)
{
    while (device->core->captures)
        abandon(device, device->core->captures);
}

void sl__captures_leave_thread(sl_device *device)
{
    sl__capture *next;
    for (sl__capture *capture = device->core->captures; capture; capture = next) {
        next = capture->next;
        if (capture->mode != SL_CAPTURE_RELAXED && !sl__capture_is_others(capture))
            abandon(device, capture);
    }
}

sl_status sl_stream_capture_status(sl_stream *stream, sl_capture_status *status, sl_error *err)
{
    sl_status entered = sl__stream_enter(stream, "capture_status", err);
    if (entered == SL_OK) entered = sl__capture_refuses_status(stream, err);
    if (entered != SL_OK) return stream ? sl__device_leave(stream->device, entered, err) : entered;
    *status = !stream->branch                                       ? SL_CAPTURE_STATUS_NONE
              : sl__capture_is_invalidated(stream->branch->capture) ? SL_CAPTURE_STATUS_INVALIDATED
                                                                    : SL_CAPTURE_STATUS_ACTIVE;
    return SL_OK;
}
