/* streams.h - streams and events; included by streamlab.h, which has the rules of all these
 * functions. */
#ifndef SL_STREAMS_H
#define SL_STREAMS_H

#include "streamlab.h"

/* ---- streams ----------------------------------------------------------- */

typedef struct sl_stream_options {
    int priority;      /* CUDA's number; clamped into the device's range */
    bool non_blocking; /* cudaStreamNonBlocking: exempt from the NULL stream's rules */
    const char *name;  /* copied; NULL gives "stream <id>" */
} sl_stream_options;

sl_status sl_stream_create(sl_device *device, const sl_stream_options *options, sl_stream **stream,
                           sl_error *err);
sl_stream *sl_stream_retain(sl_stream *stream);
/* Never blocks: a stream with work in flight is destroyed when that has completed. */
void sl_stream_release(sl_stream *stream);

sl_device *sl_stream_device(const sl_stream *stream); /* borrowed */
uint32_t sl_stream_id(const sl_stream *stream);       /* 0 is the NULL stream */
const char *sl_stream_name(const sl_stream *stream);
int sl_stream_priority(const sl_stream *stream); /* after clamping */
bool sl_stream_is_non_blocking(const sl_stream *stream);

/* All three are borrowed: the device owns its default streams and holds a
 * reference to the current one. */
sl_stream *sl_device_default_stream(sl_device *device); /* legacy NULL stream */
sl_status sl_device_per_thread_stream(sl_device *device, sl_stream **stream, sl_error *err);
sl_stream *sl_device_current_stream(sl_device *device);
sl_status sl_device_set_current_stream(sl_device *device, sl_stream *stream, sl_error *err);

sl_status sl_stream_synchronize(sl_stream *stream, sl_error *err); /* blocking */
sl_status sl_stream_query(sl_stream *stream, bool *done, sl_error *err);
/* The event is of the stream's device, or of one that it can copy to and from (else
 * SL_EDEVICE). */
sl_status sl_stream_wait_event(sl_stream *stream, sl_event *event, sl_error *err);
/* Makes `stream` wait for the work that is now in `other`, by an event that it records there. */
sl_status sl_stream_wait_stream(sl_stream *stream, sl_stream *other, sl_error *err);

/* A word that streams write and wait for: element `elem` (from 0) of a tensor of 32-bit elements,
 * on the device of the stream or in pinned memory. The stream goes on when the element satisfies
 * the comparison with `value`, whoever wrote it: a stream, an engine, the host. Neither blocks.
 * SL_EINVAL: the value is none of the dtype; SL_ESHAPE: there is no such element; SL_EPLACE,
 * SL_EDTYPE, SL_EDEVICE. What nothing ends any more is an error of calls that wait for it
 * (SL_ESTATE), as far as that can be seen. (CUDA Driver API, cuStreamWriteValue32,
 * cuStreamWaitValue32; which memory they take was tried on an H200 with CUDA 13.0.) */
typedef enum sl_compare {
    SL_COMPARE_GEQ, /* (int32_t)(element - value) >= 0, on the bits: it goes round */
    SL_COMPARE_EQ,
    SL_COMPARE_AND, /* (element & value) != 0 */
    SL_COMPARES
} sl_compare;
sl_status sl_stream_write_value(sl_stream *stream, sl_tensor *tensor, int64_t elem, double value,
                                sl_error *err);
sl_status sl_stream_wait_value(sl_stream *stream, sl_tensor *tensor, int64_t elem, double value,
                               sl_compare compare, sl_error *err);

/* Whether real GPUs take its memory for that: of a pool they do not. */
bool sl_tensor_has_words(const sl_tensor *tensor);

static inline bool sl_compare_holds(sl_compare compare, uint32_t element, uint32_t value)
{
    switch (compare) {
    case SL_COMPARE_GEQ: return (int32_t)(element - value) >= 0;
    case SL_COMPARE_EQ: return element == value;
    case SL_COMPARE_AND: return (element & value) != 0;
    case SL_COMPARES: break;
    }
    return false;
}

/* When the stream has reached it, `fn` runs inside some later call of the core, on the thread of
 * that call. It must not enqueue, synchronise, create or free, on any device (those calls fail
 * with SL_ESTATE while it runs); it may read and write host tensors and do host work. If it
 * returns false, with a message in `err`, the call that it ran in fails with SL_EHOSTFUNC.
 * `release` frees `ud`, whether `fn` has run or not. */
typedef bool (*sl_host_fn)(void *ud, sl_error *err);
sl_status sl_stream_launch_host_func(sl_stream *stream, sl_host_fn fn, void *ud,
                                     void (*release)(void *ud), sl_error *err);

/* ---- events ------------------------------------------------------------ */

sl_status sl_event_create(sl_device *device, bool timing, sl_event **event, sl_error *err);
sl_event *sl_event_retain(sl_event *event);
void sl_event_release(sl_event *event);
sl_device *sl_event_device(const sl_event *event); /* borrowed */
bool sl_event_has_timing(const sl_event *event);
bool sl_event_is_recorded(const sl_event *event); /* record was called at least once */

/* Record, wait and query refer to the latest record at the time of the call;
 * recording again does not alter waits that are already queued. */
sl_status sl_event_record(sl_event *event, sl_stream *stream, sl_error *err);
sl_status sl_event_query(sl_event *event, bool *done, sl_error *err);
sl_status sl_event_synchronize(sl_event *event, sl_error *err); /* blocking */
/* Milliseconds from `start` to `end`. SL_ESTATE if one was never recorded, has
 * no timing, or has not completed. */
sl_status sl_event_elapsed_ms(sl_event *start, sl_event *end, double *ms, sl_error *err);

#endif
