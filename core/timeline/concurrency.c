/* concurrency.c - how many spans, engines or streams were busy at once, and how long.
 *
 * The selected spans are grouped by engine or stream, and each group becomes a union. Then the
 * starts of all intervals are sorted, and so are the ends; walking through both, a start adds one
 * that is busy, an end takes one away. O(n log n), however many groups there are. Spans of zero
 * length count nowhere, but lie within the time that is divided.
 */
#include "concurrency.h"

#include <stdlib.h>

#include "store.h"

/* ---- groups ------------------------------------------------------------------ */

static size_t group_of(const sl_timeline *timeline, const sl__groups *groups, sl_concurrent by,
                       const sl_span *span)
{
    switch (by) {
    case SL_CONCURRENT_ENGINES: return (size_t)sl__unit_of(timeline, span);
    case SL_CONCURRENT_STREAMS: return sl__lanes_find(&groups->lanes, span->stream);
    case SL_CONCURRENT_WORK: return (size_t)span->engine * SL_SPAN_KINDS + span->kind;
    case SL_CONCURRENT_SPANS: break;
    }
    return 0;
}

/* Counts the selected spans by group, then puts each where its group has its place. */
static sl_status deal_out(const sl_timeline *timeline, const sl__matcher *match, sl_concurrent by,
                          sl__groups *groups, sl_error *err)
{
    const size_t n_spans = sl_timeline_span_count(timeline);
    size_t n = 0;
    for (size_t i = 0; i < n_spans; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        if (sl__matches_lasting(match, &span)) groups->end[group_of(timeline, groups, by, &span)]++;
    }
    for (size_t group = 0; group < groups->n; group++) {
        size_t count = groups->end[group];
        groups->end[group] = n; /* moves to its end with each that is put there */
        n += count;
    }
    groups->at = malloc((n + 1) * sizeof *groups->at);
    if (!groups->at) return sl_fail(err, SL_ENOMEM, "no memory for the intervals of %zu spans", n);
    for (size_t i = 0; i < n_spans; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        if (!sl__matches_lasting(match, &span)) continue;
        size_t *end = &groups->end[group_of(timeline, groups, by, &span)];
        groups->at[(*end)++] = (sl__interval){ span.start_ns, span.end_ns };
    }
    return SL_OK;
}

/* Makes a union of every group and moves the groups together. */
static void join_each(sl__groups *groups)
{
    size_t from = 0, kept = 0;
    for (size_t group = 0; group < groups->n; group++) {
        sl__union u = { groups->at + from, groups->end[group] - from };
        from = groups->end[group];
        sl__union_join(&u);
        for (size_t i = 0; i < u.n; i++)
            groups->at[kept++] = u.at[i];
        groups->end[group] = kept;
    }
}

sl_status sl__groups_collect(const sl_timeline *timeline, const sl_selection *sel, sl_concurrent by,
                             sl__groups *groups, sl_error *err)
{
    sl__matcher match;
    sl_status status = SL_OK;
    *groups = (sl__groups){ .n = by == SL_CONCURRENT_ENGINES ? (size_t)sl__unit_count(timeline)
                                 : by == SL_CONCURRENT_WORK  ? SL_ENGINES * SL_SPAN_KINDS
                                                             : 1 };
    if (!sl__matcher_make(timeline, sel, &match)) {
        groups->n = 0;
        return SL_OK;
    }
    if (by == SL_CONCURRENT_STREAMS) {
        status = sl__lanes_collect(timeline, false, &groups->lanes, err);
        groups->n = groups->lanes.n;
    }
    if (status == SL_OK) {
        groups->end = calloc(groups->n + 1, sizeof *groups->end);
        status = groups->end ? deal_out(timeline, &match, by, groups, err)
                             : sl_fail(err, SL_ENOMEM, "no memory for %zu streams", groups->n);
    }
    if (status != SL_OK)
        sl__groups_free(groups);
    else if (by != SL_CONCURRENT_SPANS)
        join_each(groups);
    return status;
}

sl__union sl__groups_get(const sl__groups *groups, size_t group)
{
    size_t from = group > 0 ? groups->end[group - 1] : 0;
    return (sl__union){ groups->at + from, groups->end[group] - from };
}

void sl__groups_free(sl__groups *groups)
{
    free(groups->at);
    free(groups->end);
    sl__lanes_free(&groups->lanes);
    *groups = (sl__groups){ 0 };
}

/* ---- the profile --------------------------------------------------------------- */

typedef struct edges {
    int64_t *starts, *ends;
    size_t n;
} edges;

static void free_edges(edges *e)
{
    free(e->starts);
    free(e->ends);
}

static sl_status take_edges(const sl__groups *groups, edges *e, sl_error *err)
{
    size_t n = groups->n > 0 ? groups->end[groups->n - 1] : 0;
    *e = (edges){ malloc((n + 1) * sizeof *e->starts), malloc((n + 1) * sizeof *e->ends), n };
    if (!e->starts || !e->ends) {
        free_edges(e);
        return sl_fail(err, SL_ENOMEM, "no memory for the edges of %zu intervals", n);
    }
    for (size_t i = 0; i < n; i++) {
        e->starts[i] = groups->at[i].start_ns;
        e->ends[i] = groups->at[i].end_ns;
    }
    sl__sort(e->starts, n, sizeof *e->starts, sl__by_time);
    sl__sort(e->ends, n, sizeof *e->ends, sl__by_time);
    return SL_OK;
}

/* Adds the time with k busy to at_ns[k], unless that is NULL. Gives the most at once. At the same
 * moment ends come before starts, so that intervals that touch are never busy at once. */
static size_t walk(const edges *e, const sl__interval *range, int64_t *at_ns)
{
    size_t busy = 0, most = 0;
    int64_t before = range->start_ns;
    for (size_t i = 0, j = 0; j < e->n;) {
        bool starts = i < e->n && e->starts[i] < e->ends[j];
        int64_t now = starts ? e->starts[i++] : e->ends[j++];
        if (at_ns) at_ns[busy] += now - before;
        before = now;
        busy = starts ? busy + 1 : busy - 1;
        most = busy > most ? busy : most;
    }
    if (at_ns) at_ns[0] += range->end_ns - before;
    return most;
}

sl_status sl__groups_profile(const sl__groups *groups, const sl__interval *range,
                             sl_concurrency *profile, sl_error *err)
{
    edges e;
    *profile = (sl_concurrency){ 0 };
    sl_status status = take_edges(groups, &e, err);
    if (status != SL_OK) return status;
    size_t n = walk(&e, range, NULL) + 1;
    profile->at_ns = calloc(n, sizeof *profile->at_ns);
    if (profile->at_ns) {
        profile->n = n;
        walk(&e, range, profile->at_ns);
    } else {
        status = sl_fail(err, SL_ENOMEM, "no memory for a profile of %zu at once", n - 1);
    }
    free_edges(&e);
    return status;
}

sl_status sl_timeline_concurrency(const sl_timeline *timeline, const sl_selection *sel,
                                  sl_concurrent of, sl_concurrency *profile, sl_error *err)
{
    sl__interval range;
    sl__groups groups;
    *profile = (sl_concurrency){ 0 };
    if (!sl__selected_range(timeline, sel, &range)) return SL_OK;
    sl_status status = sl__groups_collect(timeline, sel, of, &groups, err);
    if (status != SL_OK) return status;
    status = sl__groups_profile(&groups, &range, profile, err);
    sl__groups_free(&groups);
    return status;
}
