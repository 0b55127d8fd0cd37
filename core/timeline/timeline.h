/* timeline.h - what ran when: the recorded timeline, and what is computed from it.
 *
 * A timeline is plain data: spans (operations on the device), calls (events, synchronisations and
 * plain calls of the host) and streams, with ids and interned texts instead of pointers. The store
 * and its analysis belong in this folder; they read nothing else, so that they serve both backends
 * and traces of other programs.
 *
 * Times are int64 nanoseconds on one clock that host and device share.
 */
#ifndef SL_TIMELINE_H
#define SL_TIMELINE_H

#include "../base.h"
#include "../streamlab.h"
#include "causes.h"
#include "doubts.h"

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
 * counted from 0 in the order in which they started. In one of ours its edges to nodes of other streams are
 * records and waits, as they were captured; its stream is that of the launch, or one of the graph's
 * own for what was captured in another. */
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

/* A span that is one rank's part of a collective. Those of one communicator (of the recording process)
 * with one number, on all its ranks, are one collective; of sends and receives those between two
 * ranks. */
typedef struct sl_collective_note {
    uint64_t correlation;        /* the span's */
    uint64_t comm, number;       /* from 1 */
    int64_t in_elems, out_elems; /* of this rank; 0: it reads, or writes, nothing */
    int64_t met_ns;              /* when all ranks had come; 0: not known */
    uint64_t late_by;            /* correlation of the one that came last */
    int32_t late_rank;
    int32_t rank, ranks;
    int32_t peer;       /* root, destination or source; -1: none */
    uint8_t collective; /* sl_collective */
    uint8_t dtype, reduction;
} sl_collective_note;

/* A span that copies from one device of the timeline to another one. */
typedef struct sl_peer_note {
    uint64_t correlation; /* the span's */
    int32_t from, to;     /* places of the two */
} sl_peer_note;

/* A span or call whose call another thread of the host than the first has made. Threads have the numbers
 * 1, 2, ... in the order of their start; the first one is 0. */
#define SL_MOST_THREADS 1000000
typedef struct sl_thread_note {
    uint64_t correlation; /* its */
    uint32_t thread;
} sl_thread_note;

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
} sl_stream_note;

/* Of a timeline that another program wrote. All false in one of ours. */
typedef struct sl_origin {
    bool pytorch;       /* its profiler: remedies speak PyTorch */
    bool unknown_waits; /* which event a stream waited for is not always known */
    bool unknown_edges; /* nor, of graphs that ran nodes side by side, which edges they have */
    uint64_t devices;   /* the first 16 that the file has work on, and this one: bit n is
                                 * device n, from 0 to 63 */
    int64_t first_ns, last_ns; /* over the work on all of them, if there are several */
} sl_origin;

/* What other runs of the same work took: on a simulated GPU with figures drawn from the spreads of
 * its profile, on a real one as measured. */
typedef struct sl_range {
    int64_t low_ns, high_ns; /* the 10th and the 90th percentile of their makespans, >= 0 */
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

/* ---- lifecycle --------------------------------------------------------- */

sl_status sl_timeline_create(sl_timeline **timeline, sl_error *err); /* empty */
sl_timeline *sl_timeline_retain(sl_timeline *timeline);
void sl_timeline_release(sl_timeline *timeline);

/* ---- writing: the recorder, importers and tests ------------------------- */

/* The id of `text` in this timeline; 0 is always "". Ids are dense. SL_ENOMEM. */
sl_status sl_timeline_intern(sl_timeline *timeline, const char *text, uint32_t *id, sl_error *err);
sl_status sl_timeline_add_span(sl_timeline *timeline, const sl_span *span, sl_error *err);
sl_status sl_timeline_add_call(sl_timeline *timeline, const sl_call *call, sl_error *err);
sl_status sl_timeline_add_stream(sl_timeline *timeline, const sl_stream_note *note, sl_error *err);
/* Of a span or a call of the timeline, also of one that comes later; a second one has no effect. */
sl_status sl_timeline_add_hold(sl_timeline *timeline, const sl_hold *hold, sl_error *err);
sl_status sl_timeline_add_node(sl_timeline *timeline, const sl_node_note *note, sl_error *err);
sl_status sl_timeline_add_launch(sl_timeline *timeline, const sl_launch_note *note, sl_error *err);
sl_status sl_timeline_add_collective(sl_timeline *timeline, const sl_collective_note *note,
                                     sl_error *err);
sl_status sl_timeline_add_peer(sl_timeline *timeline, const sl_peer_note *note, sl_error *err);
/* SL_EINVAL: not from 1 to SL_MOST_THREADS - 1. */
sl_status sl_timeline_add_thread(sl_timeline *timeline, const sl_thread_note *note, sl_error *err);
/* From now on only sums over the spans are kept, and no calls, holds or notes: count, busy_ns,
 * common_ns, totals and what needs no single spans can be asked; the lists are empty. Before the
 * first span. SL_ENOMEM. */
sl_status sl_timeline_keep_summary(sl_timeline *timeline, sl_error *err);
bool sl_timeline_is_summary(const sl_timeline *timeline);
void sl_timeline_set_device(sl_timeline *timeline, const sl_device_info *info); /* place 0 */
/* One more. SL_ENOMEM; SL_EINVAL: there are SL_MOST_DEVICES. */
sl_status sl_timeline_add_device(sl_timeline *timeline, const sl_device_info *info, int *place,
                                 sl_error *err);
/* Sorts by correlation and fixes the host's interval; after that it is read-only. */
void sl_timeline_finish(sl_timeline *timeline, int64_t host_start_ns, int64_t host_end_ns);

/* The line of the script at the position with text id `where`, which explanations quote.
 * Also after finish; a second one replaces the first. SL_ENOMEM. */
sl_status sl_timeline_set_source(sl_timeline *timeline, uint32_t where, const char *line,
                                 sl_error *err);
/* What a user should know before believing the timeline; the sentence, one line, is copied. Also
 * after finish; a second one of a kind replaces the first. SL_ENOMEM. */
sl_status sl_timeline_add_doubt(sl_timeline *timeline, const sl_doubt *doubt, sl_error *err);
/* The title of pages: the name of the file that it was read from. Also after finish; a second one
 * replaces the first. SL_ENOMEM. */
sl_status sl_timeline_set_name(sl_timeline *timeline, const char *name, sl_error *err);
void sl_timeline_set_origin(sl_timeline *timeline, sl_origin origin);
/* Also after finish; a second one replaces the first. */
void sl_timeline_set_range(sl_timeline *timeline, sl_range range);

/* ---- reading ----------------------------------------------------------- */

/* Spans and calls are kept packed: these make the records. In order of correlation, from 0 on. */
size_t sl_timeline_span_count(const sl_timeline *timeline);
size_t sl_timeline_call_count(const sl_timeline *timeline);
sl_span sl_timeline_span(const sl_timeline *timeline, size_t index);
sl_call sl_timeline_call(const sl_timeline *timeline, size_t index);
const sl_stream_note *sl_timeline_streams(const sl_timeline *timeline, size_t *n); /* by id */
/* A stream's name; where it has none "stream 5", written to the buffer. */
#define SL_STREAM_NAME_BYTES 32
const char *sl_timeline_stream_name(const sl_timeline *timeline, uint32_t id,
                                    char buffer[SL_STREAM_NAME_BYTES]);
/* The index of the one with this correlation, or SL_NOT_FOUND. After finish (and for calls while
 * the recorder has sorted them). */
#define SL_NOT_FOUND SIZE_MAX
size_t sl_timeline_find_span(const sl_timeline *timeline, uint64_t correlation);
size_t sl_timeline_find_call(const sl_timeline *timeline, uint64_t correlation);
/* What held the span or the call with that index, or correlation. False: it was not reported. */
bool sl_timeline_span_hold(const sl_timeline *timeline, size_t index, sl_hold *hold);
bool sl_timeline_call_hold(const sl_timeline *timeline, size_t index, sl_hold *hold);
bool sl_timeline_find_hold(const sl_timeline *timeline, uint64_t correlation, sl_hold *hold);
const sl_node_note *sl_timeline_nodes(const sl_timeline *timeline, size_t *n); /* by correlation */
/* That of a span, or NULL: no graph ran it. After finish. */
const sl_node_note *sl_timeline_find_node(const sl_timeline *timeline, uint64_t correlation);
/* That of a span, or NULL: it is no collective. After finish. */
const sl_collective_note *sl_timeline_find_collective(const sl_timeline *timeline,
                                                      uint64_t correlation);
/* That of a span, or NULL: it is no such copy, or in a trace that does not say so. After finish. */
const sl_peer_note *sl_timeline_find_peer(const sl_timeline *timeline, uint64_t correlation);
/* The thread that made the call of a span, or a call. After finish. */
uint32_t sl_timeline_thread(const sl_timeline *timeline, uint64_t correlation);
/* The largest such number, and 1: 1 where there is one thread. Looks at all notes. */
uint32_t sl_timeline_thread_count(const sl_timeline *timeline);
const sl_launch_note *sl_timeline_launches(const sl_timeline *timeline, size_t *n); /* the same */
/* That of a call, or of the call that ran a node, or NULL. After finish. */
const sl_launch_note *sl_timeline_find_launch(const sl_timeline *timeline, uint64_t correlation);
/* The index of the call that launched the graph which ran a span, where that has no call of its own
 * on the host, or SL_NOT_FOUND; also of a span that stands for a whole launch. The same of a captured
 * record or wait; SL_NOT_FOUND also for other calls. */
size_t sl_timeline_span_launch(const sl_timeline *timeline, const sl_span *span);
size_t sl_timeline_call_launch(const sl_timeline *timeline, const sl_call *call);
/* The node's number as it is shown: from 1, as scripts count, or what a trace of another program
 * says. */
uint64_t sl_timeline_node_number(const sl_timeline *timeline, const sl_node_note *node);
size_t sl_timeline_text_count(const sl_timeline *timeline); /* ids go from 0 to this - 1 */
const char *sl_timeline_text(const sl_timeline *timeline, uint32_t id);
const char *sl_timeline_source(const sl_timeline *timeline, uint32_t where); /* "" if not set */
const sl_doubt *sl_timeline_doubts(const sl_timeline *timeline, size_t *n);  /* by kind */
const char *sl_timeline_notice(const sl_timeline *timeline); /* their sentences, a line each; "" */
const char *sl_timeline_name(const sl_timeline *timeline);   /* "" if not set */
const sl_device_info *sl_timeline_device(const sl_timeline *timeline); /* that of place 0 */
/* How many there are, >= 1, and which; of the place of a stream's device. */
int sl_timeline_device_count(const sl_timeline *timeline);
const sl_device_info *sl_timeline_device_at(const sl_timeline *timeline, int place);
int sl_timeline_place(const sl_timeline *timeline, uint32_t stream);
/* The place of the device with the k-th smallest number, k from 0: the current one has place 0, whatever
 * its number. */
int sl_timeline_place_in_order(const sl_timeline *timeline, int k);
/* Whether spans are of more than one: then names of streams begin with "gpu1: ". After finish. */
bool sl_timeline_has_several(const sl_timeline *timeline);
/* Whether it is the NULL stream of its device. */
bool sl_timeline_is_null_stream(const sl_timeline *timeline, uint32_t stream);
/* Its name; of a trace with several written to the buffer, "NVIDIA H200, GPU 1". "" if not set. */
#define SL_DEVICE_NAME_BYTES 144
const char *sl_timeline_device_name(const sl_timeline *timeline, char buffer[SL_DEVICE_NAME_BYTES]);
sl_origin sl_timeline_origin(const sl_timeline *timeline);
sl_range sl_timeline_range(const sl_timeline *timeline);

/* How many streams have spans; further rows of a stream are none. SL_ENOMEM. */
sl_status sl_timeline_stream_count(const sl_timeline *timeline, size_t *n, sl_error *err);

/* From the first span's start to the last one's end. */
int64_t sl_timeline_makespan_ns(const sl_timeline *timeline);
int64_t sl_timeline_wall_ns(const sl_timeline *timeline); /* the host's time */
/* When the recording began, on the clock of the spans; 0 before finish. */
int64_t sl_timeline_host_start_ns(const sl_timeline *timeline);

const char *sl_span_kind_name(sl_span_kind kind); /* "memcpy_h2d" */
/* A kind in a sentence with `n` of it: "D2H copy", "D2H copies". */
const char *sl_span_kind_noun(sl_span_kind kind, size_t n);
const char *sl_engine_name(sl_engine engine); /* "compute", "h2d", ..., "host" */
/* The same of a device's engine, by its number in lanes (place * SL_ENGINES + engine): "compute",
 * "gpu1: compute" where spans are of several devices, written to the buffer then. */
const char *sl_timeline_engine_name(const sl_timeline *timeline, uint32_t unit,
                                    char buffer[SL_STREAM_NAME_BYTES]);
/* "gpu1: " where spans are of several devices, else "". */
#define SL_PREFIX_BYTES 24
const char *sl_timeline_device_prefix(const sl_timeline *timeline, int place,
                                      char buffer[SL_PREFIX_BYTES]);
bool sl_span_kind_parse(const char *name, sl_span_kind *kind);
bool sl_engine_parse(const char *name, sl_engine *engine);
const char *sl_cause_name(sl_cause cause); /* "stream_order", "host_blocked" */
unsigned sl_cause_traits(sl_cause cause);  /* SL_CAUSE_BY_HOST, ... */
bool sl_cause_parse(const char *name, sl_cause *cause);
const char *sl_doubt_name(sl_doubt_kind kind);    /* "no_launch" */
const char *sl_call_kind_name(sl_call_kind kind); /* "stream_sync" */
/* CUDA's name of a call, "cudaEventRecord"; "host_work" for work of the host. */
const char *sl_call_name(const sl_timeline *timeline, const sl_call *call);
/* The same of the call that enqueued a span: "cudaLaunchKernel". */
const char *sl_span_call_name(const sl_span *span);

/* ---- overlap (overlap.c): interval arithmetic in O(n log n), exact to the ns */

/* A selection of spans: every field that is set must match. */
typedef struct sl_selection {
    int64_t stream;   /* -1: any */
    int place;        /* of the device; -1: any */
    int kind;         /* -1: any */
    int engine;       /* -1: any */
    const char *name; /* NULL: any; the exact span name */
} sl_selection;
extern const sl_selection sl_select_all;

size_t sl_timeline_count(const sl_timeline *timeline, const sl_selection *sel);
/* The index of the first selected span from index `from` on; the number of spans if there is none, as
 * in a timeline that has only a summary. */
size_t sl_timeline_find(const sl_timeline *timeline, const sl_selection *sel, size_t from);
/* Length of the union of the selected spans. SL_EUNSUPPORTED, as for common_ns: it has only a summary,
 * which does not tell these apart. */
sl_status sl_timeline_busy_ns(const sl_timeline *timeline, const sl_selection *sel,
                              int64_t *busy_ns, sl_error *err);

/* The time in which all of n selections were busy, each with a span of its own: one that two
 * have in common does not overlap itself (together.c). n >= 1. */
sl_status sl_timeline_common_ns(const sl_timeline *timeline, const sl_selection *sels, size_t n,
                                int64_t *common_ns, sl_error *err);

typedef enum sl_concurrent {
    SL_CONCURRENT_SPANS,
    SL_CONCURRENT_ENGINES,
    SL_CONCURRENT_STREAMS
} sl_concurrent;

/* The concurrency profile of the selected spans: at_ns[k] is the time between the first
 * selected start and the last selected end with exactly k spans (engines, streams) busy;
 * at_ns[0] is idle time. Spans of zero length count as starts and ends, and nowhere else.
 * n - 1 is the most at once; n is 0 without spans. The caller frees at_ns. */
typedef struct sl_concurrency {
    int64_t *at_ns;
    size_t n;
} sl_concurrency;
sl_status sl_timeline_concurrency(const sl_timeline *timeline, const sl_selection *sel,
                                  sl_concurrent of, sl_concurrency *profile, sl_error *err);

/* The intervals between the first selected start and the last selected end in which no
 * selected span ran, ascending. The caller frees *gaps. */
typedef struct sl_gap {
    int64_t start_ns, end_ns;
} sl_gap;
sl_status sl_timeline_gaps(const sl_timeline *timeline, const sl_selection *sel, sl_gap **gaps,
                           size_t *n, sl_error *err);

/* Of each stream, or each name, that has spans. */
typedef enum sl_totals_of { SL_TOTALS_STREAMS, SL_TOTALS_NAMES } sl_totals_of;
typedef struct sl_total {
    uint32_t id;     /* of the stream, or text id of the name */
    size_t n;        /* spans */
    int64_t busy_ns; /* length of their union, */
    int64_t sum_ns;  /* and of all of them one after the other */
} sl_total;
/* In the order in which they came. The caller frees *totals. SL_ENOMEM. */
sl_status sl_timeline_totals(const sl_timeline *timeline, sl_totals_of of, sl_total **totals,
                             size_t *n, sl_error *err);

/* ---- bounds (bounds.c) -------------------------------------------------- */

typedef struct sl_bounds {
    int64_t serial_ns;         /* all spans one after the other */
    int64_t busiest_engine_ns; /* the largest busy time of an engine */
    sl_engine busiest_engine;
    int busiest_place;        /* of its device */
    int64_t critical_path_ns; /* longest chain: stream order, events, NULL stream, host waits */
    int64_t lower_ns;         /* max(busiest_engine, critical_path) if all memory were pinned, at
                                 * most the makespan: no schedule in the same streams in which the
                                 * host waits where it did can be shorter */
    int64_t unblocked_ns;     /* the same if the host had never waited: stream order, events
                                 * and the NULL stream alone; <= lower */
} sl_bounds;
sl_status sl_timeline_bounds(const sl_timeline *timeline, sl_bounds *bounds, sl_error *err);

/* ---- explanation (explain.c) ---------------------------------------------- */

/* One cause of lost time, with all that waited for it. */
typedef struct sl_finding {
    sl_cause cause;
    sl_engine engine;           /* that stood still, or that the work waited for */
    int place;                  /* of its device */
    bool idle;                  /* the engine stood still; else it worked for others meanwhile */
    bool many_waiters, many_by; /* of several streams or names: those below stand for all */
    int64_t lost_ns;            /* the union of the waits */
    int64_t gain_ns;            /* by how much the makespan would be shorter without the cause,
                                 * wherever it and what the same advice ends held work up
                                 * (gains.c); -1: not known */
    size_t n_waits;
    size_t count;           /* of what a sentence names: calls in which the host was, else
                                 * operations that the cause held up, each once */
    uint64_t waiter;        /* correlation of the operation that waited longest */
    uint64_t by;            /* of what it waited for: an operation or call; 0: nothing known */
    int64_t from_ns, to_ns; /* that wait */
    int64_t by_host_ns;     /* HOST_BLOCKED, HOST_ISSUING: the host's time in all calls of
                                 * the name and line of `by`; else 0 */
    size_t by_calls;        /* how many these are */
    uint64_t by_copy;       /* `by` is the synchronisation of a copy that blocks: that; or 0 */
    size_t same_as;         /* the first finding that the same advice ends, whichever engine it
                                 * kept idle; or this one. Not in a chain */
} sl_finding;

typedef struct sl_wait { /* one stretch of lost time */
    uint64_t waiter, by; /* correlations */
    int64_t from_ns, to_ns;
    uint32_t finding; /* index */
} sl_wait;

typedef struct sl_explanation {
    bool inferred;        /* from the records: the backend did not say */
    sl_finding *findings; /* the largest gain first, then the most time lost */
    size_t n_findings;
    sl_wait *waits; /* by finding, then by time */
    size_t n_waits;
    /* The makespan's parts, along the chain of what each operation waited for, from the last end
     * back to the first start: their lost_ns add up to the makespan. While `waiter` itself ran the
     * cause is NONE; other parts are grouped by what was waited for. The longest first. `idle`
     * means nothing here, nor does the engine of latency and of what the host did. */
    sl_finding *chain;
    size_t n_chain;
    int64_t joint_gain_ns; /* by how much the makespan would be shorter without any of the
                                 * causes that a program can end: at most that. UNKNOWN,
                                 * LATENCY and a busy GPU are not among these */
    int64_t room_ns;   /* of the makespan, beyond the time for which the busiest engine has work,
                                 * and beyond the longest operation */
    bool room_unknown; /* kernels beside others of their stream are not modelled: nobody knows which
                            * room they leave on the SMs */
    sl_engine busiest; /* the engine that was busy for longest, whatever its kernels filled, */
    int64_t busiest_ns; /* and for how long */
    int64_t idle_ns;    /* of the makespan, in which nothing ran on any GPU */
} sl_explanation;

/* Whether there is anything to gain (verdict.c). */
typedef struct sl_verdict {
    bool good;  /* nothing worth mentioning */
    bool joint; /* only several causes together would gain that much */
    bool
        unknown; /* a fifth of the makespan was lost, and how much of it can be gained is not known */
    int64_t makespan_ns;
    int64_t gain_ns; /* of the leading cause alone, or of all if joint; 0 if unknown */
    int64_t most_ns; /* if all causes ended that a program can end: no less than gain_ns */
    int64_t lost_ns; /* unknown: by the leading cause, or by all while nothing ran */
    bool
        explained; /* good, though a fifth of the makespan was lost: `busiest` of the explanation had
                      * work meanwhile */
    size_t lead;   /* the finding that it is about: the first, or, unknown, the largest loss */
    sl_cause cause; /* of that; NONE without findings */
    size_t also;    /* a finding to name beside it: where several causes gain together the
                                 * largest of another cause; where the first is UNKNOWN, the first
                                 * that is known; latency that takes more than the first gains;
                                 * 0: none */
} sl_verdict;
sl_verdict sl_explanation_judge(const sl_timeline *timeline, const sl_explanation *explanation);
/* The finding has lost more than a fifth of the makespan, no more than `small_ns` are known to be
 * gained by ending it, and no engine was so busy that this would have to be so. */
bool sl__is_overlooked(const sl_explanation *explanation, const sl_finding *finding,
                       int64_t makespan_ns, int64_t small_ns);

/* Each idle gap of each engine before work that came to it, and each wait of work for an
 * engine that was busy for others, by cause. Found once: the timeline keeps it. SL_ENOMEM,
 * SL_EINTERRUPT: the next call looks again. */
sl_status sl_timeline_causes(const sl_timeline *timeline, const sl_explanation **explanation,
                             sl_error *err);
/* The same from the spans and calls alone, as for a backend that does not report causes. The
 * caller frees it. */
sl_status sl_timeline_infer_causes(const sl_timeline *timeline, sl_explanation *explanation,
                                   sl_error *err);
/* What a stream's last operation waited for: `chain` takes the time from the timeline's first start
 * to that operation's end (*time_ns) apart, as the makespan's does; all else is empty but `inferred`.
 * Not `reported`: from the spans and calls alone. SL_ENOTFOUND: the stream has none. The caller frees
 * it. */
sl_status sl_timeline_chain_of_stream(const sl_timeline *timeline, uint32_t stream, bool reported,
                                      sl_explanation *explanation, int64_t *time_ns, sl_error *err);
void sl_explanation_free(sl_explanation *explanation); /* leaves it empty */

/* The recorded schedule played again, with all that the host issued between two of its waits (or
 * work, or other calls that a capture cannot contain) in a graph that it launches with one call.
 * Operations take as long as they did. Captures, instantiation and first launches do not count. */
typedef struct sl_as_graphs {
    int64_t makespan_ns; /* as recorded if there is no graph */
    size_t n_graphs;
    size_t n_nodes;   /* of all graphs: operations that are no records or waits */
    int64_t issue_ns; /* the host's recorded time for these, from each first call to the last */
} sl_as_graphs;
/* SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl_timeline_as_graphs(const sl_timeline *timeline, const sl_graph_costs *costs,
                                sl_as_graphs *found, sl_error *err);

/* One side of a finding: an operation, a call, or, without either, nothing that is known. */
typedef struct sl_side {
    bool is_span, is_call; /* or neither: nothing is known of it */
    sl_span span;
    sl_call call;
    const char *name;             /* of a call CUDA's */
    const char *short_name;       /* of a kernel whose usual label others have, too; else NULL */
    const char *stream_name;      /* "" if it has none, and of calls */
    const char *where, *source;   /* the script's line; "" */
    int32_t priority;             /* its stream's, or which the graph gave it */
    const sl_node_note *node;     /* of a span that a graph ran; else NULL */
    const sl_launch_note *launch; /* that ran the span, or that the call made; else NULL */
    const char *graph_name;       /* of the launch, or "" */
} sl_side;

/* What one block of a kernel needs of an SM, and finds no SM to have free; 0, false: there is
 * enough, or it is not known. */
typedef struct sl_sm_lack {
    int64_t threads, registers, shared_bytes;
    bool block_slot; /* the SMs have as many blocks as they can */
} sl_sm_lack;

/* A finding as a sentence needs it. Texts are the timeline's. */
typedef struct sl_cause_record {
    sl_finding finding;
    sl_side waiter, by;
    sl_side copy;      /* the one whose synchronisation `by` is; else of nothing */
    sl_sm_lack lack;   /* ROOM: what `by` has left too little of for `waiter` */
    int sms, sm_count; /* FEWER_SMS: how many were left for `waiter`, of how many; else 0 */
    bool guess;        /* the records fit it, but something else may be the reason */
} sl_cause_record;
void sl_cause_read(const sl_timeline *timeline, const sl_finding *finding, sl_cause_record *record);

/* ---- figures (figures.c) -------------------------------------------------- */

typedef struct sl_stream_figures {
    uint32_t id;
    size_t count; /* spans */
    int64_t busy_ns;
    int64_t pause_ns;  /* between its first start and its last end */
    int64_t number;    /* its id, or what the program called it that wrote the trace */
    const char *label; /* sl_timeline_stream_name: the timeline's, or `no_name` */
    char no_name[SL_STREAM_NAME_BYTES];
} sl_stream_figures;

/* Lengths are those of unions. Indices are engines and kinds, of any device (see `devices`). */
typedef struct sl_figures {
    size_t n_spans;
    bool many_streams; /* not all spans are of one stream */
    int64_t makespan_ns, wall_ns;
    sl_bounds bounds;
    size_t count[SL_ENGINES][SL_SPAN_KINDS]; /* spans */
    int64_t busy_ns[SL_ENGINES][SL_SPAN_KINDS];
    int64_t kinds_ns[SL_SPAN_KINDS][SL_SPAN_KINDS]; /* both kinds ran; [k][k]: that kind did */
    int64_t engines_ns[1 << SL_ENGINES]; /* by set of engines, a bit each: all of them were
                                             * busy; of no engine the makespan */
    int64_t pause_ns[SL_ENGINES];        /* between its first start and its last end; -1: it
                                             * was never busy */
    /* Exactly so many were busy. Where spans are of several devices, each has engines of its own. */
    int64_t engines_at_once_ns[SL_MOST_DEVICES * SL_ENGINES + 1];
    int most_engines;
    sl_concurrency kernels_at_once; /* from the first kernel's start to the last end */
    /* With SL_FIGURES_STREAMS: */
    sl_concurrency streams_at_once;
    sl_stream_figures *streams; /* those with spans, by id */
    size_t n_streams;
    /* With SL_FIGURES_CAUSES: */
    int64_t part_ns[SL_SPAN_KINDS + SL_CAUSES]; /* the makespan's parts, of which it is the
                                             * sum: work by kind, then what work waited for */
    /* Where spans are of several devices, the figures of each one's kinds and engines, by place: what two
     * devices do at the same time is no overlap of one. Else NULL. */
    struct sl_figures *devices;
    int n_devices;
} sl_figures;

enum { SL_FIGURES_STREAMS = 1, SL_FIGURES_CAUSES = 2 };

/* `parts`: which of the two above are wanted, too. The caller frees the figures; texts in them are
 * the timeline's. SL_ENOMEM, SL_EINTERRUPT: there is nothing to free. */
sl_status sl_timeline_figures(const sl_timeline *timeline, unsigned parts, sl_figures *figures,
                              sl_error *err);
void sl_figures_free(sl_figures *figures); /* leaves it empty */

/* ---- two timelines (moves.c) ---------------------------------------------- */

typedef enum sl_moved {
    SL_MOVED_OVERLAP, /* of two kinds */
    SL_MOVED_BUSY,    /* a kind */
    SL_MOVED_PAUSE,   /* of an engine */
    SL_MOVED_PART,    /* of the makespan: a cause */
    SL_MOVED_STREAM_BUSY,
    SL_MOVED_STREAM_PAUSE
} sl_moved;

typedef struct sl_move {
    sl_moved what;
    int a, b;           /* the kinds, the engine or the cause */
    size_t n_was, n_is; /* BUSY: spans; STREAM_BUSY: 1, or 0 where it is missing */
    const char *stream; /* its label in the figures */
    int64_t was_ns, is_ns;
    size_t order; /* which comes first of equal ones */
} sl_move;

/* What differs between the figures of two timelines, both with all parts: the largest first. The
 * caller frees *moves; labels in them are those of the figures. SL_ENOMEM. */
sl_status sl_timeline_moves(const sl_figures *a, const sl_figures *b, sl_move **moves, size_t *n,
                            sl_error *err);

#endif
