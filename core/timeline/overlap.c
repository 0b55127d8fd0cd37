/* overlap.c - busy times and overlaps: interval arithmetic, exact to the ns.
 *
 * A selection of spans becomes a union: its intervals are sorted by start (one
 * check shows that a single stream's already are) and merged in place. Two
 * unions are intersected by walking both at once. O(n log n) in all; spans of
 * zero length are in no union.
 */
#include "overlap.h"

#include <stdlib.h>

#include "store.h"

/* ---- selecting ------------------------------------------------------------- */

/* A selection with its name looked up, so that a span is matched by integers. */
typedef struct matcher {
    int64_t stream;
    int kind, engine;
    bool any_name;
    uint32_t name;
} matcher;

/* False if no span can match, because the timeline does not know the name. */
static bool make_matcher(const sl_timeline *timeline, const sl_selection *sel, matcher *match)
{
    *match = (matcher){ .stream = sel->stream, .kind = sel->kind, .engine = sel->engine,
                        .any_name = !sel->name };
    return !sel->name || sl__timeline_find_text(timeline, sel->name, &match->name);
}

static bool matches(const matcher *match, const sl_span *span)
{
    return (match->stream < 0 || match->stream == span->stream) &&
           (match->kind < 0 || match->kind == span->kind) &&
           (match->engine < 0 || match->engine == span->engine) &&
           (match->any_name || match->name == span->name) && span->start_ns < span->end_ns;
}

/* ---- unions ---------------------------------------------------------------- */

static int by_start(const void *left, const void *right)
{
    int64_t a = ((const sl__interval *)left)->start_ns, b = ((const sl__interval *)right)->start_ns;
    return (a > b) - (a < b);
}

static bool is_sorted(const sl__union *u)
{
    for (size_t i = 1; i < u->n; i++) {
        if (u->at[i].start_ns < u->at[i - 1].start_ns)
            return false;
    }
    return true;
}

/* Joins sorted intervals that overlap or touch. */
static void merge(sl__union *u)
{
    size_t last = 0;
    for (size_t i = 1; i < u->n; i++) {
        if (u->at[i].start_ns > u->at[last].end_ns)
            u->at[++last] = u->at[i];
        else if (u->at[i].end_ns > u->at[last].end_ns)
            u->at[last].end_ns = u->at[i].end_ns;
    }
    if (u->n > 0)
        u->n = last + 1;
}

static sl_status allocate(sl__union *u, size_t n, sl_error *err)
{
    *u = (sl__union){ 0 };
    if (n == 0)
        return SL_OK;
    u->at = n > SIZE_MAX / sizeof *u->at ? NULL : malloc(n * sizeof *u->at);
    if (!u->at)
        return sl_fail(err, SL_ENOMEM, "no memory for the intervals of %zu spans", n);
    return SL_OK;
}

sl_status sl__union_collect(const sl_timeline *timeline, const sl_selection *sel,
                            sl__union *result, sl_error *err)
{
    *result = (sl__union){ 0 };
    matcher match;
    if (!make_matcher(timeline, sel, &match))
        return SL_OK;
    size_t n_spans, n = 0;
    const sl_span *spans = sl_timeline_spans(timeline, &n_spans);
    for (size_t i = 0; i < n_spans; i++)
        n += matches(&match, &spans[i]);
    sl_status status = allocate(result, n, err);
    if (status != SL_OK)
        return status;
    for (size_t i = 0; i < n_spans; i++) {
        if (matches(&match, &spans[i]))
            result->at[result->n++] = (sl__interval){ spans[i].start_ns, spans[i].end_ns };
    }
    if (!is_sorted(result))
        qsort(result->at, result->n, sizeof *result->at, by_start);
    merge(result);
    return SL_OK;
}

/* Steps through both unions; whichever interval ends first is done. Each step
 * yields at most one common piece, and there are fewer than a->n + b->n of them. */
sl_status sl__union_intersect(const sl__union *a, const sl__union *b, sl__union *result,
                              sl_error *err)
{
    sl_status status = allocate(result, a->n && b->n ? a->n + b->n : 0, err);
    if (status != SL_OK)
        return status;
    for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
        const sl__interval *left = &a->at[i], *right = &b->at[j];
        int64_t start = left->start_ns > right->start_ns ? left->start_ns : right->start_ns;
        int64_t end = left->end_ns < right->end_ns ? left->end_ns : right->end_ns;
        if (start < end)
            result->at[result->n++] = (sl__interval){ start, end };
        if (left->end_ns < right->end_ns)
            i++;
        else
            j++;
    }
    return SL_OK;
}

int64_t sl__union_length_ns(const sl__union *u)
{
    int64_t length = 0;
    for (size_t i = 0; i < u->n; i++)
        length += u->at[i].end_ns - u->at[i].start_ns;
    return length;
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
    sl_status status = sl__union_collect(timeline, sel, &u, err);
    if (status != SL_OK)
        return status;
    *busy_ns = sl__union_length_ns(&u);
    sl__union_free(&u);
    return SL_OK;
}

sl_status sl_timeline_overlap_ns(const sl_timeline *timeline, const sl_selection *a,
                                 const sl_selection *b, int64_t *overlap_ns, sl_error *err)
{
    sl__union left = { 0 }, right = { 0 }, common = { 0 };
    sl_status status = sl__union_collect(timeline, a, &left, err);
    if (status == SL_OK)
        status = sl__union_collect(timeline, b, &right, err);
    if (status == SL_OK)
        status = sl__union_intersect(&left, &right, &common, err);
    if (status == SL_OK)
        *overlap_ns = sl__union_length_ns(&common);
    sl__union_free(&left);
    sl__union_free(&right);
    sl__union_free(&common);
    return status;
}
