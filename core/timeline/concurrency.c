/* concurrency.c - how many spans, engines or streams were busy at once, how long, and when none
 * was: one sweep over the selected spans, however many engines or streams there are. Spans of zero
 * length count nowhere, but lie within the time that is divided.
 */
#include "concurrency.h"

#include <stdlib.h>

#include "../base.h"
#include "store.h"

/* ---- rows ------------------------------------------------------------------------ */

static sl_status prepare(const sl_timeline *timeline, sl_concurrent of, sl__busy *rows,
                         sl_error *err)
{
    sl_status status = SL_OK;
    *rows = (sl__busy){ .n = of == SL_CONCURRENT_ENGINES ? (size_t)sl__unit_count(timeline) : 1 };
    if (of == SL_CONCURRENT_STREAMS) {
        status = sl__lanes_collect(timeline, false, &rows->lanes, err);
        rows->n = rows->lanes.n;
    }
    if (status != SL_OK) return status;
    rows->at = calloc(rows->n + 1, sizeof *rows->at);
    rows->ranges = calloc(rows->n + 1, sizeof *rows->ranges);
    return rows->at && rows->ranges ? SL_OK : sl__no_memory(err, "%zu streams", rows->n);
}

static size_t row_of(const sl_timeline *timeline, const sl__busy *rows, sl_concurrent of,
                     const sl_span *span)
{
    switch (of) {
    case SL_CONCURRENT_ENGINES: return (size_t)sl__unit_of(timeline, span);
    case SL_CONCURRENT_STREAMS: return sl__lanes_find(&rows->lanes, span->stream);
    case SL_CONCURRENT_SPANS: break;
    }
    return 0;
}

static sl_status collect(const sl_timeline *timeline, const sl_selection *sel, sl_concurrent of,
                         sl__busy *rows, sl__sweep *sweep, sl_error *err)
{
    sl__matcher match;
    const size_t n_spans = sl_timeline_span_count(timeline);
    if (!sl__matcher_make(timeline, sel, &match)) return SL_OK;
    for (size_t i = 0; i < n_spans; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        if (!sl__matches(&match, &span)) continue;
        size_t row = row_of(timeline, rows, of, &span);
        sl__interval_extend(&rows->range, &span, rows->n_spans++ == 0);
        sl__interval_extend(&rows->ranges[row], &span, rows->at[row].n == 0);
        sl__tally_count(&rows->at[row], &span);
        if (!sl__sweep_add(sweep, &span, (uint32_t)row))
            return sl__no_memory(err, "the intervals of %zu spans", n_spans);
    }
    return sl_interrupt_check(err);
}

/* ---- the profile ----------------------------------------------------------------- */

static sl_status walk(sl__sweep *sweep, sl__busy *rows, bool spans, sl_concurrency *profile,
                      sl_error *err)
{
    size_t busy = 0, cap = 0;
    int64_t since_ns = rows->range.start_ns;
    if (rows->n_spans == 0) return SL_OK;
    if (!SL__GROW_ZEROED(profile->at_ns, cap, 1)) return sl__no_memory(err, "a profile");
    profile->n = 1;
    for (sl__change change; sl__sweep_next(sweep, INT64_MAX, &change);) {
        if (!sl__tally_turn(&rows->at[change.row], &change) && !spans) continue;
        profile->at_ns[busy] += change.at_ns - since_ns;
        since_ns = change.at_ns;
        busy = change.starts ? busy + 1 : busy - 1;
        if (busy < profile->n) continue;
        if (!SL__GROW_ZEROED(profile->at_ns, cap, busy + 1))
            return sl__no_memory(err, "a profile of %zu at once", busy);
        profile->n = busy + 1;
    }
    profile->at_ns[0] += rows->range.end_ns - since_ns;
    return SL_OK;
}

sl_status sl__busy_measure(const sl_timeline *timeline, const sl_selection *sel, sl_concurrent of,
                           sl__busy *rows, sl_concurrency *profile, sl_error *err)
{
    sl__sweep sweep = { 0 };
    *profile = (sl_concurrency){ 0 };
    sl_status status = prepare(timeline, of, rows, err);
    if (status == SL_OK) status = collect(timeline, sel, of, rows, &sweep, err);
    if (status == SL_OK) status = walk(&sweep, rows, of == SL_CONCURRENT_SPANS, profile, err);
    sl__sweep_free(&sweep);
    if (status != SL_OK) {
        sl__busy_free(rows);
        free(profile->at_ns);
        *profile = (sl_concurrency){ 0 };
    }
    return status;
}

void sl__busy_free(sl__busy *rows)
{
    sl__lanes_free(&rows->lanes);
    free(rows->at);
    free(rows->ranges);
    *rows = (sl__busy){ 0 };
}

sl_status sl_timeline_concurrency(const sl_timeline *timeline, const sl_selection *sel,
                                  sl_concurrent of, sl_concurrency *profile, sl_error *err)
{
    sl__busy rows;
    sl_status status = sl__busy_measure(timeline, sel, of, &rows, profile, err);
    if (status == SL_OK) sl__busy_free(&rows);
    return status;
}

/* ---- gaps ------------------------------------------------------------------------ */

typedef struct gap_list {
    sl_gap *at;
    size_t n, cap;
} gap_list;

static bool add_gap(gap_list *g, int64_t start_ns, int64_t end_ns)
{
    if (start_ns == end_ns) return true;
    if (!SL__GROW(g->at, g->cap, g->n + 1)) return false;
    g->at[g->n++] = (sl_gap){ start_ns, end_ns };
    return true;
}

/* Spans of no length end no gap, but the first and the last of them bound the range. */
static bool find_gaps(sl__sweep *sweep, sl__busy *busy, gap_list *g)
{
    int64_t idle_ns = busy->range.start_ns; /* since when */
    for (sl__change change; sl__sweep_next(sweep, INT64_MAX, &change);) {
        if (!sl__tally_turn(&busy->at[0], &change)) continue;
        if (change.starts && !add_gap(g, idle_ns, change.at_ns)) return false;
        idle_ns = change.at_ns;
    }
    return busy->n_spans == 0 || add_gap(g, idle_ns, busy->range.end_ns);
}

sl_status sl_timeline_gaps(const sl_timeline *timeline, const sl_selection *sel, sl_gap **gaps,
                           size_t *n, sl_error *err)
{
    sl__busy busy;
    sl__sweep sweep = { 0 };
    gap_list g = { 0 };
    sl_status status = prepare(timeline, SL_CONCURRENT_SPANS, &busy, err);
    if (status == SL_OK) status = collect(timeline, sel, SL_CONCURRENT_SPANS, &busy, &sweep, err);
    if (status == SL_OK && !find_gaps(&sweep, &busy, &g)) {
        free(g.at);
        g = (gap_list){ 0 };
        status = sl__no_memory(err, "the gaps between %zu spans", busy.n_spans);
    }
    sl__sweep_free(&sweep);
    sl__busy_free(&busy);
    *gaps = g.at;
    *n = g.n;
    return status;
}
