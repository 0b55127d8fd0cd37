/* capture.h - captures that go on, for the rest of the core.
 *
 * A capture has branches: the streams that take part, each with the nodes that its next operation
 * comes behind. A record keeps those nodes with its event; a wait for it adds them to its own
 * stream's, which joins the capture if it is in none.
 */
#ifndef SL_CAPTURE_H
#define SL_CAPTURE_H

#include "../device.h"
#include "nodes.h"

typedef struct sl__capture sl__capture;

typedef struct sl__branch { /* a stream that takes part */
    struct sl__branch *next;
    sl__capture *capture;
    sl_stream *stream; /* retained */
    uint32_t lane;
    uint32_t prior;  /* 1 + its latest node; 0: none */
    sl__nodes *last; /* the next operation comes behind these */
} sl__branch;

struct sl__capture {
    sl__capture *next, **link; /* in the device's list */
    sl_graph *graph;
    sl__branch *branches; /* the latest first; the origin's is the last */
    struct sl__captured *records;
    sl_stream *origin;
    sl_capture_mode mode;
    uint32_t where;  /* the line that began it */
    uint32_t thread; /* of the host, that began it */
    bool invalidated;
    /* What spoiled it, once that is known: the call, its line, CUDA's error, 0 if the call has
     * succeeded all the same. */
    const char *spoiled_by;
    uint32_t spoiled_where;
    int spoiled_code;
    bool reported; /* an error has said so */
};

typedef struct sl__captured {          /* of an event: its latest record, in a capture */
    struct sl__captured *next, **link; /* of the capture's records */
    sl__capture *capture;              /* NULL: it has ended */
    uint32_t record;                   /* the node */
    sl__nodes *nodes;                  /* that a wait adds */
} sl__captured;

/* The capture that goes on for this record; NULL: none. */
static inline sl__capture *sl__capture_of(const sl__captured *captured)
{
    return captured ? captured->capture : NULL;
}

/* ---- capture.c -------------------------------------------------------------------------- */

/* The stream takes part from now on. NULL: out of memory. */
sl__branch *sl__capture_join(sl__capture *capture, sl_stream *stream);
/* It does no longer, and the branch, which no capture lists any more, is freed. */
void sl__capture_leave(sl__branch *branch);
sl_status sl__capture_no_memory(sl_error *err); /* fails with SL_ENOMEM */

/* A capture may have to do with the operation. */
static inline bool sl__capture_concerns(const sl_op *op)
{
    return op->stream->device->core->captures || (op->event && op->event->captured);
}

/* For such an operation that has begun, before the backend gets it. *taken: it has become a node,
 * or an edge, and is no longer the caller's. If not, it is an ordinary operation of a stream that
 * is in no capture. */
sl_status sl__capture_take(sl_op *op, bool *taken, sl_error *err);

/* ---- captured.c ------------------------------------------------------------------------- */

/* Of what the branch has so far, not yet of the capture. NULL: out of memory. */
sl__captured *sl__captured_new(const sl__branch *branch);
void sl__captured_begin(sl__capture *capture, sl__captured *captured); /* now it is */
void sl__captured_end(sl__captured *captured);  /* its capture, which goes on, has ended for it */
void sl__captured_free(sl__captured *captured); /* NULL: nothing */

/* ---- spoiled.c -------------------------------------------------------------------------- */

bool sl__capture_is_invalidated(const sl__capture *capture);

/* After a call has failed with SL_ECAPTURE: notes which captures it has spoiled, and puts the error
 * into words. */
void sl__capture_failed(sl_device *device, sl_error *err);

/* After a call that may spoil captures although it succeeds. */
void sl__capture_suspect(sl_device *device, const char *call);

/* After a call that has failed with an error of a library's own: the status, SL_ECAPTURE if a
 * capture was spoiled by it. */
sl_status sl__capture_hidden(sl_device *device, sl_status status, sl_error *err);

/* ---- calls.c ---------------------------------------------------------------------------- */

/* Ends all captures of the device and throws them away. */
void sl__captures_abandon(sl_device *device);
/* The running thread ends: those that only it could end. */
void sl__captures_leave_thread(sl_device *device);

/* ---- capture_rules.c: what a capture forbids. What the backend's library checks is left to that
 * -- */

/* What a call does that enqueues nothing. */
typedef enum sl__called {
    SL__CALLED_STREAM,  /* asks or waits for a stream */
    SL__CALLED_EVENT,   /* asks or waits for an event */
    SL__CALLED_ELAPSED, /* the time of an event */
    SL__CALLED_DEVICE,  /* waits for the device */
    SL__CALLED_UNSAFE,  /* may wait for other work: cudaMalloc; of `stream` if it has one */
    SL__CALLED_BY_CORE  /* CUDA does it in the NULL stream, and core without the backend */
} sl__called;

/* Fails with SL_ECAPTURE, and invalidates captures, where CUDA does. `call` is CUDA's name
 * (static), `stream` or `event` the one that it names, or NULL. */
sl_status sl__capture_refuses(sl_device *device, sl__called called, const char *call,
                              const sl_stream *stream, const sl_event *event, sl_error *err);

/* The same; one comparison while there is no capture. */
static inline sl_status sl__capture_check(sl_device *device, sl__called called, const char *call,
                                          const sl_stream *stream, const sl_event *event,
                                          sl_error *err)
{
    if (__builtin_expect(!device->core->captures && !(event && event->captured), 1)) return SL_OK;
    return sl__capture_refuses(device, called, call, stream, event, err);
}

/* Another thread of the host than the running one began it. */
static inline bool sl__capture_is_others(const sl__capture *capture)
{
    return capture->thread != capture->origin->device->core->thread;
}

/* cudaStreamEndCapture: a capture that is not relaxed ends in the thread that began it. */
static inline bool sl__capture_must_end_elsewhere(const sl__capture *capture)
{
    return capture->mode != SL_CAPTURE_RELAXED && sl__capture_is_others(capture);
}

/* An operation. */
sl_status sl__capture_refuses_op(sl_op *op, sl_error *err);
sl_status sl__capture_refuses_begin(sl_stream *stream, sl_error *err);
/* Whether the capture can end here: its origin, its thread, the streams that have not come back. */
sl_status sl__capture_refuses_end(sl_stream *stream, sl_error *err);
sl_status sl__capture_refuses_status(sl_stream *stream, sl_error *err);

/* The last work of a stream that the origin does not come behind, or NULL. */
sl_status sl__capture_unjoined(const sl__capture *capture, const sl_op **unjoined, sl_error *err);

/* cudaMallocAsync and cudaFreeAsync in a captured stream would make nodes that there are none
 * of. */
sl_status sl__capture_refuses_memory_node(const sl_stream *stream, const char *call, sl_error *err);

/* ---- sentences.c ------------------------------------------------------------------------ */

/* Puts an SL_ECAPTURE into words: `capture` is the one that the call has to do with, or NULL. */
void sl__capture_explain(sl_device *device, const sl__capture *capture, sl_error *err);

#endif
