/* together.c - how long several selections were busy together, each with work of its own.
 *
 * A span that is in two of the selections does not overlap itself. Where no span is in two, the
 * time is the intersection of their unions. Else the starts and ends of the spans are walked in
 * order, and after each of them a matching (by augmenting paths) shows whether every selection can
 * have one of the running spans for itself.
 */
#include <stdlib.h>

#include "overlap.h"
#include "summary.h"

enum { NOBODY = -1 };

typedef struct moment {
    int64_t at_ns;
    size_t span;
    bool starts;
} moment;

typedef struct running {
    size_t index; /* of the span */
    sl_span span;
    ptrdiff_t holder; /* or NOBODY */
} running;

typedef struct taker {
    size_t held; /* the running span that the selection holds, */
    size_t from; /* and the selection it takes that from */
    bool seen;
} taker;

typedef struct together {
    const sl_timeline *timeline;
    const sl__matcher *match; /* of each selection */
    size_t n;                 /* selections */
    moment *moments;          /* of the spans that are in one of them, in order */
    size_t n_moments;
    running *running;
    size_t n_running;
    taker *takers; /* by selection */
    size_t *queue; /* the selections to look at */
} together;

static size_t matching(const sl__matcher *match, size_t n, const sl_span *span)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += sl__matches_lasting(&match[i], span);
    return count;
}

/* ---- each its own ---------------------------------------------------------- */

/* `taker` gets the span; what it held goes to the one that looked at it, and so on. */
static void hand_on(together *t, size_t to, size_t span, size_t first)
{
    while (true) {
        size_t before = t->takers[to].held;
        t->running[span].holder = (ptrdiff_t)to;
        t->takers[to].held = span;
        if (to == first) return;
        span = before;
        to = t->takers[to].from;
    }
}

/* Finds a span for the selection, if need be by giving others another one. */
static bool serve(together *t, size_t first)
{
    size_t head = 0, tail = 0;
    for (size_t i = 0; i < t->n; i++)
        t->takers[i].seen = i == first;
    for (t->queue[tail++] = first; head < tail; head++) {
        size_t to = t->queue[head];
        for (size_t i = 0; i < t->n_running; i++) {
            if (!sl__matches(&t->match[to], &t->running[i].span)) continue;
            if (t->running[i].holder == NOBODY) {
                hand_on(t, to, i, first);
                return true;
            }
            size_t holder = (size_t)t->running[i].holder;
            if (t->takers[holder].seen) continue;
            t->takers[holder].seen = true;
            t->takers[holder].from = to;
            t->queue[tail++] = holder;
        }
    }
    return false;
}

static bool all_served(together *t)
{
    if (t->n_running < t->n) return false;
    for (size_t i = 0; i < t->n_running; i++)
        t->running[i].holder = NOBODY;
    for (size_t i = 0; i < t->n; i++)
        if (!serve(t, i)) return false;
    return true;
}

/* ---- the walk -------------------------------------------------------------- */

static void apply(together *t, const moment *m)
{
    size_t i = 0;
    if (m->starts) {
        t->running[t->n_running++] = (running){ m->span, sl_timeline_span(t->timeline, m->span),
                                                NOBODY };
        return;
    }
    while (t->running[i].index != m->span)
        i++;
    t->running[i] = t->running[--t->n_running];
}

static sl_status walk(together *t, int64_t *common_ns, sl_error *err)
{
    int64_t since_ns = 0;
    bool together_now = false;
    *common_ns = 0;
    for (size_t i = 0; i < t->n_moments;) {
        int64_t at_ns = t->moments[i].at_ns;
        sl_status status = sl_interrupt_check(err);
        if (status != SL_OK) return status;
        if (together_now) *common_ns += at_ns - since_ns;
        for (; i < t->n_moments && t->moments[i].at_ns == at_ns; i++)
            apply(t, &t->moments[i]);
        together_now = all_served(t);
        since_ns = at_ns;
    }
    return SL_OK;
}

/* `n_lasting` spans are in one of the selections at least. */
static sl_status walk_spans(const sl_timeline *timeline, const sl__matcher *match, size_t n,
                            size_t n_lasting, int64_t *common_ns, sl_error *err)
{
    together t = { .timeline = timeline, .match = match, .n = n };
    const size_t n_spans = sl_timeline_span_count(timeline);
    sl_status status;
    t.moments = calloc(2 * n_lasting, sizeof *t.moments);
    t.running = calloc(n_lasting, sizeof *t.running);
    t.takers = calloc(n, sizeof *t.takers);
    t.queue = calloc(n, sizeof *t.queue);
    if (!t.moments || !t.running || !t.takers || !t.queue) {
        status = sl_fail(err, SL_ENOMEM, "no memory for the overlap of %zu spans", n_lasting);
    } else {
        for (size_t i = 0; i < n_spans; i++) {
            sl_span span = sl_timeline_span(timeline, i);
            if (!matching(match, n, &span)) continue;
            t.moments[t.n_moments++] = (moment){ span.start_ns, i, true };
            t.moments[t.n_moments++] = (moment){ span.end_ns, i, false };
        }
        sl__sort(t.moments, t.n_moments, sizeof *t.moments, sl__by_time);
        status = walk(&t, common_ns, err);
    }
    free(t.moments);
    free(t.running);
    free(t.takers);
    free(t.queue);
    return status;
}

/* ---- the intersection ------------------------------------------------------ */

static sl_status intersect_all(const sl_timeline *timeline, const sl_selection *sels, size_t n,
                               int64_t *common_ns, sl_error *err)
{
    sl__union common;
    sl_status status = sl__union_collect(timeline, &sels[0], &common, err);
    for (size_t i = 1; i < n && status == SL_OK; i++) {
        sl__union next, both = { 0 };
        status = sl__union_collect(timeline, &sels[i], &next, err);
        if (status == SL_OK) status = sl__union_intersect(&common, &next, &both, err);
        sl__union_free(&next);
        sl__union_free(&common);
        common = both;
    }
    if (status == SL_OK) *common_ns = sl__union_length_ns(&common);
    sl__union_free(&common);
    return status;
}

/* How many spans are in one of the selections, and whether one is in two of them. */
static size_t count_lasting(const sl_timeline *timeline, const sl__matcher *match, size_t n,
                            bool *shared)
{
    const size_t n_spans = sl_timeline_span_count(timeline);
    size_t n_lasting = 0;
    *shared = false;
    for (size_t i = 0; i < n_spans; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        size_t count = matching(match, n, &span);
        n_lasting += count > 0;
        *shared |= count > 1;
    }
    return n_lasting;
}

/* ---- public ---------------------------------------------------------------- */

sl_status sl_timeline_common_ns(const sl_timeline *timeline, const sl_selection *sels, size_t n,
                                int64_t *common_ns, sl_error *err)
{
    if (sl_timeline_is_summary(timeline))
        return sl__summary_common_ns(timeline, sels, n, common_ns, err);
    sl__matcher *match = malloc(n * sizeof *match);
    bool found = true, shared;
    sl_status status = SL_OK;
    if (!match) return sl_fail(err, SL_ENOMEM, "no memory for %zu selections", n);
    *common_ns = 0;
    for (size_t i = 0; i < n; i++)
        found &= sl__matcher_make(timeline, &sels[i], &match[i]);
    if (found) {
        size_t n_lasting = count_lasting(timeline, match, n, &shared);
        status = shared ? walk_spans(timeline, match, n, n_lasting, common_ns, err)
                        : intersect_all(timeline, sels, n, common_ns, err);
    }
    free(match);
    return status;
}
