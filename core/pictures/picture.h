/* picture.h - what the pictures of a timeline share: the labels and colours of the kinds, the
 * arrows between operations that waited for each other, and the host's calls.
 *
 * Plain data in times of the timeline; where it goes on paper or a screen is for the
 * pictures to say.
 */
#ifndef SL_PICTURES_PICTURE_H
#define SL_PICTURES_PICTURE_H

#include "../timeline/timeline.h"

/* ---- colours ----------------------------------------------------------------- */

/* "#rrggbb" for bars of a kind, their outlines, and text on them. Fills and outlines stand out
 * from the page by a contrast of 3 at least. Any two fills of the kinds and of the host's calls
 * differ for people who are colour-blind (protan, deutan, tritan); those of the kinds also in
 * lightness, so that a picture printed in grey tells them apart. */
typedef struct sl__paint { const char *fill, *edge, *ink; } sl__paint;
typedef struct sl__look {
    const char *name;           /* in style sheets: "memcpy_d2h" */
    const char *label;          /* in a legend: "copy D2H" */
    sl__paint light, dark;      /* on a white page, on a black one */
} sl__look;
extern const sl__look sl__looks[SL_SPAN_KINDS];

/* Of the host's calls. Those that wait are hatched: no fill, and the page's ink. */
typedef enum sl__host_look {
    SL__HOST_CALLS, SL__HOST_WAITS, SL__HOST_HELD_UP, SL__HOST_WORKS, SL__HOST_LOOKS
} sl__host_look;
extern const sl__look sl__host_looks[SL__HOST_LOOKS];
/* The label without the word "copy": "D2H". */
const char *sl__brief_label(sl_span_kind kind);

/* ---- arrows ------------------------------------------------------------------ */

typedef enum sl__arrow_kind {
    SL__ARROW_EVENT,    /* work of one stream waited for an event of another */
    SL__ARROW_HOST      /* a call of the host waited for work */
} sl__arrow_kind;

/* From the end of the last work before an event's record to the start of the first work
 * after the wait for it; or to the return of the call that waited. */
typedef struct sl__arrow {
    int64_t from_ns, to_ns;
    uint64_t from;              /* correlation of the span that was waited for */
    uint64_t to;                /* EVENT: of the span that waited; HOST: of the call */
    uint64_t wait;              /* of the call that ordered it */
    int64_t held_ns;            /* how long it really waited; 0: there was nothing to wait for */
    uint32_t from_stream, to_stream;
} sl__arrow;

typedef struct sl__arrows {
    sl__arrow *at;              /* in order of issue */
    size_t n;
    size_t n_left_out;          /* beyond the most that were asked for */
} sl__arrows;

/* The arrows of a kind that lie in the range (times of the spans' clock) with both ends; at
 * most `max` of them, those that waited longest. Streams that wait for themselves have
 * none. SL_ENOMEM. */
sl_status sl__arrows_find(const sl_timeline *timeline, sl__arrow_kind kind, int64_t from_ns,
                          int64_t to_ns, size_t max, sl__arrows *arrows, sl_error *err);
void sl__arrows_free(sl__arrows *arrows);       /* leaves it empty */

/* ---- the host ---------------------------------------------------------------- */

typedef enum sl__host_does {
    SL__DOES_WAIT,      /* a synchronisation, or a plain call that waited for the device */
    SL__DOES_COPY,      /* a copy whose call returned only when the device had done its part */
    SL__DOES_QUEUE,     /* no room in the launch queue */
    SL__DOES_CALL,      /* a plain call that did not wait, but took its time */
    SL__DOES_WORK,      /* work of the host's own */
    SL__DOES_ISSUE      /* the call enqueued something, and returned */
} sl__host_does;

/* A call, during which the host could not issue more. */
typedef struct sl__host_call {
    int64_t start_ns, end_ns;
    uint64_t correlation;
    uint32_t stream, name, where;       /* text ids; the name may be "" */
    uint8_t does;                       /* sl__host_does */
    uint8_t kind;                       /* sl_span_kind or sl_call_kind */
    bool of_span;                       /* the call enqueued an operation */
} sl__host_call;

typedef struct sl__host_calls { sl__host_call *at; size_t n; } sl__host_calls;

/* All that took time, by start. SL_ENOMEM. */
sl_status sl__host_calls_find(const sl_timeline *timeline, sl__host_calls *list, sl_error *err);
void sl__host_calls_free(sl__host_calls *list);         /* leaves it empty */
/* What it says on such a bar: "device synchronize", "copy D2H", "cudaFree"; or where there
 * is little room "sync", "D2H". */
const char *sl__host_call_name(const sl_timeline *timeline, const sl__host_call *call, bool brief);
sl__host_look sl__host_call_look(int does);

#endif
