/* infer.c - what operations waited for, where the backend does not say.
 *
 * One operation after the other in order of issue, by CUDA's rules. An operation is ready
 * when the latest of these is past, which is named as its reason:
 *   - the end of its call on the host (if the call goes on while it runs, the earliest moment at
 *     which it can have been submitted);
 *   - the end of what comes before it in its stream (its own start, where that still runs then);
 *   - for a wait, the record that it waits for (where that is not known, what ended right
 *     before the operation behind the wait started);
 *   - for a collective, the end of the one before it of the same communicator and rank;
 *   - for what a launch of a graph runs, the end of the launch of the same graph before it;
 *   - for a node of a graph whose edges are not known, the end of the node that ended last
 *     before it started;
 *   - for the legacy NULL stream, the end of everything in blocking streams, and for
 *     those the end of what the NULL stream holds.
 * What ended after the operation had started cannot have been the reason: this shows which
 * streams are not blocking where a foreign trace does not say so.
 *
 * From then on only its engine, or a hardware channel, can have delayed its start:
 *   - on a copy engine, the span of another stream that ended last before the start;
 *   - among kernels a more urgent one that came later and started first; else the one that
 *     ended last before the start, or that still runs (its last blocks leave room). Not
 *     if fewer blocks ran than there are SMs, or too few to close all of them (sm_room.c): then
 *     there was room for certain. Without grids or a count of SMs that is not known;
 *   - an operation of another stream that was issued before and became ready at the same
 *     moment: they share a channel.
 * A start takes time by itself, which looks like a wait of the same length. What is not longer
 * than usual counts as latency, unless the start follows the end that made it possible at once.
 */
#include "operations.h"

#include <stdlib.h>
#include <string.h>

#include "company.h"
#include "guess.h"
#include "store.h"

/* Twice what an H200 takes across an event, and from one kernel to the next of its stream
 * (scripts/profiles/h200.lua). */
#define EVENT_NS 6000
#define NEXT_NS 3000
#define STAGING_NS 50000   /* in the call of a copy to pageable memory, before it starts */
#define HOST_FUNC_NS 30000 /* to a host function and from it: another thread runs it */
#define SLACK_NS 2000      /* between an end and the start that it made possible */
#define AT_ONCE_NS 1000    /* the same among kernels, which may run side by side */
#define LOOK_BACK 64       /* neighbours in time that are looked at */

typedef struct inferring {
    sl__operations *ops;
    sl__board board;   /* when what each joint has ended, and the one that did last */
    sl__ruling ruling; /* of the operation that is looked at */
    sl__company company;
    sl__guesses guesses;
} inferring;

static sl__item *item_at(const inferring *in, size_t item) { return &in->ops->items[item]; }

/* ---- ready ---------------------------------------------------------------------- */

/* One more thing that the operation had to wait for: the latest is the reason. */
static void wait_for(const inferring *in, sl__item *item, size_t by, sl_cause cause,
                     int64_t latest_ns)
{
    if (by == SL__NO_ITEM) return;
    int64_t end_ns = item_at(in, by)->end_ns;
    if (end_ns < item->ready_ns || end_ns > latest_ns) return;
    item->ready_ns = end_ns;
    item->ready_by = by;
    item->ready_cause = (uint8_t)cause;
}

/* It would have to wait for what ends last there; but that still runs as the item starts
 * (programmatic dependent launch), and so has let it start. */
static void start_beside(const inferring *in, sl__item *item, size_t last, int64_t latest_ns)
{
    if (last == SL__NO_ITEM || item_at(in, last)->end_ns <= latest_ns
        || item_at(in, last)->start_ns > item->start_ns || item->ready_ns > item->start_ns)
        return;
    item->ready_ns = item->start_ns;
    item->ready_by = last;
    item->ready_cause = SL_CAUSE_STREAM_ORDER;
}

/* What it waits for by the order of streams, the NULL stream's barrier, and the turns that launches
 * of one graph take. In its stream the one that ends last need not be the one before it: a short
 * one may lie within a longer one. */
static void wait_in_stream(const inferring *in, sl__item *item, int64_t latest_ns)
{
    const sl__ruling *ruling = &in->ruling;
    size_t by = SL__NO_ITEM;
    for (int k = 0; k < ruling->n_behind; k++) {
        sl_cause cause = (sl_cause)ruling->behind[k].cause;
        by = in->board.at[ruling->behind[k].joint].item;
        if (cause == SL_CAUSE_GRAPH || cause == SL_CAUSE_NULL_STREAM)
            wait_for(in, item, by, cause, latest_ns);
    }
    by = in->board.at[sl__order_joint(&in->ops->rules, item->issue.lane)].item;
    wait_for(in, item, item->before, SL_CAUSE_STREAM_ORDER, latest_ns);
    wait_for(in, item, by, SL_CAUSE_STREAM_ORDER, latest_ns);
    start_beside(in, item, by, latest_ns);
}

/* A value that a stream writes is a record, and the wait for it has its call's name. */
static sl_cause named(const inferring *in, const sl__item *item, sl_cause cause)
{
    const sl_call *call = sl__item_call(in->ops, (size_t)(item - in->ops->items));
    if (cause != SL_CAUSE_EVENT || !call || !call->name) return cause;
    const char *name = sl_call_name(in->ops->timeline, call);
    return strstr(name, "WaitValue") ? SL_CAUSE_VALUE : SL_CAUSE_EVENT;
}

/* What it waits for wherever that runs: a record, a collective before it. */
static void wait_elsewhere(const inferring *in, sl__item *item, int64_t latest_ns)
{
    const sl__ruling *ruling = &in->ruling;
    for (int k = 0; k < ruling->n_behind; k++) {
        sl_cause cause = (sl_cause)ruling->behind[k].cause;
        size_t by = in->board.at[ruling->behind[k].joint].item;
        if (cause != SL_CAUSE_EVENT && cause != SL_CAUSE_COMM) continue;
        if (cause == SL_CAUSE_COMM && by != SL__NO_ITEM
            && item_at(in, by)->issue.lane == item->issue.lane)
            continue; /* by the order of its stream */
        wait_for(in, item, by, named(in, item, cause), latest_ns);
    }
}

static bool is_pageable(const inferring *in, size_t i)
{
    const sl_span *span = sl__item_span(in->ops, i);
    return span && sl__span_is_pageable(span);
}

/* The way from the call to the start takes longer than a short kernel runs: that the one
 * before ended meanwhile was not the reason, if the next could have followed it sooner. */
static bool is_just_issued(const inferring *in, const sl__item *item)
{
    int64_t since_ns = item->start_ns - item->host_end_ns;
    bool with_gap = item->before != SL__NO_ITEM
                    && item->start_ns - item_at(in, item->before)->end_ns > NEXT_NS / 2;
    return since_ns <= NEXT_NS || (since_ns <= SL__LAUNCH_NS / 2 && with_gap);
}

/* A call that copies from or to pageable memory may wait in it until its stream has come
 * to it, and goes on when that has ended. What starts right behind its call could not have
 * started earlier: that its stream was busy until shortly before changed nothing. */
static void infer_ready(const inferring *in, size_t i)
{
    sl__item *item = item_at(in, i);
    const sl_call *call = sl__item_call(in->ops, i);
    bool untimed = call && call->device_ns == 0;
    bool just_issued = !untimed && is_just_issued(in, item);
    bool within_call = !untimed
                       && (item->host_end_ns > item->start_ns
                           || sl__begins_at_call_end(in->ops, i));
    int64_t latest_ns = untimed ? INT64_MAX : item->start_ns + SLACK_NS;
    item->ready_cause = SL_CAUSE_LATENCY;
    if (within_call || is_pageable(in, i)) {
        item->ready_ns = sl__submitted_ns(in->ops, i) + 1;
        wait_in_stream(in, item, latest_ns);
    }
    if (item->ready_by == SL__NO_ITEM) {
        item->ready_ns = within_call ? sl__submitted_ns(in->ops, i) : item->host_end_ns;
        if (within_call || !just_issued) wait_in_stream(in, item, latest_ns);
    }
    wait_elsewhere(in, item, latest_ns);
    size_t edge = sl__likely_edge(in->ops, i);
    if (edge != SL__NO_ITEM && edge != item->ready_by)
        wait_for(in, item, edge, SL_CAUSE_EVENT, latest_ns);
    /* Records and waits without a time pass when they are ready. */
    if (untimed) item->start_ns = item->end_ns = item->ready_ns;
    item->ready_ns = sl__min(item->ready_ns, item->start_ns);
}

/* A pageable copy is issued only when its stream has come to it, while the host waits in the call.
 * The backend reports that the host issued it last; but the host waited for the stream. */
static void look_into_call(const inferring *in, size_t i)
{
    sl__item *item = item_at(in, i);
    bool by_host = item->ready_cause == SL_CAUSE_LATENCY || item->ready_cause == SL_CAUSE_NONE;
    if (!by_host || !is_pageable(in, i)) return;
    int64_t ready_ns = item->ready_ns;
    item->ready_ns = sl__min(item->host_start_ns + 1, ready_ns);
    wait_in_stream(in, item, ready_ns);
    item->ready_ns = ready_ns;
}

/* A backend may report that what a graph ran waited for the graph's launch before, or for something
 * that this ran: they take turns. */
static void look_at_turns(const inferring *in, size_t i)
{
    sl__item *item = item_at(in, i);
    const sl__rules *rules = &in->ops->rules;
    uint32_t previous = item->issue.launch > 0 ? rules->previous[item->issue.launch - 1]
                                               : SL__NO_JOINT;
    if (previous == SL__NO_JOINT || item->ready_by == SL__NO_ITEM) return;
    const sl__launch *before = &in->ops->launches[previous];
    if (item->ready_by != before->call && sl__launch_of(in->ops, item->ready_by) != before) return;
    item->ready_cause = SL_CAUSE_GRAPH;
    if (item->ready_by == before->call) item->ready_by = in->board.at[rules->ran + previous].item;
}

/* ---- start ----------------------------------------------------------------------- */

/* How long a start usually takes when nothing delays it. */
static int64_t usual_ns(const inferring *in, const sl__item *item)
{
    if (item->ready_by == SL__NO_ITEM) return SL__LAUNCH_NS;
    return item_at(in, item->ready_by)->is_call ? EVENT_NS : NEXT_NS;
}

static void hold_start(sl__item *item, sl_cause cause, size_t by)
{
    item->start_cause = (uint8_t)cause;
    item->start_by = by;
}

/* It is one, or comes behind one. */
static bool has_host_func(const inferring *in, const sl__item *item, const sl_span *span)
{
    const sl_span *by = sl__item_span(in->ops, item->ready_by);
    return span->engine == SL_ENGINE_HOST || (by && by->engine == SL_ENGINE_HOST);
}

/* The reason is not known; it may be what ended shortly before. */
static void start_by_itself(const inferring *in, sl__item *item, const sl_span *span)
{
    int64_t wait_ns = item->start_ns - item->ready_ns;
    int64_t since_ns = sl__max(item->ready_ns, item->start_ns - SL__LAUNCH_NS);
    if (wait_ns > (has_host_func(in, item, span) ? HOST_FUNC_NS : SL__LAUNCH_NS))
        hold_start(item, SL_CAUSE_UNKNOWN,
                   sl__ended_last(&in->company, span, since_ns, span->start_ns));
    else if (item->ready_by == SL__NO_ITEM)
        item->ready_ns = item->start_ns; /* submission */
    else
        hold_start(item, SL_CAUSE_LATENCY, SL__NO_ITEM);
}

/* The end of `other` can have made the start possible. */
static bool follows(const inferring *in, const sl__item *item, size_t other, int64_t at_once_ns)
{
    if (other == SL__NO_ITEM) return false;
    int64_t end_ns = item_at(in, other)->end_ns;
    return item->start_ns - end_ns <= at_once_ns
           || (item->start_ns - end_ns <= SL__LAUNCH_NS
               && end_ns - item->ready_ns > usual_ns(in, item));
}

/* Also host functions: one thread runs them all. */
static void infer_copy_start(const inferring *in, sl__item *item, const sl_span *span, size_t i)
{
    size_t other = sl__ended_last(&in->company, span, item->ready_ns, span->start_ns);
    size_t running = sl__running_at_start(&in->company, span);
    int64_t wait_ns = item->start_ns - item->ready_ns;
    bool is_long = wait_ns > usual_ns(in, item);
    if (follows(in, item, other, SLACK_NS))
        hold_start(item, SL_CAUSE_ENGINE, other);
    else if (running != SL__NO_ITEM && is_long) /* pageable ones take turns */
        hold_start(item, SL_CAUSE_ENGINE, running);
    else if (span->flags & SL_SPAN_SRC_PAGEABLE && span->host_end_ns > item->ready_ns)
        hold_start(item, SL_CAUSE_HOST_BLOCKED, i);
    else if (span->flags & SL_SPAN_DST_PAGEABLE && span->host_end_ns > item->ready_ns
             && wait_ns > SL__LAUNCH_NS && wait_ns < STAGING_NS)
        hold_start(item, SL_CAUSE_HOST_BLOCKED, i);
    else
        start_by_itself(in, item, span);
}

/* Whether `by`, and what else ran just before `ns`, left room is unknown where a trace gives no
 * grids or no count of SMs. */
static sl_cause room_or_unknown(const inferring *in, const sl_span *span, const sl_span *by,
                                int64_t ns)
{
    return sl__knows_room(&in->company, span, by, ns - 1) ? SL_CAUSE_ROOM : SL_CAUSE_UNKNOWN;
}

/* No other kernel was in its way; the launch itself may have taken so long. */
static void start_alone(const inferring *in, sl__item *item, const sl_span *span, size_t i)
{
    size_t call = sl__submitter_of(in->ops, i);
    start_by_itself(in, item, span);
    if (item->start_cause == SL_CAUSE_UNKNOWN && item_at(in, call)->host_end_ns > item->start_ns)
        hold_start(item, SL_CAUSE_HOST_BLOCKED, call);
}

static void infer_kernel_start(const inferring *in, sl__item *item, const sl_span *span, size_t i)
{
    size_t other = sl__ended_last(&in->company, span, item->ready_ns, span->start_ns + AT_ONCE_NS);
    bool is_long = item->start_ns - item->ready_ns > usual_ns(in, item);
    bool followed = follows(in, item, other, AT_ONCE_NS);
    int64_t before_ns = followed ? sl__min(item_at(in, other)->end_ns, span->start_ns)
                                 : span->start_ns;
    bool usual = item->ready_by == SL__NO_ITEM ? !is_long : !(followed || is_long);
    if (usual || sl__had_room(&in->company, span, before_ns - 1)
        || sl__had_room_since(&in->company, span, item->ready_ns, before_ns)) {
        start_alone(in, item, span, i);
        return;
    }
    size_t urgent = sl__overtaken_by(&in->company, i, span);
    size_t by = followed ? other : sl__running_at_start(&in->company, span);
    if (urgent != SL__NO_ITEM)
        hold_start(item, SL_CAUSE_PRIORITY, urgent);
    else if (by != SL__NO_ITEM)
        hold_start(item, room_or_unknown(in, span, sl__item_span(in->ops, by), before_ns), by);
    else
        start_alone(in, item, span, i);
}

static void infer_start(const inferring *in, size_t i)
{
    sl__item *item = item_at(in, i);
    const sl_span *span = sl__item_span(in->ops, i);
    bool by_host = item->ready_by == SL__NO_ITEM;
    if (!span) {
        if (by_host && item->start_ns - item->ready_ns <= SL__LAUNCH_NS)
            item->ready_ns = item->start_ns;
        else if (item->start_ns > item->ready_ns)
            hold_start(item, SL_CAUSE_LATENCY, SL__NO_ITEM);
    } else if (span->start_ns > item->ready_ns) {
        if (sl__is_on_sms(span))
            infer_kernel_start(in, item, span, i);
        else
            infer_copy_start(in, item, span, i);
        bool doubtful = item->start_cause == SL_CAUSE_ROOM
                        && sl_timeline_origin(in->ops->timeline).unknown_waits;
        if (item->start_cause == SL_CAUSE_UNKNOWN || doubtful) sl__guess_event(&in->guesses, i);
    }
}

/* ---- channels --------------------------------------------------------------------- */

/* What was issued before and started when the item did. */
static size_t came_along(const inferring *in, const sl__order *order, size_t i)
{
    const sl__item *item = item_at(in, i);
    size_t k = sl__order_count(order, item->start_ns + SLACK_NS);
    for (int n = 0; n < LOOK_BACK && k > 0; n++) {
        size_t other = order->at[--k].item;
        int64_t at_ns = order->at[k].at_ns;
        if (at_ns < item->start_ns - SLACK_NS || at_ns <= item->ready_ns) break;
        if (other < i && sl__item_stream(in->ops, other) != sl__item_stream(in->ops, i)
            && sl__item_place(in->ops, other) == sl__item_place(in->ops, i))
            return other;
    }
    return SL__NO_ITEM;
}

/* It may have lacked room: then no shared channel is needed to explain the wait. */
static bool may_lack_room(const inferring *in, const sl__item *item, size_t i)
{
    const sl_span *span = sl__item_span(in->ops, i);
    const sl_span *by = sl__item_span(in->ops, item->start_by);
    return span && by && sl__is_on_sms(span) && sl__is_on_sms(by)
           && room_or_unknown(in, span, by, item->start_ns) == SL_CAUSE_UNKNOWN;
}

static bool is_open(const inferring *in, size_t i)
{
    const sl__item *item = item_at(in, i);
    return item->in_stream && !item->is_reported && item->start_cause == SL_CAUSE_UNKNOWN
           && !may_lack_room(in, item, i)
           && !sl_timeline_origin(in->ops->timeline).unknown_waits; /* it may be one of them */
}

/* Runs last, when all items have their times. */
static sl_status infer_channels(const inferring *in, sl_error *err)
{
    size_t i = 0;
    while (i < in->ops->n && !is_open(in, i))
        i++;
    if (i == in->ops->n) return SL_OK;
    sl__order order;
    sl_status status = sl__operations_order(in->ops, SL__ALL_IN_STREAMS, SL__BY_START, &order, err);
    for (; status == SL_OK && i < in->ops->n; i++) {
        if (sl__stops_at(i)) status = sl_interrupt_check(err);
        size_t by = is_open(in, i) ? came_along(in, &order, i) : SL__NO_ITEM;
        if (by == SL__NO_ITEM) continue;
        sl__item *item = item_at(in, i);
        item->ready_ns = item->start_ns;
        item->ready_by = by;
        item->ready_cause = SL_CAUSE_CHANNEL;
        hold_start(item, SL_CAUSE_NONE, SL__NO_ITEM);
    }
    return status;
}

/* ---- all ----------------------------------------------------------------------------- */

/* Of a call: what ended last of all that it waits for. In a stream of several rows: what ended last
 * in any of them, unless it goes on with what its launch ran in its own. */
static void set_before(const inferring *in, sl__item *item)
{
    const sl__rules *rules = &in->ops->rules;
    if (!item->in_stream) {
        uint32_t awaited = sl__awaited_joint(rules, &item->issue);
        if (awaited != SL__NO_JOINT) item->before = in->board.at[awaited].item;
        return;
    }
    if (!rules->of[item->issue.lane].has_rows) return;
    bool goes_on = item->issue.launch != 0 && item->before != SL__NO_ITEM
                   && item_at(in, item->before)->issue.launch == item->issue.launch;
    for (int k = 0; k < in->ruling.n_behind && !goes_on; k++) {
        if (in->ruling.behind[k].cause != SL_CAUSE_STREAM_ORDER) continue;
        item->before = in->board.at[in->ruling.behind[k].joint].item;
        return; /* rows come first */
    }
}

static void infer_item(inferring *in, size_t i)
{
    sl__item *item = item_at(in, i);
    sl__rules_of(&in->ops->rules, &item->issue, &in->ruling);
    sl__board_wait(&in->board, &in->ruling);
    set_before(in, item);
    if (!item->in_stream) return;
    if (item->is_reported) {
        look_into_call(in, i);
        look_at_turns(in, i);
    } else {
        infer_ready(in, i);
        infer_start(in, i);
    }
    sl__board_put(&in->board, &in->ruling, (sl__reach){ item->end_ns, i });
}

static sl_status infer_all(sl__operations *ops, sl_error *err)
{
    inferring in = { .ops = ops };
    sl_status status = sl__board_open(&ops->rules, &in.board, err);
    for (size_t i = 0; i < ops->n; i++)
        ops->inferred |= ops->items[i].in_stream && !ops->items[i].is_reported;
    if (status == SL_OK && ops->inferred) status = sl__guesses_open(ops, &in.guesses, err);
    if (status == SL_OK && ops->inferred) status = sl__company_open(ops, &in.company, err);
    for (size_t i = 0; i < ops->n && status == SL_OK; i++) {
        if (sl__stops_at(i)) status = sl_interrupt_check(err);
        infer_item(&in, i);
    }
    if (status == SL_OK) status = infer_channels(&in, err);
    ops->inferred |= sl_timeline_origin(ops->timeline).is_played; /* who played it, inferred */
    sl__company_close(&in.company);
    sl__board_close(&in.board);
    return status;
}

sl_status sl__operations_collect(const sl_timeline *timeline, bool reported, sl__operations *ops,
                                 sl_error *err)
{
    sl_status status = sl__operations_gather(timeline, reported, ops, err);
    if (status == SL_OK) status = sl_interrupt_check(err);
    if (status == SL_OK) status = infer_all(ops, err);
    if (status != SL_OK) sl__operations_free(ops);
    return status;
}
