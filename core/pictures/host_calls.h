/* host_calls.h - the host's calls as bars of a picture, in times of the timeline. */
#ifndef SL_PICTURES_HOST_CALLS_H
#define SL_PICTURES_HOST_CALLS_H

#include "looks.h"

typedef enum sl__host_does {
    SL__DOES_WAIT,  /* a synchronisation, or a host API call that waited for the device */
    SL__DOES_COPY,  /* a copy whose call returned only when the device had done its part */
    SL__DOES_QUEUE, /* no room in the launch queue */
    SL__DOES_CALL,  /* a host API call that did not wait, but took its time */
    SL__DOES_WORK,  /* work of the host's own */
    SL__DOES_ISSUE  /* the call enqueued something, and returned */
} sl__host_does;

/* A call, during which the host could not issue more. */
typedef struct sl__host_call {
    int64_t start_ns, end_ns;
    uint64_t correlation;
    uint32_t stream, name, where; /* text ids; the name may be "" */
    uint32_t thread;              /* of the host */
    uint8_t does;                 /* sl__host_does */
    uint8_t kind;                 /* sl_span_kind or sl_call_kind */
    bool of_span;                 /* the call enqueued an operation */
} sl__host_call;

typedef struct sl__host_calls {
    sl__host_call *at;
    size_t n;
    uint32_t n_threads; /* their numbers are below this */
} sl__host_calls;

/* All that took time, by start. SL_ENOMEM. */
sl_status sl__host_calls_find(const sl_timeline *timeline, sl__host_calls *list, sl_error *err);
void sl__host_calls_free(sl__host_calls *list); /* leaves it empty */
/* The label of such a bar: "device synchronize", "copy D2H", "cudaFree"; or where there is little
 * room "sync", "D2H". */
const char *sl__host_call_name(const sl_timeline *timeline, const sl__host_call *call, bool brief);
sl__host_look sl__host_call_look(int does);

#endif
