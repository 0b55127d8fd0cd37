/* figures.h - how long what was busy, at the same time as what, and what at least it takes. */
#ifndef SL_TIMELINE_FIGURES_H
#define SL_TIMELINE_FIGURES_H

#include "spans.h"

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
/* The index of the first selected span from index `from` on; the number of spans if there is none,
 * as in a timeline that has only a summary. */
size_t sl_timeline_find(const sl_timeline *timeline, const sl_selection *sel, size_t from);
/* Length of the union of the selected spans. SL_EUNSUPPORTED, as for common_ns: it has only a
 * summary, which does not tell these apart. */
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
    /* Exactly so many were busy. Where spans are of several devices, each has engines of its
     * own. */
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
    /* Where spans are of several devices, the figures of each one's kinds and engines, by place:
     * what two devices do at the same time is no overlap of one. Else NULL. */
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
