/* captures.h - a device with streams and events, and captures of them, for their tests. */
#ifndef TESTS_CORE_CAPTURES_H
#define TESTS_CORE_CAPTURES_H

#include "../../core/graph/graph.h"
#include "fake_backend.h"

static sl_device *device;
static sl_stream *a, *b; /* non-blocking */
static sl_stream *blocking, *null_stream;
static sl_event *event, *other_event;

static inline sl_stream *new_stream(const char *name, bool non_blocking)
{
    sl_stream *stream = NULL;
    const sl_stream_options options = { .name = name, .non_blocking = non_blocking };
    if (sl_stream_create(device, &options, &stream, NULL)) abort();
    return stream;
}

static inline void open_all(const char *backend)
{
    if (sl_device_open(backend, 0, NULL, 0, &device, NULL)) abort();
    null_stream = sl_device_default_stream(device);
    a = new_stream("a", true);
    b = new_stream("b", true);
    blocking = new_stream("blocking", false);
    if (sl_event_create(device, true, &event, NULL)) abort();
    if (sl_event_create(device, true, &other_event, NULL)) abort();
}

static inline void close_all(void)
{
    sl_event_release(event);
    sl_event_release(other_event);
    sl_stream_release(a);
    sl_stream_release(b);
    sl_stream_release(blocking);
    is_int(fake.captures + fake.graphs, 0, "no capture goes on, and no graph is left");
    fake_close(device);
}

static inline void begin(sl_stream *stream, sl_capture_mode mode)
{
    sl_device_set_where(device, sl_device_intern(device, "lab.lua:1"));
    if (sl_stream_begin_capture(stream, mode, NULL)) abort();
}

/* Which error the call gave: CUDA's number, 0, or the status of another kind. */
#define code_of(call) code_in((call), &code_error)
static sl_error code_error;
static inline int code_in(sl_status status, sl_error *err)
{
    return status == SL_ECAPTURE ? err->backend_code : (int)status;
}

/* Ends the capture; CUDA's number. */
static inline int end(sl_stream *stream)
{
    sl_error err;
    sl_graph *graph = NULL;
    int code = code_in(sl_stream_end_capture(stream, &graph, &err), &err);
    sl_graph_release(graph);
    return code;
}

static inline sl_status wait_for(sl_stream *stream, sl_stream *other, sl_error *err)
{
    return sl_stream_wait_stream(stream, other, err);
}

#endif
