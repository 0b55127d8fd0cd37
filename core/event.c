/* event.c - events. A wait or a query refers to the latest record at the time of the call (CUDA's
 * rule). */
#include <stdlib.h>

#include "device.h"
#include "graph/capture.h"
#include "observers.h"
#include "op.h"
#include "record.h"
#include "stream.h"

static inline sl_status enter_event(sl_event *event, const char *what, sl_error *err)
{
    if (!event) return sl_fail(err, SL_ECLOSED, "the event is closed");
    return sl__device_enter(event->device, what, err);
}

/* Without the checks of sl__device_enter: calls that make internal events have made them. */
static sl_status open_event(sl_device *device, bool timing, sl_event **out, sl_error *err)
{
    sl_event *event = calloc(1, device->backend->event_bytes);
    if (!event) return sl__no_memory(err, "an event");
    event->device = device;
    event->refs = 1;
    event->timing = timing;
    sl_status status = device->backend->event_open(event, err);
    if (status != SL_OK) {
        free(event);
        return status;
    }
    sl_device_retain(device);
    device->core->stats.events++;
    *out = event;
    return SL_OK;
}

sl_status sl_event_create(sl_device *device, bool timing, sl_event **event, sl_error *err)
{
    sl_status status = sl__device_enter(device, "creating an event", err);
    if (status != SL_OK) return status;
    status = open_event(device, timing, event, err);
    return sl__device_leave(device, status, err);
}

sl_device *sl_event_device(const sl_event *event) { return event->device; }

bool sl_event_has_timing(const sl_event *event) { return event->timing; }

bool sl_event_is_recorded(const sl_event *event) { return event->record_seq != 0; }

/* ---- in streams --------------------------------------------------------- */

static inline sl_status submit_record(sl_event *event, sl_stream *stream, sl_error *err)
{
    static const sl_work work = { .kind = SL_WORK_EVENT_RECORD };
    const sl__operands operands = { .event = event };
    sl_op *op;
    sl_status status = sl__op_begin(stream, &work, &operands, &op, err);
    if (status != SL_OK) return status;
    status = sl__op_submit(op, err);
    if (status != SL_OK) return status;
    if (stream->branch) return SL_OK; /* recorded in the graph alone */
    if (event->captured) sl__captured_free(event->captured);
    event->captured = NULL;
    event->record_seq = op->seq;
    event->record_stream = stream->id;
    return SL_OK;
}

/* The backend gets waits for events never recorded, too: they take the host the same time.
 * The number of a record of another machine means nothing here. */
static inline sl_status submit_wait(sl_stream *stream, sl_event *event, sl_error *err)
{
    static const sl_work work = { .kind = SL_WORK_EVENT_WAIT };
    const sl__operands operands = { .event = event };
    sl_op *op;
    sl_status status = sl__op_begin(stream, &work, &operands, &op, err);
    if (status != SL_OK) return status;
    if (event->device->core->numbers == stream->device->core->numbers) {
        op->wait_target = event->record_seq;
        op->wait_target_stream = event->record_stream;
    }
    return sl__op_submit(op, err);
}

/* The checks that record and wait share. */
static inline sl_status enter_pair(sl_event *event, sl_stream *stream, const char *what,
                                   sl_error *err)
{
    sl_status status = enter_event(event, what, err);
    if (status != SL_OK) return status;
    if (!stream) return sl_fail(err, SL_ECLOSED, "the stream is closed");
    return SL_OK;
}

sl_status sl_event_record(sl_event *event, sl_stream *stream, sl_error *err)
{
    sl_status status = enter_pair(event, stream, "record", err);
    if (status == SL_OK)
        status = sl__device_check_same(event->device, "the event", stream->device, "the stream",
                                       err);
    if (status != SL_OK) return status;
    return sl__device_finish(stream->device, submit_record(event, stream, err), err);
}

/* A stream may wait for what happens on its own device, and on a peer. */
static sl_status check_wait(const sl_stream *stream, const char *noun, const sl_device *other,
                            const char *other_noun, sl_error *err)
{
    if (sl__device_are_peers(stream->device, other)) return SL_OK;
    return sl__device_check_same(other, other_noun, stream->device, noun, err);
}

sl_status sl_stream_wait_event(sl_stream *stream, sl_event *event, sl_error *err)
{
    sl_status status = enter_pair(event, stream, "wait_event", err);
    if (status == SL_OK) status = check_wait(stream, "the stream", event->device, "the event", err);
    if (status == SL_OK && stream->device != event->device)
        status = sl__device_enter(stream->device, "wait_event", err);
    if (status != SL_OK) return status;
    return sl__device_finish(stream->device, submit_wait(stream, event, err), err);
}

sl_status sl_stream_wait_stream(sl_stream *stream, sl_stream *other, sl_error *err)
{
    sl_event *event;
    sl_status status = sl__stream_enter(stream, "wait_stream", err);
    if (status != SL_OK) return status;
    if (!other) return sl_fail(err, SL_ECLOSED, "the stream to wait for is closed");
    status = check_wait(stream, "the waiting stream", other->device, "the stream to wait for", err);
    if (status == SL_OK) status = sl__device_enter(other->device, "wait_stream", err);
    if (status != SL_OK) return status;
    status = open_event(other->device, false, &event, err);
    if (status != SL_OK) return sl__device_finish(other->device, status, err);
    status = submit_record(event, other, err);
    if (status != SL_OK)
        status = sl__device_leave(other->device, status, err);
    else
        status = submit_wait(stream, event, err);
    sl_event_release(event);
    return sl__device_finish(stream->device, status, err);
}

/* ---- from the host ------------------------------------------------------ */

sl_status sl_event_query(sl_event *event, bool *done, sl_error *err)
{
    sl_status status = enter_event(event, "query", err);
    if (status != SL_OK) return status;
    status = sl__capture_check(event->device, SL__CALLED_EVENT, "cudaEventQuery", NULL, event, err);
    if (status == SL_OK) status = event->device->backend->event_query(event, done, err);
    if (status == SL_OK && *done) sl__tell(waited_for_event, event);
    return sl__device_finish(event->device, status, err);
}

sl_status sl_event_synchronize(sl_event *event, sl_error *err)
{
    sl_call call;
    sl_status status = enter_event(event, "synchronize", err);
    if (status != SL_OK) return status;
    status = sl__capture_check(event->device, SL__CALLED_EVENT, "cudaEventSynchronize", NULL, event,
                               err);
    if (status != SL_OK) return sl__device_leave(event->device, status, err);
    sl__call_begin(event->device, &call, SL_CALL_EVENT_SYNC);
    call.target = event->record_seq;
    call.target_stream = event->record_stream;
    status = event->device->backend->event_synchronize(event, err);
    sl__call_end(event->device, &call, NULL, status);
    if (status == SL_OK) sl__tell(waited_for_event, event);
    return sl__device_finish(event->device, status, err);
}

static sl_status check_captured(const sl_event *event, sl_error *err)
{
    return sl__capture_check(event->device, SL__CALLED_ELAPSED, "cudaEventElapsedTime", NULL, event,
                             err);
}

static sl_status check_timed(const sl_event *event, const char *which, sl_error *err)
{
    if (!event->timing) {
        sl_fail(err, SL_ESTATE, "the %s event has no time", which);
        return sl_advise(err, SL_ESTATE, SL_ADVICE_TIME_EVENT, NULL);
    }
    if (!event->record_seq && !event->captured) /* of a captured one CUDA says more */
        return sl_fail(err, SL_ESTATE, "the %s event was never recorded", which);
    return SL_OK;
}

sl_status sl_event_elapsed_ms(sl_event *start, sl_event *end, double *ms, sl_error *err)
{
    sl_status status = enter_event(start, "elapsed_time", err);
    if (status != SL_OK) return status;
    if (!end) return sl_fail(err, SL_ECLOSED, "the end event is closed");
    status = sl__device_check_same(end->device, "the end event", start->device, "the start event",
                                   err);
    if (status != SL_OK) return status;
    status = check_captured(start, err);
    if (status == SL_OK) status = check_captured(end, err);
    if (status == SL_OK) status = check_timed(start, "start", err);
    if (status == SL_OK) status = check_timed(end, "end", err);
    if (status != SL_OK) return sl__device_leave(start->device, status, err);
    status = start->device->backend->event_elapsed(start, end, ms, err);
    if (status == SL_OK) { /* both have happened, or there would be no time */
        sl__tell(waited_for_event, start);
        sl__tell(waited_for_event, end);
    }
    return sl__device_finish(start->device, status, err);
}

bool sl_event_has_happened(const sl_event *event)
{
    return event->record_seq && event->retired_seq == event->record_seq;
}
