/* races.h - the public interface of the race checker. Included by streamlab.h.
 *
 * While it is on, it keeps the order that CUDA guarantees for operations, accesses of the host,
 * waits and frees: by streams, events, synchronisation and the rules of the NULL stream. Two
 * accesses to the same bytes, one of them a write, that no guarantee orders are a race, whatever
 * their order was this time. There is one checker for all devices of the process, since they share
 * the host's memory. docs/design/races.md has the rules.
 *
 * There are three kinds. In a race nothing orders the accesses; in an accident something does that
 * CUDA's documentation does not guarantee, such as cudaFree waiting for the device; and a launch of
 * a graph uses memory that was freed since its capture.
 */
#ifndef SL_RACES_H
#define SL_RACES_H

/* In ERROR mode a call that would race fails with SL_ERACE and does nothing. An accident never
 * makes a call fail, nor does a race of cudaFree or cudaFreeHost: only afterwards is it known
 * whether they waited. */
typedef enum sl_check_mode { SL_CHECK_OFF, SL_CHECK_WARN, SL_CHECK_ERROR } sl_check_mode;

/* Switches the checker on or off. Switching it on forgets the races found before; work that is
 * already enqueued counts as ordered. Switching it off keeps the list. SL_ENOMEM: nothing changes;
 * SL_ESTATE in a host function. */
sl_status sl_check(sl_check_mode mode, sl_error *err);
sl_check_mode sl_check_get_mode(void);

typedef enum sl_race_kind {
    SL_RACE_UNORDERED,
    SL_RACE_ACCIDENT,
    SL_RACE_AFTER_FREE /* `first` is the call that has freed the memory, of the host, `second` a
                        * node of a graph that is launched later */
} sl_race_kind;

typedef enum sl_race_access_kind {
    SL_ACCESS_READ,
    SL_ACCESS_WRITE,
    SL_ACCESS_FREE,
    SL_ACCESS_ALLOCATE, /* cudaMallocAsync: the memory is there behind it, in its stream's order */
    SL_ACCESS_ATOMIC    /* by atomic functions alone: two of them do not race with each other */
} sl_race_access_kind;

/* Whether the accesses ran in the script's order (HELD) or in the other one (STALE), so that a
 * stale value was read or kept. UNKNOWN: on a real GPU, and while an access has not retired. */
typedef enum sl_race_outcome { SL_RACE_UNKNOWN, SL_RACE_HELD, SL_RACE_STALE } sl_race_outcome;

/* The wait of the host that orders the accesses of an accident, which no documentation
 * guarantees. */
typedef enum sl_race_accident {
    SL_ACCIDENT_UNKNOWN,       /* not remembered, or no accident */
    SL_ACCIDENT_FROM_PAGEABLE, /* a copy from pageable memory waits for its stream first */
    SL_ACCIDENT_TO_PAGEABLE,   /* a copy to pageable memory returns when the data has arrived */
    SL_ACCIDENT_BLOCKING_COPY, /* a blocking copy from pageable memory, likewise */
    SL_ACCIDENT_NULL_STREAM,   /* a wait for the NULL stream includes the blocking streams */
    SL_ACCIDENT_GRAPH_SOURCE,  /* the call of a graph's launch reads its copies' pageable memory */
    SL_ACCIDENT_CALL           /* a call, such as cudaFree, waits for the device */
} sl_race_accident;

/* Why a wait for an event orders nothing: the event had no record, so that the wait was none; or
 * another thread of the host had recorded it, which might have done so later. */
typedef enum sl_race_idle { SL_IDLE_NONE, SL_IDLE_UNRECORDED, SL_IDLE_UNORDERED } sl_race_idle;

/* Who has to wait for the stream of the first access. */
typedef enum sl_race_remedy {
    SL_REMEDY_STREAM_WAITS,
    SL_REMEDY_HOST_WAITS,
    SL_REMEDY_THREAD_JOINS,  /* both are by the host, in two of its threads */
    SL_REMEDY_CAPTURE_WAITS, /* the stream of the second, in the capture: both are of one launch */
    SL_REMEDY_FREE_LATER     /* none: after the last launch of the graph */
} sl_race_remedy;

typedef struct sl_race_access {
    sl_race_access_kind kind;
    const char *what;  /* as in timelines: "matmul_f32", "Memcpy HtoD (Pinned -> Device)";
                                 * "cudaMallocAsync", "cudaFreeAsync";
                                 * of the host: "read", "write", "cudaFree" */
    const char *where; /* "lab.lua:12", "" if unknown */
    bool by_host;      /* the host itself, not a stream */
    bool in_host_func; /* by a host function that ran in the stream */
    int thread;        /* of the host itself, where it has several threads: its number; else -1 */
    int gpu;           /* its index where several are open, else -1; of the host -1 */
    uint32_t stream;   /* its id, unless by_host; of a node as in timelines */
    const char *stream_name;    /* "" if by_host */
    const char *stream_made;    /* where the stream was made, "" if unknown */
    bool in_per_thread;         /* the stream is the per-thread default stream */
    uint64_t seq;               /* sl_span.correlation of the operation, 0 if by_host */
    size_t first_byte, n_bytes; /* in the tensor's memory */
    /* Of a node of a graph; else all are "". Then `where` is the line that captured it. */
    const char *graph;         /* the graph's name */
    const char *launched;      /* the line of the launch */
    const char *captured;      /* the stream that it was captured in, */
    const char *captured_made; /* where that was made, */
    const char *launch_stream; /* and the one that the graph was launched in, */
    const char *launch_made;   /* and where that was made */
    uint32_t launch_stream_id;
    bool launch_in_per_thread;
} sl_race_access;

/* All texts live as long as the race is listed. */
typedef struct sl_race {
    sl_race_kind kind;
    sl_race_access first, second; /* in the order in which the script made them */
    uint64_t tensor_id;           /* the tensor whose memory both access */
    sl_tensor_spec made_as;       /* its shape and dtype when it was made; the place as of now */
    const char *made_where;       /* where it was made, "" if unknown */
    int gpu;                      /* where the memory is, as that of an access */
    size_t first_byte, n_bytes;   /* the bytes that both access, in the tensor's memory */
    sl_race_accident accident;    /* of an accident: what orders them */
    const char *accident_call;    /* CALL: its name, "cudaFree"; else "" */
    const char *accident_where; /* where the wait was, "" if unknown or the second access itself */
    sl_race_remedy remedy;      /* what would order them, before the second */
    sl_race_idle idle;          /* the latest wait for an event that was in vain: why, */
    const char *idle_where;     /* where, "" if NONE, */
    bool idle_is_first; /* and of whose stream: the first's, else the second's, or the host's */
    sl_race_outcome outcome;
    uint64_t count; /* how often these two lines raced so over this memory */
} sl_race;

/* The races found since the last sl_check, in order: one for each pair of script positions,
 * kinds of access and place where the tensor was made; `count` counts repetitions. At most
 * SL_MOST_RACES are kept. Borrowed until the next call of the core. */
enum { SL_MOST_RACES = 1000 };
size_t sl_race_count(void);
const sl_race *sl_race_get(size_t index); /* NULL behind the last */

/* The race that the latest SL_ERACE was for, also if it is not listed; NULL before the first.
 * `is_late`: what failed is its first access, which a host function makes after the second. */
const sl_race *sl_race_refused(bool *is_late);

/* How often accesses raced, with those that were not kept. */
uint64_t sl_race_total(void);

/* Called once for each listed race that no SL_ERACE has reported, when its outcome is known or
 * can no longer be known: at the end of the core call that finds that out, on its thread. Must
 * not call the core. NULL removes the hook. */
typedef void (*sl_race_hook)(void *ud, const sl_race *race);
void sl_race_set_hook(sl_race_hook hook, void *ud);

/* An operation, or the host, that needs an earlier operation: both access the same bytes, and
 * one of them writes. Whether something orders the two does not matter. */
typedef struct sl_race_need {
    uint64_t seq;    /* sl_span.correlation of the second operation; 0: the host, */
    int64_t host_ns; /* at that time of the host's clock */
    uint64_t on;     /* sl_span.correlation of the first one */
} sl_race_need;

/* Starts (true) or ends (false) keeping a list of them while the checker is on, and forgets
 * what was kept before. After more than a million nothing is kept. */
void sl_race_keep_needs(bool keep);
bool sl_race_keeps_needs(void);
size_t sl_race_need_count(void);
const sl_race_need *sl_race_need_get(size_t index); /* NULL behind the last */

#endif
