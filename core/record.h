/* record.h - the recorder: adds operations that retire, and calls of the host that enqueue nothing,
 * to the timelines that are being recorded. */
#ifndef SL_RECORD_H
#define SL_RECORD_H

#include "backend.h"

typedef struct sl__recording {
    struct sl__recording *next;
    sl_timeline *timeline; /* retained */
    uint64_t first_seq;    /* earlier operations are not recorded */
    int64_t host_start_ns;
    uint32_t *texts; /* by device text id: timeline id + 1, 0 unknown */
    size_t n_texts;
    bool *streams_noted; /* by stream id */
    size_t n_streams;
    bool reported; /* that a span was lost */
    bool stopped;  /* by a host function: to be closed after it */
} sl__recording;

/* Notes a retiring operation in every active recording. */
void sl__record_op(sl_device *device, const sl_op *op);

/* The same in one recording, in the row of stream `stream`, which the timeline knows. False: out of
 * memory. */
bool sl__record_note(sl_device *device, sl__recording *rec, const sl_op *op, uint32_t stream);
bool sl__record_stream(sl_device *device, sl__recording *rec, const sl_stream *stream);
/* *id: the timeline's of a device's text id. False: out of memory. */
bool sl__record_text(sl_device *device, sl__recording *rec, uint32_t device_id, uint32_t *id);
/* The row of a graph's nodes that were captured in a stream forked from the first one, for a launch
 * in another: above all streams' ids. */
static inline uint32_t sl__record_row(uint32_t launched, uint32_t captured)
{
    return UINT32_C(1) << 30 | (launched & 0x3fff) << 16 | (captured & 0xffff);
}
/* A span is missing: a later call says so. */
void sl__record_lose(sl_device *device, sl__recording *rec);

/* Before and after a call of the backend that enqueues nothing but is shown in timelines: begin
 * takes a number and the time of its start, end that of its end. For SL_CALL_PLAIN the caller
 * sets call->name, a device text id. If `status` is a failure, nothing is recorded and the number
 * is given back. `stream` is the one that the call names, or NULL. */
void sl__call_begin(sl_device *device, sl_call *call, sl_call_kind kind);
void sl__call_end(sl_device *device, sl_call *call, const sl_stream *stream, sl_status status);

/* The backend's host_compute, recorded as work of the host under the name of what it computes. */
sl_status sl__host_compute(sl_buffer *out, sl_buffer *in, const sl_work *work, sl_error *err);

/* Closes recordings that a host function stopped: they could not be closed in it, since the backend
 * may be in the middle of a launch. */
void sl__record_stop_late(sl_device *device);

/* Finishes the timeline of a recording that is no longer in the device's list, and frees it. */
void sl__recording_close(sl_device *device, sl__recording *rec);
void sl__recording_free(sl__recording *rec);

/* Closes recordings that nobody stopped. */
void sl__record_abandon(sl_device *device);

#endif
