/* activity.c - times that arrive after the operation has retired.
 *
 * The profiler of a real GPU delivers the times of operations late and in any order. They
 * are kept in one array; when a recording stops, array and spans are sorted by
 * number and merged. Records and waits of events leave no trace on the device: their
 * moment is computed from the spans of their stream.
 */
#include "activity.h"

#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "timeline/store.h"

_Static_assert(SL_TIME_LATER == SL__UNTIMED, "the timeline knows the backend's mark");

/* ---- collecting -------------------------------------------------------------- */

static bool comes_before(const sl__activity *a, const sl__activity *b)
{
    return a->seq != b->seq ? a->seq < b->seq : a->start_ns < b->start_ns;
}

static sl__activity *append(sl__activities *list)
{
    if (!SL__GROW(list->items, list->cap, list->n + 1)) return NULL;
    return &list->items[list->n++];
}

/* Compares with the latest symbol first: that is cheaper than hashing. */
static uint32_t symbol_id(sl_device *device, const char *symbol)
{
    const sl__activities *list = &device->core->activities;
    uint32_t last = list->n ? list->items[list->n - 1].symbol : 0;
    if (!symbol) return 0;
    if (last && !strcmp(sl__strings_text(&device->core->strings, last), symbol)) return last;
    return sl__strings_intern(&device->core->strings, symbol);
}

static void take(void *ud, const sl_activity *activity)
{
    sl_device *device = ud;
    sl__activities *list = &device->core->activities;
    sl__activity item = {
        .seq = activity->seq,
        .start_ns = activity->start_ns,
        .end_ns = activity->end_ns,
        .blocks = activity->blocks,
        .threads = activity->threads,
        .registers = activity->registers,
        .shared_bytes = activity->shared_bytes,
        .symbol = symbol_id(device, activity->symbol),
    };
    sl__activity *place = append(list);
    if (!place) {
        list->incomplete = true;
        return;
    }
    *place = item;
    if (list->n_sorted == list->n - 1 && (list->n == 1 || !comes_before(place, place - 1)))
        list->n_sorted = list->n;
}

void sl__activity_collect(sl_device *device)
{
    device->backend->record_collect(device, take, device);
}

void sl__activity_forget(sl_device *device)
{
    free(device->core->activities.items);
    device->core->activities = (sl__activities){ 0 };
}

/* ---- spans -------------------------------------------------------------------- */

SL__ORDER(by_seq, sl__activity, x->seq, x->start_ns);

/* The first among the sorted items that does not come before `key`. */
static size_t find_place(const sl__activities *list, const sl__activity *key)
{
    size_t at;
    SL__SEARCH(at, list->n_sorted, comes_before(&list->items[at], key));
    return at;
}

/* What was sorted before, and lies before all that is new, stays where it is: many short
 * recordings inside a long one must not sort its activities again and again. */
static void sort_activities(sl__activities *list)
{
    size_t first = list->n_sorted, from;
    if (first == list->n) return;
    for (size_t i = first + 1; i < list->n; i++)
        if (comes_before(&list->items[i], &list->items[first])) first = i;
    from = find_place(list, &list->items[first]);
    qsort(list->items + from, list->n - from, sizeof *list->items, by_seq);
    list->n_sorted = list->n;
}

/* A copy between the device and pageable memory may block the host until it ends; only its times
 * show whether the driver did that. For other operations the backend says so itself. */
static bool has_held_host(const sl_span *span)
{
    return (span->flags & (SL_SPAN_SRC_PAGEABLE | SL_SPAN_DST_PAGEABLE))
           && span->host_end_ns >= span->end_ns;
}

/* Limited to what the field of sl_span holds. */
static uint8_t limited(ptrdiff_t kernels) { return kernels < 15 ? (uint8_t)kernels & 15 : 15; }

static ptrdiff_t count_kernels(const sl__activity *first, const sl__activity *end)
{
    ptrdiff_t n = 0;
    for (; first < end; first++)
        n += first->blocks > 0;
    return n;
}

/* Prefers a kernel to the memset before it: it describes the operation better. */
static bool is_longer(const sl__activity *a, const sl__activity *b)
{
    if ((a->blocks > 0) != (b->blocks > 0)) return a->blocks > 0;
    return a->end_ns - a->start_ns > b->end_ns - b->start_ns;
}

/* From the first start to the last end; the grid and the symbol of the longest kernel. */
static void give_times(sl_span *span, const sl__activity *first, const sl__activity *end)
{
    const sl__activity *longest = first;
    span->start_ns = first->start_ns;
    span->end_ns = first->end_ns;
    for (const sl__activity *a = first + 1; a < end; a++) {
        if (a->end_ns > span->end_ns) span->end_ns = a->end_ns;
        if (is_longer(a, longest)) longest = a;
    }
    if (has_held_host(span)) span->flags |= SL_SPAN_HOST_WAITED;
    span->symbol = longest->symbol;
    if (longest->blocks) {
        span->kernels = limited(count_kernels(first, end));
        span->kernels_after = limited(count_kernels(longest + 1, end));
        span->blocks = longest->blocks;
        span->threads = longest->threads;
        span->registers = longest->registers;
        span->shared_bytes = longest->shared_bytes;
    }
}

/* Both sides in order of their numbers. */
size_t sl__activity_time_spans(sl_device *device, sl_timeline *timeline, int place,
                               sl__text_map *map, void *ud)
{
    sl__activities *list = &device->core->activities;
    const size_t n_spans = sl_timeline_span_count(timeline);
    size_t n_untimed = 0;
    sl__timeline_sort(timeline);
    sort_activities(list);

    const uint64_t first = n_spans ? sl_timeline_span(timeline, 0).correlation : 0;
    const sl__activity key = { .seq = first, .start_ns = INT64_MIN };
    const sl__activity *at = list->items + find_place(list, &key);
    const sl__activity *end = list->items + list->n, *next;

    for (size_t i = 0; i < n_spans; i++) {
        sl_span span = sl_timeline_span(timeline, i);
        if (span.end_ns != SL__UNTIMED || sl_timeline_place(timeline, span.stream) != place)
            continue;
        while (at < end && at->seq < span.correlation)
            at++;
        for (next = at; next < end && next->seq == span.correlation; next++)
            ;
        if (next > at) {
            give_times(&span, at, next);
            span.symbol = map(ud, span.symbol);
        }
        if (next == at || !sl__timeline_set_span(timeline, i, &span)) n_untimed++;
        at = next;
    }
    return n_untimed;
}

/* ---- records and waits ----------------------------------------------------------- */

typedef struct stream_tails {      /* up to when each stream is filled */
    const sl_stream_note *streams; /* in order of id; the ids of a graph's rows are large */
    size_t n;
    int64_t *at; /* by place in `streams` */
    size_t last; /* the place that was found last */
} stream_tails;

static bool open_tails(const sl_timeline *timeline, stream_tails *tails)
{
    tails->streams = sl_timeline_streams(timeline, &tails->n);
    tails->at = malloc((tails->n + 1) * sizeof *tails->at);
    tails->last = 0;
    for (size_t i = 0; tails->at && i <= tails->n; i++)
        tails->at[i] = SL__UNTIMED;
    return tails->at != NULL;
}

/* Neighbours are mostly of one stream. A stream that is not noted has the place behind the last. */
static int64_t *find_tail(stream_tails *tails, uint32_t stream)
{
    size_t at;
    if (tails->last < tails->n && tails->streams[tails->last].id == stream)
        return &tails->at[tails->last];
    SL__SEARCH(at, tails->n, tails->streams[at].id < stream);
    tails->last = at < tails->n && tails->streams[at].id == stream ? at : tails->n;
    return &tails->at[tails->last];
}

/* A record or wait is reached when the operations before it in its stream have ended, not before it
 * was issued, and a wait not before the record that it waits for. */
static void time_call(const sl_timeline *timeline, sl_call *call, int64_t *tail)
{
    if (call->device_ns == SL__UNTIMED) {
        size_t target = sl_timeline_find_call(timeline, call->target);
        call->device_ns = sl__max(*tail, call->host_end_ns);
        if (call->kind == SL_CALL_STREAM_WAIT && target != SL_NOT_FOUND)
            call->device_ns = sl__max(call->device_ns,
                                      sl_timeline_call(timeline, target).device_ns);
    }
    *tail = sl__max(*tail, call->device_ns);
}

/* Out of memory: they stay without a time. */
void sl__activity_time_calls(sl_timeline *timeline)
{
    stream_tails tails;
    if (!sl__timeline_has_untimed(timeline) || !open_tails(timeline, &tails)) return;
    sl__timeline_sort(timeline);
    for (sl__issues at = { .timeline = timeline }; sl__issues_next(&at);) {
        int64_t *tail = find_tail(&tails, at.is_call ? at.call.stream : at.span.stream);
        if (!at.is_call) {
            *tail = sl__max(*tail, at.span.end_ns);
        } else if (at.call.kind == SL_CALL_EVENT_RECORD || at.call.kind == SL_CALL_STREAM_WAIT) {
            time_call(timeline, &at.call, tail);
            sl__timeline_set_call(timeline, at.index, &at.call);
        }
    }
    free(tails.at);
}
