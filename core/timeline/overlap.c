/* overlap.c - selections of spans, busy times and gaps: interval arithmetic, exact to the ns.
 *
 * A selection of spans becomes a union: its intervals are sorted by start (one
 * check shows that a single stream's already are) and merged in place. Two
 * unions are intersected by walking both at once; the gaps are what lies between
 * a union's intervals. O(n log n) in all; spans of zero length are in no union.
 */
#include "overlap.h"

#include <stdlib.h>

#include "store.h"
#include "summary.h"

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

bool sl__selected_range(const sl_timeline *timeline, const sl_selection *sel, sl__interval *range)
{
    sl__matcher match;
    const size_t n = sl_timeline_span_count(timeline);
    bool found = false;
    if (!sl__matcher_make(timeline, sel, &match)) return false;
    for (size_t i = 0; i < n; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        if (!sl__matches(&match, &span)) continue;
        sl__interval_extend(range, &span, !found);
        found = true;
    }
    return found;
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

int sl__by_time(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

void sl__sort(void *array, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    char *at = array;
    for (size_t i = 1; i < n; i++) {
        if (compare(at + (i - 1) * size, at + i * size) > 0) {
            qsort(array, n, size, compare);
            return;
        }
    }
}

/* ---- unions ---------------------------------------------------------------- */

/* Sorted, those that overlap or touch become one. */
void sl__union_join(sl__union *u)
{
    size_t last = 0;
    sl__sort(u->at, u->n, sizeof *u->at, sl__by_time);
    for (size_t i = 1; i < u->n; i++) {
        if (u->at[i].start_ns > u->at[last].end_ns)
            u->at[++last] = u->at[i];
        else if (u->at[i].end_ns > u->at[last].end_ns)
            u->at[last].end_ns = u->at[i].end_ns;
    }
    if (u->n > 0) u->n = last + 1;
}

static sl_status allocate(sl__union *u, size_t n, sl_error *err)
{
    *u = (sl__union){ 0 };
    if (n == 0) return SL_OK;
    u->at = n > SIZE_MAX / sizeof *u->at ? NULL : malloc(n * sizeof *u->at);
    if (!u->at) return sl_fail(err, SL_ENOMEM, "no memory for the intervals of %zu spans", n);
    return SL_OK;
}

sl_status sl__union_collect(const sl_timeline *timeline, const sl_selection *sel, sl__union *result,
                            sl_error *err)
{
    *result = (sl__union){ 0 };
    sl__matcher match;
    if (!sl__matcher_make(timeline, sel, &match)) return SL_OK;
    const size_t n_spans = sl_timeline_span_count(timeline);
    size_t n = 0;
    for (size_t i = 0; i < n_spans; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        n += sl__matches_lasting(&match, &span);
    }
    sl_status status = allocate(result, n, err);
    if (status != SL_OK) return status;
    for (size_t i = 0; i < n_spans; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        if (sl__matches_lasting(&match, &span))
            result->at[result->n++] = (sl__interval){ span.start_ns, span.end_ns };
    }
    sl__union_join(result);
    status = sl_interrupt_check(err);
    if (status != SL_OK) sl__union_free(result);
    return status;
}

sl_status sl__union_unite(const sl__union *a, const sl__union *b, sl__union *result, sl_error *err)
{
    sl_status status = allocate(result, a->n + b->n, err);
    if (status != SL_OK) return status;
    for (size_t i = 0, j = 0; i < a->n || j < b->n;) {
        bool is_left = j == b->n || (i < a->n && a->at[i].start_ns <= b->at[j].start_ns);
        result->at[result->n++] = is_left ? a->at[i++] : b->at[j++];
    }
    sl__union_join(result);
    return SL_OK;
}

/* Steps through both unions; whichever interval ends first is done. Each step
 * yields at most one common piece, and there are fewer than a->n + b->n of them. */
sl_status sl__union_intersect(const sl__union *a, const sl__union *b, sl__union *result,
                              sl_error *err)
{
    sl_status status = allocate(result, a->n && b->n ? a->n + b->n : 0, err);
    if (status != SL_OK) return status;
    for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
        const sl__interval *left = &a->at[i], *right = &b->at[j];
        int64_t start = sl__max_ns(left->start_ns, right->start_ns);
        int64_t end = sl__min_ns(left->end_ns, right->end_ns);
        if (start < end) result->at[result->n++] = (sl__interval){ start, end };
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

int64_t sl__union_measure_ns(const sl__union *u, int64_t from_ns, int64_t to_ns)
{
    size_t low = 0, high = u->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (u->at[middle].end_ns <= from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    int64_t sum = 0;
    for (; low < u->n && u->at[low].start_ns < to_ns; low++)
        sum += sl__min_ns(u->at[low].end_ns, to_ns) - sl__max_ns(u->at[low].start_ns, from_ns);
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

/* What is left of the range between, before and behind the intervals of the union. Spans
 * of no length end no gap, but the first and the last of them bound the range. */
static size_t find_gaps(const sl__interval *range, const sl__union *busy, sl_gap *gaps)
{
    size_t n = 0;
    int64_t idle_ns = range->start_ns; /* since when */
    for (size_t i = 0; i < busy->n; i++) {
        if (idle_ns < busy->at[i].start_ns) gaps[n++] = (sl_gap){ idle_ns, busy->at[i].start_ns };
        idle_ns = busy->at[i].end_ns;
    }
    if (idle_ns < range->end_ns) gaps[n++] = (sl_gap){ idle_ns, range->end_ns };
    return n;
}

sl_status sl_timeline_gaps(const sl_timeline *timeline, const sl_selection *sel, sl_gap **gaps,
                           size_t *n, sl_error *err)
{
    sl__interval range;
    sl__union busy;
    *gaps = NULL;
    *n = 0;
    if (!sl__selected_range(timeline, sel, &range)) return SL_OK;
    sl_status status = sl__union_collect(timeline, sel, &busy, err);
    if (status != SL_OK) return status;
    *gaps = malloc((busy.n + 1) * sizeof **gaps);
    if (*gaps)
        *n = find_gaps(&range, &busy, *gaps);
    else
        status = sl_fail(err, SL_ENOMEM, "no memory for the gaps between %zu intervals", busy.n);
    sl__union_free(&busy);
    return status;
}
