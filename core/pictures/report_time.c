/* report_time.c - what a page draws over time beside operations: counters, and the ranges of the
 * host, of which the longest are taken where there are too many.
 */
#include "report_parts.h"

#include <stdlib.h>

#include "../timeline/sort.h"

#define MOST_POINTS 4000   /* of a counter */
#define MOST_RANGES 200000 /* about 8 bytes each */

typedef sl__page page;

/* What was there before all operations is drawn from the first of them on. */
static int64_t from(const page *p, int64_t ns) { return sl__max(since(p, ns), 0); }

/* ---- counters ------------------------------------------------------------------------ */

static void put_counter(page *p, sl_counter *counter, size_t *n)
{
    char prefix[SL_PREFIX_BYTES] = "";
    const int64_t first_ns = sl_timeline_first_ns(p->timeline);
    if (counter->n == 0) return;
    sl_counter_reduce(counter, p->base_ns, first_ns + sl_timeline_makespan_ns(p->timeline),
                      MOST_POINTS);
    if (sl_counter_is_of_gpu(counter->kind))
        sl_timeline_device_prefix(p->timeline, counter->place, prefix);
    element(p, (*n)++);
    text(p, "{\"prefix\":", prefix);
    text(p, ",\"name\":", sl_counter_name(counter->kind));
    text(p, ",\"title\":", sl_counter_title(counter->kind));
    number(p, ",\"unit\":", sl_counter_unit(counter->kind));
    number(p, ",\"most\":", whole((uint64_t)counter->most));
    number(p, ",\"points\":{\"n\":", (int64_t)counter->n);
    COLUMN(p, counter->n, , "at", from(p, counter->at[i].at_ns));
    COLUMN(p, counter->n, , "value", whole((uint64_t)counter->at[i].value));
    raw(p, "}}");
}

static sl_status put_counters(page *p, sl_error *err)
{
    size_t n = 0;
    sl_status status = SL_OK;
    raw(p, ",\n\"counters\":[");
    for (int k = 0; k < sl_timeline_device_count(p->timeline); k++) {
        const int place = sl_timeline_place_in_order(p->timeline, k);
        for (int kind = 0; kind < SL_COUNTERS && status == SL_OK; kind++) {
            sl_counter counter;
            status = sl_timeline_counter(p->timeline, (sl_counter_kind)kind, place, &counter, err);
            if (status != SL_OK) break;
            put_counter(p, &counter, &n);
            free(counter.at);
        }
    }
    raw(p, "]");
    return status;
}

/* ---- ranges -------------------------------------------------------------------------- */

/* Whether a range of that kind and thread has the same times: of several steps with one name only
 * the first one keeps it. */
static bool has_double(const page *p, const sl_host_range *range, sl_host_range_kind kind,
                       uint32_t thread)
{
    size_t at = sl_timeline_find_host_range(p->timeline, kind, thread, range->start_ns);
    for (; at != SL_NOT_FOUND; at = sl_timeline_host_range_around(p->timeline, at)) {
        const sl_host_range other = sl_timeline_host_range(p->timeline, at);
        if (other.start_ns < range->start_ns) break;
        if (other.end_ns == range->end_ns) return true;
    }
    return false;
}

/* Ranges that are steps by their names alone are there twice (step_names.c). */
static bool is_also_marked(const page *p, const sl_host_range *range)
{
    const uint32_t n_threads = sl_timeline_thread_count(p->timeline);
    if (range->kind != SL_HOST_RANGE_STEP) return false;
    for (uint32_t thread = 0; thread < n_threads; thread++)
        if (has_double(p, range, SL_HOST_RANGE_NVTX, thread)
            || has_double(p, range, SL_HOST_RANGE_ANNOTATION, thread))
            return true;
    return false;
}

/* PyTorch's own functions in Python are left out: nearly all is called through them. */
static bool is_shown(const page *p, const sl_host_range *range)
{
    return range->kind != SL_HOST_RANGE_LIBRARY && !is_also_marked(p, range);
}

SL__ORDER(by_length, int64_t, SL__DOWN(*x));

/* What is shorter is left out, and of those of that length all but the first. */
typedef struct cut {
    int64_t least_ns;
    size_t n_least, n_left_out;
} cut;

static sl_status find_cut(const page *p, cut *c, sl_error *err)
{
    const size_t n = sl_timeline_host_range_count(p->timeline);
    int64_t *lengths = n > MOST_RANGES ? malloc(n * sizeof *lengths) : NULL;
    size_t n_shown = 0;
    *c = (cut){ .n_least = MOST_RANGES };
    if (n <= MOST_RANGES) return SL_OK;
    if (!lengths) return sl__no_memory(err, "%zu ranges of the host", n);
    for (size_t i = 0; i < n; i++) {
        const sl_host_range range = sl_timeline_host_range(p->timeline, i);
        if (is_shown(p, &range)) lengths[n_shown++] = range.end_ns - range.start_ns;
    }
    sl__sort(lengths, n_shown, sizeof *lengths, by_length);
    if (n_shown > MOST_RANGES) {
        size_t n_longer;
        c->least_ns = lengths[MOST_RANGES - 1];
        SL__SEARCH(n_longer, n_shown, lengths[n_longer] > c->least_ns);
        c->n_least = MOST_RANGES - n_longer;
        c->n_left_out = n_shown - MOST_RANGES;
    }
    free(lengths);
    return SL_OK;
}

static bool takes(cut *c, int64_t length_ns)
{
    if (length_ns != c->least_ns) return length_ns > c->least_ns;
    return c->n_least > 0 && c->n_least-- > 0;
}

#define RANGES(p, at, n, key, value) \
    COLUMN(p, n, sl_host_range r = sl_timeline_host_range((p)->timeline, (at)[i]), key, value)

/* Some begin before all operations. */
static int64_t first_of(const page *p, const size_t *at, size_t n)
{
    int64_t first_ns = p->base_ns;
    for (size_t i = 0; i < n; i++)
        first_ns = sl__min(first_ns, sl_timeline_host_range(p->timeline, at[i]).start_ns);
    return first_ns;
}

/* By number of the thread: the text id of its name, or its caller. */
static void put_threads(page *p, const char *key, bool are_names)
{
    const uint32_t n = sl_timeline_known_threads(p->timeline);
    raw(p, key);
    for (uint32_t thread = 0; thread < n; thread++) {
        const sl_host_thread is = sl_timeline_host_thread(p->timeline, thread);
        number(p, thread > 0 ? "," : "", are_names ? is.name : is.caller);
    }
    raw(p, "]");
}

static sl_status put_ranges(page *p, sl_error *err)
{
    const size_t all = sl_timeline_host_range_count(p->timeline);
    size_t *at = malloc((sl__min(all, (size_t)MOST_RANGES) + 1) * sizeof *at), n = 0;
    cut c = { 0 };
    sl_status status = at ? find_cut(p, &c, err)
                          : sl__no_memory(err, "%zu ranges of the host", all);
    for (size_t i = 0; i < all && status == SL_OK && n < MOST_RANGES; i++) {
        const sl_host_range range = sl_timeline_host_range(p->timeline, i);
        if (is_shown(p, &range) && takes(&c, range.end_ns - range.start_ns)) at[n++] = i;
    }
    if (status == SL_OK) {
        const int64_t first_ns = first_of(p, at, n);
        number(p, ",\n\"rangesFrom\":", first_ns - p->base_ns);
        number(p, ",\n\"rangesLeftOut\":", (int64_t)c.n_left_out);
        number(p, ",\n\"ranges\":{\"n\":", (int64_t)n);
        RANGES(p, at, n, "start", r.start_ns - first_ns);
        RANGES(p, at, n, "length", r.end_ns - r.start_ns);
        RANGES(p, at, n, "name", r.name);
        RANGES(p, at, n, "kind", r.kind);
        RANGES(p, at, n, "thread", r.thread);
        put_threads(p, ",\n\"threadName\":[", true);
        put_threads(p, ",\n\"threadCaller\":[", false);
        raw(p, "}");
    }
    free(at);
    return status;
}

sl_status sl__report_put_over_time(page *p, sl_error *err)
{
    const sl_status status = put_counters(p, err);
    return status == SL_OK ? put_ranges(p, err) : status;
}
