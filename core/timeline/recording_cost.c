/* recording_cost.c - what a recorder took of the host's time, call by call. It is not in the
 * records: sl_origin has what one of a kind costs, as measured with and without the recorder.
 */
#include "operations.h"

static int64_t of_call(const sl_recording_costs *costs, sl_call_kind kind)
{
    switch (kind) {
    case SL_CALL_EVENT_RECORD:
    case SL_CALL_STREAM_WAIT:
    case SL_CALL_STREAM_SYNC:
    case SL_CALL_EVENT_SYNC:
    case SL_CALL_DEVICE_SYNC: return costs->call_ns + costs->order_ns;
    case SL_CALL_PLAIN: return costs->call_ns;
    case SL_CALL_HOST_WORK: /* is no call of CUDA's */
    case SL_CALL_KINDS: break;
    }
    return 0;
}

/* A host function gives the device nothing, nor does a node: its graph's launch is a call. */
static int64_t of_span(const sl_timeline *timeline, const sl_span *span)
{
    const sl_recording_costs costs = sl_timeline_origin(timeline).costs;
    sl_node_note node;
    const bool is_work = costs.work_ns > 0 && span->kind != SL_SPAN_HOST_FUNC
                         && !sl_timeline_find_node(timeline, span->correlation, &node);
    return costs.call_ns + (is_work ? costs.work_ns : 0);
}

int64_t sl_timeline_recording_of_span_ns(const sl_timeline *timeline, const sl_span *span)
{
    return sl__min(of_span(timeline, span), span->host_end_ns - span->host_start_ns);
}

int64_t sl_timeline_recording_of_call_ns(const sl_timeline *timeline, const sl_call *call)
{
    const sl_recording_costs costs = sl_timeline_origin(timeline).costs;
    return sl__min(of_call(&costs, (sl_call_kind)call->kind),
                   call->host_end_ns - call->host_start_ns);
}

int64_t sl__recording_cost_ns(const sl__operations *ops, size_t item)
{
    const sl_call *call = sl__item_call(ops, item);
    const int64_t ns = call ? sl_timeline_recording_of_call_ns(ops->timeline, call)
                            : sl_timeline_recording_of_span_ns(ops->timeline,
                                                               sl__item_span(ops, item));
    return sl__min(ns, ops->items[item].host_end_ns - ops->items[item].host_start_ns);
}
