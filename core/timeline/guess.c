/* guess.c - waits of streams for each other, and edges of graphs, that are not recorded.
 *
 * PyTorch's profiler gives the calls cudaEventRecord and cudaStreamWaitEvent, but with some
 * versions of CUDA not which event they are about, or in which stream they are. An operation X
 * then waited for Y of another stream if
 *   - X started right behind the end of Y (on an H200 a kernel takes 1 to 2 us for that, and a copy
 *     7 to 12 us), and could have started earlier;
 *   - between the calls that issued Y and X there is such a wait, and before the wait a record,
 *     if the trace has records at all, with nothing of Y's stream between Y and the record
 *     (without records: up to the wait, or such a start is hardly one by chance);
 *   - the wait is not needed for something else: of the streams that got work between the wait
 *     and X, each one may have taken a wait of its own.
 */
#include "guess.h"

#include <string.h>

#define LOOK_BACK 64     /* neighbours in time that are looked at */
#define ISSUED_BACK 1024 /* calls: PyTorch's allocator makes hundreds of cudaEventQuery */
#define COPY_NS 24000    /* from the end to the start of a copy; of a kernel SL__LAUNCH_NS */
#define CHANCE 16        /* the part of a wait in which it may have ended by chance */
#define MOST_STREAMS 8   /* that got work between the wait and X */

static bool is_named(const sl_timeline *timeline, const sl_call *call, const char *part)
{
    return call->kind == SL_CALL_PLAIN
           && strstr(sl_timeline_text(timeline, call->name), part) != NULL;
}

bool sl__call_is_unknown_wait(const sl_timeline *timeline, const sl_call *call)
{
    if (call->kind == SL_CALL_STREAM_WAIT) return call->target == 0;
    return is_named(timeline, call, "StreamWaitEvent");
}

sl_status sl__guesses_open(sl__operations *ops, sl__guesses *guesses, sl_error *err)
{
    *guesses = (sl__guesses){ .ops = ops };
    const size_t n = sl_timeline_origin(ops->timeline).recorded ? 0 : ops->n;
    for (size_t i = 0; i < n && !guesses->unknown_waits; i++) {
        const sl_call *call = sl__item_call(ops, i);
        guesses->unknown_waits = call && sl__call_is_unknown_wait(ops->timeline, call);
    }
    for (uint32_t id = 0; id < sl_timeline_text_count(ops->timeline); id++)
        guesses->records |= strstr(sl_timeline_text(ops->timeline, id), "EventRecord") != NULL;
    return sl__operations_order(ops, SL__ALL_SPANS, SL__BY_END, &guesses->by_end, err);
}

/* ---- edges --------------------------------------------------------------------- */

/* Of what a launch ran side by side in one stream, nothing in a trace of another program says which
 * edges there are. A node may have one from any that ended before it started; the one that ended
 * last is the likeliest. */
size_t sl__likely_edge(const sl__operations *ops, size_t i)
{
    const sl__item *item = &ops->items[i];
    const uint32_t launch = item->issue.launch;
    size_t found = SL__NO_ITEM;
    if (!ops->unknown_edges || launch == 0) return found;
    for (size_t k = i; k > 0 && i - k < LOOK_BACK && ops->items[k - 1].issue.launch == launch;
         k--) {
        const sl__item *other = &ops->items[k - 1];
        if (other->end_ns <= item->start_ns
            && (found == SL__NO_ITEM || other->end_ns > ops->items[found].end_ns))
            found = k - 1;
    }
    return found;
}

/* ---- the wait ------------------------------------------------------------------ */

typedef struct streams {
    uint32_t ids[MOST_STREAMS];
    size_t n;
} streams;

/* False if there are too many. */
static bool note_stream(streams *seen, uint32_t id)
{
    for (size_t i = 0; i < seen->n; i++) {
        if (seen->ids[i] == id) return true;
    }
    if (seen->n == MOST_STREAMS) return false;
    seen->ids[seen->n++] = id;
    return true;
}

/* In the item's own stream, or in an unknown one. */
static bool may_be_wait_of(const sl__operations *ops, size_t call_item, size_t item)
{
    const sl_call *call = sl__item_call(ops, call_item);
    bool elsewhere = call && call->kind == SL_CALL_STREAM_WAIT
                     && call->stream != sl__item_stream(ops, item);
    return call && !elsewhere && sl__call_is_unknown_wait(ops->timeline, call);
}

/* One whose call is not in the trace, so that it is assumed to be issued when the item was. */
static bool is_loose(const sl__operations *ops, size_t before, size_t item)
{
    const sl__item *it = &ops->items[before];
    return !it->is_call && it->host_start_ns == it->host_end_ns
           && it->host_start_ns == ops->items[item].host_start_ns;
}

/* The wait that came before the item in its stream, or SL__NO_ITEM. */
static size_t find_wait(const sl__operations *ops, size_t item)
{
    streams others = { .n = 0 };
    size_t before = ops->items[item].before, n_waits = 0;
    while (before != SL__NO_ITEM && is_loose(ops, before, item))
        before = ops->items[before].before;
    for (size_t i = item; i-- > 0 && item - i <= ISSUED_BACK;) {
        const sl_span *span = sl__item_span(ops, i);
        if (span && i != before && span->stream == sl__item_stream(ops, item)) continue;
        bool wait = may_be_wait_of(ops, i, item);
        if (wait && (i == before || ++n_waits > others.n)) return i;
        if (i == before || (span && !note_stream(&others, span->stream))) return SL__NO_ITEM;
    }
    return SL__NO_ITEM;
}

/* ---- what it waited for ---------------------------------------------------------- */

/* Is it a record in this stream, or in an unknown one? */
static bool may_be_record_of(const sl__guesses *g, const sl_call *call, uint32_t stream)
{
    if (call->kind == SL_CALL_EVENT_RECORD) return call->stream == stream;
    return is_named(g->ops->timeline, call, "EventRecord");
}

/* Whether there may be a record of it before the wait: behind the operation, and before the next
 * one of its stream. */
static bool is_recorded(const sl__guesses *g, size_t operation, size_t wait)
{
    uint32_t stream = sl__item_stream(g->ops, operation);
    for (size_t i = operation + 1; i < wait && i - operation <= ISSUED_BACK; i++) {
        const sl_call *call = sl__item_call(g->ops, i);
        if (!call && sl__item_stream(g->ops, i) == stream) return false;
        if (call && may_be_record_of(g, call, stream)) return true;
    }
    return !g->records;
}

/* How long a start may come behind the end that it waited for. */
static int64_t most_ns(const sl__guesses *g, size_t item)
{
    return sl__is_on_sms(sl__item_span(g->ops, item)) ? SL__LAUNCH_NS : COPY_NS;
}

/* Without records any operation may have one. Then only times can show the wait: so few others
 * ended while the item was ready that a start right behind one is hardly a coincidence. */
static bool is_beyond_chance(const sl__guesses *g, size_t i)
{
    const sl__item *item = &g->ops->items[i];
    size_t n = sl__order_count(&g->by_end, item->start_ns)
               - sl__order_count(&g->by_end, item->ready_ns);
    return !g->records && (int64_t)n * most_ns(g, i) * CHANCE < item->start_ns - item->ready_ns;
}

static bool may_be_awaited(const sl__guesses *g, size_t other, size_t wait, size_t item)
{
    bool elsewhere = sl__item_stream(g->ops, other) != sl__item_stream(g->ops, item);
    return elsewhere && other < wait && (is_recorded(g, other, wait) || is_beyond_chance(g, item));
}

static void hold(sl__item *item, size_t other, int64_t end_ns)
{
    item->ready_ns = end_ns;
    item->ready_by = other;
    item->ready_cause = SL_CAUSE_EVENT;
    item->start_cause = SL_CAUSE_LATENCY;
    item->start_by = SL__NO_ITEM;
}

void sl__guess_event(const sl__guesses *g, size_t i)
{
    sl__item *item = &g->ops->items[i];
    size_t wait = g->unknown_waits ? find_wait(g->ops, i) : SL__NO_ITEM;
    size_t k = sl__order_count(&g->by_end, item->start_ns);
    if (wait == SL__NO_ITEM) return;
    for (int n = 0; n < LOOK_BACK && k > 0; n++) {
        size_t other = g->by_end.at[--k].item;
        int64_t end_ns = g->by_end.at[k].at_ns;
        if (end_ns <= item->ready_ns || item->start_ns - end_ns > most_ns(g, i)) return;
        if (may_be_awaited(g, other, wait, i)) {
            hold(item, other, end_ns);
            return;
        }
    }
}
