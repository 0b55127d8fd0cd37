/* walk.c - a walk backwards along what held work, from its start to the beginning of a gap. */
#include "search.h"
#include "store.h"

#define LOOK_BACK 64 /* neighbours in time that are looked at */

typedef sl__search search;

static const sl__item *item_at(const search *s, size_t item) { return &s->ops.items[item]; }

int64_t sl__visible_ns(const search *s, size_t item)
{
    size_t submitter = sl__submitter_of(&s->ops, item);
    return sl__min(item_at(s, submitter)->host_end_ns, item_at(s, item)->ready_ns);
}

/* A kernel of another stream that ran at `ns`, the latest to start. */
static size_t running_at(const search *s, size_t waiter, int64_t ns)
{
    uint32_t stream = sl__item_stream(&s->ops, waiter);
    const sl__order *order = sl__kernels_of(s, sl_timeline_place(s->ops.timeline, stream));
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
        && sl__cause_of_graph(s, launch->call, launch) == SL_CAUSE_HOST_BLOCKED) {
        until_ns = sl__min(sl__max(from_ns, item_at(s, launch->call)->host_end_ns), to_ns);
        sl__search_note(s, SL_CAUSE_HOST_BLOCKED, idle, launch->call, from_ns, until_ns);
    }
    sl__search_note(s, SL_CAUSE_LATENCY, idle, SL__NO_ITEM, until_ns, to_ns);
}

/* Between ready and start. Until the more urgent kernel went first there was no room. */
void sl__walk_start(search *s, size_t item, bool idle, int64_t from_ns, int64_t to_ns)
{
    sl_cause cause = (sl_cause)item_at(s, item)->start_cause;
    size_t by = item_at(s, item)->start_by;
    if (cause == SL_CAUSE_NONE || cause == SL_CAUSE_LATENCY) {
        note_latency(s, item, idle, from_ns, to_ns);
        return;
    }
    if (cause == SL_CAUSE_PRIORITY && by != SL__NO_ITEM) {
        int64_t went_ns = sl__min(sl__max(from_ns, item_at(s, by)->start_ns), to_ns);
        sl__search_note(s, cause, idle, by, went_ns, to_ns);
        sl__search_note(s, SL_CAUSE_ROOM, idle, running_at(s, item, from_ns), from_ns, went_ns);
        return;
    }
    sl__search_note(s, cause, idle, by, from_ns, to_ns);
}

/* The CPU moves the bytes of a pageable copy while the host is in its call, which delays all that
 * the host issues after it. Notes that part of [from, to] in which the copy ran, and gives where it
 * ends. */
static int64_t note_staging(search *s, size_t item, int64_t from_ns, int64_t to_ns)
{
    const sl_span *span = sl__item_span(&s->ops, item);
    if (!span || !sl__span_is_pageable(span) || span->host_start_ns > from_ns) return from_ns;
    int64_t end_ns = sl__max(from_ns, sl__min(span->host_end_ns, to_ns));
    sl__search_note(s, SL_CAUSE_HOST_BLOCKED, true, item, from_ns, end_ns);
    return end_ns;
}

void sl__walk_run(search *s, size_t item, int64_t from_ns, int64_t to_ns)
{
    const sl_span *span = sl__item_span(&s->ops, item);
    if (!span) return;
    s->waiter = item;
    s->unit = sl__unit_of(s->ops.timeline, span);
    from_ns = note_staging(s, item, from_ns, to_ns);
    sl__search_note(s, SL_CAUSE_NONE, true, SL__NO_ITEM, from_ns, to_ns);
}

/* From when the host's call was done back to the gap's beginning, or to what the host
 * waited for: that is returned, and *to_ns is its start. */
static size_t step_to_host(search *s, size_t item, int64_t ready_ns, int64_t *to_ns)
{
    int64_t visible = sl__visible_ns(s, item);
    int64_t shift = sl__max(0, ready_ns - visible);
    size_t by = sl__walk_host(s, item_at(s, item)->issue.thread, s->from_ns - shift,
                              sl__min(visible, ready_ns), shift);
    if (by == SL__NO_ITEM) return by;
    int64_t end_ns = sl__max(item_at(s, by)->end_ns, s->from_ns);
    *to_ns = sl__min(sl__max(item_at(s, by)->start_ns, s->from_ns), end_ns);
    sl__walk_run(s, by, *to_ns, end_ns);
    return by;
}

size_t sl__what_made_late(const search *s, size_t part)
{
    if (part == SL__NO_ITEM) return part;
    const sl__item *it = item_at(s, part);
    if (it->start_by != SL__NO_ITEM) return it->start_by;
    return it->ready_by != SL__NO_ITEM ? it->ready_by : part;
}

/* A collective ran from `from_ns` to `to_ns`, and nothing beside it. Until the last rank came it
 * was that which was waited for. Notes that part, and gives where it ends. */
static int64_t note_late_rank(search *s, size_t item, int64_t from_ns, int64_t to_ns)
{
    const sl_collective_note *of = sl_timeline_find_collective(s->ops.timeline,
                                                               item_at(s, item)->correlation);
    if (!of || of->late_rank == of->rank || of->met_ns <= from_ns) return from_ns;
    size_t waiter = s->waiter;
    int64_t met_ns = sl__min(of->met_ns, to_ns);
    s->waiter = item;
    sl__search_note(s, SL_CAUSE_LATE_RANK, true,
                    sl__what_made_late(s, sl__operations_find(&s->ops, of->late_by)), from_ns,
                    met_ns);
    s->waiter = waiter;
    return met_ns;
}

/* A stretch of a gap in which what was waited for ran. */
static void note_wait(search *s, size_t by, sl_cause via, int64_t from_ns, int64_t to_ns)
{
    from_ns = note_late_rank(s, by, note_staging(s, by, from_ns, to_ns), to_ns);
    sl__search_note(s, via, true, by, from_ns, to_ns);
}

/* From ready back over the run of what it waited for, which is returned; *to_ns is its
 * start. */
static size_t step_to_operation(search *s, size_t item, int64_t ready_ns, sl_cause via,
                                int64_t *to_ns)
{
    size_t by = item_at(s, item)->ready_by;
    int64_t end_ns = sl__min(sl__max(item_at(s, by)->end_ns, s->from_ns), ready_ns);
    *to_ns = sl__min(sl__max(item_at(s, by)->start_ns, s->from_ns), end_ns);
    note_latency(s, item, true, end_ns, ready_ns);
    if (s->chain)
        sl__walk_run(s, by, *to_ns, end_ns);
    else
        note_wait(s, by, via, *to_ns, end_ns);
    return by;
}

/* What the walk crosses at this item. A launch comes behind all that its stream had before: which
 * of its edges, or of an earlier launch's, come into that changes nothing. */
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

void sl__walk_gap(search *s, size_t item, int64_t to_ns)
{
    sl_cause via = SL_CAUSE_NONE;
    while (item != SL__NO_ITEM && to_ns > s->from_ns && sl__search_may_step(s, s->from_ns, to_ns)) {
        const sl__item *it = item_at(s, item);
        sl_cause cause = (sl_cause)it->ready_cause;
        bool by_host = cause == SL_CAUSE_LATENCY || cause == SL_CAUSE_NONE;
        int64_t ready_ns = sl__min(sl__max(it->ready_ns, s->from_ns), to_ns);
        sl__walk_start(s, item, true, ready_ns, to_ns);
        via = crossed(s, item, via);
        if (by_host) {
            item = step_to_host(s, item, ready_ns, &to_ns);
        } else if (it->ready_by != SL__NO_ITEM) {
            item = step_to_operation(s, item, ready_ns, via, &to_ns);
        } else { /* by something that is not in the timeline */
            sl__search_note(s, via, true, SL__NO_ITEM, s->from_ns, ready_ns);
            return;
        }
    }
}
