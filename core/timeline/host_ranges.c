/* host_ranges.c - ranges of the host, sorted by kind, thread and start, so that those which have
 * started at a time are found by binary search. The innermost that is still open is the last of
 * these that ends later: blocks of 64, and of 64 such blocks, have their latest end noted, so that
 * all that is over is passed by at once.
 */
#include "fields.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { THREAD_BITS = 20 };
#define BACKWARD (UINT32_C(1) << 31) /* beside a number of a node */

typedef struct sl__kept_range {
    int64_t start_ns, end_ns;
    uint32_t name;
    uint32_t list;    /* kind and thread: what shares them can nest */
    uint32_t node;    /* and BACKWARD */
    uint32_t forward; /* 1 + an index; 0: none is known */
} kept;

_Static_assert(SL_MOST_THREADS <= 1 << THREAD_BITS, "a thread's number has as many bits");

static uint32_t list_of(uint32_t kind, uint32_t thread)
{
    return kind << THREAD_BITS | (kind == SL_HOST_RANGE_STEP ? 0 : thread);
}

static uint32_t thread_of(const kept *range) { return range->list & ((1 << THREAD_BITS) - 1); }

SL__ORDER(in_order, kept, x->list, x->start_ns, SL__DOWN(x->end_ns));

#define LEAST_AGE_NS 1000000000 /* of a clock that did not begin with its file */

static bool time_fits(int64_t ns) { return ns > -SL__TIME_LIMIT_NS && ns < SL__TIME_LIMIT_NS; }

/* ---- adding ---- */

sl_status sl_timeline_add_host_range(sl_timeline *timeline, const sl_host_range *range,
                                     sl_error *err)
{
    sl__host_ranges *ranges = &timeline->host_ranges;
    sl_status status = sl__refuse_finished(timeline, err);
    if (status == SL_OK) status = sl__check_texts(timeline, range->name, 0, err);
    if (status != SL_OK) return status;
    if (range->kind >= SL_HOST_RANGE_KINDS || range->thread >= SL_MOST_THREADS
        || range->node > SL_MOST_NODES || range->start_ns > range->end_ns
        || !time_fits(range->start_ns) || !time_fits(range->end_ns))
        return sl_fail(err, SL_EINVAL,
                       "a range of the host has kind %d (below %d), thread %" PRIu32
                       " (below %d), node %" PRIu32 " (up to %d), and lasts from %" PRId64
                       " to %" PRId64
                       " ns; it must not end before it starts, nor lie beyond 2^61 ns",
                       range->kind, SL_HOST_RANGE_KINDS, range->thread, SL_MOST_THREADS,
                       range->node, SL_MOST_NODES, range->start_ns, range->end_ns);
    if (timeline->summary) return SL_OK;
    if (!SL__GROW(ranges->at, ranges->cap, ranges->n + 1))
        return sl__no_memory(err, "more than %zu ranges of the host", ranges->n);
    kept *added = &ranges->at[ranges->n];
    *added = (kept){ .start_ns = range->start_ns,
                     .end_ns = range->end_ns,
                     .name = range->name,
                     .list = list_of(range->kind, range->thread),
                     .node = range->node | (range->is_backward ? BACKWARD : 0) };
    ranges->has_backward |= range->is_backward;
    ranges->is_unsorted |= ranges->n > 0 && in_order(added - 1, added) > 0;
    ranges->n++;
    return SL_OK;
}

static bool moved(kept *range, int64_t base_ns, const uint32_t *threads, size_t n)
{
    const uint32_t kind = range->list >> THREAD_BITS, thread = thread_of(range);
    const bool is_known = thread < n && threads[thread] != SL__NO_THREAD;
    const bool has_no_time = range->start_ns == 0 && base_ns >= LEAST_AGE_NS;
    if (has_no_time || (!is_known && kind != SL_HOST_RANGE_STEP)) return false;
    range->list = list_of(kind, is_known ? threads[thread] : 0);
    range->start_ns -= base_ns;
    range->end_ns -= base_ns;
    return time_fits(range->start_ns) && time_fits(range->end_ns);
}

void sl__host_ranges_move(sl_timeline *timeline, int64_t base_ns, const uint32_t *threads, size_t n)
{
    sl__host_ranges *ranges = &timeline->host_ranges;
    size_t n_left = 0;
    for (size_t i = 0; i < ranges->n; i++) {
        kept range = ranges->at[i];
        if (moved(&range, base_ns, threads, n)) ranges->at[n_left++] = range;
    }
    ranges->n = n_left;
    ranges->is_unsorted = true;
}

/* ---- the end of adding ---- */

/* Without memory there are fewer levels, and a look-up takes longer. */
static void note_latest(sl__host_ranges *ranges)
{
    size_t below = ranges->n;
    for (int level = 0; level < SL__RANGE_LEVELS && below > SL__RANGE_BLOCK; level++) {
        const size_t n = (below - 1) / SL__RANGE_BLOCK + 1;
        int64_t *latest_ns = malloc(n * sizeof *latest_ns);
        if (!latest_ns) return;
        for (size_t i = 0; i < n; i++)
            latest_ns[i] = INT64_MIN;
        for (size_t i = 0; i < below; i++) {
            int64_t *latest = &latest_ns[i / SL__RANGE_BLOCK];
            const int64_t end_ns = level == 0 ? ranges->at[i].end_ns
                                              : ranges->latest_ns[level - 1][i];
            *latest = sl__max(*latest, end_ns);
        }
        ranges->latest_ns[ranges->n_levels++] = latest_ns;
        below = n;
    }
}

/* Sorts; equal ones stay in the order in which they were added, which is that of their nesting in
 * traces that count whole microseconds. `room` is for half of them. */
static void merge_sort(kept *at, size_t n, kept *room)
{
    const size_t half = n / 2;
    size_t left = 0, right = half, to = 0;
    if (n < 2) return;
    merge_sort(at, half, room);
    merge_sort(at + half, n - half, room);
    if (in_order(&at[half - 1], &at[half]) <= 0) return;
    memcpy(room, at, half * sizeof *room);
    while (left < half) {
        const bool takes_right = right < n && in_order(&at[right], &room[left]) < 0;
        at[to++] = takes_right ? at[right++] : room[left++];
    }
}

/* Without memory equal ones come in any order. */
static void sort(sl__host_ranges *ranges)
{
    kept *room = malloc((ranges->n / 2 + 1) * sizeof *room);
    if (room)
        merge_sort(ranges->at, ranges->n, room);
    else
        qsort(ranges->at, ranges->n, sizeof *ranges->at, in_order);
    free(room);
}

void sl__host_ranges_settle(sl__host_ranges *ranges)
{
    if (ranges->is_unsorted) sort(ranges);
    ranges->is_unsorted = false;
    SL__TRIM(ranges->at, ranges->cap, ranges->n);
    note_latest(ranges);
}

void sl__host_ranges_free(sl__host_ranges *ranges)
{
    free(ranges->at);
    for (int level = 0; level < ranges->n_levels; level++)
        free(ranges->latest_ns[level]);
    *ranges = (sl__host_ranges){ 0 };
}

/* ---- reading ---- */

const char *sl_host_range_kind_name(sl_host_range_kind kind)
{
    switch (kind) {
    case SL_HOST_RANGE_OPERATOR: return "operator";
    case SL_HOST_RANGE_PYTHON: return "python";
    case SL_HOST_RANGE_LIBRARY: return "library";
    case SL_HOST_RANGE_MODULE: return "module";
    case SL_HOST_RANGE_ANNOTATION: return "annotation";
    case SL_HOST_RANGE_STEP: return "step";
    case SL_HOST_RANGE_NVTX: return "nvtx";
    case SL_HOST_RANGE_KINDS: break;
    }
    return "";
}

bool sl_host_range_kind_parse(const char *name, sl_host_range_kind *kind)
{
    for (int i = 0; i < SL_HOST_RANGE_KINDS; i++) {
        if (strcmp(name, sl_host_range_kind_name((sl_host_range_kind)i)) == 0) {
            *kind = (sl_host_range_kind)i;
            return true;
        }
    }
    return false;
}

size_t sl_timeline_host_range_count(const sl_timeline *timeline) { return timeline->host_ranges.n; }

sl_host_range sl_timeline_host_range(const sl_timeline *timeline, size_t index)
{
    const kept *range = &timeline->host_ranges.at[index];
    return (sl_host_range){ .start_ns = range->start_ns,
                            .end_ns = range->end_ns,
                            .name = range->name,
                            .thread = thread_of(range),
                            .node = range->node & ~BACKWARD,
                            .kind = (uint8_t)(range->list >> THREAD_BITS),
                            .is_backward = (range->node & BACKWARD) != 0 };
}

size_t sl_timeline_forward_of(const sl_timeline *timeline, size_t index)
{
    const uint32_t forward = timeline->host_ranges.at[index].forward;
    return forward == 0 ? SL_NOT_FOUND : forward - 1;
}

void sl__host_ranges_rename(sl__host_ranges *ranges, size_t index, uint32_t name)
{
    ranges->at[index].name = name;
}

void sl__host_ranges_link(sl__host_ranges *ranges, size_t backward, size_t forward)
{
    ranges->at[backward].forward = ranges->at[forward].forward = (uint32_t)forward + 1;
    ranges->is_linked = true;
}

static size_t first_of(const sl__host_ranges *ranges, uint32_t list)
{
    size_t at;
    SL__SEARCH(at, ranges->n, ranges->at[at].list < list);
    return at;
}

size_t sl_timeline_host_ranges_of(const sl_timeline *timeline, sl_host_range_kind kind, size_t *n)
{
    const size_t first = first_of(&timeline->host_ranges, list_of(kind, 0));
    *n = first_of(&timeline->host_ranges, (uint32_t)(kind + 1) << THREAD_BITS) - first;
    return first;
}

/* How many ranges end by `ns` without exception before `end`, and not before `first`, that blocks
 * show at once: 1 where none does. */
static size_t n_over(const sl__host_ranges *ranges, size_t first, size_t end, int64_t ns)
{
    size_t n = 1;
    for (int level = 0; level < ranges->n_levels; level++) {
        const size_t block = n * SL__RANGE_BLOCK;
        if (end % block != 0 || end - first < block) break;
        if (ranges->latest_ns[level][end / block - 1] > ns) break;
        n = block;
    }
    return n;
}

/* The last one of [first, end) that ends after `ns`. */
static size_t last_open(const sl__host_ranges *ranges, size_t first, size_t end, int64_t ns)
{
    while (end > first) {
        const size_t n = n_over(ranges, first, end, ns);
        if (n == 1 && ranges->at[end - 1].end_ns > ns) return end - 1;
        end -= n;
    }
    return SL_NOT_FOUND;
}

size_t sl_timeline_find_host_range(const sl_timeline *timeline, sl_host_range_kind kind,
                                   uint32_t thread, int64_t ns)
{
    const sl__host_ranges *ranges = &timeline->host_ranges;
    const uint32_t list = list_of(kind, thread);
    size_t end;
    SL__SEARCH(end, ranges->n,
               ranges->at[end].list < list
                   || (ranges->at[end].list == list && ranges->at[end].start_ns <= ns));
    return last_open(ranges, first_of(ranges, list), end, ns);
}

uint32_t sl_timeline_host_range_name(const sl_timeline *timeline, sl_host_range_kind kind,
                                     uint32_t thread, int64_t ns)
{
    const size_t at = sl_timeline_find_host_range(timeline, kind, thread, ns);
    return at == SL_NOT_FOUND ? 0 : timeline->host_ranges.at[at].name;
}

size_t sl_timeline_host_range_around(const sl_timeline *timeline, size_t index)
{
    const sl__host_ranges *ranges = &timeline->host_ranges;
    const kept *range = &ranges->at[index];
    return last_open(ranges, first_of(ranges, range->list), index, range->end_ns - 1);
}
