/* idle.h - why a GPU was idle: the time in which it ran no kernel, or nothing at all, by what it
 * waited for. One row a kind, and its name in scripts. */
#ifndef SL_TIMELINE_IDLE_H
#define SL_TIMELINE_IDLE_H

#include "spans.h"

#define SL_IDLE_MAP(X)                                                               \
    X(HOST_WORK, "host_work")       /* the host made no call */                      \
    X(HOST_ISSUING, "host_issuing") /* it was issuing operations */                  \
    X(HOST_CALL, "host_call")       /* it was held in a call, which the row names */ \
    X(QUEUE_FULL, "launch_queue_full")                                               \
    X(START_UP, "start_up") /* a first launch, or the host loaded code */            \
    X(LATENCY, "latency")                                                            \
    X(COPY, "copy")                                                                  \
    X(COMMUNICATION, "communication")                                                \
    X(OTHER, "other_work")      /* a memset or host function, or another GPU */      \
    X(AFTER_LAST, "after_last") /* no kernel came any more */                        \
    X(UNKNOWN, "unknown")

typedef enum sl_idle_kind {
#define X(id, name) SL_IDLE_##id,
    SL_IDLE_MAP(X)
#undef X
        SL_IDLE_KINDS
} sl_idle_kind;

/* Lengths in the makespan of the timeline. */
typedef struct sl_idle_row {
    sl_idle_kind kind;
    const char *call;     /* of HOST_CALL CUDA's name, which is the timeline's; else "" */
    int64_t no_kernel_ns; /* nothing ran on the compute engine */
    int64_t nothing_ns;   /* nothing ran on any engine of the GPU */
    size_t n;             /* stretches of no_kernel_ns */
} sl_idle_row;

typedef struct sl_idle {
    int64_t no_kernel_ns, nothing_ns; /* the rows' sums, to the nanosecond */
    sl_idle_row *rows;                /* by falling no_kernel_ns */
    size_t n;
} sl_idle;

/* Of the GPU at `place`. The caller frees idle->rows. SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl_timeline_idle(const sl_timeline *timeline, int place, sl_idle *idle, sl_error *err);

const char *sl_idle_kind_name(sl_idle_kind kind); /* "host_work" */

#endif
