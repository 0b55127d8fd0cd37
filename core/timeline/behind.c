/* behind.c - which operations each one has to come behind: clocks of streams. */
#include "behind.h"

#include <stdlib.h>
#include <string.h>

#include "store.h"

static uint32_t *clock_at(const sl__behind *b, size_t i) { return b->clocks + i * b->index.n; }

static void join(const sl__behind *b, uint32_t *into, const uint32_t *from)
{
    for (size_t lane = 0; lane < b->index.n; lane++)
        if (from[lane] > into[lane]) into[lane] = from[lane];
}

/* ---- life ------------------------------------------------------------------------- */

static void count_ops(sl__behind *b)
{
    const size_t n = sl_timeline_span_count(b->timeline);
    size_t total = 0;
    for (size_t i = 0; i < n; i++)
        b->lanes[sl__lanes_find(&b->index, sl_timeline_span(b->timeline, i).stream)].n++;
    for (size_t lane = 0; lane < b->index.n; lane++) {
        b->lanes[lane].first = total;
        total += b->lanes[lane].n;
        b->lanes[lane].n = 0;
    }
}

static void describe_lanes(sl__behind *b)
{
    for (size_t i = 0; i < b->index.n; i++) {
        uint32_t id = b->index.ids[i];
        b->lanes[i].place = sl_timeline_place(b->timeline, id);
        b->lanes[i].is_null = sl_timeline_is_null_stream(b->timeline, id);
        b->lanes[i].is_blocking = sl__timeline_is_blocking(b->timeline, id);
    }
    count_ops(b);
}

/* Where in `clocks` which of them are. Gives how many there are. */
static size_t lay_out(sl__behind *b, size_t n_spans, size_t n_calls)
{
    size_t n_places = (size_t)sl_timeline_device_count(b->timeline);
    b->host = b->index.n;
    b->null = b->host + 1;
    b->blocking = b->null + n_places;
    b->ops = b->blocking + n_places;
    b->records = b->ops + n_spans;
    return b->records + n_calls;
}

static bool allocate(sl__behind *b, size_t n_spans, size_t n_calls)
{
    size_t n_clocks = lay_out(b, n_spans, n_calls), width = b->index.n + 1;
    if (n_clocks > SIZE_MAX / sizeof *b->clocks / width) return false;
    b->clocks = calloc(n_clocks * width, sizeof *b->clocks);
    b->lanes = calloc(width, sizeof *b->lanes);
    b->targets = calloc(width, sizeof *b->targets);
    b->record_numbers = calloc(n_calls + 1, sizeof *b->record_numbers);
    return b->clocks && b->lanes && b->targets && b->record_numbers;
}

sl_status sl__behind_open(const sl_timeline *timeline, sl__behind *b, sl_error *err)
{
    const size_t n_spans = sl_timeline_span_count(timeline);
    const size_t n_calls = sl_timeline_call_count(timeline);
    size_t n_records = 0;
    for (size_t i = 0; i < n_calls; i++)
        n_records += sl_timeline_call(timeline, i).kind == SL_CALL_EVENT_RECORD;
    *b = (sl__behind){ .timeline = timeline };
    sl_status status = sl__lanes_collect(timeline, true, &b->index, err);
    if (status != SL_OK) return status;
    if (!allocate(b, n_spans, n_records)) {
        sl__behind_close(b);
        return sl_fail(err, SL_ENOMEM, "no memory for what %zu operations in %zu streams wait for",
                       n_spans, b->index.n);
    }
    describe_lanes(b);
    return SL_OK;
}

void sl__behind_close(sl__behind *b)
{
    free(b->clocks);
    free(b->lanes);
    free(b->targets);
    free(b->record_numbers);
    sl__lanes_free(&b->index);
}

/* ---- questions ---------------------------------------------------------------------- */

static size_t op_at(const sl__behind *b, size_t lane, uint32_t nth)
{
    return b->lanes[lane].first + nth - 1;
}

static bool is_at(const sl__behind *b, size_t lane, int place)
{
    return place == SL__EVERY_PLACE || b->lanes[lane].place == place;
}

/* Whether another one of them comes behind the `nth` of the lane. */
static bool is_implied(const sl__behind *b, const uint32_t *wanted, size_t lane, int place)
{
    for (size_t other = 0; other < b->index.n; other++) {
        if (other == lane || wanted[other] == 0) continue;
        if (!is_at(b, other, place)) continue;
        if (clock_at(b, b->ops + op_at(b, other, wanted[other]))[lane] >= wanted[lane]) return true;
    }
    return false;
}

static void find_targets(sl__behind *b, const uint32_t *wanted, int place)
{
    b->n_targets = 0;
    for (size_t lane = 0; lane < b->index.n; lane++) {
        if (wanted[lane] > 0 && is_at(b, lane, place) && !is_implied(b, wanted, lane, place))
            b->targets[b->n_targets++] = op_at(b, lane, wanted[lane]);
    }
}

size_t sl__behind_last(const sl__behind *b, uint32_t stream)
{
    size_t lane = sl__lanes_find(&b->index, stream);
    return b->lanes[lane].n == 0 ? SL__NO_OP : op_at(b, lane, b->lanes[lane].n);
}

/* Its clock counts the operation itself. */
void sl__behind_find(sl__behind *b, size_t op, int place)
{
    uint32_t *clock = clock_at(b, b->ops + op);
    size_t lane = 0;
    while (lane + 1 < b->index.n && b->lanes[lane + 1].first <= op)
        lane++;
    clock[lane]--;
    find_targets(b, clock, place);
    clock[lane]++;
}

/* ---- operations ---------------------------------------------------------------------- */

/* What the lane comes behind as the host puts something into it. */
static uint32_t *enter(sl__behind *b, size_t lane)
{
    const sl__behind_lane *l = &b->lanes[lane];
    uint32_t *next = clock_at(b, b->next + lane);
    join(b, next, clock_at(b, b->host));
    if (l->is_null)
        join(b, next, clock_at(b, b->blocking + (size_t)l->place));
    else if (l->is_blocking)
        join(b, next, clock_at(b, b->null + (size_t)l->place));
    return next;
}

/* What comes behind it for its being in the NULL stream, or in another blocking one. */
static void leave(sl__behind *b, size_t lane)
{
    const sl__behind_lane *l = &b->lanes[lane];
    size_t of = l->is_null ? b->null : b->blocking;
    if (l->is_null || l->is_blocking)
        join(b, clock_at(b, of + (size_t)l->place), clock_at(b, b->next + lane));
}

size_t sl__behind_add(sl__behind *b, const sl_span *span)
{
    size_t lane = sl__lanes_find(&b->index, span->stream);
    sl__behind_lane *l = &b->lanes[lane];
    uint32_t *next = enter(b, lane);
    size_t op = op_at(b, lane, ++l->n);
    find_targets(b, next, SL__EVERY_PLACE);
    next[lane] = l->n;
    memcpy(clock_at(b, b->ops + op), next, b->index.n * sizeof *next);
    leave(b, lane);
    if (span->flags & SL_SPAN_HOST_WAITED) join(b, clock_at(b, b->host), next);
    return op;
}

/* ---- calls ----------------------------------------------------------------------------- */

static void wait_for_device(sl__behind *b, int place)
{
    for (size_t lane = 0; lane < b->index.n; lane++)
        if (b->lanes[lane].place == place)
            join(b, clock_at(b, b->host), clock_at(b, b->next + lane));
}

/* A synchronisation of the NULL stream waits for all blocking ones. */
static void wait_for_stream(sl__behind *b, size_t lane)
{
    const sl__behind_lane *l = &b->lanes[lane];
    uint32_t *host = clock_at(b, b->host);
    join(b, host, clock_at(b, b->next + lane));
    if (l->is_null) join(b, host, clock_at(b, b->blocking + (size_t)l->place));
}

/* The clock of an event's record, or NULL: it is not in the timeline. */
static const uint32_t *record_of(const sl__behind *b, uint64_t correlation)
{
    size_t low = 0;
    for (size_t high = b->n_records; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (b->record_numbers[middle] < correlation)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < b->n_records && b->record_numbers[low] == correlation;
    return found ? clock_at(b, b->records + low) : NULL;
}

static void keep_record(sl__behind *b, const sl_call *call, const uint32_t *clock)
{
    b->record_numbers[b->n_records] = call->correlation;
    memcpy(clock_at(b, b->records + b->n_records++), clock, b->index.n * sizeof *clock);
}

void sl__behind_call(sl__behind *b, const sl_call *call)
{
    uint32_t *host = clock_at(b, b->host);
    size_t lane = sl__lanes_find(&b->index, call->stream);
    const uint32_t *record = record_of(b, call->target);
    switch ((sl_call_kind)call->kind) {
    case SL_CALL_EVENT_RECORD:
        keep_record(b, call, enter(b, lane));
        leave(b, lane);
        break;
    case SL_CALL_STREAM_WAIT:
        if (record) join(b, enter(b, lane), record);
        leave(b, lane);
        break;
    case SL_CALL_STREAM_SYNC: wait_for_stream(b, lane); break;
    case SL_CALL_EVENT_SYNC:
        if (record) join(b, host, record);
        break;
    case SL_CALL_DEVICE_SYNC: wait_for_device(b, b->lanes[lane].place); break;
    case SL_CALL_PLAIN:
        if (call->waited_for_device) wait_for_device(b, b->lanes[lane].place);
        break;
    case SL_CALL_HOST_WORK:
    case SL_CALL_KINDS: break;
    }
}
