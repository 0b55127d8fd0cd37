/* doubts.h - what is in doubt about a timeline that was read from a file: one row a kind, its id and
 * its name in scripts and files. Where each is found, and its sentence, is in core/traces. They are
 * told in this order. */
#ifndef SL_TIMELINE_DOUBTS_H
#define SL_TIMELINE_DOUBTS_H

#include <stddef.h>
#include <stdint.h>

#define SL_DOUBT_MAP(X)                                             \
    /* calls of several processes */                                \
    X(PROCESSES, "processes")                                       \
    /* work on several GPUs, of which the timeline has one */       \
    X(SEVERAL_GPUS, "several_gpus")                                 \
    /* operations that have no launch */                            \
    X(NO_LAUNCH, "no_launch")                                       \
    /* calls of which the file does not say what they waited for */ \
    X(UNKNOWN_WAITS, "unknown_waits")

typedef enum sl_doubt_kind {
#define X(id, name) SL_DOUBT_##id,
    SL_DOUBT_MAP(X)
#undef X
        SL_DOUBTS
} sl_doubt_kind;

typedef struct sl_doubt {
    sl_doubt_kind kind;
    size_t n;   /* operations, calls or whatever the kind counts */
    int64_t ns; /* what it is about, >= 0; 0: no time */
    const char *sentence;
} sl_doubt;

#endif
