/* timeline.h - what ran when: the recorded timeline, and what is read off it.
 *
 * A timeline is plain data: spans (operations on the device), calls (events,
 * synchronisations and plain calls of the host) and streams, with ids and
 * interned texts instead of pointers. Everything in this folder reads only
 * that, so it serves both backends and, later, traces from elsewhere.
 *
 * Times are int64 nanoseconds on one clock that host and device share.
 */
#ifndef SL_TIMELINE_H
#define SL_TIMELINE_H

#include "../streamlab.h"

typedef enum sl_span_kind {
    SL_SPAN_KERNEL, SL_SPAN_MEMCPY_H2D, SL_SPAN_MEMCPY_D2H, SL_SPAN_MEMCPY_D2D,
    SL_SPAN_MEMCPY_P2P, SL_SPAN_MEMSET, SL_SPAN_HOST_FUNC, SL_SPAN_KINDS
} sl_span_kind;

typedef enum sl_engine {
    SL_ENGINE_COMPUTE, SL_ENGINE_H2D, SL_ENGINE_D2H, SL_ENGINE_P2P, SL_ENGINE_HOST, SL_ENGINES
} sl_engine;

enum {                          /* sl_span.flags */
    SL_SPAN_HOST_WAITED = 1,    /* the enqueueing call returned only after the span's end */
    SL_SPAN_SRC_PAGEABLE = 2, SL_SPAN_SRC_PINNED = 4,   /* neither: device memory */
    SL_SPAN_DST_PAGEABLE = 8, SL_SPAN_DST_PINNED = 16
};

/* One operation on the device. */
typedef struct sl_span {
    int64_t start_ns, end_ns;               /* on the device */
    int64_t host_start_ns, host_end_ns;     /* the call that enqueued it */
    uint64_t bytes;                         /* moved (copies, memsets), else 0 */
    uint64_t correlation;                   /* issue number: unique, >= 1, ascending */
    uint32_t stream;                        /* stream id, 0 is the NULL stream */
    uint32_t name, where;                   /* text ids, see sl_timeline_text */
    uint32_t symbol;                        /* text id: the kernel's own name on a real GPU */
    uint32_t blocks;                        /* grid, 0 if no kernel */
    uint16_t threads;                       /* per block */
    uint8_t kind, engine, flags;
} sl_span;

typedef enum sl_call_kind {
    SL_CALL_EVENT_RECORD,    /* in `stream`; device_ns is its timestamp */
    SL_CALL_STREAM_WAIT,     /* `stream` waits for record `target` (0: none) of `target_stream` */
    SL_CALL_STREAM_SYNC, SL_CALL_EVENT_SYNC, SL_CALL_DEVICE_SYNC,   /* the host waited */
    SL_CALL_PLAIN            /* any other host call: name says which (cudaFree) */
} sl_call_kind;

/* One call of the host that is no span. */
typedef struct sl_call {
    int64_t host_start_ns, host_end_ns;
    int64_t device_ns;              /* when a record or wait was reached on the device, else 0;
                                     * on a real GPU inferred from the spans of its stream */
    uint64_t correlation;           /* from the same counter as the spans' */
    uint64_t target;                /* EVENT_SYNC and STREAM_WAIT: correlation of the record */
    uint32_t stream, target_stream;
    uint32_t name, where;
    uint8_t kind;
    uint8_t waited_for_device;      /* PLAIN: the host waited for all earlier work */
} sl_call;

typedef struct sl_stream_note {     /* a stream that the timeline names */
    uint32_t id, name;
    int32_t priority;
    bool non_blocking;
} sl_stream_note;

/* ---- lifecycle --------------------------------------------------------- */

sl_status sl_timeline_create(sl_timeline **timeline, sl_error *err);   /* empty */
sl_timeline *sl_timeline_retain(sl_timeline *timeline);
void sl_timeline_release(sl_timeline *timeline);

/* ---- writing: the recorder, importers and tests ------------------------- */

/* The id of `text` in this timeline; 0 is always "". Ids are dense. SL_ENOMEM. */
sl_status sl_timeline_intern(sl_timeline *timeline, const char *text, uint32_t *id, sl_error *err);
sl_status sl_timeline_add_span(sl_timeline *timeline, const sl_span *span, sl_error *err);
sl_status sl_timeline_add_call(sl_timeline *timeline, const sl_call *call, sl_error *err);
sl_status sl_timeline_add_stream(sl_timeline *timeline, const sl_stream_note *note, sl_error *err);
void sl_timeline_set_device(sl_timeline *timeline, const sl_device_info *info);
/* Sorts by correlation and fixes the host's interval; after that it is read-only. */
void sl_timeline_finish(sl_timeline *timeline, int64_t host_start_ns, int64_t host_end_ns);

/* ---- reading ----------------------------------------------------------- */

const sl_span *sl_timeline_spans(const sl_timeline *timeline, size_t *n);   /* by correlation */
const sl_call *sl_timeline_calls(const sl_timeline *timeline, size_t *n);   /* by correlation */
const sl_stream_note *sl_timeline_streams(const sl_timeline *timeline, size_t *n);  /* by id */
const char *sl_timeline_text(const sl_timeline *timeline, uint32_t id);
const sl_device_info *sl_timeline_device(const sl_timeline *timeline);

/* From the first span's start to the last one's end. */
int64_t sl_timeline_makespan_ns(const sl_timeline *timeline);
int64_t sl_timeline_wall_ns(const sl_timeline *timeline);       /* the host's time */

const char *sl_span_kind_name(sl_span_kind kind);      /* "memcpy_h2d" */
const char *sl_engine_name(sl_engine engine);          /* "compute", "h2d", "d2h", "p2p", "host" */
bool sl_span_kind_parse(const char *name, sl_span_kind *kind);
bool sl_engine_parse(const char *name, sl_engine *engine);

/* ---- overlap (overlap.c): interval arithmetic in O(n log n), exact to the ns */

/* A selection of spans: every field that is set must match. */
typedef struct sl_selection {
    int64_t stream;         /* -1: any */
    int kind;               /* -1: any */
    int engine;             /* -1: any */
    const char *name;       /* NULL: any; the exact span name */
} sl_selection;
extern const sl_selection sl_select_all;

/* Length of the union of the selected spans, and of the intersection of two unions. */
sl_status sl_timeline_busy_ns(const sl_timeline *timeline, const sl_selection *sel,
                              int64_t *busy_ns, sl_error *err);
sl_status sl_timeline_overlap_ns(const sl_timeline *timeline, const sl_selection *a,
                                 const sl_selection *b, int64_t *overlap_ns, sl_error *err);

/* ---- bounds (bounds.c) -------------------------------------------------- */

typedef struct sl_bounds {
    int64_t serial_ns;          /* all spans one after the other */
    int64_t busiest_engine_ns;  /* the largest busy time of an engine */
    sl_engine busiest_engine;
    int64_t critical_path_ns;   /* longest chain: stream order, events, NULL stream, host waits */
    int64_t lower_ns;           /* max(busiest_engine, critical_path): no schedule in which the
                                 * host waits where it did can be shorter */
    int64_t unblocked_ns;       /* the same if the host had never waited: stream order, events
                                 * and the NULL stream alone; <= lower */
} sl_bounds;
sl_status sl_timeline_bounds(const sl_timeline *timeline, sl_bounds *bounds, sl_error *err);

/* ---- pictures and files -------------------------------------------------- */

/* A growing text; data is NUL-terminated once something was added. */
typedef struct sl_text { char *data; size_t len, cap; bool failed; } sl_text;
void sl_text_add(sl_text *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sl_text_free(sl_text *text);

typedef struct sl_gantt_options {
    int columns;            /* width of the whole chart; 0: 80 */
    bool unicode, colour;
    int64_t from_ns, to_ns; /* range relative to the first span's start; to 0: all */
} sl_gantt_options;
/* The Gantt chart, a row a stream (gantt_text.c). Appends to *out. */
sl_status sl_timeline_gantt(const sl_timeline *timeline, const sl_gantt_options *options,
                            sl_text *out, sl_error *err);
/* Busy times, overlaps and bounds as a table (summary.c). Appends to *out. */
sl_status sl_timeline_summary(const sl_timeline *timeline, sl_text *out, sl_error *err);
/* A kineto-shaped JSON trace (kineto_write.c). Written to a temporary file beside
 * `path` and renamed: a failure leaves an old file whole. SL_EIO names the path. */
sl_status sl_timeline_save_kineto(const sl_timeline *timeline, const char *path, sl_error *err);

#endif
