/* trace_records.h - what was read of a trace, before its parts are matched.
 *
 * kineto_read.c fills this event by event; trace_match.c makes a timeline of it.
 */
#ifndef SL_TRACES_TRACE_RECORDS_H
#define SL_TRACES_TRACE_RECORDS_H

#include "../timeline/timeline.h"
#include "trace_doubts.h"

#define SL__NO_STREAM (-1)

/* Numbers of recorded programs: CUPTI's, above which are the process, and of streams the context
 * (spool_streams.h). */
enum { SL__PROCESS_BITS = 32, SL__CONTEXT_BITS = 24 };
enum { SL__MOST_SPOOLS = 4096 }; /* processes of a timeline */
static inline int64_t sl__shown_stream(int64_t number)
{
    return number & ((INT64_C(1) << SL__CONTEXT_BITS) - 1);
}

/* A slice of the device, or a host function. */
typedef struct sl__work {
    sl_span span;    /* without stream; correlation 0: not given. Until they are
                                 * matched, the host's times are the span's start */
    uint64_t number; /* of its event, which makes every order a total one */
    int64_t stream;  /* as the file numbers it */
    int64_t device;
    uint32_t process, context; /* recorded: the index of the one, CUPTI's number of the other */
    int32_t priority;
    bool launched;    /* the call that enqueued it is known */
    bool is_node;     /* a launch of a graph ran it, */
    bool is_numbered; /* and the file says of which graph, and which node it is */
    bool has_no_call; /* ours: the call that launched the graph is its only one */
    uint32_t graph, node;
    int32_t captured_priority;
    uint32_t thread; /* of the host, that made the call */
    uint64_t launch; /* number of that call, 0: not in the file */
} sl__work;

/* What is known of a call by its name, beyond its kind. */
typedef enum sl__host_does {
    SL__DOES_OTHER,
    SL__DOES_WAIT_MAYBE, /* for the device, before it returns */
    SL__DOES_COPY,       /* cudaMemcpy and the like: returns when the copy is done */
    SL__DOES_ASK_EVENT,  /* whether an event is done, */
    SL__DOES_ASK_STREAM, /* or a stream */
    SL__DOES_LAUNCH_KERNEL,
    SL__DOES_LAUNCH_GRAPH,
    SL__DOES_BEGIN_CAPTURE,
    SL__DOES_END_CAPTURE
} sl__host_does;

/* A call of the host: it launched something, or stays a call. */
typedef struct sl__host {
    sl_call call;                  /* without streams; correlation 0: not given */
    uint64_t number;               /* of its event */
    int64_t stream, target_stream; /* as the file numbers them, or SL__NO_STREAM */
    sl__host_does does;
    bool is_part;                    /* of a loop of questions, which its first one stands for */
    bool waited, queue_full, loaded; /* the file says so of a launch */
    bool launch;                     /* of something on some device */
    bool failed;                     /* it returned an error */
    bool explained;                  /* there is a cuda_sync event of it */
    bool elsewhere;                  /* that is of another device */
    bool has_work;                   /* an operation of any device has its correlation */
    uint64_t bytes;                  /* foreign: of what it launched, where that does not say it: */
    uint32_t blocks;                 /* AMD's traces have the sizes of copies and grids here */
    uint16_t threads;
    int64_t pid, tid;     /* foreign: of the thread that made it, */
    uint64_t thread;      /* and its number; 0: the first */
    uint64_t launched_by; /* ours: of a captured record or wait, the graph's launch */
} sl__host;

/* The device's side of a synchronisation: what the call itself does not say. */
typedef struct sl__sync {
    uint64_t correlation;
    int64_t start_ns;
    int64_t device, stream, wait_stream;
    int64_t record; /* correlation, -1 if not known */
} sl__sync;

/* A stream as the program made it: what a trace does not say. */
typedef struct sl__stream_fact {
    int64_t number, device;
    int32_t priority;
    bool non_blocking; /* toward the NULL stream of its context, */
    bool is_null;      /* which it is itself */
} sl__stream_fact;

/* What a call allocated or freed. */
typedef struct sl__memory {
    sl_memory_note note; /* by the call's number in the file */
    int64_t device;      /* foreign: of memory that is a GPU's; of other memory -1 */
} sl__memory;

typedef struct sl__thread {
    int64_t pid, tid;
    uint32_t name; /* text id in the timeline */
} sl__thread;

/* A call of NCCL's, as it says it with NVTX (comm_nvtx.c). */
typedef struct sl__comm_call {
    int64_t pid, tid, ns; /* as in the file */
    uint64_t comm;        /* equal in all of its ranks */
    int64_t bytes;
    int32_t ranks, rank; /* ranks 0: it exchanges something */
    uint8_t exchange;
    bool per_rank; /* `bytes` are those of one of the ranks */
} sl__comm_call;

typedef struct sl__sample { /* of a GPU's memory */
    sl_memory_sample sample;
    int64_t device, pid; /* the process whose allocator says it */
} sl__sample;

/* A thread that has ranges of the host (sl_host_range). */
typedef struct sl__range_thread {
    int64_t pid, tid;
    uint32_t number; /* in the timeline, once that is known; SL__NO_THREAD: it made no call */
} sl__range_thread;
enum { SL__MOST_RANGE_THREADS = 256 }; /* ranges of those that come later are left out */

/* What PyTorch's profiler spends time on. */
typedef enum sl__recorded {
    SL__RECORDED_OPERATOR, /* cpu_op */
    SL__RECORDED_CALL,     /* cuda_runtime, cuda_driver */
    SL__RECORDED_PYTHON,   /* python_function */
    SL__RECORDED_KINDS
} sl__recorded;

typedef struct sl__records {
    sl_timeline *timeline;
    int wanted_device; /* or SL_BUSIEST_DEVICE */
    bool own;          /* written by us */
    bool recorded;     /* by our recorder in another program: says what traces leave open */
    bool nsys;         /* by Nsight Systems, whose own cost is not known, */
    bool open_waits;   /* and without what waits are for */
    bool pytorch;      /* of its profiler: has cpu_ops that are not ours, or its name; or
                                 * our header says so */
    bool xla;          /* of XLA's profiler, whose streams are exempt from the NULL stream's
                        * rules */
    sl__work *works;
    size_t n_works, cap_works;
    sl__host *hosts;
    size_t n_hosts, cap_hosts;
    sl__sync *syncs;
    size_t n_syncs, cap_syncs;
    sl__thread *threads;
    size_t n_threads, cap_threads;
    sl__range_thread *range_threads; /* until times are shifted, the timeline's ranges have their
                                      * indices as threads */
    size_t n_range_threads, cap_range_threads;
    sl__stream_fact *facts; /* recorded */
    size_t n_facts, cap_facts;
    sl_hold *holds; /* own: correlations and times as in the file */
    size_t n_holds, cap_holds;
    sl_collective_note *collectives; /* own: likewise */
    size_t n_collectives, cap_collectives;
    sl_exchange_note *exchanges; /* foreign: by the number in the file */
    size_t n_exchanges, cap_exchanges;
    sl__comm_call *comm_calls;
    size_t n_comm_calls, cap_comm_calls;
    sl_peer_note *peers;
    size_t n_peers, cap_peers;
    sl_launch_note *launches; /* own: numbers as in the file */
    size_t n_launches, cap_launches;
    sl__memory *memory;
    size_t n_memory, cap_memory;
    sl__sample *samples;
    size_t n_samples, cap_samples;
    sl_device_info *devices; /* index: the file's id */
    size_t n_devices, cap_devices;
    sl__doubted doubted[SL_DOUBTS];
    sl__host *stalls; /* foreign: work of the host that is its profiler's own; tid 0: its thread
                       * is not known, thread SL__NO_THREAD: that made no call */
    size_t n_stalls, cap_stalls;
    size_t n_recorded[SL__RECORDED_KINDS];
    bool timed;                /* first_ns and last_ns are set */
    int64_t first_ns, last_ns; /* over all events, but for those that start at 0: */
    bool has_zeros;            /* there are some; */
    int64_t zero_end_ns;       /* the last end of these */
    bool is_joined;            /* own: its devices are ranks */
    int32_t rank, ranks;       /* foreign: which of how many; ranks 0: the file does not say it */
    int64_t clock_ns;          /* what times lack to those of the system's clock; 0: unknown */
    /* Of our own header. */
    sl_device_info info;
    char backend[32];       /* info.backend points here */
    bool is_played;         /* its times are no recorded ones */
    bool noted;             /* it lists the streams */
    sl_device_info *places; /* that it lists: index and profile; none: it has one device */
    size_t n_places, cap_places;
    sl_stream_note *notes;
    size_t n_notes, cap_notes;
    sl_range range;
    int64_t start_ns, wall_ns; /* wall_ns -1: not given */
    int32_t recording_ns;      /* of a file of ours: sl_recording_costs.work_ns */
} sl__records;

/* A stream's number has its further rows above all numbers of files (trace_graphs.c): which row it
 * is, 0 for the stream itself, and of which stream. */
int64_t sl__row_of(int64_t number);
int64_t sl__row_stream(int64_t number);

/* trace_profiler.c: whether an "overhead" of this name is the profiler's; what our recorder adds to
 * calls. */
bool sl__is_profilers_own(const char *name);
extern const sl_recording_costs sl__recorder_costs;

/* Adds an item, of `size` bytes, to one of the lists. SL_ENOMEM. */
sl_status sl__records_add(void **array, size_t *n, size_t *cap, const void *item, size_t size,
                          sl_error *err);
#define SL__RECORDS_ADD(records, list, item, err)                                            \
    sl__records_add((void **)&(records)->list, &(records)->n_##list, &(records)->cap_##list, \
                    (item), sizeof *(item), (err))
void sl__records_free(sl__records *records);

/* A number that the note's group of ranks has in the traces of all of them. */
uint64_t sl__exchange_group(const sl_timeline *timeline, const sl_exchange_note *note);

/* An event counts for the time of the whole trace. */
void sl__records_widen(sl__records *records, int64_t start_ns, int64_t end_ns);

/* Adds a range of the host to the timeline of a foreign trace, with times as in the file; its
 * thread is the process's and thread's number there, and range->thread is not read. What has no
 * time that a timeline can have is left out. SL_ENOMEM. */
sl_status sl__records_add_range(sl__records *records, int64_t pid, int64_t tid, sl_host_range range,
                                sl_error *err);

/* Fills records->timeline and finishes it. */
sl_status sl__records_match(sl__records *records, sl_error *err);

#endif
