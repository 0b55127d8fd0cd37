/* record.h - the recorder: adds operations that retire, and calls of the host that enqueue nothing,
 * to the timelines that are being recorded.
 *
 * A timeline is of a machine: each of its devices has a recording, and those of one timeline form a
 * session. A device that is opened meanwhile joins the sessions of the machine. */
#ifndef SL_RECORD_H
#define SL_RECORD_H

#include "observers.h"

typedef struct sl__session {
    sl_timeline *timeline; /* retained */
    char *name;
    int64_t host_start_ns;
    struct sl__recording *members; /* by sl__recording.beside */
} sl__session;

typedef struct sl__in_flight { /* of a stream */
    int64_t n;                 /* operations */
    int64_t since_ns;          /* none of them starts earlier */
} sl__in_flight;

typedef struct sl__recording {
    struct sl__recording *next, *beside; /* of the device; of the session */
    sl_device *device;
    sl__session *session;
    sl_timeline *timeline; /* the session's */
    uint64_t first_seq;    /* earlier operations are not recorded */
    uint32_t *texts;       /* by device text id: timeline id + 1, 0 unknown */
    size_t n_texts;
    bool *streams_noted; /* by stream id */
    size_t n_streams;
    sl__in_flight *in_flight; /* by stream id; for a summary alone */
    size_t n_in_flight;
    bool unsettled; /* that is incomplete */
    int place;      /* of the device among the timeline's; -1: it has done nothing yet */
    bool reported;  /* that a span was lost */
    bool stopped;   /* by a host function: to be closed after it */
} sl__recording;

/* Notes an operation that retires. False: out of memory. */
bool sl__record_op(sl__recording *rec, const sl_op *op);

/* The same of a launch of a graph, and of a node behind it (core/graph/launch_notes.c). */
bool sl__graph_note_launch(sl__recording *rec, const sl_op *launch);
bool sl__graph_note_node(sl__recording *rec, const sl_op *op);

/* in_flight.c: watches, behind the recorder, while a recording keeps only a summary. */
extern sl__observer sl__in_flight_observer;

/* The same in one recording, in the row `stream` of the timeline. `target` is the row in which the
 * record is that a wait waits for. False: out of memory. */
bool sl__record_note(sl_device *device, sl__recording *rec, const sl_op *op, uint32_t stream,
                     uint32_t target);
/* Which thread of the host made the call. False: out of memory. */
bool sl__record_thread(sl__recording *rec, uint64_t correlation, uint32_t thread);
/* Notes the device, and the stream unless it is NULL; *id: the stream's, or the NULL stream's, in
 * the timeline. */
bool sl__record_stream(sl_device *device, sl__recording *rec, const sl_stream *stream,
                       uint32_t *id);
/* *id: the timeline's of a device's text id. False: out of memory. */
bool sl__record_text(sl_device *device, sl__recording *rec, uint32_t device_id, uint32_t *id);
/* The row of a graph's nodes that were captured in a stream forked from the first one, for a launch
 * in another. */
static inline uint32_t sl__record_row(const sl__recording *rec, uint32_t launched,
                                      uint32_t captured)
{
    return sl_timeline_row_id(rec->place, launched, captured);
}
/* A span is missing: a later call says so, the second function each time. */
void sl__record_lose(sl_device *device, sl__recording *rec);
void sl__record_report_loss(sl_device *device);

/* Before and after a call of the backend that enqueues nothing but is shown in timelines: begin
 * takes a number and the time of its start, end that of its end. For SL_CALL_PLAIN the caller
 * sets call->name, a device text id. If `status` is a failure, nothing is recorded and the number
 * is given back. `stream` is the one that the call names, or NULL. */
void sl__call_begin(sl_device *device, sl_call *call, sl_call_kind kind);
/* Of SL_CALL_PLAIN, with its name: "cudaMalloc". SL_ENOMEM. */
sl_status sl__call_begin_as(sl_device *device, sl_call *call, const char *name, sl_error *err);
void sl__call_end(sl_device *device, sl_call *call, const sl_stream *stream, sl_status status);

/* The backend's host_compute, recorded as work of the host under the name of what it computes. */
sl_status sl__host_compute(const sl_operand *out, const sl_operand *in, const sl_work *work,
                           sl_error *err);

#endif
