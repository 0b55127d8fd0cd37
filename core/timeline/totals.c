/* totals.c - how many spans each stream and each name has, and how long they ran. */
#include <stdlib.h>

#include "store.h"
#include "summary.h"

static size_t fill(const sl__summary *s, sl_totals_of of, sl_total *totals)
{
    const bool streams = of == SL_TOTALS_STREAMS;
    const size_t all = streams ? s->streams.n : s->n_names;
    size_t n = 0;
    for (size_t i = 0; i < all; i++) {
        const sl__tally *tally = streams ? &s->stream[i] : &s->name[i];
        const uint32_t id = (uint32_t)(streams ? s->streams.at[i] : i);
        if (tally->n > 0) totals[n++] = (sl_total){ id, tally->n, tally->busy_ns, tally->sum_ns };
    }
    return n;
}

static bool read(const sl__summary *s, sl_totals_of of, sl_total **totals, size_t *n)
{
    *totals = malloc((s->streams.n + s->n_names + 1) * sizeof **totals);
    if (*totals) *n = fill(s, of, *totals);
    return *totals != NULL;
}

/* Of all spans of a timeline that keeps them. */
static bool sum_up(const sl_timeline *timeline, sl__summary *s)
{
    const size_t n = sl_timeline_span_count(timeline);
    for (size_t i = 0; i < n; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        if (!sl__summary_add(s, &span, sl_timeline_place(timeline, span.stream))) return false;
    }
    sl__summary_settle(s, INT64_MAX);
    return true;
}

sl_status sl_timeline_totals(const sl_timeline *timeline, sl_totals_of of, sl_total **totals,
                             size_t *n, sl_error *err)
{
    const sl__summary *kept = sl__timeline_summary(timeline);
    sl__summary *made = kept ? NULL : calloc(1, sizeof *made);
    bool done = false;
    if (made) done = sum_up(timeline, made) && read(made, of, totals, n);
    if (kept) done = read(kept, of, totals, n);
    sl__summary_free(made);
    return done ? SL_OK : sl__no_memory(err, "the totals of a timeline");
}
