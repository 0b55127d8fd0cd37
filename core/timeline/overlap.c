/* overlap.c - selections of spans and their busy times, exact to the ns.
 *
 * A selection of spans becomes a union: its intervals are sorted by start (one check shows that a
 * single stream's already are) and merged in place. O(n log n) in all; spans of zero length are in
 * no union.
 */
#include "overlap.h"

#include <stdlib.h>

#include "../base.h"
#include "store.h"
#include "summary.h"

const sl_selection sl_select_all = {
    .stream = -1, .place = -1, .kind = -1, .engine = -1, .name = NULL
};

/* ---- selecting ------------------------------------------------------------- */

bool sl__matcher_make(const sl_timeline *timeline, const sl_selection *sel, sl__matcher *match)
{
    *match = (sl__matcher){
        .timeline = timeline,
        .stream = sel->stream,
        .place = sel->place,
        .kind = sel->kind,
        .engine = sel->engine,
        .any_name = !sel->name,
    };
    return !sel->name || sl__timeline_find_text(timeline, sel->name, &match->name);
}

size_t sl_timeline_find(const sl_timeline *timeline, const sl_selection *sel, size_t from)
{
    sl__matcher match;
    const size_t n = sl_timeline_span_count(timeline);
    if (!sl__matcher_make(timeline, sel, &match)) return n;
    for (; from < n; from++) {
        sl_span span = sl_timeline_span(timeline, from);
        if (sl__matches(&match, &span)) break;
    }
    return from;
}

size_t sl_timeline_count(const sl_timeline *timeline, const sl_selection *sel)
{
    sl__matcher match;
    sl__tally tally;
    const size_t n = sl_timeline_span_count(timeline);
    size_t count = 0;
    if (sl_timeline_is_summary(timeline))
        return sl__summary_tally(timeline, sel, &tally, NULL) == SL_OK ? tally.n : 0;
    if (!sl__matcher_make(timeline, sel, &match)) return 0;
    for (size_t i = 0; i < n; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        count += sl__matches(&match, &span);
    }
    return count;
}

/* ---- order ----------------------------------------------------------------- */

SL__ORDER(by_time, int64_t, *x);

/* ---- unions ---------------------------------------------------------------- */

/* Sorted, those that overlap or touch become one. */
void sl__union_join(sl__union *u)
{
    size_t last = 0;
    sl__sort(u->at, u->n, sizeof *u->at, by_time);
    for (size_t i = 1; i < u->n; i++) {
        if (u->at[i].start_ns > u->at[last].end_ns)
            u->at[++last] = u->at[i];
        else if (u->at[i].end_ns > u->at[last].end_ns)
            u->at[last].end_ns = u->at[i].end_ns;
    }
    if (u->n > 0) u->n = last + 1;
}

sl_status sl__union_collect(const sl_timeline *timeline, const sl_selection *sel, sl__union *result,
                            sl_error *err)
{
    sl__matcher match;
    const size_t n_spans = sl_timeline_span_count(timeline);
    size_t cap = 0;
    sl_status status = SL_OK;
    *result = (sl__union){ 0 };
    if (!sl__matcher_make(timeline, sel, &match)) return SL_OK;
    for (size_t i = 0; i < n_spans && status == SL_OK; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        if (!sl__matches(&match, &span) || span.start_ns == span.end_ns) continue;
        if (SL__GROW(result->at, cap, result->n + 1))
            result->at[result->n++] = (sl__interval){ span.start_ns, span.end_ns };
        else
            status = sl__no_memory(err, "the intervals of %zu spans", n_spans);
    }
    sl__union_join(result);
    if (status == SL_OK) status = sl_interrupt_check(err);
    if (status != SL_OK) sl__union_free(result);
    return status;
}

int64_t sl__union_length_ns(const sl__union *u)
{
    int64_t length = 0;
    for (size_t i = 0; i < u->n; i++)
        length += u->at[i].end_ns - u->at[i].start_ns;
    return length;
}

int64_t sl__union_measure_ns(const sl__union *u, int64_t from_ns, int64_t to_ns)
{
    size_t at;
    SL__SEARCH(at, u->n, u->at[at].end_ns <= from_ns);
    int64_t sum = 0;
    for (; at < u->n && u->at[at].start_ns < to_ns; at++)
        sum += sl__min(u->at[at].end_ns, to_ns) - sl__max(u->at[at].start_ns, from_ns);
    return sum;
}

void sl__union_free(sl__union *u)
{
    free(u->at);
    *u = (sl__union){ 0 };
}

/* ---- public ---------------------------------------------------------------- */

sl_status sl_timeline_busy_ns(const sl_timeline *timeline, const sl_selection *sel,
                              int64_t *busy_ns, sl_error *err)
{
    sl__union u;
    sl_status status;
    if (sl_timeline_is_summary(timeline)) {
        sl__tally tally;
        status = sl__summary_tally(timeline, sel, &tally, err);
        *busy_ns = tally.busy_ns;
        return status;
    }
    status = sl__union_collect(timeline, sel, &u, err);
    if (status != SL_OK) return status;
    *busy_ns = sl__union_length_ns(&u);
    sl__union_free(&u);
    return SL_OK;
}
