/* trace_streams.h - the streams of a trace, by the numbers that it gives them. */
#ifndef SL_TRACES_TRACE_STREAMS_H
#define SL_TRACES_TRACE_STREAMS_H

#include "trace_records.h"

typedef struct sl__stream {
    int64_t number; /* in the file */
    uint32_t id;    /* in the timeline */
    int32_t priority;
    uint32_t name;    /* of its row: text id in the timeline, 0 if it has none */
    bool blocking;    /* toward the NULL stream of its context, */
    bool is_null;     /* which it is itself, if that is not the device's own */
    uint32_t context; /* 0: the device's own; else as in sl_stream_note */
} sl__stream;

typedef struct sl__streams {
    sl__stream *all; /* by number */
    size_t n;
} sl__streams;

/* Those of all works and calls; `device` is the timeline's. */
sl_status sl__streams_collect(const sl__records *records, int64_t device, sl__streams *streams,
                              sl_error *err);
void sl__streams_free(sl__streams *streams);
/* The index of the first one at or above that number: of itself, if it occurs. */
size_t sl__streams_find(const sl__streams *streams, int64_t number);

/* Names, priorities and blocking of a foreign trace; the ids of works are set. */
sl_status sl__streams_describe(const sl__records *records, int64_t device, sl__streams *streams,
                               sl_error *err);
/* Their notes in the timeline. */
sl_status sl__streams_note(const sl__records *records, const sl__streams *streams, sl_error *err);

#endif
