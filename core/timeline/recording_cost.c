/* recording_cost.c - what a recorder took of the host's time, call by call. It is not in the
 * records: sl_origin has what one of a kind costs, as measured with and without the recorder.
 */
#include "operations.h"

/* A node of a graph has no call of its own; nor has a record that a graph's launch makes. */
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

int64_t sl__recording_cost_ns(const sl__operations *ops, size_t item)
{
    const sl_recording_costs costs = sl_timeline_origin(ops->timeline).costs;
    const sl_call *call = sl__item_call(ops, item);
    const int64_t ns = call ? of_call(&costs, (sl_call_kind)call->kind)
                            : costs.call_ns + costs.work_ns;
    return sl__min(ns, ops->items[item].host_end_ns - ops->items[item].host_start_ns);
}
