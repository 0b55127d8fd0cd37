/* pictures.h - timelines as charts, pictures and pages: what of a timeline fits a picture belongs
 * here, as records; what is computed for it, in timeline/. Charts and pictures are drawn by
 * bindings/pictures/.
 */
#ifndef SL_PICTURES_H
#define SL_PICTURES_H

#include "../streamlab.h"
#include "../timeline/causes.h"
#include "../timeline/spans.h"

typedef enum sl_rows { SL_ROWS_STREAMS, SL_ROWS_ENGINES } sl_rows;

/* ---- labels and colours (looks.c) ---- */

/* "#rrggbb" for bars of a kind, their outlines, and text on them. Fills and outlines stand out from
 * the page by a contrast of 3 at least. Any two fills of the kinds and of the host's calls differ
 * for people who are colour-blind (protan, deutan, tritan); those of the kinds also in lightness,
 * so that they differ in a picture printed in grey. */
typedef struct sl_paint {
    const char *fill, *edge, *ink;
} sl_paint;
typedef struct sl_look {
    const char *name;     /* in style sheets: "memcpy_d2h" */
    const char *label;    /* in a legend: "copy D2H" */
    sl_paint light, dark; /* on a white page, on a black one */
} sl_look;
extern const sl_look sl_looks[SL_SPAN_KINDS];

/* Of the host's calls. Those that wait are hatched: no fill, and the page's ink. */
typedef enum sl_host_look {
    SL_HOST_CALLS,
    SL_HOST_WAITS,
    SL_HOST_HELD_UP,
    SL_HOST_WORKS,
    SL_HOST_LOOKS
} sl_host_look;
extern const sl_look sl_host_looks[SL_HOST_LOOKS];
/* The label without the word "copy": "D2H". */
const char *sl_brief_label(sl_span_kind kind);

/* ---- charts in characters (gantt_cells.c) ---- */

typedef struct sl_cell {
    int64_t fill_ns[SL_SPAN_KINDS]; /* how much of the cell each kind takes */
    int64_t busy_ns;                /* and all of them, counting no instant twice */
    uint8_t seen;                   /* bit per kind, also for spans of no length */
    uint8_t pieces;                 /* separate stretches of work, at most 2 */
    bool left, right;               /* work reaches over this edge of the cell */
    bool begins;                    /* a span of several cells begins here that would look like
                                         * a part of the one before */
} sl_cell;

typedef struct sl_grid_row {
    uint32_t id;     /* of the stream, or the engine */
    int64_t busy_ns; /* in the range shown */
} sl_grid_row;

/* The timeline on a grid: a row a stream or engine, a cell a piece of time. */
typedef struct sl_grid {
    struct sl__walk *walk; /* the spans, while it is open */
    const uint32_t *ids;   /* of all streams, or engines, that have spans; ascending */
    size_t n_ids;
    int64_t from_ns, to_ns;
    int n_cells;
    int64_t *edges;            /* n_cells + 1 times: where the cells begin */
    sl_grid_row *rows;         /* by id */
    size_t n_rows, n_left_out; /* those beyond max_rows, the least busy */
    sl_cell *cells;            /* n_rows x n_cells */
} sl_grid;

/* Finds the ids; the timeline must stay until close. SL_ENOMEM. */
sl_status sl_grid_open(const sl_timeline *timeline, sl_rows rows, sl_grid *grid, sl_error *err);
/* Once. Shows every stream, or engine, that has spans, or the max_rows busiest of them, between two
 * times of the timeline: to - from >= n_cells. O(spans x log cells + cells), and where the spans
 * have to be sorted that as well. SL_ENOMEM. */
sl_status sl_grid_fill(sl_grid *grid, int64_t from_ns, int64_t to_ns, int n_cells, size_t max_rows,
                       sl_error *err);
void sl_grid_close(sl_grid *grid); /* leaves it empty */
/* The column in which a time of the range lies. */
int sl_grid_column(const sl_grid *grid, int64_t ns);
/* The kind that takes most of the cell, -1: nothing ran. Spans of no length come last. */
int sl_cell_kind(const sl_cell *cell);
/* How much of it is busy, rounded: of so many parts. */
int sl_cell_part(const sl_grid *grid, size_t row, int column, int parts);

/* ---- what the host did (host_calls.c) ---- */

typedef enum sl_host_does {
    SL_DOES_WAIT,  /* a synchronisation, or a host API call that waited for the device */
    SL_DOES_COPY,  /* a copy whose call returned only when the device had done its part */
    SL_DOES_QUEUE, /* no room in the launch queue */
    SL_DOES_CALL,  /* a host API call that did not wait, but took its time */
    SL_DOES_WORK,  /* work of the host's own */
    SL_DOES_ISSUE  /* the call enqueued something, and returned */
} sl_host_does;

/* A call, during which the host could not issue more. */
typedef struct sl_host_call {
    int64_t start_ns, end_ns;
    uint64_t correlation;
    uint32_t stream, name, where; /* text ids; the name may be "" */
    uint32_t thread;              /* of the host */
    uint8_t does;                 /* sl_host_does */
    uint8_t kind;                 /* sl_span_kind or sl_call_kind */
    bool of_span;                 /* the call enqueued an operation */
} sl_host_call;

typedef struct sl_host_calls {
    sl_host_call *at;
    size_t n;
    uint32_t n_threads; /* their numbers are below this */
} sl_host_calls;

/* All that took time, by start. SL_ENOMEM. */
sl_status sl_host_calls_find(const sl_timeline *timeline, sl_host_calls *list, sl_error *err);
void sl_host_calls_free(sl_host_calls *list); /* leaves it empty */
/* The label of such a bar: "device synchronize", "copy D2H", "cudaFree"; or where there is little
 * room "sync", "D2H". */
const char *sl_host_call_name(const sl_timeline *timeline, const sl_host_call *call, bool brief);
sl_host_look sl_host_call_look(int does);

/* ---- arrows (arrows.c) ---- */

typedef enum sl_arrow_kind {
    SL_ARROW_EVENT, /* work of one stream waited for an event of another */
    SL_ARROW_HOST   /* a call of the host waited for work */
} sl_arrow_kind;

/* From the end of the last work before an event's record to the start of the first work
 * after the wait for it; or to the return of the call that waited. */
typedef struct sl_arrow {
    int64_t from_ns, to_ns;
    uint64_t from;   /* correlation of the span that was waited for */
    uint64_t to;     /* EVENT: of the span that waited; HOST: of the call */
    uint64_t wait;   /* of the call that ordered it */
    int64_t held_ns; /* how long it really waited; 0: there was nothing to wait for */
    uint32_t from_stream, to_stream;
} sl_arrow;

typedef struct sl_arrows {
    sl_arrow *at; /* in order of issue */
    size_t n;
    size_t n_left_out; /* beyond the most that were asked for */
} sl_arrows;

/* The arrows of a kind that lie in the range (times of the spans' clock) with both ends; at
 * most `max` of them, those that waited longest. Streams that wait for themselves have
 * none. SL_ENOMEM. */
sl_status sl_arrows_find(const sl_timeline *timeline, sl_arrow_kind kind, int64_t from_ns,
                         int64_t to_ns, size_t max, sl_arrows *arrows, sl_error *err);
void sl_arrows_free(sl_arrows *arrows); /* leaves it empty */

/* ---- pictures (bars.c, bar_rows.c) ---- */

/* Positions are in hundredths of a pixel from the left edge of the chart. */
#define SL_PX 100      /* positions in a pixel */
#define SL_BAR_KINDS 8 /* kinds of pieces, at most */

typedef struct sl_scale {
    int64_t from_ns, to_ns; /* from < to */
    int64_t width;          /* what they are apart */
} sl_scale;

/* The position of a time of the range; times outside are at the edges. */
int64_t sl_scale_x(const sl_scale *scale, int64_t ns);

typedef struct sl_bar {
    int64_t x, width; /* at least one pixel wide */
    int64_t start_ns, end_ns;
    int64_t busy_ns; /* of these: with pieces running */
    uint32_t counts[SL_BAR_KINDS];
    size_t n;     /* pieces */
    size_t first; /* index of the first one */
    uint8_t kind; /* which took most of the time */
    uint8_t lane;
    uint32_t name;  /* of the first one */
    bool same_name; /* all have it */
    bool crowded;   /* another bar of its lane lies over it, or below */
} sl_bar;

typedef struct sl_bars {
    sl_bar *at;
    size_t n, cap;
} sl_bars;

typedef struct sl_picture_row {
    uint32_t id; /* stream id, or engine */
    int n_lanes;
    int64_t busy_ns; /* in the range */
    size_t first_piece, n_pieces;
    size_t first_bar, n_bars;
} sl_picture_row;

enum { SL__MOST_HOSTS = 16 };

typedef struct sl_picture {
    const sl_timeline *timeline;
    sl_rows by;
    sl_scale scale;
    sl_picture_row *at;    /* by id */
    size_t n, n_left_out;  /* the least busy, beyond the most that were asked for */
    sl_picture_row *hosts; /* by thread of the host, its id; the bars' indices are those of `calls`,
                            * kinds what they do */
    size_t n_hosts;        /* that have calls, at most SL__MOST_HOSTS: the first ones */
    sl_host_calls calls;
    struct sl__piece *pieces;
    sl_bars bars;
    struct sl__lanes *lanes; /* streams, or engines, that have spans, */
    const uint32_t *ids;     /* their ids, ascending, */
    size_t n_ids;
    size_t *row_of;   /* and their rows; SIZE_MAX: left out */
    uint8_t *lane_of; /* by span, of those that are shown */
} sl_picture;

/* Finds the streams, or engines, that have spans; the timeline must stay until close. SL_ENOMEM. */
sl_status sl_picture_open(const sl_timeline *timeline, sl_rows by, sl_picture *picture,
                          sl_error *err);
/* Once. The rows of all of them, at most `max_rows`, the busiest, with what is shown of them as
 * bars: at most about `max_bars` in all, which become coarser until they fit. SL_ENOMEM. */
sl_status sl_picture_fill(sl_picture *picture, const sl_scale *scale, size_t max_rows,
                          size_t max_bars, sl_error *err);
void sl_picture_close(sl_picture *picture); /* leaves it empty */
/* The row of a thread of the host, NULL if it has none. */
const sl_picture_row *sl_picture_find_host(const sl_picture *picture, uint32_t thread);
/* The row in which the span with that correlation lies, and the lane there; NULL if it is left out,
 * or there is none. */
const sl_picture_row *sl_picture_find(const sl_picture *picture, uint64_t correlation, int *lane);

/* ---- pages (report_html.c) ---- */

/* The words of a page, which the caller composes. Texts are borrowed. */
enum { SL_PAGE_FINDINGS = 40 }; /* more are only counted */
typedef struct sl_page_words {
    const char *verdict;
    const char *doubts; /* what stands above it, a line each: also what recording took */
    const char *sentences[SL_PAGE_FINDINGS];
    const char *remedies[SL_PAGE_FINDINGS]; /* NULL: there is none */
    const char *titles[SL_CAUSES];          /* of a cause, NULL for NONE */
    const char *shorts[SL_CAUSES];          /* what an operation waited for; {} is its name */
    const struct sl_page_change *changes;   /* what they would gain, the most first */
    size_t n_changes;
    int64_t before_ns; /* what the program takes without them, less what recording took */
} sl_page_words;
/* A change of the recorded program (core/whatif), and what is predicted of it. */
typedef struct sl_page_change {
    const char *what, *command; /* in words; and the command line that shows it */
    int64_t after_ns, low_ns, high_ns;
    const sl_timeline *timeline; /* as predicted; NULL: the page does not have it, */
    const sl_page_words *words;  /* and its words, without changes */
} sl_page_change;
/* One page that needs nothing else: chart, tables, explanation, also of the timelines that changes
 * have. Without words (NULL) causes are
 * shown by their codes. The file is written to a temporary file beside `path` and renamed: a
 * failure leaves an old file whole. SL_EIO names the path. */
sl_status sl_timeline_save_html(const sl_timeline *timeline, const char *path,
                                const sl_page_words *words, sl_error *err);

#endif
