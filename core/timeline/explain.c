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
#include "findings.h"
#include "operations.h"
#include "overlap.h"
#include "sm_room.h"
#include "store.h"
#include "tails.h"

#define SLOW_CALL_NS 10000   /* an asynchronous call that takes longer was held up */
#define LONG_QUEUE 512       /* operations in flight: a slow call then means a full queue */
#define LONG_KERNEL_NS 10000 /* kernels that are worth a stream of their own, and its launches */
#define LONG_NODE_NS 3000    /* the same of a graph's, which cost the host nothing */
#define STEPS_PER_ITEM 16
#define LOOK_BACK 64 /* neighbours in time that are looked at */

typedef struct search {
    sl__operations ops;
    sl__order by_host; /* all items, by when their calls began */
    sl__order by_start[SL__UNITS];
    sl__order on_sms[SL_MOST_DEVICES]; /* by start */
    sl__order by_end;                  /* all spans */
    int unit;                          /* the engine whose gaps are walked */
    bool chain;                        /* the makespan is taken apart: what ran is no cause */
    bool beside;                       /* not an engine's gap, but a wait beside kernels */
    bool host_known;                   /* the calls of the host are in the timeline */
    sl__union *busy;   /* SL__BUSY_UNIONS; from SL__BESIDE on, kernels ran and left room */
    int64_t *first_ns; /* by thread of the host: when its first call began */
    size_t waiter;     /* the item before which the gap is */
    int64_t from_ns;   /* the gap's beginning */
    size_t steps;      /* that may still be made */
    sl__stretches found;
} search;

static const sl__item *item_at(const search *s, size_t item) { return &s->ops.items[item]; }

/* What the SMs of the device at `place` ran, collectives as well, by start. */
static const sl__order *kernels_of(const search *s, int place) { return &s->on_sms[place]; }

/* Stream order is looked at by itself (look_at_neighbour). */
static bool counts_beside(sl_cause cause)
{
    return sl_cause_traits(cause) & SL_CAUSE_BESIDE && cause != SL_CAUSE_STREAM_ORDER;
}

static void note(search *s, sl_cause cause, bool idle, size_t by, int64_t from_ns, int64_t to_ns)
{
    if (s->beside && !counts_beside(cause)) return;
    idle = idle && !s->beside;
    sl__stretches_add(&s->found, cause, s->unit, idle, s->waiter, by, from_ns, to_ns);
}

/* False when there were too many: then the rest is unknown. */
static bool may_step(search *s, int64_t from_ns, int64_t to_ns)
{
    if (s->steps > 0 && !sl__stops_at(s->steps)) {
        s->steps--;
        return true;
    }
    note(s, SL_CAUSE_UNKNOWN, true, SL__NO_ITEM, from_ns, to_ns);
    return false;
}

/* ---- what the host did ----------------------------------------------------------- */

/* Many operations of the item's stream were in flight when it was issued. */
static bool has_long_queue(const search *s, size_t item)
{
    if (!item_at(s, item)->in_stream) return false;
    size_t lane = item_at(s, item)->issue.lane;
    size_t place = s->ops.place[item];
    if (place - s->ops.lane_start[lane] < LONG_QUEUE) return false;
    size_t earlier = s->ops.by_lane[place - LONG_QUEUE];
    return item_at(s, earlier)->end_ns > item_at(s, item)->host_start_ns;
}

/* A launch that takes very long did other work first: it loaded code, or made a handle. */
static sl_cause cause_of_launch(const search *s, size_t item, bool queue_full)
{
    const sl__item *it = item_at(s, item);
    int64_t call_ns = it->is_reported ? 0 : it->host_end_ns - it->host_start_ns;
    if (queue_full || (call_ns > SLOW_CALL_NS && has_long_queue(s, item)))
        return SL_CAUSE_QUEUE_FULL;
    bool is_first = call_ns > SL__FIRST_CALL_NS && !it->is_call;
    return is_first ? SL_CAUSE_HOST_BLOCKED : SL_CAUSE_HOST_ISSUING;
}

/* Uploading a graph takes about as long as its first kernels would: a slow first launch is not
 * issuing. */
static sl_cause cause_of_graph(const search *s, size_t item, const sl__launch *launch)
{
    const sl__item *it = item_at(s, item);
    bool is_slow = it->host_end_ns - it->host_start_ns > SLOW_CALL_NS;
    if (sl__item_call(&s->ops, item)->queue_full) return SL_CAUSE_QUEUE_FULL;
    return launch->note->uploads && is_slow ? SL_CAUSE_HOST_BLOCKED : SL_CAUSE_HOST_ISSUING;
}

static sl_cause cause_of_call(const search *s, size_t item)
{
    const sl__launch *launch = sl__launch_by(&s->ops, item);
    if (launch) return cause_of_graph(s, item, launch);
    const sl_span *span = sl__item_span(&s->ops, item);
    const sl_call *call = sl__item_call(&s->ops, item);
    if (span
        && (span->flags & (SL_SPAN_HOST_WAITED | SL_SPAN_LOADED) || sl__span_is_pageable(span)))
        return SL_CAUSE_HOST_BLOCKED;
    if (span) return cause_of_launch(s, item, span->flags & SL_SPAN_QUEUE_FULL);
    switch ((sl_call_kind)call->kind) {
    case SL_CALL_EVENT_RECORD:
    case SL_CALL_STREAM_WAIT: return cause_of_launch(s, item, call->queue_full);
    case SL_CALL_HOST_WORK: return SL_CAUSE_HOST_WORK;
    default: return SL_CAUSE_HOST_BLOCKED;
    }
}

/* Between two calls. A short pause belongs to the loop that issues. */
static void note_pause(search *s, size_t before, size_t after, int64_t from_ns, int64_t to_ns,
                       int64_t shift_ns)
{
    bool pause = to_ns - from_ns < SL__SHORT_PAUSE_NS && after != SL__NO_ITEM
                 && cause_of_call(s, after) == SL_CAUSE_HOST_ISSUING;
    note(s, pause ? SL_CAUSE_HOST_ISSUING : SL_CAUSE_HOST_WORK, true, pause ? after : before,
         from_ns + shift_ns, to_ns + shift_ns);
}

/* What the host computed, or an allocation: neither a CUDA call nor lab.host_work. A short one
 * belongs to the loop that issues, too, as does a CUDA call that returns at once. */
static bool is_part_of_loop(const search *s, size_t item)
{
    const sl_call *call = sl__item_call(&s->ops, item);
    if (!call || (call->kind != SL_CALL_PLAIN && call->kind != SL_CALL_HOST_WORK)) return false;
    if (sl__launch_by(&s->ops, item)) return false;
    if (call->kind == SL_CALL_PLAIN)
        return !call->waited_for_device && call->host_end_ns - call->host_start_ns < SLOW_CALL_NS;
    return call->name;
}

/* The operation that ended last before the call did, and was issued before it. */
static size_t last_before_end(const search *s, size_t item, int64_t end_ns)
{
    size_t k = sl__order_count(&s->by_end, end_ns);
    for (int n = 0; n < LOOK_BACK && k > 0; n++) {
        size_t other = s->by_end.at[--k].item;
        if (other < item && sl__item_place(&s->ops, other) == sl__item_place(&s->ops, item))
            return other;
    }
    return SL__NO_ITEM;
}

/* For the chain: what the host waited for in this call, if it ended during the call. A
 * synchronisation of the NULL stream takes in all blocking streams. */
static size_t synchronised_with(const search *s, size_t item)
{
    const sl_call *call = sl__item_call(&s->ops, item);
    size_t found = SL__NO_ITEM;
    if (!s->chain || !call) return SL__NO_ITEM;
    if (call->kind == SL_CALL_STREAM_SYNC
        && !sl_timeline_is_null_stream(s->ops.timeline, call->stream))
        found = item_at(s, item)->before;
    else if (call->kind == SL_CALL_EVENT_SYNC && call->target)
        found = sl__operations_find(&s->ops, call->target);
    else if (call->kind == SL_CALL_STREAM_SYNC || call->kind == SL_CALL_DEVICE_SYNC
             || call->waited_for_device)
        found = last_before_end(s, item, call->host_end_ns);
    bool fits = found < item && item_at(s, found)->end_ns > call->host_start_ns
                && item_at(s, found)->end_ns <= call->host_end_ns;
    return fits ? found : SL__NO_ITEM;
}

/* The call was made by the thread, or before that had made any. */
static bool is_before_in_thread(const search *s, size_t item, uint32_t thread)
{
    return item_at(s, item)->issue.thread == thread
           || item_at(s, item)->host_end_ns <= s->first_ns[thread];
}

/* Backwards from `to_ns` to `from_ns` of the time of a thread of the host; what is found counts
 * `shift_ns` later. Returns the operation with which the walk goes on, if there is one. */
static size_t walk_host(search *s, uint32_t thread, int64_t from_ns, int64_t to_ns,
                        int64_t shift_ns)
{
    size_t after = SL__NO_ITEM;
    if (!s->host_known) {
        note(s, SL_CAUSE_UNKNOWN, true, SL__NO_ITEM, from_ns + shift_ns, to_ns + shift_ns);
        return SL__NO_ITEM;
    }
    for (size_t k = sl__order_count(&s->by_host, to_ns - 1); k > 0 && to_ns > from_ns; k--) {
        size_t i = s->by_host.at[k - 1].item;
        if (item_at(s, i)->issue.launch > 0) continue; /* the host only launched its graph */
        if (!is_before_in_thread(s, i, thread)) continue;
        int64_t start_ns = sl__max_ns(item_at(s, i)->host_start_ns, from_ns);
        int64_t end_ns = sl__min_ns(item_at(s, i)->host_end_ns, to_ns);
        if (!may_step(s, from_ns + shift_ns, to_ns + shift_ns)) return SL__NO_ITEM;
        if (end_ns < to_ns) note_pause(s, i, after, sl__max_ns(end_ns, from_ns), to_ns, shift_ns);
        size_t awaited = synchronised_with(s, i);
        if (awaited != SL__NO_ITEM && item_at(s, awaited)->end_ns < end_ns + shift_ns
            && end_ns > from_ns) {
            note(s, SL_CAUSE_HOST_BLOCKED, true, i, item_at(s, awaited)->end_ns, end_ns + shift_ns);
            return awaited;
        }
        if (is_part_of_loop(s, i)) {
            note_pause(s, i, after, start_ns, end_ns, shift_ns);
        } else {
            note(s, cause_of_call(s, i), true, i, start_ns + shift_ns, end_ns + shift_ns);
            after = i;
        }
        to_ns = end_ns < from_ns ? from_ns : sl__min_ns(to_ns, start_ns);
    }
    if (to_ns > from_ns) note_pause(s, SL__NO_ITEM, after, from_ns, to_ns, shift_ns);
    return SL__NO_ITEM;
}

/* ---- walking a gap ------------------------------------------------------------------ */

/* When the item could be seen by the device: its call's end, or, in a call that goes on
 * while the operation runs, when it was ready. A launch goes on while its first nodes run. */
static int64_t visible_ns(const search *s, size_t item)
{
    size_t submitter = sl__submitter_of(&s->ops, item);
    return sl__min_ns(item_at(s, submitter)->host_end_ns, item_at(s, item)->ready_ns);
}

/* A kernel of another stream that ran at `ns`, the latest to start. */
static size_t running_at(const search *s, size_t waiter, int64_t ns)
{
    uint32_t stream = sl__item_stream(&s->ops, waiter);
    const sl__order *order = kernels_of(s, sl_timeline_place(s->ops.timeline, stream));
    size_t k = sl__order_count(order, ns);
    for (int n = 0; n < LOOK_BACK && k > 0; n++) {
        size_t other = order->at[--k].item;
        if (item_at(s, other)->end_ns > ns && sl__item_stream(&s->ops, other) != stream)
            return other;
    }
    return SL__NO_ITEM;
}

/* While the first launch of a graph still uploads it, its nodes start one by one, and that is the
 * upload and no latency. */
static void note_latency(search *s, size_t item, bool idle, int64_t from_ns, int64_t to_ns)
{
    const sl__launch *launch = sl__launch_of(&s->ops, item);
    int64_t until_ns = from_ns;
    if (launch && launch->call != SL__NO_ITEM
        && cause_of_graph(s, launch->call, launch) == SL_CAUSE_HOST_BLOCKED) {
        until_ns = sl__min_ns(sl__max_ns(from_ns, item_at(s, launch->call)->host_end_ns), to_ns);
        note(s, SL_CAUSE_HOST_BLOCKED, idle, launch->call, from_ns, until_ns);
    }
    note(s, SL_CAUSE_LATENCY, idle, SL__NO_ITEM, until_ns, to_ns);
}

/* Between ready and start. Until the more urgent kernel went first there was no room. */
static void note_start(search *s, size_t item, bool idle, int64_t from_ns, int64_t to_ns)
{
    sl_cause cause = (sl_cause)item_at(s, item)->start_cause;
    size_t by = item_at(s, item)->start_by;
    if (cause == SL_CAUSE_NONE || cause == SL_CAUSE_LATENCY) {
        note_latency(s, item, idle, from_ns, to_ns);
        return;
    }
    if (cause == SL_CAUSE_PRIORITY && by != SL__NO_ITEM) {
        int64_t went_ns = sl__min_ns(sl__max_ns(from_ns, item_at(s, by)->start_ns), to_ns);
        note(s, cause, idle, by, went_ns, to_ns);
        note(s, SL_CAUSE_ROOM, idle, running_at(s, item, from_ns), from_ns, went_ns);
        return;
    }
    note(s, cause, idle, by, from_ns, to_ns);
}

/* The CPU moves the bytes of a pageable copy while the host is in its call, which delays all that
 * the host issues after it. Notes that part of [from, to] in which the copy ran, and gives where it
 * ends. */
static int64_t note_staging(search *s, size_t item, int64_t from_ns, int64_t to_ns)
{
    const sl_span *span = sl__item_span(&s->ops, item);
    if (!span || !sl__span_is_pageable(span) || span->host_start_ns > from_ns) return from_ns;
    int64_t end_ns = sl__max_ns(from_ns, sl__min_ns(span->host_end_ns, to_ns));
    note(s, SL_CAUSE_HOST_BLOCKED, true, item, from_ns, end_ns);
    return end_ns;
}

/* A stretch of the chain in which the item itself ran. */
static void note_run(search *s, size_t item, int64_t from_ns, int64_t to_ns)
{
    const sl_span *span = sl__item_span(&s->ops, item);
    if (!span) return;
    s->waiter = item;
    s->unit = sl__unit_of(s->ops.timeline, span);
    from_ns = note_staging(s, item, from_ns, to_ns);
    note(s, SL_CAUSE_NONE, true, SL__NO_ITEM, from_ns, to_ns);
}

/* From when the host's call was done back to the gap's beginning, or to what the host
 * waited for: that is returned, and *to_ns is its start. */
static size_t step_to_host(search *s, size_t item, int64_t ready_ns, int64_t *to_ns)
{
    int64_t visible = visible_ns(s, item);
    int64_t shift = sl__max_ns(0, ready_ns - visible);
    size_t by = walk_host(s, item_at(s, item)->issue.thread, s->from_ns - shift,
                          sl__min_ns(visible, ready_ns), shift);
    if (by == SL__NO_ITEM) return by;
    int64_t end_ns = sl__max_ns(item_at(s, by)->end_ns, s->from_ns);
    *to_ns = sl__min_ns(sl__max_ns(item_at(s, by)->start_ns, s->from_ns), end_ns);
    note_run(s, by, *to_ns, end_ns);
    return by;
}

/* What a rank's part waited for last, or the part itself, which the host called late. */
static size_t what_made_late(const search *s, size_t part)
{
    if (part == SL__NO_ITEM) return part;
    const sl__item *it = item_at(s, part);
    if (it->start_by != SL__NO_ITEM) return it->start_by;
    return it->ready_by != SL__NO_ITEM ? it->ready_by : part;
}

/* A collective ran from `from_ns` to `to_ns`, and nothing beside it. Until the last rank came it was that
 * which was waited for. Notes that part, and gives where it ends. */
static int64_t note_late_rank(search *s, size_t item, int64_t from_ns, int64_t to_ns)
{
    const sl_collective_note *of = sl_timeline_find_collective(s->ops.timeline,
                                                               item_at(s, item)->correlation);
    if (!of || of->late_rank == of->rank || of->met_ns <= from_ns) return from_ns;
    size_t waiter = s->waiter;
    int64_t met_ns = sl__min_ns(of->met_ns, to_ns);
    s->waiter = item;
    note(s, SL_CAUSE_LATE_RANK, true, what_made_late(s, sl__operations_find(&s->ops, of->late_by)),
         from_ns, met_ns);
    s->waiter = waiter;
    return met_ns;
}

/* A stretch of a gap in which what was waited for ran. */
static void note_wait(search *s, size_t by, sl_cause via, int64_t from_ns, int64_t to_ns)
{
    from_ns = note_late_rank(s, by, note_staging(s, by, from_ns, to_ns), to_ns);
    note(s, via, true, by, from_ns, to_ns);
}

/* From ready back over the run of what it waited for, which is returned; *to_ns is its
 * start. */
static size_t step_to_operation(search *s, size_t item, int64_t ready_ns, sl_cause via,
                                int64_t *to_ns)
{
    size_t by = item_at(s, item)->ready_by;
    int64_t end_ns = sl__min_ns(sl__max_ns(item_at(s, by)->end_ns, s->from_ns), ready_ns);
    *to_ns = sl__min_ns(sl__max_ns(item_at(s, by)->start_ns, s->from_ns), end_ns);
    note_latency(s, item, true, end_ns, ready_ns);
    if (s->chain)
        note_run(s, by, *to_ns, end_ns);
    else
        note_wait(s, by, via, *to_ns, end_ns);
    return by;
}

/* What the walk crosses at this item. A launch comes behind all that its stream had before: which of
 * its edges, or of an earlier launch's, come into that changes nothing. */
static sl_cause crossed(const search *s, size_t item, sl_cause via)
{
    const sl__launch *launch = sl__launch_of(&s->ops, item);
    const sl__item *it = item_at(s, item);
    if (launch && launch != sl__launch_of(&s->ops, s->waiter) && via != SL_CAUSE_NONE) return via;
    bool leaves = launch && it->ready_by != SL__NO_ITEM
                  && launch != sl__launch_of(&s->ops, it->ready_by);
    bool is_new = via == SL_CAUSE_NONE || via == SL_CAUSE_STREAM_ORDER || leaves;
    return is_new ? (sl_cause)it->ready_cause : via;
}

/* Backwards from `to_ns`, when `item` started, to the gap's beginning. */
static void walk_gap(search *s, size_t item, int64_t to_ns)
{
    sl_cause via = SL_CAUSE_NONE;
    while (item != SL__NO_ITEM && to_ns > s->from_ns && may_step(s, s->from_ns, to_ns)) {
        const sl__item *it = item_at(s, item);
        sl_cause cause = (sl_cause)it->ready_cause;
        bool by_host = cause == SL_CAUSE_LATENCY || cause == SL_CAUSE_NONE;
        int64_t ready_ns = sl__min_ns(sl__max_ns(it->ready_ns, s->from_ns), to_ns);
        note_start(s, item, true, ready_ns, to_ns);
        via = crossed(s, item, via);
        if (by_host) {
            item = step_to_host(s, item, ready_ns, &to_ns);
        } else if (it->ready_by != SL__NO_ITEM) {
            item = step_to_operation(s, item, ready_ns, via, &to_ns);
        } else { /* by something that is not in the timeline */
            note(s, via, true, SL__NO_ITEM, s->from_ns, ready_ns);
            return;
        }
    }
}

/* ---- engines -------------------------------------------------------------------------- */

/* From its start a collective has its SMs and waits, until the last rank has come. */
static void look_at_ranks(search *s, size_t item)
{
    const sl__item *waiter = item_at(s, item);
    const sl_collective_note *note_of = sl_timeline_find_collective(s->ops.timeline,
                                                                    waiter->correlation);
    if (!note_of || note_of->late_rank == note_of->rank) return;
    note(s, SL_CAUSE_LATE_RANK, false,
         what_made_late(s, sl__operations_find(&s->ops, note_of->late_by)), waiter->start_ns,
         sl__min_ns(note_of->met_ns, waiter->end_ns));
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
    note(s, SL_CAUSE_FEWER_SMS, false, collective, sl__max_ns(span->start_ns, other->start_ns),
         sl__min_ns(span->end_ns, other->end_ns));
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
    note_start(s, item, false, waiter->ready_ns, waiter->start_ns);
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
        int64_t from_ns = visible_ns(s, item);
        if (waiter->before != SL__NO_ITEM)
            from_ns = sl__max_ns(from_ns, item_at(s, waiter->before)->end_ns);
        note(s, ready, false, waiter->ready_by, from_ns, waiter->ready_ns);
    }
}

/* Communication that waits for what it sends costs nothing by itself: what it holds up is found where
 * computation stands still. */
static void look_at_engine(search *s, int unit)
{
    const sl__order *order = &s->by_start[unit];
    int64_t end_ns = sl__timeline_first_ns(s->ops.timeline);
    s->unit = unit;
    for (size_t i = 0; i < order->n && !sl__stops_at(i); i++) {
        size_t item = order->at[i].item;
        if (item_at(s, item)->start_ns > end_ns && unit % SL_ENGINES != SL_ENGINE_COMM) {
            s->waiter = item;
            s->from_ns = end_ns;
            walk_gap(s, item, item_at(s, item)->start_ns);
        }
        end_ns = sl__max_ns(end_ns, item_at(s, item)->end_ns);
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
    const sl__order *order = kernels_of(s, place);
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
    int64_t from_ns = sl__max_ns(other->start_ns, visible_ns(s, item));
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
    s->from_ns = sl__timeline_first_ns(s->ops.timeline);
    if (before != SL__NO_ITEM) s->from_ns = sl__max_ns(s->from_ns, item_at(s, before)->end_ns);
    s->waiter = item;
    if (sl__union_measure_ns(&s->busy[SL__BESIDE + place], s->from_ns, waiter->start_ns) > 0)
        walk_gap(s, item, waiter->start_ns);
    if (one_kernel_stream) look_at_neighbour(s, item, before);
}

/* Kernels of one stream, and nobody knows whether one left room for the next. */
static bool is_room_unknown(const search *s, int place)
{
    const sl__order *order = kernels_of(s, place);
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
    sl__tail tail = sl__tail_of(&s->ops, kernels_of(s, place));
    s->unit = sl__unit(place, SL_ENGINE_COMM);
    for (size_t k = 1; k <= tail.n && !sl__stops_at(k); k++) {
        s->waiter = tail.order->at[tail.first + k - 1].item;
        note(s, SL_CAUSE_COMM_LAST, false, sl__tail_part(&s->ops, &tail, k),
             item_at(s, s->waiter)->start_ns, item_at(s, s->waiter)->end_ns);
    }
}

static void look_at_kernels(search *s, int place)
{
    const sl__order *order = kernels_of(s, place);
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
    sl__stretches_clear(&s->found);
    s->from_ns = sl__timeline_first_ns(s->ops.timeline);
    note_run(s, last, item_at(s, last)->start_ns, item_at(s, last)->end_ns);
    walk_gap(s, last, item_at(s, last)->start_ns);
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

static void search_close(search *s)
{
    for (int i = 0; s->busy && i < SL__BUSY_UNIONS; i++)
        sl__union_free(&s->busy[i]);
    free(s->busy);
    free(s->first_ns);
    sl__operations_free(&s->ops);
    sl__stretches_free(&s->found);
}

static sl_status collect_unions(search *s, sl_error *err)
{
    const sl_timeline *timeline = s->ops.timeline;
    sl_status status = SL_OK;
    s->busy = calloc(SL__BUSY_UNIONS, sizeof *s->busy);
    if (!s->busy) return sl_fail(err, SL_ENOMEM, "no memory to explain %zu operations", s->ops.n);
    for (int unit = 0; unit < sl__unit_count(timeline) && status == SL_OK; unit++) {
        sl_selection sel = sl_select_all;
        sel.place = unit / SL_ENGINES;
        sel.engine = unit % SL_ENGINES;
        status = sl__union_collect(timeline, &sel, &s->busy[unit], err);
    }
    for (int place = 0; place < sl_timeline_device_count(timeline) && status == SL_OK; place++)
        status = sl__sm_room_collect(&s->ops, place, &s->busy[SL__BESIDE + place], err);
    return status;
}

static sl_status find_threads(search *s, sl_error *err)
{
    const uint32_t n = s->ops.n_threads;
    s->first_ns = malloc(n * sizeof *s->first_ns);
    if (!s->first_ns) return sl_fail(err, SL_ENOMEM, "no memory for %u threads", (unsigned)n);
    for (uint32_t thread = 0; thread < n; thread++)
        s->first_ns[thread] = thread == 0 ? INT64_MIN : INT64_MAX;
    for (size_t i = 0; n > 1 && i < s->ops.n; i++) {
        int64_t *first_ns = &s->first_ns[item_at(s, i)->issue.thread];
        *first_ns = sl__min_ns(*first_ns, item_at(s, i)->host_start_ns);
    }
    return SL_OK;
}

static bool has_calls(const sl__operations *ops)
{
    size_t i = 0;
    while (i < ops->n && ops->items[i].host_end_ns == ops->items[i].host_start_ns)
        i++;
    return i < ops->n;
}

static sl_status search_open(search *s, const sl_timeline *timeline, bool reported, sl_error *err)
{
    *s = (search){ .unit = SL_ENGINE_COMPUTE };
    sl_status status = sl__operations_collect(timeline, reported, &s->ops, err);
    if (status != SL_OK) return status;
    s->found.ops = &s->ops;
    status = sl__operations_order(&s->ops, SL__ALL_ITEMS, SL__BY_HOST_START, &s->by_host, err);
    if (status == SL_OK)
        status = sl__operations_order(&s->ops, SL__ALL_SPANS, SL__BY_END, &s->by_end, err);
    for (int unit = 0; unit < sl__unit_count(timeline) && status == SL_OK; unit++)
        status = sl__operations_order(&s->ops, unit, SL__BY_START, &s->by_start[unit], err);
    for (int place = 0; place < sl_timeline_device_count(timeline) && status == SL_OK; place++)
        status = sl__operations_order(&s->ops, SL__ON_SMS + place, SL__BY_START, &s->on_sms[place],
                                      err);
    if (status == SL_OK) status = collect_unions(s, err);
    if (status == SL_OK) status = find_threads(s, err);
    s->host_known = has_calls(&s->ops);
    if (status != SL_OK) search_close(s);
    return status;
}

static sl_status give(search *s, sl_explanation *out, sl_error *err)
{
    look_at_engines(s);
    for (int place = 0; place < sl_timeline_device_count(s->ops.timeline); place++) {
        look_at_kernels(s, place);
        look_at_tail(s, place);
        out->room_unknown |= is_room_unknown(s, place);
    }
    sl_status status = sl_interrupt_check(err); /* what was found so far is not all */
    if (status == SL_OK && !s->found.failed)
        status = sl__stretches_sum(&s->found, s->busy, &out->findings, &out->n_findings,
                                   &out->waits, &out->n_waits, err);
    if (status == SL_OK) {
        take_makespan_apart(s);
        status = sl_interrupt_check(err);
    }
    if (status == SL_OK && s->found.failed)
        return sl_fail(err, SL_ENOMEM, "no memory to explain %zu operations", s->ops.n);
    if (status == SL_OK)
        status = sl__stretches_sum(&s->found, s->busy, &out->chain, &out->n_chain, NULL, NULL, err);
    if (status == SL_OK) sl__causes_group(&s->ops, out);
    if (status == SL_OK) status = sl__gains_find(&s->ops, out, err);
    return status;
}

static sl_status find_causes(const sl_timeline *timeline, bool reported, sl_explanation *out,
                             sl_error *err)
{
    search s;
    *out = (sl_explanation){ 0 };
    sl_status status = search_open(&s, timeline, reported, err);
    if (status != SL_OK) return status;
    out->inferred = s.ops.inferred;
    status = give(&s, out, err);
    search_close(&s);
    if (status != SL_OK) sl_explanation_free(out);
    return status;
}

static sl_status find_chain(search *s, uint32_t stream, sl_explanation *out, int64_t *time_ns,
                            sl_error *err)
{
    size_t last = last_of_stream(s, stream);
    if (last == SL__NO_ITEM)
        return sl_fail(err, SL_ENOTFOUND, "the timeline has no operation of that stream");
    *time_ns = item_at(s, last)->end_ns - sl__timeline_first_ns(s->ops.timeline);
    take_apart(s, last);
    sl_status status = sl_interrupt_check(err);
    if (status == SL_OK && s->found.failed)
        return sl_fail(err, SL_ENOMEM, "no memory to explain %zu operations", s->ops.n);
    if (status == SL_OK)
        status = sl__stretches_sum(&s->found, s->busy, &out->chain, &out->n_chain, NULL, NULL, err);
    return status;
}

sl_status sl_timeline_chain_of_stream(const sl_timeline *timeline, uint32_t stream, bool reported,
                                      sl_explanation *out, int64_t *time_ns, sl_error *err)
{
    search s;
    *out = (sl_explanation){ 0 };
    sl_status status = search_open(&s, timeline, reported, err);
    if (status != SL_OK) return status;
    out->inferred = s.ops.inferred;
    status = find_chain(&s, stream, out, time_ns, err);
    search_close(&s);
    if (status != SL_OK) sl_explanation_free(out);
    return status;
}

sl_status sl_timeline_infer_causes(const sl_timeline *timeline, sl_explanation *explanation,
                                   sl_error *err)
{
    return find_causes(timeline, false, explanation, err);
}

sl_status sl_timeline_causes(const sl_timeline *timeline, const sl_explanation **explanation,
                             sl_error *err)
{
    sl__kept_causes *kept = sl__timeline_kept_causes(timeline);
    if (!kept->found) {
        sl_status status = find_causes(timeline, true, &kept->explanation, err);
        if (status != SL_OK) return status;
        kept->found = true;
    }
    *explanation = &kept->explanation;
    return SL_OK;
}
