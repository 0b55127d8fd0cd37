/* walk_host.c - what the host did while an engine waited for work. */
#include "search.h"
#include "store.h"

#define SLOW_CALL_NS 10000 /* an asynchronous call that takes longer was held up */
#define LONG_QUEUE 512     /* operations in flight: a slow call then means a full queue */
#define LOOK_BACK 64       /* neighbours in time that are looked at */

typedef sl__search search;

static const sl__item *item_at(const search *s, size_t item) { return &s->ops.items[item]; }

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
sl_cause sl__cause_of_graph(const search *s, size_t item, const sl__launch *launch)
{
    const sl__item *it = item_at(s, item);
    bool is_slow = it->host_end_ns - it->host_start_ns > SLOW_CALL_NS;
    if (sl__item_call(&s->ops, item)->queue_full) return SL_CAUSE_QUEUE_FULL;
    return launch->note->uploads && is_slow ? SL_CAUSE_HOST_BLOCKED : SL_CAUSE_HOST_ISSUING;
}

static sl_cause cause_of_call(const search *s, size_t item)
{
    const sl__launch *launch = sl__launch_by(&s->ops, item);
    if (launch) return sl__cause_of_graph(s, item, launch);
    const sl_span *span = sl__item_span(&s->ops, item);
    const sl_call *call = sl__item_call(&s->ops, item);
    if (span
        && (span->flags & (SL_SPAN_HOST_WAITED | SL_SPAN_LOADED) || sl__span_is_pageable(span)))
        return SL_CAUSE_HOST_BLOCKED;
    if (span) return cause_of_launch(s, item, span->flags & SL_SPAN_QUEUE_FULL);
    switch ((sl_call_kind)call->kind) {
    case SL_CALL_EVENT_RECORD:
    case SL_CALL_STREAM_WAIT: return cause_of_launch(s, item, call->queue_full);
    case SL_CALL_HOST_WORK:
        return sl__item_is_host_work(&s->ops, item) ? SL_CAUSE_HOST_WORK : SL_CAUSE_HOST_BLOCKED;
    case SL_CALL_STREAM_SYNC:
    case SL_CALL_EVENT_SYNC:
    case SL_CALL_DEVICE_SYNC:
    case SL_CALL_PLAIN:
    case SL_CALL_KINDS: break;
    }
    return SL_CAUSE_HOST_BLOCKED;
}

/* Between two calls. A short pause belongs to the loop that issues. */
static void note_pause(search *s, size_t before, size_t after, int64_t from_ns, int64_t to_ns,
                       int64_t shift_ns)
{
    bool pause = to_ns - from_ns < SL__SHORT_PAUSE_NS && after != SL__NO_ITEM
                 && cause_of_call(s, after) == SL_CAUSE_HOST_ISSUING;
    sl__search_note(s, pause ? SL_CAUSE_HOST_ISSUING : SL_CAUSE_HOST_WORK, true,
                    pause ? after : before, from_ns + shift_ns, to_ns + shift_ns);
}

/* What the host computed, or an allocation: neither a CUDA call nor lab.host_work. A short one
 * belongs to the loop that issues, too, as does a CUDA call that returns at once, or a short stall
 * of the profiler. */
static bool is_part_of_loop(const search *s, size_t item)
{
    const sl_call *call = sl__item_call(&s->ops, item);
    if (!call || (call->kind != SL_CALL_PLAIN && call->kind != SL_CALL_HOST_WORK)) return false;
    if (sl__launch_by(&s->ops, item)) return false;
    if (call->kind == SL_CALL_PLAIN || !sl__item_is_host_work(&s->ops, item))
        return !call->waited_for_device && call->host_end_ns - call->host_start_ns < SLOW_CALL_NS;
    return call->name;
}

/* For the chain: what the host waited for in this call, if it ended during the call. */
static size_t synchronised_with(const search *s, size_t item)
{
    const sl__item *it = item_at(s, item);
    if (!s->chain || it->in_stream || it->before == SL__NO_ITEM) return SL__NO_ITEM;
    int64_t end_ns = item_at(s, it->before)->end_ns;
    return end_ns > it->host_start_ns && end_ns <= it->host_end_ns ? it->before : SL__NO_ITEM;
}

/* The call was made by the thread, or before that had made any. */
static bool is_before_in_thread(const search *s, size_t item, uint32_t thread)
{
    return item_at(s, item)->issue.thread == thread
           || item_at(s, item)->host_end_ns <= s->first_ns[thread];
}

size_t sl__walk_host(search *s, uint32_t thread, int64_t from_ns, int64_t to_ns, int64_t shift_ns)
{
    size_t after = SL__NO_ITEM;
    if (!s->host_known) {
        sl__search_note(s, SL_CAUSE_UNKNOWN, true, SL__NO_ITEM, from_ns + shift_ns,
                        to_ns + shift_ns);
        return SL__NO_ITEM;
    }
    for (size_t k = sl__order_count_near(&s->by_host, to_ns - 1, &s->near_host);
         k > 0 && to_ns > from_ns; k--) {
        size_t i = s->by_host.at[k - 1].item;
        if (item_at(s, i)->issue.launch > 0) continue; /* the host only launched its graph */
        if (!is_before_in_thread(s, i, thread)) continue;
        int64_t start_ns = sl__max(item_at(s, i)->host_start_ns, from_ns);
        int64_t end_ns = sl__min(item_at(s, i)->host_end_ns, to_ns);
        if (!sl__search_may_step(s, from_ns + shift_ns, to_ns + shift_ns)) return SL__NO_ITEM;
        if (end_ns < to_ns) note_pause(s, i, after, sl__max(end_ns, from_ns), to_ns, shift_ns);
        size_t awaited = synchronised_with(s, i);
        if (awaited != SL__NO_ITEM && item_at(s, awaited)->end_ns < end_ns + shift_ns
            && end_ns > from_ns) {
            sl__search_note(s, SL_CAUSE_HOST_BLOCKED, true, i, item_at(s, awaited)->end_ns,
                            end_ns + shift_ns);
            return awaited;
        }
        if (is_part_of_loop(s, i)) {
            note_pause(s, i, after, start_ns, end_ns, shift_ns);
        } else {
            sl__search_note(s, cause_of_call(s, i), true, i, start_ns + shift_ns,
                            end_ns + shift_ns);
            after = i;
        }
        to_ns = end_ns < from_ns ? from_ns : sl__min(to_ns, start_ns);
    }
    if (to_ns > from_ns) note_pause(s, SL__NO_ITEM, after, from_ns, to_ns, shift_ns);
    return SL__NO_ITEM;
}
