/* explain.c - where time was lost, and to what.
 *
 * Two kinds of lost time are looked for.
 *   Idle: an engine was idle before a span X. The gap is walked
 *   backwards from X's start along what held X (operations.h): while an earlier operation P of
 *   its stream ran, the cause is stream order; before P started, it is what held P; and
 *   so on across events, the NULL stream and hardware channels (the first of these that
 *   was crossed gives the cause its name), until the gap's beginning is reached or an
 *   operation that the host had not issued yet. Then it is what the host did: waited in a
 *   call, worked, or issued other things.
 *   Busy: a span was ready, but its engine worked for others (or, for hardware channels
 *   and the NULL stream, it was held although its own stream had nothing before it).
 *   Last: collectives began only behind the last kernel (tails.h).
 *   Beside: kernels ran, but left SMs empty (sm_room.h), so that a kernel of another stream
 *   could have run beside them. What kept it is found by the same walk, from the end of what
 *   its stream ran before. Only events and the host are reported here: the other reasons are
 *   reported as busy. That a long kernel waited for one before it in its stream is reported only
 *   if that one left SMs empty, and all kernels are in that stream; whether it needs the
 *   other's results is unknown.
 *
 * The reason that counts is always the last one, without which the operation would have
 * started earlier. The time from the call to the start is shifted away: had the host
 * issued the operation earlier, that time would have passed earlier too, so what the host
 * did before it is the cause, and not the latency.
 *
 * The same walk, from the last end to the first start and with the operations themselves
 * as parts of it, takes the makespan apart. There a synchronisation is no end: the walk
 * goes on with the operation that the host waited for. The run of a pageable copy counts as the
 * host's time as long as its call goes on, whichever way the walk comes to it.
 *
 * Each engine's gaps do not overlap, so every operation is visited a few times at most:
 * O(n log n) in all. Where times contradict the order of issue it could take more: the number
 * of steps is limited, and the rest is reported as unknown. A walk ends, as each step leads to
 * an earlier operation or, behind a synchronisation, to an earlier time.
 */
#include "timeline.h"

#include <stdlib.h>

#include "advice.h"
#include "search.h"
#include "sm_room.h"
#include "store.h"
#include "tails.h"

#define LONG_KERNEL_NS 10000 /* kernels that are worth a stream of their own, and its launches */
#define LONG_NODE_NS 3000    /* the same of a graph's, which cost the host nothing */
#define STEPS_PER_ITEM 16
#define LOOK_BACK 64 /* neighbours in time that are looked at */

typedef sl__search search;

static const sl__item *item_at(const search *s, size_t item) { return &s->ops.items[item]; }

/* ---- engines -------------------------------------------------------------------------- */

/* From its start a collective has its SMs and waits, until the last rank has come. */
static void look_at_ranks(search *s, size_t item)
{
    const sl__item *waiter = item_at(s, item);
    const sl_collective_note *note_of = sl_timeline_find_collective(s->ops.timeline,
                                                                    waiter->correlation);
    if (!note_of || note_of->late_rank == note_of->rank) return;
    sl__search_note(s, SL_CAUSE_LATE_RANK, false,
                    sl__what_made_late(s, sl__operations_find(&s->ops, note_of->late_by)),
                    waiter->start_ns, sl__min(note_of->met_ns, waiter->end_ns));
}

/* They run at the same time. */
static void look_at_company(search *s, size_t kernel, size_t collective)
{
    const sl_span *span = sl__item_span(&s->ops, kernel);
    const sl_span *other = sl__item_span(&s->ops, collective);
    const sl_device_info *device = sl_timeline_device_at(s->ops.timeline,
                                                         sl__item_place(&s->ops, kernel));
    if (span->engine == SL_ENGINE_COMM || !sl__sm_leaves_fewer(device, other, span)) return;
    s->waiter = kernel;
    sl__search_note(s, SL_CAUSE_FEWER_SMS, false, collective,
                    sl__max(span->start_ns, other->start_ns), sl__min(span->end_ns, other->end_ns));
}

/* Kernels beside the collective that is the i-th to start: they have fewer SMs. */
static void look_beside_collective(search *s, const sl__order *order, size_t i)
{
    const size_t collective = order->at[i].item;
    const sl__item *it = item_at(s, collective);
    if (sl__item_span(&s->ops, collective)->engine != SL_ENGINE_COMM) return;
    for (size_t k = i + 1; k < order->n && order->at[k].at_ns < it->end_ns && !sl__stops_at(k); k++)
        look_at_company(s, order->at[k].item, collective);
    for (size_t k = i; k-- > 0 && i - k <= LOOK_BACK;)
        if (item_at(s, order->at[k].item)->end_ns > it->start_ns)
            look_at_company(s, order->at[k].item, collective);
}

/* What keeps a collective from its SMs is computation. */
static void note_busy(search *s, size_t item)
{
    const sl__item *waiter = item_at(s, item);
    int unit = s->unit;
    bool of_sms = waiter->start_cause == SL_CAUSE_ROOM || waiter->start_cause == SL_CAUSE_PRIORITY;
    if (of_sms) s->unit = sl__unit(unit / SL_ENGINES, SL_ENGINE_COMPUTE);
    sl__walk_start(s, item, false, waiter->ready_ns, waiter->start_ns);
    s->unit = unit;
}

/* The span was ready, and its engine busy: only what other streams did counts. */
static void look_at_wait(search *s, size_t item)
{
    const sl__item *waiter = item_at(s, item);
    sl_cause start = (sl_cause)waiter->start_cause, ready = (sl_cause)waiter->ready_cause;
    s->waiter = item;
    look_at_ranks(s, item);
    if (start == SL_CAUSE_ENGINE || start == SL_CAUSE_ROOM || start == SL_CAUSE_PRIORITY
        || start == SL_CAUSE_CHANNEL)
        note_busy(s, item);
    if (ready == SL_CAUSE_CHANNEL || ready == SL_CAUSE_NULL_STREAM || ready == SL_CAUSE_GRAPH
        || ready == SL_CAUSE_COMM) {
        int64_t from_ns = sl__visible_ns(s, item);
        if (waiter->before != SL__NO_ITEM)
            from_ns = sl__max(from_ns, item_at(s, waiter->before)->end_ns);
        sl__search_note(s, ready, false, waiter->ready_by, from_ns, waiter->ready_ns);
    }
}

/* Communication that waits for what it sends costs nothing by itself: what it holds up is found
 * where computation stands still. */
static void look_at_engine(search *s, int unit)
{
    const sl__order *order = &s->by_start[unit];
    int64_t end_ns = sl_timeline_first_ns(s->ops.timeline);
    s->unit = unit;
    for (size_t i = 0; i < order->n && !sl__stops_at(i); i++) {
        size_t item = order->at[i].item;
        if (item_at(s, item)->start_ns > end_ns && unit % SL_ENGINES != SL_ENGINE_COMM) {
            s->waiter = item;
            s->from_ns = end_ns;
            sl__walk_gap(s, item, item_at(s, item)->start_ns);
        }
        end_ns = sl__max(end_ns, item_at(s, item)->end_ns);
    }
    for (size_t i = 0; i < order->n && !sl__stops_at(i); i++)
        look_at_wait(s, order->at[i].item);
}

static bool is_long_kernel(const search *s, size_t item, const sl_span **span)
{
    *span = sl__item_span(&s->ops, item);
    return *span && (*span)->kind == SL_SPAN_KERNEL && (*span)->blocks > 0
           && !sl_timeline_find_collective(s->ops.timeline, (*span)->correlation)
           && (*span)->end_ns - (*span)->start_ns
                  >= (item_at(s, item)->issue.launch > 0 ? LONG_NODE_NS : LONG_KERNEL_NS);
}

/* A program that has kernels in several streams knows how to let them overlap. */
static bool has_one_kernel_stream(const search *s, int place)
{
    const sl__order *order = sl__kernels_of(s, place);
    for (size_t i = 1; i < order->n; i++) {
        if (sl__item_stream(&s->ops, order->at[i].item)
            != sl__item_stream(&s->ops, order->at[0].item))
            return false;
    }
    return true;
}

/* A quarter of the SMs at least, or enough for the next kernel. */
static bool leaves_room(const sl_span *kernel, const sl_span *next, int sm_count)
{
    return (int64_t)kernel->blocks * 4 <= (int64_t)sm_count * 3
           || (int64_t)kernel->blocks + next->blocks <= sm_count;
}

/* It comes behind another kernel of its stream, which has blocks for fewer SMs than there are. */
static void look_at_neighbour(search *s, size_t item, size_t before)
{
    const sl_span *span, *other;
    int place = sl__item_place(&s->ops, item);
    int sm_count = sl_timeline_device_at(s->ops.timeline, place)->sm_count;
    if (before == SL__NO_ITEM || !is_long_kernel(s, item, &span)
        || !is_long_kernel(s, before, &other) || !leaves_room(other, span, sm_count)
        || item_at(s, item)->ready_cause != SL_CAUSE_STREAM_ORDER)
        return;
    int64_t from_ns = sl__max(other->start_ns, sl__visible_ns(s, item));
    sl__stretches_add(&s->found, SL_CAUSE_STREAM_ORDER, s->unit, false, item, before, from_ns,
                      other->end_ns);
}

/* Beside kernels that left room; from the end of what its stream ran before, records and
 * waits left out. */
static void look_beside(search *s, int place, size_t item, bool one_kernel_stream)
{
    const sl__item *waiter = item_at(s, item);
    size_t before = waiter->before;
    for (int n = 0; n < LOOK_BACK && before != SL__NO_ITEM && item_at(s, before)->is_call; n++)
        before = item_at(s, before)->before;
    s->from_ns = sl_timeline_first_ns(s->ops.timeline);
    if (before != SL__NO_ITEM) s->from_ns = sl__max(s->from_ns, item_at(s, before)->end_ns);
    s->waiter = item;
    if (sl__union_measure_near_ns(&s->busy[SL__BESIDE + place], s->from_ns, waiter->start_ns,
                                  &s->near_room)
        > 0)
        sl__walk_gap(s, item, waiter->start_ns);
    if (one_kernel_stream) look_at_neighbour(s, item, before);
}

/* Kernels of one stream, and nobody knows whether one left room for the next. */
static bool is_room_unknown(const search *s, int place)
{
    const sl__order *order = sl__kernels_of(s, place);
    bool has_sms = sl_timeline_device_at(s->ops.timeline, place)->sm_count > 0;
    size_t n = 0;
    for (size_t i = 0; i < order->n; i++) {
        const sl_span *span = sl__item_span(&s->ops, order->at[i].item);
        n += span->kind == SL_SPAN_KERNEL && (!has_sms || span->blocks == 0);
    }
    return n > 1;
}

/* None of them waits for long, but all for the last kernel: it counts that nothing covers them. */
static void look_at_tail(search *s, int place)
{
    sl__tail tail = sl__tail_of(&s->ops, sl__kernels_of(s, place));
    s->unit = sl__unit(place, SL_ENGINE_COMM);
    for (size_t k = 1; k <= tail.n && !sl__stops_at(k); k++) {
        s->waiter = tail.order->at[tail.first + k - 1].item;
        sl__search_note(s, SL_CAUSE_COMM_LAST, false, sl__tail_part(&s->ops, &tail, k),
                        item_at(s, s->waiter)->start_ns, item_at(s, s->waiter)->end_ns);
    }
}

static void look_at_kernels(search *s, int place)
{
    const sl__order *order = sl__kernels_of(s, place);
    bool one_kernel_stream = has_one_kernel_stream(s, place);
    s->unit = sl__unit(place, SL_ENGINE_COMPUTE);
    s->steps = STEPS_PER_ITEM * s->ops.n;
    s->beside = true;
    for (size_t i = 0; i < order->n && s->steps > 0 && !sl__stops_at(i); i++) {
        if (sl__item_span(&s->ops, order->at[i].item)->engine == SL_ENGINE_COMPUTE)
            look_beside(s, place, order->at[i].item, one_kernel_stream);
    }
    s->beside = false;
    for (size_t i = 0; i < order->n && !sl__stops_at(i); i++)
        look_beside_collective(s, order, i);
}

/* Host functions are work of the host: their row is no engine that could be kept busy. */
static void look_at_engines(search *s)
{
    s->steps = STEPS_PER_ITEM * s->ops.n;
    for (int unit = 0; unit < sl__unit_count(s->ops.timeline); unit++) {
        if (unit % SL_ENGINES != SL_ENGINE_HOST) look_at_engine(s, unit);
    }
}

/* The time from the first start to the end of `last`, the makespan if that ends last. */
static void take_apart(search *s, size_t last)
{
    s->chain = s->found.chain = true;
    s->steps = STEPS_PER_ITEM * s->ops.n;
    s->from_ns = sl_timeline_first_ns(s->ops.timeline);
    sl__walk_run(s, last, item_at(s, last)->start_ns, item_at(s, last)->end_ns);
    sl__walk_gap(s, last, item_at(s, last)->start_ns);
}

static void take_makespan_apart(search *s)
{
    if (s->by_end.n > 0) take_apart(s, s->by_end.at[s->by_end.n - 1].item);
}

/* The last span of the stream, by end, or SL__NO_ITEM. */
static size_t last_of_stream(const search *s, uint32_t stream)
{
    size_t i = s->by_end.n;
    while (i > 0 && sl__item_stream(&s->ops, s->by_end.at[i - 1].item) != stream)
        i--;
    return i > 0 ? s->by_end.at[i - 1].item : SL__NO_ITEM;
}

/* ---- all --------------------------------------------------------------------------------- */

static sl_status no_memory(const search *s, sl_error *err)
{
    return sl__no_memory(err, "the explanation of %zu operations", s->ops.n);
}

/* Of the makespan, or a stream's time, that was taken apart; its stretches are forgotten. */
static sl_status sum_chain(search *s, sl_explanation *out, sl_error *err)
{
    sl_status status = sl_interrupt_check(err);
    if (status == SL_OK && s->found.failed) return no_memory(s, err);
    if (status == SL_OK)
        status = sl__stretches_sum(&s->found, s->busy, &out->chain, &out->n_chain, NULL, err);
    sl__stretches_clear(&s->found);
    s->chain = s->found.chain = false;
    return status;
}

sl_status sl__causes_search(search *s, sl_explanation *out, sl_error *err)
{
    out->inferred = s->ops.inferred;
    take_makespan_apart(s);
    sl_status status = sum_chain(s, out, err);
    if (status != SL_OK) return status;
    look_at_engines(s);
    for (int place = 0; place < sl_timeline_device_count(s->ops.timeline); place++) {
        look_at_kernels(s, place);
        look_at_tail(s, place);
        out->room_unknown |= is_room_unknown(s, place);
    }
    status = sl_interrupt_check(err); /* what was found so far is not all */
    if (status == SL_OK && s->found.failed) return no_memory(s, err);
    if (status == SL_OK)
        status = sl__stretches_sum(&s->found, s->busy, &out->findings, &out->n_findings, &s->waits,
                                   err);
    if (status == SL_OK) sl__causes_group(&s->ops, out);
    return status;
}

static sl_status find_chain(search *s, uint32_t stream, sl_explanation *out, int64_t *time_ns,
                            sl_error *err)
{
    size_t last = last_of_stream(s, stream);
    if (last == SL__NO_ITEM)
        return sl_fail(err, SL_ENOTFOUND, "the timeline has no operation of that stream");
    *time_ns = item_at(s, last)->end_ns - sl_timeline_first_ns(s->ops.timeline);
    take_apart(s, last);
    return sum_chain(s, out, err);
}

sl_status sl_timeline_chain_of_stream(const sl_timeline *timeline, uint32_t stream, bool reported,
                                      sl_explanation *out, int64_t *time_ns, sl_error *err)
{
    search s;
    *out = (sl_explanation){ 0 };
    sl_status status = sl__search_open(&s, timeline, reported, err);
    if (status != SL_OK) return status;
    out->inferred = s.ops.inferred;
    status = find_chain(&s, stream, out, time_ns, err);
    sl__search_close(&s);
    if (status != SL_OK) sl_explanation_free(out);
    return status;
}

sl_status sl__causes_chain(const sl_timeline *timeline, sl_explanation *out, sl_error *err)
{
    search s;
    *out = (sl_explanation){ 0 };
    sl_status status = sl__search_open(&s, timeline, true, err);
    if (status != SL_OK) return status;
    take_makespan_apart(&s);
    out->inferred = s.ops.inferred;
    status = sum_chain(&s, out, err);
    sl__search_close(&s);
    if (status != SL_OK) sl_explanation_free(out);
    return status;
}
