/* kineto_event.h - one event of a trace, as far as a timeline can use it. */
#ifndef SL_TRACES_KINETO_EVENT_H
#define SL_TRACES_KINETO_EVENT_H

#include "json_scan.h"

typedef enum sl__category {
    SL__CAT_OTHER, /* counts for the time of the whole, and no further */
    SL__CAT_NONE,  /* not even that: flows, counters, the profiler's own */
    SL__CAT_THREAD_NAME,
    SL__CAT_KERNEL,
    SL__CAT_MEMCPY,
    SL__CAT_MEMSET,
    SL__CAT_CALL, /* cuda_runtime, cuda_driver */
    SL__CAT_SYNC, /* cuda_sync */
    SL__CAT_CPU_OP,
    SL__CAT_PYTHON,     /* python_function */
    SL__CAT_ANNOTATION, /* user_annotation */
    SL__CAT_OVERHEAD,   /* what CUPTI did for itself */
    SL__CAT_MEMORY,     /* an instant: what PyTorch's allocator has given away and holds */
    SL__CAT_EDGE        /* ours: a captured record or wait of a graph */
} sl__category;

/* The members of "args" that are used. Keys with blanks are our own or CUPTI's. */
/* clang-format off */
#define SL__ARGS(X)                                                                     \
    X(STREAM, "stream") X(CORRELATION, "correlation") X(DEVICE, "device")               \
    X(EXTERNAL_ID, "External id") X(BYTES, "bytes") X(GRID, "grid") X(BLOCK, "block")   \
    X(REGISTERS, "registers per thread") X(SHARED, "shared memory")                     \
    X(PRIORITY, "priority") X(NAME, "name")                                             \
    X(WAIT_STREAM, "wait_on_stream") X(WAIT_DEVICE, "wait_on_device")                   \
    X(WAIT_RECORD, "wait_on_cuda_event_record_corr_id")                                 \
    X(SYMBOL, "kernel") X(KIND, "kind") X(ENGINE, "engine") X(MEMORY, "memory")         \
    X(WHERE, "where") X(HOST_WAITED, "host waited") X(QUEUE_FULL, "queue full")         \
    X(DEVICE_WAITED, "waited for device") X(DEVICE_TIME, "device us")                   \
    X(IN_STREAM, "in stream") X(WAITS_FOR, "waits for") X(RECORDED_IN, "recorded in")   \
    X(READY, "ready us") X(HELD_CAUSE, "held cause") X(HELD_BY, "held by")              \
    X(START_CAUSE, "start cause") X(START_BY, "start by")                               \
    X(OWN_START, "own ts") X(OWN_DURATION, "own dur") X(LOADED, "loaded")               \
    X(GRAPH, "graph id") X(GRAPH_NODE, "graph node id") X(ISSUE, "issue")               \
    X(LAUNCHED_BY, "launched by") X(CAPTURED_PRIORITY, "captured priority")             \
    X(GRAPH_NAME, "graph") X(NODES, "nodes") X(LAST_ISSUE, "last issue")                \
    X(KEEPS_PRIORITIES, "keeps priorities") X(UPLOADS, "uploads") X(GUESSED, "guessed") \
    X(COLLECTIVE, "Collective name") X(IN_ELEMS, "In msg nelems")                       \
    X(OUT_ELEMS, "Out msg nelems") X(RANKS, "Group size") X(DTYPE, "dtype")             \
    X(GROUP, "Process Group Name") X(GROUP_RANKS, "Process Group Ranks")                \
    X(RANK, "Rank") X(SEQ, "Seq")                                                       \
    X(REDUCTION, "Reduction") X(ROOT_RANK, "Root Rank") X(DST_RANK, "Dst Rank")         \
    X(SRC_RANK, "Src Rank") X(MET, "met us") X(LATE_BY, "late by")                      \
    X(LATE_RANK, "late rank") X(THREAD, "thread")                                       \
    X(FROM_DEVICE, "fromDevice") X(TO_DEVICE, "toDevice") X(FREES, "frees")             \
    X(RESERVED, "reserved bytes") X(FROM_BEFORE, "from before") X(RANGE, "range")       \
    X(DEVICE_TYPE, "Device Type") X(DEVICE_ID, "Device Id")                             \
    X(ALLOCATED, "Total Allocated") X(ALL_RESERVED, "Total Reserved")                    \
    X(NODE, "Sequence number") X(FORWARD_THREAD, "Fwd thread id") X(SIZE, "size")
/* clang-format on */

typedef enum sl__arg {
#define X(id, key) SL__ARG_##id,
    SL__ARGS(X)
#undef X
        SL__ARG_COUNT
} sl__arg;

#define SL__SENTENCE 160 /* bytes of one about an event */

typedef struct sl__event {
    uint64_t number; /* in traceEvents, from 1 */
    sl__category category;
    sl__json_value ph, cat, name, pid, tid, ts, dur, args;
    sl__json_value arg[SL__ARG_COUNT];
    sl_status status; /* of reading it: what is called after a failure does nothing */
    sl_error *err;
    bool lenient;           /* a member of args that is not what it should be counts as missing */
    char bad[SL__SENTENCE]; /* why the first such member is; "": there is none */
    char twice[SL__JSON_SHOWN]; /* a key that it has twice, of which the last one counts */
} sl__event;

/* Reads the object that begins at scan->at, but not what "args" holds. SL_EINVAL, also as
 * event->status. */
sl_status sl__event_read(sl__scan *scan, uint64_t number, sl__event *event, sl_error *err);
/* That, for those who need it. */
void sl__event_read_args(const sl__scan *scan, sl__event *event);

/* What a member holds; *number stays as it is where there is none. If it holds something else, it
 * is missing from now on, and event->bad says why; unless the event is lenient, event->status
 * becomes SL_EINVAL, with a message that names event, key and value. */
void sl__event_whole(sl__event *event, sl__arg arg, int64_t *number);
void sl__event_count(sl__event *event, sl__arg arg, uint64_t *number);
void sl__event_time(sl__event *event, sl__arg arg, int64_t *ns);
/* The product of a list of whole numbers, at most `limit`. */
void sl__event_product(sl__event *event, sl__arg arg, uint64_t limit, uint64_t *result);
bool sl__event_flag(const sl__event *event, sl__arg arg);

/* A text, into *text; false for what is no text, or once the event has failed. */
bool sl__event_decode(sl__event *event, const sl__json_value *value, sl_text *text);

/* "ts" and "dur", in ns; of a slice that our writer moved its own. Returns event->status. */
sl_status sl__event_interval(sl__event *event, int64_t *start_ns, int64_t *end_ns);

/* "ts" alone, of an instant. */
sl_status sl__event_instant(sl__event *event, int64_t *ns);

/* Says that a member is not what it should be, as these do. */
void sl__event_reject(sl__event *event, sl__arg arg, const char *wanted);
/* The same of a name that is there and no text. */
void sl__event_check_name(sl__event *event);

/* A text with `event 12 ("matmul"): ` before it. */
#define SL__EVENT_SENTENCE (SL__SENTENCE + SL__JSON_SHOWN + 40)
void sl__event_describe(const sl__event *event, const char *text,
                        char sentence[SL__EVENT_SENTENCE]);
/* Fails with such a sentence. */
void sl__event_fail(sl__event *event, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
