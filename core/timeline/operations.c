/* operations.c - the operations of a timeline in order of issue, with what the backend said about
 * their waits. The rest is inferred (infer.c).
 */
#include "operations.h"

#include <stdlib.h>

#include "overlap.h"
#include "store.h"

static sl_status no_memory(const sl__operations *ops, sl_error *err)
{
    return sl__no_memory(err, "the explanation of %zu operations", ops->n);
}

/* ---- items ----------------------------------------------------------------- */

bool sl__span_is_pageable(const sl_span *span)
{
    return (span->flags & (SL_SPAN_SRC_PAGEABLE | SL_SPAN_DST_PAGEABLE)) != 0;
}

int32_t sl__item_priority(const sl__operations *ops, size_t item)
{
    const sl_stream_note *note = sl__timeline_note(ops->timeline, sl__item_stream(ops, item));
    const sl__launch *launch = sl__launch_of(ops, item);
    sl_node_note node;
    if (launch && launch->note->priorities
        && sl_timeline_find_node(ops->timeline, ops->items[item].correlation, &node))
        return node.priority;
    return note ? note->priority : 0;
}

size_t sl__operations_find(const sl__operations *ops, uint64_t correlation)
{
    size_t at = ops->n > 0 ? (size_t)(correlation - ops->items[0].correlation) : 0;
    if (at < ops->n && ops->items[at].correlation == correlation
        && (at == 0 || ops->items[at - 1].correlation != correlation))
        return at; /* they have no gaps, as in most timelines of ours */
    SL__SEARCH(at, ops->n, ops->items[at].correlation < correlation);
    return at < ops->n && ops->items[at].correlation == correlation ? at : SL__NO_ITEM;
}

static sl__item item_of_span(const sl_span *span, size_t index)
{
    return (sl__item){ .correlation = span->correlation,
                       .index = (uint32_t)index,
                       .before = SL__NO_ITEM,
                       .start_ns = span->start_ns,
                       .end_ns = span->end_ns,
                       .host_start_ns = span->host_start_ns,
                       .host_end_ns = span->host_end_ns,
                       .ready_by = SL__NO_ITEM,
                       .start_by = SL__NO_ITEM,
                       .in_stream = true };
}

static sl__item item_of_call(const sl_call *call, size_t index)
{
    bool in_stream = call->kind == SL_CALL_EVENT_RECORD || call->kind == SL_CALL_STREAM_WAIT;
    int64_t device_ns = in_stream ? call->device_ns : 0;
    return (sl__item){ .correlation = call->correlation,
                       .index = (uint32_t)index,
                       .before = SL__NO_ITEM,
                       .start_ns = device_ns,
                       .end_ns = device_ns,
                       .host_start_ns = call->host_start_ns,
                       .host_end_ns = call->host_end_ns,
                       .ready_by = SL__NO_ITEM,
                       .start_by = SL__NO_ITEM,
                       .is_call = true,
                       .in_stream = in_stream };
}

static void merge_items(sl__operations *ops)
{
    size_t n = 0;
    for (sl__reading at = sl__rules_read(&ops->rules); sl__reading_next(&at); n++) {
        if (at.at.is_call)
            ops->calls[at.at.index] = at.at.call;
        else
            ops->spans[at.at.index] = at.at.span;
        ops->items[n] = at.at.is_call ? item_of_call(&at.at.call, at.at.index)
                                      : item_of_span(&at.at.span, at.at.index);
        ops->items[n].issue = at.issue;
    }
}

/* How many items each selection has: most of a large file's engines have none. */
static void count_among(sl__operations *ops)
{
    ops->n_among[SL__ALL_ITEMS] = ops->n;
    ops->n_among[SL__ALL_SPANS] = ops->n_spans;
    for (size_t i = 0; i < ops->n; i++)
        ops->n_among[SL__ALL_IN_STREAMS] += ops->items[i].in_stream;
    for (size_t i = 0; i < ops->n_spans; i++) {
        const sl_span *span = &ops->spans[i];
        ops->n_among[sl__unit_of(ops->timeline, span)]++;
        if (sl__is_on_sms(span))
            ops->n_among[SL__ON_SMS + sl_timeline_place(ops->timeline, span->stream)]++;
    }
}

/* ---- calls that go on while their operation runs ---------------------------------- */

static bool call_waits(const sl_span *span)
{
    return span && (span->flags & SL_SPAN_HOST_WAITED || sl__span_is_pageable(span));
}

bool sl__begins_at_call_end(const sl__operations *ops, size_t item)
{
    const sl__item *submitter = &ops->items[sl__submitter_of(ops, item)];
    int64_t start_ns = ops->items[item].start_ns;
    return start_ns < submitter->host_end_ns && submitter->host_end_ns - start_ns <= SL__CALL_END_NS
           && !call_waits(sl__item_span(ops, item));
}

int64_t sl__submitted_ns(const sl__operations *ops, size_t item)
{
    const sl__item *submitter = &ops->items[sl__submitter_of(ops, item)];
    if (!sl__begins_at_call_end(ops, item)) return ops->items[item].host_start_ns;
    return sl__max(submitter->host_start_ns, submitter->host_end_ns - SL__CALL_END_NS);
}

/* ---- orders ---------------------------------------------------------------- */

SL__ORDER(compare_moments, sl__moment, x->at_ns, x->item);

static bool is_among(const sl__operations *ops, size_t item, int which)
{
    const sl_span *span = sl__item_span(ops, item);
    switch (which) {
    case SL__ALL_ITEMS: return true;
    case SL__ALL_IN_STREAMS: return ops->items[item].in_stream;
    case SL__ALL_SPANS: return span != NULL;
    default: break;
    }
    if (which < SL__ON_SMS) return span && sl__unit_of(ops->timeline, span) == which;
    return span && sl__is_on_sms(span)
           && sl_timeline_place(ops->timeline, span->stream) == which - SL__ON_SMS;
}

sl_status sl__operations_order(const sl__operations *ops, int which, sl__time by, sl__order *order,
                               sl_error *err)
{
    const int compute = sl__unit(which - SL__ON_SMS, SL_ENGINE_COMPUTE);
    if (which >= SL__ON_SMS && ops->n_among[which] == ops->n_among[compute])
        which = compute; /* no collectives ran: it is the same */
    const size_t n = ops->n_among[which];
    sl__order *kept = &ops->orders[which * SL__TIMES + (int)by];
    if (kept->at) {
        *order = *kept;
        return SL_OK;
    }
    kept->at = malloc((n + 1) * sizeof *kept->at);
    if (!kept->at) return no_memory(ops, err);
    for (size_t i = 0; i < ops->n && kept->n < n; i++) {
        const sl__item *item = &ops->items[i];
        int64_t at_ns = by == SL__BY_START        ? item->start_ns
                        : by == SL__BY_END        ? item->end_ns
                        : by == SL__BY_HOST_START ? item->host_start_ns
                                                  : item->host_end_ns;
        if (is_among(ops, i, which)) kept->at[kept->n++] = (sl__moment){ at_ns, i };
    }
    sl__sort(kept->at, kept->n, sizeof *kept->at, compare_moments);
    *order = *kept;
    return sl_interrupt_check(err);
}

size_t sl__order_count(const sl__order *order, int64_t ns)
{
    size_t at;
    SL__SEARCH(at, order->n, order->at[at].at_ns <= ns);
    return at;
}

size_t sl__order_count_near(const sl__order *order, int64_t ns, size_t *near)
{
    size_t at = *near;
    SL__SEARCH_NEAR(at, order->n, order->at[at].at_ns <= ns);
    return *near = at;
}

/* ---- streams --------------------------------------------------------------- */

/* For a counting sort: where each stream's items begin. */
static void count_by_lane(sl__operations *ops)
{
    for (size_t i = 0; i < ops->n; i++) {
        if (ops->items[i].in_stream) ops->lane_start[ops->items[i].issue.lane + 1]++;
    }
    for (size_t lane = 0; lane < ops->rules.lanes.n; lane++)
        ops->lane_start[lane + 1] += ops->lane_start[lane];
}

static sl_status link_streams(sl__operations *ops, sl_error *err)
{
    size_t n_lanes = ops->rules.lanes.n;
    size_t *filled = calloc(n_lanes + 1, sizeof *filled);
    ops->by_lane = malloc((ops->n + 1) * sizeof *ops->by_lane);
    ops->place = malloc((ops->n + 1) * sizeof *ops->place);
    ops->lane_start = calloc(n_lanes + 1, sizeof *ops->lane_start);
    if (!filled || !ops->by_lane || !ops->place || !ops->lane_start) {
        free(filled);
        return no_memory(ops, err);
    }
    count_by_lane(ops);
    for (size_t i = 0; i < ops->n; i++) {
        sl__item *item = &ops->items[i];
        if (!item->in_stream) continue;
        size_t lane = item->issue.lane;
        size_t place = ops->lane_start[lane] + filled[lane];
        if (filled[lane]++ > 0) item->before = ops->by_lane[place - 1];
        ops->by_lane[place] = i;
        ops->place[i] = place;
    }
    free(filled);
    return SL_OK;
}

/* ---- launches of graphs ------------------------------------------------------------- */

/* The launch's own call, or what it ran. */
static void take_item(sl__operations *ops, size_t i, size_t launch)
{
    sl__item *item = &ops->items[i];
    sl__launch *by = &ops->launches[launch];
    if (item->correlation == by->note->correlation) {
        if (item->is_call && !item->in_stream) by->call = i;
        return;
    }
    if (!item->in_stream || by->call == SL__NO_ITEM) return;
    const sl__item *call = &ops->items[by->call];
    bool within = item->start_ns < call->host_end_ns && item->start_ns >= call->host_start_ns;
    item->host_start_ns = within ? call->host_start_ns : call->host_end_ns;
    item->host_end_ns = item->host_start_ns;
}

/* The host did nothing for what a launch ran but launch the graph: these calls get no length, and
 * are at the launch's end, or at its beginning if they started before the end. */
static sl_status gather_launches(sl__operations *ops, sl_error *err)
{
    size_t n;
    const sl_launch_note *notes = sl_timeline_launches(ops->timeline, &n);
    if (n == 0) return SL_OK;
    ops->launches = malloc(n * sizeof *ops->launches);
    ops->n_launches = ops->launches ? n : 0;
    for (size_t i = 0; i < ops->n_launches; i++)
        ops->launches[i] = (sl__launch){ &notes[i], SL__NO_ITEM };
    if (!ops->launches) return sl__no_memory(err, "the explanation of %zu launches of graphs", n);
    for (size_t i = 0, launch = 0; i < ops->n && launch < n;) {
        if (ops->items[i].correlation > notes[launch].last)
            launch++;
        else if (ops->items[i].correlation < notes[launch].correlation)
            i++;
        else
            take_item(ops, i++, launch);
    }
    return SL_OK;
}

const sl__launch *sl__launch_by(const sl__operations *ops, size_t item)
{
    const sl_call *call = sl__item_call(ops, item);
    if (!call || call->kind != SL_CALL_PLAIN || ops->n_launches == 0) return NULL;
    const sl_launch_note *note = sl_timeline_find_launch(ops->timeline, call->correlation);
    if (!note || note->correlation != call->correlation) return NULL;
    return &ops->launches[note - ops->launches[0].note];
}

/* ---- what the backend said --------------------------------------------------------- */

static void take_hold(sl__operations *ops, size_t i, const sl_hold *reported)
{
    sl__item *item = &ops->items[i];
    size_t by = sl__operations_find(ops, reported->ready_by);
    item->is_reported = true;
    item->ready_ns = reported->ready_ns;
    item->ready_cause = reported->ready_cause;
    bool may_be = by < i || (reported->ready_cause == SL_CAUSE_VALUE && by != i);
    item->ready_by = may_be ? by : SL__NO_ITEM;
    item->start_cause = reported->start_cause;
    item->start_by = sl__operations_find(ops, reported->start_by);
}

static void take_reported(sl__operations *ops)
{
    for (size_t i = 0; i < ops->n; i++) {
        const sl__item *item = &ops->items[i];
        sl_hold hold;
        bool is_reported = item->is_call ? sl_timeline_call_hold(ops->timeline, item->index, &hold)
                                         : sl_timeline_span_hold(ops->timeline, item->index, &hold);
        if (is_reported && item->in_stream) take_hold(ops, i, &hold);
    }
}

/* ---- all --------------------------------------------------------------------- */

sl_status sl__operations_gather(const sl_timeline *timeline, bool reported, sl__operations *ops,
                                sl_error *err)
{
    *ops = (sl__operations){ .timeline = timeline,
                             .n_spans = sl_timeline_span_count(timeline),
                             .n_calls = sl_timeline_call_count(timeline) };
    ops->n = ops->n_spans + ops->n_calls;
    ops->unknown_edges = sl_timeline_origin(timeline).unknown_edges;
    if (ops->n >= UINT32_MAX)
        return sl_fail(err, SL_ENOMEM, "%zu operations are too many to explain", ops->n);
    sl_status status = sl__rules_open(timeline, &ops->rules, err);
    if (status != SL_OK) return status;
    ops->n_threads = ops->rules.n_threads;
    ops->spans = malloc((ops->n_spans + 1) * sizeof *ops->spans);
    ops->calls = malloc((ops->n_calls + 1) * sizeof *ops->calls);
    ops->items = malloc((ops->n + 1) * sizeof *ops->items);
    ops->orders = calloc(SL__SELECTIONS * SL__TIMES, sizeof *ops->orders);
    ops->n_among = calloc(SL__SELECTIONS, sizeof *ops->n_among);
    if (!ops->spans || !ops->calls || !ops->items || !ops->orders || !ops->n_among)
        return no_memory(ops, err);
    merge_items(ops);
    count_among(ops);
    status = gather_launches(ops, err);
    if (status == SL_OK) status = link_streams(ops, err);
    if (status == SL_OK && reported) take_reported(ops);
    return status;
}

void sl__operations_forget_orders(const sl__operations *ops)
{
    for (int i = 0; ops->orders && i < SL__SELECTIONS * SL__TIMES; i++) {
        free(ops->orders[i].at);
        ops->orders[i] = (sl__order){ 0 };
    }
}

void sl__operations_free(sl__operations *ops)
{
    sl__rules_close(&ops->rules);
    free(ops->spans);
    free(ops->calls);
    free(ops->items);
    free(ops->by_lane);
    free(ops->place);
    free(ops->lane_start);
    free(ops->launches);
    sl__operations_forget_orders(ops);
    free(ops->orders);
    free(ops->n_among);
    *ops = (sl__operations){ 0 };
}
