/* holds.c - what each operation was held by.
 *
 * The simulator says it. Otherwise it is inferred, one operation after the other in
 * order of issue, by CUDA's rules: an operation is ready when the latest of these is
 * past, which is named as its reason:
 *   - its call on the host (a call that blocks: its beginning);
 *   - the end of what comes before it in its stream;
 *   - for a wait, the record that it waits for;
 *   - for the legacy NULL stream, the end of everything in blocking streams, and for
 *     those the end of what the NULL stream holds.
 * From then to its start only its engine can have kept it. Who is named:
 *   - on a copy engine, the span of another stream that ended last before the start;
 *   - among kernels likewise; because of its priority if it came later and its stream is
 *     more urgent; because of a shared hardware channel if all that ran would have left
 *     room on the SMs; for want of room else.
 * Start-up times cannot be told from waits of the same length, so what is shorter than
 * LAUNCH_NS counts as latency. It is twice what an H200 takes from the call of an idle
 * stream to the kernel's start (docs/results/cuda.md).
 */
#include "holds.h"

#include <stdlib.h>

#include "lanes.h"
#include "store.h"

#define LAUNCH_NS 12000
#define SLACK_NS 2000               /* between an end and the start that it made possible */
#define THREADS_PER_SM 2048         /* of every GPU since compute capability 8.0 but 8.6 and 8.9 */

typedef struct tail {               /* the latest of several items */
    size_t item;
    int64_t end_ns;
} tail;

typedef struct inferring {
    sl__holds *out;
    sl__lanes lanes;
    tail *last;                     /* by lane */
    const sl_stream_note **notes;   /* by lane, or NULL */
    tail null_stream, blocking;
    size_t *by_end[SL_ENGINES];     /* items that are spans of that engine, by end */
    size_t n_by_end[SL_ENGINES];
} inferring;

/* ---- items ----------------------------------------------------------------- */

bool sl__span_is_pageable(const sl_span *span)
{
    return (span->flags & (SL_SPAN_SRC_PAGEABLE | SL_SPAN_DST_PAGEABLE)) != 0;
}

const sl_span *sl__item_span(const sl__holds *holds, const sl__item *item)
{
    size_t n;
    return item->is_call ? NULL : &sl_timeline_spans(holds->timeline, &n)[item->index];
}

const sl_call *sl__item_call(const sl__holds *holds, const sl__item *item)
{
    size_t n;
    return item->is_call ? &sl_timeline_calls(holds->timeline, &n)[item->index] : NULL;
}

void sl__item_host_ns(const sl__holds *holds, const sl__item *item, int64_t *start_ns,
                      int64_t *end_ns)
{
    const sl_span *span = sl__item_span(holds, item);
    const sl_call *call = sl__item_call(holds, item);
    *start_ns = span ? span->host_start_ns : call->host_start_ns;
    *end_ns = span ? span->host_end_ns : call->host_end_ns;
}

size_t sl__holds_find(const sl__holds *holds, uint64_t correlation)
{
    size_t low = 0, high = holds->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (holds->items[middle].correlation < correlation)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < holds->n && holds->items[low].correlation == correlation;
    return found ? low : SL__NO_ITEM;
}

typedef struct ended { int64_t end_ns; size_t item; } ended;

static int compare_ends(const void *left, const void *right)
{
    const ended *a = left, *b = right;
    if (a->end_ns != b->end_ns)
        return a->end_ns < b->end_ns ? -1 : 1;
    return (a->item > b->item) - (a->item < b->item);
}

sl_status sl__holds_by_end(const sl__holds *holds, int engine, size_t **order, size_t *n,
                           sl_error *err)
{
    *order = NULL;
    *n = 0;
    ended *ends = malloc((holds->n + 1) * sizeof *ends);
    for (size_t i = 0; ends && i < holds->n; i++) {
        const sl_span *span = sl__item_span(holds, &holds->items[i]);
        if (span && (engine < 0 || span->engine == engine))
            ends[(*n)++] = (ended){ span->end_ns, i };
    }
    if (*n > 0)
        *order = malloc(*n * sizeof **order);
    if (!ends || (*n > 0 && !*order)) {
        free(ends);
        return sl_fail(err, SL_ENOMEM, "no memory to explain %zu operations", holds->n);
    }
    qsort(ends, *n, sizeof *ends, compare_ends);
    for (size_t i = 0; i < *n; i++)
        (*order)[i] = ends[i].item;
    free(ends);
    return SL_OK;
}

static bool is_operation(const sl_call *call)
{
    return call->kind == SL_CALL_EVENT_RECORD || call->kind == SL_CALL_STREAM_WAIT;
}

static uint32_t stream_of(const sl__holds *holds, const sl__item *item)
{
    const sl_span *span = sl__item_span(holds, item);
    return span ? span->stream : sl__item_call(holds, item)->stream;
}

static bool in_a_stream(const sl__holds *holds, const sl__item *item)
{
    return !item->is_call || is_operation(sl__item_call(holds, item));
}

static void merge_items(sl__holds *holds)
{
    size_t n_spans, n_calls;
    const sl_span *spans = sl_timeline_spans(holds->timeline, &n_spans);
    const sl_call *calls = sl_timeline_calls(holds->timeline, &n_calls);
    for (size_t i = 0, j = 0; i < n_spans || j < n_calls;) {
        bool is_span = j == n_calls
                       || (i < n_spans && spans[i].correlation <= calls[j].correlation);
        sl__item *item = &holds->items[holds->n++];
        *item = (sl__item){ .index = is_span ? i : j, .before = SL__NO_ITEM, .is_call = !is_span };
        item->correlation = is_span ? spans[i].correlation : calls[j].correlation;
        item->start_ns = is_span ? spans[i].start_ns : calls[j].device_ns;
        item->end_ns = is_span ? spans[i].end_ns : calls[j].device_ns;
        if (is_span)
            i++;
        else
            j++;
    }
}

/* ---- inferring -------------------------------------------------------------- */

static void inferring_close(inferring *in)
{
    sl__lanes_free(&in->lanes);
    free(in->last);
    free(in->notes);
    for (int engine = 0; engine < SL_ENGINES; engine++)
        free(in->by_end[engine]);
}

static sl_status inferring_open(inferring *in, sl__holds *out, sl_error *err)
{
    *in = (inferring){ .out = out, .null_stream = { SL__NO_ITEM, 0 },
                       .blocking = { SL__NO_ITEM, 0 } };
    sl_status status = sl__lanes_collect(out->timeline, true, &in->lanes, err);
    if (status != SL_OK)
        return status;
    in->last = calloc(in->lanes.n + 1, sizeof *in->last);
    in->notes = calloc(in->lanes.n + 1, sizeof *in->notes);
    if (!in->last || !in->notes)
        status = sl_fail(err, SL_ENOMEM, "no memory to explain %zu operations", out->n);
    for (size_t lane = 0; status == SL_OK && lane < in->lanes.n; lane++) {
        in->last[lane].item = SL__NO_ITEM;
        in->notes[lane] = sl__timeline_note(out->timeline, in->lanes.ids[lane]);
    }
    for (int engine = 0; status == SL_OK && engine < SL_ENGINES; engine++)
        status = sl__holds_by_end(out, engine, &in->by_end[engine], &in->n_by_end[engine], err);
    if (status != SL_OK)
        inferring_close(in);
    return status;
}

static bool is_exempt(const inferring *in, size_t lane)
{
    return in->notes[lane] && in->notes[lane]->non_blocking && in->lanes.ids[lane] != 0;
}

static void later(tail *latest, size_t item, int64_t end_ns)
{
    if (latest->item == SL__NO_ITEM || end_ns >= latest->end_ns)
        *latest = (tail){ item, end_ns };
}

/* One more thing that the operation had to wait for: the later one is the reason. */
static void wait_until(const sl__holds *holds, sl_hold *hold, const tail *what, sl_cause cause)
{
    if (what->item == SL__NO_ITEM || what->end_ns < hold->ready_ns)
        return;
    hold->ready_ns = what->end_ns;
    hold->ready_by = holds->items[what->item].correlation;
    hold->ready_cause = (uint8_t)cause;
}

static void infer_ready(inferring *in, size_t i, size_t lane)
{
    sl__holds *holds = in->out;
    sl__item *item = &holds->items[i];
    sl_hold *hold = &holds->holds[i];
    const sl_call *call = sl__item_call(holds, item);
    int64_t host_start, host_end;
    sl__item_host_ns(holds, item, &host_start, &host_end);
    bool started_later = item->is_call || host_end <= item->start_ns;
    hold->ready_ns = started_later ? host_end : host_start;
    hold->ready_cause = SL_CAUSE_LATENCY;
    if (in->lanes.ids[lane] == 0)
        wait_until(holds, hold, &in->blocking, SL_CAUSE_NULL_STREAM);
    else if (!is_exempt(in, lane))
        wait_until(holds, hold, &in->null_stream, SL_CAUSE_NULL_STREAM);
    wait_until(holds, hold, &in->last[lane], SL_CAUSE_STREAM_ORDER);
    if (call && call->kind == SL_CALL_STREAM_WAIT) {
        size_t record = sl__holds_find(holds, call->target);
        if (record < i)
            wait_until(holds, hold, &(tail){ record, holds->items[record].end_ns },
                       SL_CAUSE_EVENT);
    }
    /* Records and waits that nobody has timed pass when they are ready. */
    if (call && call->device_ns == 0)
        item->start_ns = item->end_ns = hold->ready_ns;
    if (!call && hold->ready_ns > item->start_ns)
        hold->ready_ns = item->start_ns;
}

/* The last of another stream that ended on the engine after `after_ns` and up to
 * `until_ns`, or SL__NO_ITEM. */
static size_t ended_before(const inferring *in, const sl_span *span, int64_t after_ns,
                           int64_t until_ns)
{
    const sl__holds *holds = in->out;
    const size_t *order = in->by_end[span->engine];
    size_t low = 0, high = in->n_by_end[span->engine];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (holds->items[order[middle]].end_ns <= until_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low > 0 && holds->items[order[low - 1]].end_ns > after_ns; low--) {
        const sl__item *other = &holds->items[order[low - 1]];
        if (stream_of(holds, other) != span->stream && other->start_ns < span->start_ns)
            return order[low - 1];
    }
    return SL__NO_ITEM;
}

static bool is_more_urgent(const inferring *in, const sl_span *a, const sl_span *b)
{
    const sl_stream_note *x = in->notes[sl__lanes_find(&in->lanes, a->stream)];
    const sl_stream_note *y = in->notes[sl__lanes_find(&in->lanes, b->stream)];
    return (x ? x->priority : 0) < (y ? y->priority : 0);
}

/* Would both kernels have fitted beside each other? Registers and shared memory are not
 * known, so only what takes less than half of the threads counts as fitting. */
static bool fit_together(const inferring *in, const sl_span *a, const sl_span *b)
{
    int64_t threads = (int64_t)sl_timeline_device(in->out->timeline)->sm_count * THREADS_PER_SM;
    int64_t wanted = (int64_t)a->blocks * a->threads + (int64_t)b->blocks * b->threads;
    return a->blocks > 0 && b->blocks > 0 && wanted * 2 < threads;
}

static void infer_start(inferring *in, size_t i)
{
    sl__holds *holds = in->out;
    const sl_span *span = sl__item_span(holds, &holds->items[i]);
    sl_hold *hold = &holds->holds[i];
    if (!span || span->start_ns == hold->ready_ns)
        return;
    bool copies = span->engine != SL_ENGINE_COMPUTE;
    size_t other = ended_before(in, span, hold->ready_ns, span->start_ns + (copies ? 0 : SLACK_NS));
    hold->start_cause = SL_CAUSE_LATENCY;
    if (other == SL__NO_ITEM) {
        if (span->start_ns - hold->ready_ns > LAUNCH_NS)
            hold->start_cause = SL_CAUSE_UNKNOWN;
        return;
    }
    const sl_span *by = sl__item_span(holds, &holds->items[other]);
    if (span->start_ns - by->end_ns > LAUNCH_NS || span->start_ns - hold->ready_ns < SLACK_NS)
        return;
    hold->start_by = by->correlation;
    if (copies)
        hold->start_cause = SL_CAUSE_ENGINE;
    else if (by->correlation > span->correlation && is_more_urgent(in, by, span))
        hold->start_cause = SL_CAUSE_PRIORITY;
    else
        hold->start_cause = fit_together(in, span, by) ? SL_CAUSE_CHANNEL : SL_CAUSE_ROOM;
}

static void pass(inferring *in, size_t i, size_t lane)
{
    int64_t end_ns = in->out->items[i].end_ns;
    in->last[lane] = (tail){ i, end_ns };
    if (in->lanes.ids[lane] == 0)
        later(&in->null_stream, i, end_ns);
    if (!is_exempt(in, lane))
        later(&in->blocking, i, end_ns);
}

static sl_status infer(sl__holds *holds, sl_error *err)
{
    inferring in;
    sl_status status = inferring_open(&in, holds, err);
    if (status != SL_OK)
        return status;
    for (size_t i = 0; i < holds->n; i++) {
        const sl__item *item = &holds->items[i];
        if (!in_a_stream(holds, item))
            continue;
        size_t lane = sl__lanes_find(&in.lanes, stream_of(holds, item));
        holds->holds[i].correlation = item->correlation;
        infer_ready(&in, i, lane);
        infer_start(&in, i);
        pass(&in, i, lane);
    }
    inferring_close(&in);
    return SL_OK;
}

/* ---- all --------------------------------------------------------------------- */

/* What the backend has told, beside each item. */
static void take_told(sl__holds *holds)
{
    size_t n;
    const sl_hold *told = sl_timeline_holds(holds->timeline, &n);
    for (size_t i = 0, j = 0; i < holds->n && j < n;) {
        if (told[j].correlation < holds->items[i].correlation)
            j++;
        else if (told[j].correlation > holds->items[i].correlation)
            i++;
        else
            holds->holds[i++] = told[j++];
    }
}

static sl_status link_streams(sl__holds *holds, sl_error *err)
{
    sl__lanes lanes;
    sl_status status = sl__lanes_collect(holds->timeline, true, &lanes, err);
    if (status != SL_OK)
        return status;
    size_t *last = malloc((lanes.n + 1) * sizeof *last);
    if (!last) {
        sl__lanes_free(&lanes);
        return sl_fail(err, SL_ENOMEM, "no memory to explain %zu streams", lanes.n);
    }
    for (size_t lane = 0; lane < lanes.n; lane++)
        last[lane] = SL__NO_ITEM;
    for (size_t i = 0; i < holds->n; i++) {
        const sl_call *call = sl__item_call(holds, &holds->items[i]);
        bool in_stream = in_a_stream(holds, &holds->items[i]);
        if (!in_stream && call->kind != SL_CALL_STREAM_SYNC)
            continue;
        size_t lane = sl__lanes_find(&lanes, stream_of(holds, &holds->items[i]));
        holds->items[i].before = last[lane];
        if (in_stream)
            last[lane] = i;
    }
    free(last);
    sl__lanes_free(&lanes);
    return SL_OK;
}

sl_status sl__holds_collect(const sl_timeline *timeline, sl__holds *holds, sl_error *err)
{
    size_t n_spans, n_calls, n_told;
    sl_timeline_spans(timeline, &n_spans);
    sl_timeline_calls(timeline, &n_calls);
    sl_timeline_holds(timeline, &n_told);
    *holds = (sl__holds){ .timeline = timeline, .inferred = n_told == 0 };
    size_t n = n_spans + n_calls;
    holds->items = malloc((n + 1) * sizeof *holds->items);
    holds->holds = calloc(n + 1, sizeof *holds->holds);
    sl_status status = SL_OK;
    if (!holds->items || !holds->holds) {
        status = sl_fail(err, SL_ENOMEM, "no memory to explain %zu operations", n);
    } else {
        merge_items(holds);
        status = link_streams(holds, err);
    }
    if (status == SL_OK && holds->inferred)
        status = infer(holds, err);
    else if (status == SL_OK)
        take_told(holds);
    if (status != SL_OK)
        sl__holds_free(holds);
    return status;
}

void sl__holds_free(sl__holds *holds)
{
    free(holds->items);
    free(holds->holds);
    *holds = (sl__holds){ 0 };
}
