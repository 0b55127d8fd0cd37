/* tails.c - collectives that begin only behind the last kernel of their device.
 */
#include "tails.h"

#include "store.h"

#define NEARLY_PERCENT 97 /* of a part: kernels do not end at its very moment */

static bool is_collective(const sl__operations *ops, size_t item)
{
    return sl__item_span(ops, item)->engine == SL_ENGINE_COMM;
}

/* Of kernels, or of collectives, among the first n: the last end. */
static int64_t last_end_ns(const sl__operations *ops, const sl__order *order, size_t n,
                           bool collectives)
{
    int64_t ns = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        size_t item = order->at[i].item;
        if (is_collective(ops, item) == collectives) ns = sl__max(ns, ops->items[item].end_ns);
    }
    return ns;
}

/* On to the kernel with whose end kernels have run for `enough_ns`, or to the last. */
static void advance(const sl__operations *ops, sl__tail *tail, int64_t enough_ns)
{
    for (; tail->at < tail->first && (tail->ran_ns < enough_ns || tail->part == SL__NO_ITEM);
         tail->at++) {
        size_t i = tail->order->at[tail->at].item;
        const sl__item *item = &ops->items[i];
        if (is_collective(ops, i) || item->end_ns <= tail->to_ns) continue;
        tail->ran_ns += item->end_ns - sl__max(item->start_ns, tail->to_ns);
        tail->to_ns = item->end_ns;
        tail->part = i;
    }
}

static void begin(sl__tail *tail, int64_t from_ns)
{
    tail->at = 0;
    tail->ran_ns = 0;
    tail->to_ns = from_ns;
    tail->part = SL__NO_ITEM;
}

/* The device made it wait for what ran before it, until all kernels had ended. */
static bool waited_for_all(const sl__item *item, int64_t computed_ns)
{
    return sl_cause_traits((sl_cause)item->ready_cause) & SL_CAUSE_STREAM_WAITS
           && item->ready_ns >= computed_ns;
}

sl__tail sl__tail_of(const sl__operations *ops, const sl__order *on_sms)
{
    const sl__tail none = { 0 };
    sl__tail tail = { .order = on_sms, .first = on_sms->n };
    while (tail.first > 0 && is_collective(ops, on_sms->at[tail.first - 1].item))
        tail.first--;
    tail.n = on_sms->n - tail.first;
    if (tail.n < 2 || tail.first == 0) return none;
    int64_t computed_ns = last_end_ns(ops, on_sms, tail.first, false);
    int64_t from_ns = last_end_ns(ops, on_sms, tail.first, true);
    if (from_ns >= computed_ns
        || !waited_for_all(&ops->items[on_sms->at[tail.first].item], computed_ns))
        return none;
    begin(&tail, from_ns);
    advance(ops, &tail, INT64_MAX);
    tail.length_ns = tail.ran_ns;
    begin(&tail, from_ns);
    return tail.length_ns > 0 ? tail : none;
}

size_t sl__tail_part(const sl__operations *ops, sl__tail *tail, size_t k)
{
    double part = (double)k / (double)tail->n * (k < tail->n ? NEARLY_PERCENT / 100.0 : 1);
    advance(ops, tail, (int64_t)((double)tail->length_ns * part));
    return tail->part;
}
