/* together.c - how long several selections were busy together, each with work of its own.
 *
 * A span that is in two of the selections does not overlap itself. So spans are of one group where
 * the same selections have them, and between two changes a matching (by augmenting
 * paths) shows whether every selection can have one of the running spans for itself.
 */
#include <stdlib.h>

#include "../base.h"
#include "keys.h"
#include "overlap.h"
#include "summary.h"
#include "sweep.h"

typedef struct members { /* the spans that the same selections have */
    size_t running, taken;
} members;

typedef struct taker {
    size_t group; /* of the span that the selection has, */
    size_t from;  /* and the selection it takes that from */
    bool seen;
} taker;

typedef struct together {
    const sl__matcher *match; /* of each selection */
    size_t n;                 /* selections */
    sl__keys sets;            /* by group: which selections have its spans, a bit each */
    members *groups;
    size_t cap_groups;
    size_t running; /* spans of all groups */
    taker *takers;  /* by selection */
    size_t *queue;  /* the selections to look at */
    sl__sweep sweep;
} together;

enum { BITS = 64 }; /* of a word of a set */

static bool has(const together *t, size_t group, size_t selection)
{
    return t->sets.at[group * (1 + t->sets.more) + selection / BITS] >> selection % BITS & 1;
}

/* ---- each its own ---------------------------------------------------------- */

/* `to` gets a span of the group; what it had goes to the one that looked at it, and so on. */
static void hand_on(together *t, size_t to, size_t group, size_t first)
{
    t->groups[group].taken++;
    while (true) {
        size_t before = t->takers[to].group;
        t->takers[to].group = group;
        if (to == first) return;
        group = before;
        to = t->takers[to].from;
    }
}

/* Those that have all spans of the group may be given others. */
static void ask_holders(together *t, size_t group, size_t first, size_t to, size_t *tail)
{
    for (size_t i = 0; i < first; i++) {
        taker *holder = &t->takers[i];
        if (holder->group != group || holder->seen) continue;
        holder->seen = true;
        holder->from = to;
        t->queue[(*tail)++] = i;
    }
}

/* Finds a span for the selection, if need be by giving those before it another one. */
static bool serve(together *t, size_t first)
{
    size_t head = 0, tail = 0;
    for (size_t i = 0; i < first; i++)
        t->takers[i].seen = false;
    for (t->queue[tail++] = first; head < tail; head++) {
        size_t to = t->queue[head];
        for (size_t c = 0; c < t->sets.n; c++) {
            if (t->groups[c].running == 0 || !has(t, c, to)) continue;
            if (t->groups[c].taken < t->groups[c].running) {
                hand_on(t, to, c, first);
                return true;
            }
            ask_holders(t, c, first, to, &tail);
        }
    }
    return false;
}

static bool all_served(together *t)
{
    if (t->running < t->n) return false;
    for (size_t c = 0; c < t->sets.n; c++)
        t->groups[c].taken = 0;
    for (size_t i = 0; i < t->n; i++)
        if (!serve(t, i)) return false;
    return true;
}

/* ---- the sweep ------------------------------------------------------------- */

/* Without memory, false. `set` has room for the bits of all selections. */
static bool add(together *t, const sl_span *span, uint64_t *set)
{
    size_t group, n_groups = t->sets.n;
    bool any = false;
    for (size_t i = 0; i < t->n; i++) {
        const uint64_t bit = UINT64_C(1) << i % BITS;
        const bool matches = sl__matches(&t->match[i], span);
        set[i / BITS] = matches ? set[i / BITS] | bit : set[i / BITS] & ~bit;
        any |= matches;
    }
    return !any
           || (SL__GROW_ZEROED(t->groups, t->cap_groups, n_groups + 1)
               && sl__keys_number(&t->sets, set, &group)
               && sl__sweep_add(&t->sweep, span, (uint32_t)group));
}

static int64_t walk(together *t)
{
    int64_t since_ns = 0, sum_ns = 0;
    for (sl__change change; sl__sweep_next(&t->sweep, INT64_MAX, &change);) {
        if (change.at_ns > since_ns && all_served(t)) sum_ns += change.at_ns - since_ns;
        since_ns = change.at_ns;
        t->running += change.starts ? 1 : SIZE_MAX;
        t->groups[change.row].running += change.starts ? 1 : SIZE_MAX;
    }
    return sum_ns;
}

static sl_status measure(const sl_timeline *timeline, const sl__matcher *match, size_t n,
                         int64_t *common_ns, sl_error *err)
{
    together t = { .match = match, .n = n, .sets = { .more = (n - 1) / BITS } };
    const size_t n_spans = sl_timeline_span_count(timeline);
    uint64_t *set = calloc(1 + t.sets.more, sizeof *set);
    bool added = set != NULL;
    t.takers = calloc(n, sizeof *t.takers);
    t.queue = calloc(n, sizeof *t.queue);
    for (size_t i = 0; i < n_spans && added && t.takers && t.queue; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        added = add(&t, &span, set);
    }
    sl_status status = added && t.takers && t.queue
                           ? sl_interrupt_check(err)
                           : sl__no_memory(err, "the overlap of %zu spans", n_spans);
    if (status == SL_OK) *common_ns = walk(&t);
    sl__sweep_free(&t.sweep);
    sl__keys_free(&t.sets);
    free(t.groups);
    free(t.takers);
    free(t.queue);
    free(set);
    return status;
}

/* ---- public ---------------------------------------------------------------- */

sl_status sl_timeline_common_ns(const sl_timeline *timeline, const sl_selection *sels, size_t n,
                                int64_t *common_ns, sl_error *err)
{
    if (sl_timeline_is_summary(timeline))
        return sl__summary_common_ns(timeline, sels, n, common_ns, err);
    sl__matcher *match = malloc(n * sizeof *match);
    bool found = true;
    sl_status status = SL_OK;
    if (!match) return sl__no_memory(err, "%zu selections", n);
    *common_ns = 0;
    for (size_t i = 0; i < n; i++)
        found &= sl__matcher_make(timeline, &sels[i], &match[i]);
    if (found) status = measure(timeline, match, n, common_ns, err);
    free(match);
    return status;
}
