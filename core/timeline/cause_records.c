/* cause_records.c - a finding with what is known of its two sides, for whoever words it: the
 * operation that waited, and what it waited for, an operation or a call of the host.
 */
#include "timeline.h"

#include <string.h>

#include "kernel_names.h"
#include "sm_room.h"
#include "store.h"

static void read_span(const sl_timeline *timeline, sl_side *side)
{
    const sl_span *span = &side->span;
    const sl_stream_note *note = sl__timeline_note(timeline, span->stream);
    side->name = sl_timeline_text(timeline, span->name);
    side->short_name = sl_span_kind_is_kernel(span->kind)
                           ? sl__timeline_kernel_name(timeline, span->name)
                           : NULL;
    side->stream_name = note ? sl_timeline_text(timeline, note->name) : "";
    side->priority = note ? note->priority : 0;
    side->is_node = sl_timeline_find_node(timeline, span->correlation, &side->node);
    side->launch = side->is_node ? sl_timeline_find_launch(timeline, span->correlation) : NULL;
    if (side->launch && side->launch->priorities) side->priority = side->node.priority;
}

static void read_call(const sl_timeline *timeline, sl_side *side)
{
    const sl_launch_note *launch = sl_timeline_find_launch(timeline, side->call.correlation);
    side->name = sl_call_name(timeline, &side->call);
    if (launch && launch->correlation == side->call.correlation) side->launch = launch;
}

static const char *range_of(const sl_timeline *timeline, const sl_side *side, uint64_t correlation,
                            sl_host_range_kind kind)
{
    int64_t ns = side->is_span ? side->span.host_start_ns : side->call.host_start_ns;
    const size_t launch = side->is_span ? sl_timeline_span_launch(timeline, &side->span)
                                        : SL_NOT_FOUND;
    if (launch != SL_NOT_FOUND) {
        const sl_call call = sl_timeline_call(timeline, launch);
        correlation = call.correlation;
        ns = call.host_start_ns;
    }
    const uint32_t thread = sl_timeline_thread(timeline, correlation);
    const size_t at = sl_timeline_find_range_of_caller(timeline, kind, thread, ns);
    return at == SL_NOT_FOUND
               ? ""
               : sl_timeline_text(timeline, sl_timeline_host_range(timeline, at).name);
}

/* The function in Python that called: the innermost of the program; of the backward pass that of
 * the forward operator. */
static const char *function_of(const sl_timeline *timeline, const sl_side *side,
                               uint64_t correlation)
{
    const size_t forward = side->is_span ? sl_timeline_forward_operator(timeline, &side->span)
                                         : SL_NOT_FOUND;
    if (forward == SL_NOT_FOUND) return range_of(timeline, side, correlation, SL_HOST_RANGE_PYTHON);
    const sl_host_range made = sl_timeline_host_range(timeline, forward);
    const uint32_t name = sl_timeline_host_range_name(timeline, SL_HOST_RANGE_PYTHON, made.thread,
                                                      made.start_ns);
    return sl_timeline_text(timeline, name);
}

static sl_side read_side(const sl_timeline *timeline, uint64_t correlation)
{
    sl_side side = {
        .name = "", .stream_name = "", .where = "", .source = "", .range = "", .graph_name = ""
    };
    size_t span = sl_timeline_find_span(timeline, correlation);
    size_t call = sl_timeline_find_call(timeline, correlation);
    side.is_span = span != SL_NOT_FOUND;
    side.is_call = !side.is_span && call != SL_NOT_FOUND;
    if (side.is_span) side.span = sl_timeline_span(timeline, span);
    if (side.is_call) side.call = sl_timeline_call(timeline, call);
    if (side.is_span)
        read_span(timeline, &side);
    else if (side.is_call)
        read_call(timeline, &side);
    if (side.launch) side.graph_name = sl_timeline_text(timeline, side.launch->name);
    uint32_t where = side.is_span ? side.span.where : side.call.where;
    side.where = sl_timeline_text(timeline, where);
    side.source = sl_timeline_source(timeline, where);
    if (!side.is_span && !side.is_call) return side;
    side.range = range_of(timeline, &side, correlation, SL_HOST_RANGE_NVTX);
    if (where == 0) side.where = function_of(timeline, &side, correlation);
    return side;
}

/* Of a call without records of what it waited for, only the name is left. */
static bool is_plain_call(const sl_side *side)
{
    return side->is_call && side->call.kind == SL_CALL_PLAIN && !strstr(side->name, "Synchronize");
}

static bool is_guess(const sl_timeline *timeline, sl_cause cause, const sl_side *by)
{
    if (cause == SL_CAUSE_UNKNOWN) return true;
    if (cause == SL_CAUSE_EVENT)
        return sl_timeline_origin(timeline).unknown_waits
               || sl_timeline_origin(timeline).unknown_edges;
    if (cause == SL_CAUSE_HOST_BLOCKED)
        return sl__timeline_is_foreign(timeline) && is_plain_call(by) && by->call.waited_for_device;
    return sl__timeline_is_foreign(timeline) && sl_cause_traits(cause) & SL_CAUSE_ASSUMED;
}

static void read_sms(const sl_timeline *timeline, sl_cause_record *record)
{
    const sl_device_info *device = sl_timeline_device_at(timeline, record->finding.place);
    const sl_span *waiter = &record->waiter.span, *by = &record->by.span;
    record->lack = (sl_sm_lack){ 0 };
    record->sms = record->sm_count = 0;
    if (!record->waiter.is_span || !record->by.is_span) return;
    if (record->finding.cause == SL_CAUSE_ROOM)
        record->lack = sl__sm_lack_beside(device, by, waiter);
    if (record->finding.cause != SL_CAUSE_FEWER_SMS) return;
    record->sm_count = device->sm_count;
    record->sms = device->sm_count - (int)by->blocks;
}

void sl_cause_read(const sl_timeline *timeline, const sl_finding *finding, sl_cause_record *record)
{
    record->finding = *finding;
    record->waiter = read_side(timeline, finding->waiter);
    record->by = read_side(timeline, finding->by);
    record->copy = read_side(timeline, finding->by_copy);
    record->guess = is_guess(timeline, finding->cause, &record->by);
    read_sms(timeline, record);
}
