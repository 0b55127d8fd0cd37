/* overlap.h - unions of time intervals, for the readers of timelines. */
#ifndef SL_TIMELINE_OVERLAP_H
#define SL_TIMELINE_OVERLAP_H

#include "sort.h"
#include "timeline.h"

typedef struct sl__interval {
    int64_t start_ns, end_ns;
} sl__interval;

/* Makes the interval reach over the span, too; the first one sets it. */
static inline void sl__interval_extend(sl__interval *range, const sl_span *span, bool is_first)
{
    if (is_first || span->start_ns < range->start_ns) range->start_ns = span->start_ns;
    if (is_first || span->end_ns > range->end_ns) range->end_ns = span->end_ns;
}

/* ---- selected spans --------------------------------------------------------- */

/* A selection with its name looked up, so that a span is matched by integers. */
typedef struct sl__matcher {
    const sl_timeline *timeline;
    int64_t stream;
    int place, kind, engine;
    bool any_name;
    uint32_t name;
} sl__matcher;

/* False if no span can match, because the timeline does not know the name. */
bool sl__matcher_make(const sl_timeline *timeline, const sl_selection *sel, sl__matcher *match);

static inline bool sl__matches(const sl__matcher *match, const sl_span *span)
{
    return (match->stream < 0 || match->stream == span->stream)
           && (match->place < 0 || match->place == sl_timeline_place(match->timeline, span->stream))
           && (match->kind < 0 || match->kind == span->kind)
           && (match->engine < 0 || match->engine == span->engine)
           && (match->any_name || match->name == span->name);
}

/* ---- unions ------------------------------------------------------------------ */

/* Disjoint, not touching, ascending intervals; none is empty. */
typedef struct sl__union {
    sl__interval *at;
    size_t n;
} sl__union;

/* The union of the selected spans. On failure *result is empty. */
sl_status sl__union_collect(const sl_timeline *timeline, const sl_selection *sel, sl__union *result,
                            sl_error *err);
/* The union of the spans of each engine of each device: SL__UNITS of them, and the caller frees
 * each. On failure all are empty. */
sl_status sl__unions_by_unit(const sl_timeline *timeline, sl__union *unions, sl_error *err);
/* How long each was busy: SL__UNITS of them; of a summary, too. */
sl_status sl__busy_by_unit(const sl_timeline *timeline, int64_t *busy_ns, sl_error *err);
/* Makes a union, in place, of intervals in any order, none of them empty. */
void sl__union_join(sl__union *u);
int64_t sl__union_length_ns(const sl__union *u);
/* How much of [from, to] lies in it. O(log n + what is found). */
int64_t sl__union_measure_ns(const sl__union *u, int64_t from_ns, int64_t to_ns);
/* The same where the next one begins near the last: *near is where that was found, 0 at first. */
int64_t sl__union_measure_near_ns(const sl__union *u, int64_t from_ns, int64_t to_ns, size_t *near);
void sl__union_free(sl__union *u); /* leaves it empty */

#endif
