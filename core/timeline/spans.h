/* spans.h - what a timeline records: spans, calls, what held them, and notes of some of them.
 *
 * Times are int64 nanoseconds on one clock that host and device share.
 */
#ifndef SL_TIMELINE_SPANS_H
#define SL_TIMELINE_SPANS_H

#include "../streamlab.h"
#include "causes.h"

typedef enum sl_span_kind {
    SL_SPAN_KERNEL,
    SL_SPAN_COLLECTIVE, /* the kernel of a communication between ranks, a send or receive, too */
    SL_SPAN_MEMCPY_H2D,
    SL_SPAN_MEMCPY_D2H,
    SL_SPAN_MEMCPY_D2D,
    SL_SPAN_MEMCPY_P2P,
    SL_SPAN_MEMSET,
    SL_SPAN_HOST_FUNC,
    SL_SPAN_KINDS
} sl_span_kind;

/* What is launched as a kernel, and has a kernel's name. */
static inline bool sl_span_kind_is_kernel(sl_span_kind kind)
{
    return kind == SL_SPAN_KERNEL || kind == SL_SPAN_COLLECTIVE;
}

typedef enum sl_engine {
    SL_ENGINE_COMPUTE,
    SL_ENGINE_COMM, /* communication between ranks: kernels that take a few SMs */
    SL_ENGINE_H2D,
    SL_ENGINE_D2H,
    SL_ENGINE_P2P,
    SL_ENGINE_COPY, /* the only copy engine: it copies in all directions */
    SL_ENGINE_HOST,
    SL_ENGINES
} sl_engine;

/* Where a GPU does the work of an engine: that of ranks is communicated by kernels, on the SMs, and
 * launched as all others. */
static inline sl_engine sl_engine_on_gpu(uint8_t engine)
{
    return engine == SL_ENGINE_COMM ? SL_ENGINE_COMPUTE : (sl_engine)engine;
}

enum {                          /* sl_span.flags */
       SL_SPAN_HOST_WAITED = 1, /* the enqueueing call returned only after the span's end */
       SL_SPAN_SRC_PAGEABLE = 2,
       SL_SPAN_SRC_PINNED = 4, /* neither: device memory */
       SL_SPAN_DST_PAGEABLE = 8,
       SL_SPAN_DST_PINNED = 16,
       SL_SPAN_QUEUE_FULL = 32, /* the enqueueing call waited for room in the launch queue */
       SL_SPAN_LOADED = 64,     /* it first loaded the kernel's code, and waited for all work */
       SL_SPAN_GUESSED = 128    /* simulated: nothing says how long it takes; each of its tensors is
                                 * moved once */
};

/* One operation on the device. */
typedef struct sl_span {
    int64_t start_ns, end_ns;           /* on the device */
    int64_t host_start_ns, host_end_ns; /* the call that enqueued it */
    uint64_t correlation;               /* issue number: unique, >= 1, ascending */
    uint64_t bytes;                     /* moved (copies, memsets), else 0 */
    uint32_t stream;                    /* stream id, 0 is the NULL stream */
    uint32_t name, where;               /* text ids, see sl_timeline_text */
    uint32_t symbol;                    /* text id: the kernel's own name on a real GPU */
    uint32_t blocks;                    /* grid, 0 if no kernel */
    uint32_t shared_bytes;              /* per block, static and dynamic */
    uint16_t threads;                   /* per block */
    uint16_t registers;                 /* per thread; 0: not known, nor is shared_bytes */
    uint8_t kind, engine, flags;
    uint8_t kernels : 4;       /* that it took on the device; at most 15 are counted */
    uint8_t kernels_after : 4; /* of them behind the longest */
} sl_span;

typedef enum sl_call_kind {
    SL_CALL_EVENT_RECORD, /* in `stream`; device_ns is its timestamp */
    SL_CALL_STREAM_WAIT,  /* `stream` waits for record `target` (0: none) of `target_stream` */
    SL_CALL_STREAM_SYNC,
    SL_CALL_EVENT_SYNC,
    SL_CALL_DEVICE_SYNC, /* the host waited */
    SL_CALL_PLAIN,       /* any other host call: name says which (cudaFree) */
    SL_CALL_HOST_WORK,   /* the host was busy with work of its own: lab.host_work, or what
                              * name says ("rand_f32 on the CPU", "pinned allocation") */
    SL_CALL_KINDS
} sl_call_kind;

/* One call of the host that is no span. */
typedef struct sl_call {
    int64_t host_start_ns, host_end_ns;
    int64_t device_ns;    /* when a record or wait was reached on the device, else 0;
                                     * on a real GPU inferred from the spans of its stream */
    uint64_t correlation; /* from the same counter as the spans' */
    uint64_t target;      /* EVENT_SYNC and STREAM_WAIT: correlation of the record */
    uint32_t stream, target_stream;
    uint32_t name, where;
    uint8_t kind;
    uint8_t waited_for_device; /* PLAIN: the host waited for all earlier work */
    uint8_t queue_full;        /* RECORD, WAIT: waited for room in the launch queue */
} sl_call;

/* What an operation (a span, a record or a wait) was held by: in the first place until it was
 * ready, then until it started. Each names the last reason: without it the operation would have
 * gone on earlier. A backend that knows them reports them; for timelines without them they are
 * inferred from the spans and calls (infer.c). */
typedef struct sl_hold {
    uint64_t correlation; /* whose */
    int64_t ready_ns;     /* from here on only its engine kept it waiting */
    uint64_t ready_by;    /* correlation of what made it wait for that long; 0: none */
    uint64_t start_by;    /* of what kept it from starting between ready and start */
    uint8_t ready_cause;  /* LATENCY (submission), STREAM_ORDER, EVENT, NULL_STREAM or
                                 * CHANNEL */
    uint8_t start_cause;  /* NONE, LATENCY, ENGINE, ROOM, PRIORITY, UNKNOWN, or
                                 * HOST_BLOCKED: the host had to do its part (staging) */
} sl_hold;

/* A span that a launch of a graph ran (cudaGraphLaunch). In a trace of another program `launch` is
 * 0 where the call is not in the file, and `graph` where the file does not say it: then nodes are
 * counted from 0 in the order in which they started. In one of ours its edges to nodes of other
 * streams are records and waits, as they were captured; its stream is that of the launch, or one of
 * the graph's own for what was captured in another. */
typedef struct sl_node_note {
    uint64_t correlation; /* the span's */
    uint64_t launch;      /* correlation of the call that launched the graph */
    uint32_t graph, node; /* the graph's number, and the node's in it, without records and waits */
    int32_t priority;     /* of the stream that it was captured in, which may not be the one that
                           * it ran with */
} sl_node_note;

/* A call that launched a graph. */
typedef struct sl_launch_note {
    uint64_t correlation; /* the call's */
    uint64_t last; /* of the last span, record or wait that it ran: all between are its own */
    uint32_t graph, name; /* the graph's number and name */
    uint32_t n_nodes;     /* of the graph; records and waits are none */
    bool priorities;      /* its nodes keep the priorities of the streams they were captured in;
                              * without, all have that of the launch's stream */
    bool uploads;         /* the first launch, which brings the graph to the device */
} sl_launch_note;

/* A span that is one rank's part of a collective. Those of one communicator (of the recording
 * process) with one number, on all its ranks, are one collective; of sends and receives those
 * between two ranks. */
typedef struct sl_collective_note {
    uint64_t correlation;        /* the span's */
    uint64_t comm, number;       /* from 1 */
    int64_t in_elems, out_elems; /* of this rank; 0: it reads, or writes, nothing, or in a
                                  * recording of another program: how many is not known */
    int64_t met_ns;              /* when all ranks had come; 0: not known */
    uint64_t late_by;            /* correlation of the one that came last */
    int32_t late_rank;
    int32_t rank, ranks;
    int32_t peer;       /* root, destination or source; -1: none */
    uint8_t collective; /* sl_collective */
    uint8_t dtype, reduction;
} sl_collective_note;

/* What ranks exchange, whatever library does it: its name in scripts, and the part of the bytes
 * that a rank sends and receives, of n ranks (a * (n - b) / n), which is what NCCL's tests count as
 * the bandwidth of the bus. */
#define SL_EXCHANGE_MAP(X)                    \
    X(ALL_REDUCE, "all_reduce", 2, 1)         \
    X(ALL_GATHER, "all_gather", 1, 1)         \
    X(REDUCE_SCATTER, "reduce_scatter", 1, 1) \
    X(BROADCAST, "broadcast", 1, 0)           \
    X(REDUCE, "reduce", 1, 0)                 \
    X(ALL_TO_ALL, "all_to_all", 1, 1)         \
    X(SEND_RECV, "send_recv", 1, 0)           \
    X(OTHER, "other", 1, 0)
typedef enum sl_exchange {
#define X(id, name, times, less) SL_EXCHANGE_##id,
    SL_EXCHANGE_MAP(X)
#undef X
        SL_EXCHANGES
} sl_exchange;

/* A collective of a trace that has one rank of several, as far as the trace says what it is. */
typedef struct sl_exchange_note {
    uint64_t correlation; /* the span's */
    uint64_t group;       /* of the ranks that take part: equal in the traces of all of them */
    uint64_t bytes;       /* of the larger of what it reads and writes; 0: not known */
    int64_t in_elems, out_elems; /* as the trace says them, and these text ids, so that it can be
                                  * written again: 0 where it does not */
    uint32_t name, dtype, group_name, group_ranks;
    int32_t ranks; /* of the group; 0: not known */
    uint8_t exchange;
} sl_exchange_note;

/* A span that copies from one device of the timeline to another one. */
typedef struct sl_peer_note {
    uint64_t correlation; /* the span's */
    int32_t from, to;     /* places of the two */
} sl_peer_note;

/* Where memory is that a call allocates or frees. */
typedef enum sl_memory_kind {
    SL_MEMORY_DEVICE,
    SL_MEMORY_POOL, /* on the device, too: allocated and freed in the order of a stream */
    SL_MEMORY_PINNED,
    SL_MEMORY_MANAGED,
    SL_MEMORY_KINDS
} sl_memory_kind;

/* A call that allocated memory, or freed it. */
typedef struct sl_memory_note {
    uint64_t correlation;    /* the call's */
    uint64_t bytes;          /* of this memory; 0: not known */
    uint64_t reserved_bytes; /* what its pool held then, used or not; 0: it has none */
    uint8_t kind;            /* sl_memory_kind */
    bool frees;
    bool is_from_before; /* freed, and allocated before the recording began */
} sl_memory_note;

/* Memory that a span, or work of the host, touches; it may have several such notes. Only in
 * recordings of our own, as long as they are in memory: files do not have them. */
enum { SL_TOUCH_READS = 1, SL_TOUCH_WRITES = 2 };
typedef struct sl_touch_note {
    uint64_t correlation; /* of the span or call */
    uint64_t memory;      /* number of the allocation, from 1, never used again */
    uint64_t from, to;    /* its bytes, without `to` */
    uint8_t access;       /* SL_TOUCH_READS | SL_TOUCH_WRITES; what is atomic does both */
} sl_touch_note;

/* A span or call whose call another thread of the host than the first has made. Threads have the
 * numbers 1, 2, ... in the order of their start; the first one is 0. */
#define SL_MOST_THREADS 1000000
typedef struct sl_thread_note {
    uint64_t correlation; /* its */
    uint32_t thread;
} sl_thread_note;

#define SL_STREAM_NAME_BYTES 32 /* of a stream's name that is made from its id */

typedef struct sl_stream_note { /* a stream that the timeline names */
    uint32_t id, name;
    int32_t priority;
    bool non_blocking;
    bool numbered;  /* by the program that wrote the file */
    int64_t number; /* its number of the stream, from which the id was made */
    bool is_row;    /* no stream of its own, but a further row of stream `row_of`: of nodes of
                      * graphs that ran beside others of it, in the order that their times show.
                      * A file of another program does not say which edges they have */
    uint32_t row_of;
    uint32_t context; /* 0: that of the device; others are of another process, or of a context
                       * beside it: their streams know a NULL stream of their own, */
    bool is_null;     /* which this one is */
} sl_stream_note;

/* What recording adds to the host's time, in ns: to each recorded call, to one that gives the
 * device work, and to one that records an event or waits. 0: not known, nothing is taken off. Spans
 * and calls end when the clock said; sl_timeline_recording_of_span_ns says what is taken off. */
typedef struct sl_recording_costs {
    int32_t call_ns, work_ns, order_ns;
} sl_recording_costs;

/* Of a timeline that another program wrote. All false in one of ours. */
typedef struct sl_origin {
    bool pytorch;       /* its profiler: remedies speak PyTorch */
    bool recorded;      /* by our recorder: what each wait is for is known */
    bool unknown_waits; /* which event a stream waited for is not always known */
    bool is_played;     /* its times are those of a program that was played again (core/whatif) */
    bool unknown_edges; /* nor, of graphs that ran nodes side by side, which edges they have */
    uint64_t devices;   /* the first 16 that the file has work on, and this one: bit n is
                                 * device n, from 0 to 63 */
    int64_t first_ns, last_ns; /* over the work on all of them, if there are several */
    sl_recording_costs costs;
    int32_t rank, ranks; /* which of how many of a distributed program; ranks 0: not known */
    bool is_joined;      /* the timelines of several ranks: its devices' numbers are theirs. Also
                          * of one of ours */
    int64_t epoch_ns;    /* what the system's clock showed when the timeline's was 0, as far as the
                          * file says it; 0: it does not */
} sl_origin;

/* What other runs of the same work took: on a simulated GPU with figures drawn from the spreads of
 * its profile, on a real one as measured. */
typedef struct sl_range {
    int64_t low_ns, high_ns; /* between which nine tenths of such makespans are expected, >= 0 */
    int32_t runs;            /* how many; 0: nothing is known */
    int32_t swapped;         /* in how many of them `later` cost more time than `earlier`, */
    sl_cause earlier, later; /* two of the main causes, which is not so in the timeline */
} sl_range;

/* ---- several devices ----------------------------------------------------- */

/* A timeline lists the devices that did something while it was recorded; the place of the one that
 * was current is 0. The id of a stream says of which it is: those of place 0 are as the program has
 * them, and this is the one function that makes the others. */
enum { SL_MOST_DEVICES = 64, SL_PLACE_SHIFT = 24 };

static inline uint32_t sl_timeline_stream_id(int place, uint32_t stream)
{
    const uint32_t most = (UINT32_C(1) << SL_PLACE_SHIFT) - 1;
    return place == 0 ? stream : (uint32_t)place << SL_PLACE_SHIFT | (stream & most);
}

/* A further row, for nodes of a graph that were captured in one stream and launched in another:
 * above all streams' ids. */
static inline uint32_t sl_timeline_row_id(int place, uint32_t launched, uint32_t captured)
{
    if (place == 0) return UINT32_C(1) << 30 | (launched & 0x3fff) << 16 | (captured & 0xffff);
    return UINT32_C(1) << 31 | (uint32_t)place << SL_PLACE_SHIFT | (launched & 0x3ff) << 14
           | (captured & 0x3fff);
}

#endif
