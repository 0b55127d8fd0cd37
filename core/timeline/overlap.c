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

/* Room for the spans of each unit that are not empty. */
static bool open_unions(const sl_timeline *timeline, sl__union *unions)
{
    size_t count[SL__UNITS] = { 0 };
    bool done = true;
    for (size_t i = 0; i < sl_timeline_span_count(timeline); i++) {
        const sl_span span = sl_timeline_span(timeline, i);
        count[sl__unit_of(timeline, &span)] += span.start_ns != span.end_ns;
    }
    for (int unit = 0; unit < SL__UNITS; unit++) {
        unions[unit] = (sl__union){ 0 };
        if (count[unit] > 0 && done)
            done = (unions[unit].at = malloc(count[unit] * sizeof *unions[unit].at)) != NULL;
    }
    return done;
}

sl_status sl__unions_by_unit(const sl_timeline *timeline, sl__union *unions, sl_error *err)
{
    const size_t n = sl_timeline_span_count(timeline);
    sl_status status = open_unions(timeline, unions)
                           ? SL_OK
                           : sl__no_memory(err, "the intervals of %zu spans", n);
    for (size_t i = 0; i < n && status == SL_OK; i++) {
        const sl_span span = sl_timeline_span(timeline, i);
        sl__union *u = &unions[sl__unit_of(timeline, &span)];
        if (span.start_ns != span.end_ns)
            u->at[u->n++] = (sl__interval){ span.start_ns, span.end_ns };
    }
    for (int unit = 0; unit < SL__UNITS && status == SL_OK; unit++)
        sl__union_join(&unions[unit]);
    if (status == SL_OK) status = sl_interrupt_check(err);
    for (int unit = 0; unit < SL__UNITS && status != SL_OK; unit++)
        sl__union_free(&unions[unit]);
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
    return sl__union_measure_near_ns(u, from_ns, to_ns, &at);
}

int64_t sl__union_measure_near_ns(const sl__union *u, int64_t from_ns, int64_t to_ns, size_t *near)
{
    size_t at = *near;
    SL__SEARCH_NEAR(at, u->n, u->at[at].end_ns <= from_ns);
    *near = at;
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

/* ---- busy times ------------------------------------------------------------ */

static sl_status busy_of_summary(const sl_timeline *timeline, int64_t *busy_ns, sl_error *err)
{
    sl_status status = SL_OK;
    for (int unit = 0; unit < sl__unit_count(timeline) && status == SL_OK; unit++) {
        sl_selection sel = sl_select_all;
        sel.place = unit / SL_ENGINES;
        sel.engine = unit % SL_ENGINES;
        status = sl_timeline_busy_ns(timeline, &sel, &busy_ns[unit], err);
    }
    return status;
}

sl_status sl__busy_by_unit(const sl_timeline *timeline, int64_t *busy_ns, sl_error *err)
{
    sl__union unions[SL__UNITS];
    if (sl_timeline_is_summary(timeline)) return busy_of_summary(timeline, busy_ns, err);
    sl_status status = sl__unions_by_unit(timeline, unions, err);
    for (int unit = 0; unit < SL__UNITS && status == SL_OK; unit++) {
        busy_ns[unit] = sl__union_length_ns(&unions[unit]);
        sl__union_free(&unions[unit]);
    }
    return status;
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
