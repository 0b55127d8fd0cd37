/* lookup.c - spans, calls and notes by their correlation, in order of which a finished timeline has
 * them.
 */
#include "fields.h"

size_t sl_timeline_span_count(const sl_timeline *timeline) { return timeline->spans.n; }

size_t sl_timeline_call_count(const sl_timeline *timeline) { return timeline->calls.n; }

sl_span sl_timeline_span(const sl_timeline *timeline, size_t index)
{
    return sl__packed_span(&timeline->spans, index);
}

sl_call sl_timeline_call(const sl_timeline *timeline, size_t index)
{
    return sl__packed_call(&timeline->calls, index);
}

size_t sl_timeline_node_count(const sl_timeline *timeline) { return timeline->n_nodes; }

const sl_launch_note *sl_timeline_launches(const sl_timeline *timeline, size_t *n)
{
    *n = timeline->notes[SL__LAUNCHES].n;
    return timeline->notes[SL__LAUNCHES].at;
}

size_t sl_timeline_find_span(const sl_timeline *timeline, uint64_t correlation)
{
    return sl__packed_find(&timeline->spans, correlation);
}

size_t sl_timeline_find_call(const sl_timeline *timeline, uint64_t correlation)
{
    return sl__packed_find(&timeline->calls, correlation);
}

bool sl_timeline_span_hold(const sl_timeline *timeline, size_t index, sl_hold *hold)
{
    return sl__packed_hold(&timeline->spans, index, hold);
}

bool sl_timeline_call_hold(const sl_timeline *timeline, size_t index, sl_hold *hold)
{
    return sl__packed_hold(&timeline->calls, index, hold);
}

bool sl_timeline_find_hold(const sl_timeline *timeline, uint64_t correlation, sl_hold *hold)
{
    size_t span = sl_timeline_find_span(timeline, correlation);
    if (span != SL_NOT_FOUND) return sl_timeline_span_hold(timeline, span, hold);
    size_t call = sl_timeline_find_call(timeline, correlation);
    return call != SL_NOT_FOUND && sl_timeline_call_hold(timeline, call, hold);
}

bool sl_timeline_find_node(const sl_timeline *timeline, uint64_t correlation, sl_node_note *node)
{
    size_t span = sl_timeline_find_span(timeline, correlation);
    return span != SL_NOT_FOUND && sl__packed_node(&timeline->spans, span, node);
}

uint32_t sl_timeline_thread(const sl_timeline *timeline, uint64_t correlation)
{
    size_t at = sl_timeline_find_span(timeline, correlation);
    if (at != SL_NOT_FOUND) return sl__packed_thread(&timeline->spans, at);
    at = sl_timeline_find_call(timeline, correlation);
    return at != SL_NOT_FOUND ? sl__packed_thread(&timeline->calls, at) : 0;
}

uint32_t sl__timeline_stream_of(const sl_timeline *timeline, size_t span)
{
    return sl__packed_stream(&timeline->spans, span);
}

uint32_t sl_timeline_thread_count(const sl_timeline *timeline) { return timeline->last_thread + 1; }

uint32_t sl_timeline_caller(const sl_timeline *timeline, uint64_t correlation)
{
    return sl_timeline_host_thread(timeline, sl_timeline_thread(timeline, correlation)).caller;
}

uint32_t sl_timeline_caller_count(const sl_timeline *timeline)
{
    uint32_t last = 0;
    for (uint32_t thread = 0; thread < sl_timeline_thread_count(timeline); thread++)
        last = sl__max(last, sl_timeline_host_thread(timeline, thread).caller);
    return last + 1;
}

/* The last one that is not behind the correlation: what it ran has the numbers after its own. */
const sl_launch_note *sl_timeline_find_launch(const sl_timeline *timeline, uint64_t correlation)
{
    size_t n, at;
    const sl_launch_note *launches = sl_timeline_launches(timeline, &n);
    SL__SEARCH(at, n, launches[at].correlation <= correlation);
    return at > 0 && correlation <= launches[at - 1].last ? &launches[at - 1] : NULL;
}

/* ---- in order of issue -------------------------------------------------------------- */

bool sl__issues_next(sl__issues *at)
{
    const sl__packed_list *spans = &at->timeline->spans;
    const sl__packed_list *calls = &at->timeline->calls;
    bool spans_left = at->n_spans < spans->n, calls_left = at->n_calls < calls->n;
    if (!spans_left && !calls_left) return false;
    at->is_call = !spans_left
                  || (calls_left
                      && calls->at[at->n_calls].correlation < spans->at[at->n_spans].correlation);
    at->index = at->is_call ? at->n_calls++ : at->n_spans++;
    if (at->is_call)
        at->call = sl__packed_call(calls, at->index);
    else
        at->span = sl__packed_span(spans, at->index);
    return true;
}

uint32_t sl__issues_thread(const sl__issues *at)
{
    return sl__packed_thread(at->is_call ? &at->timeline->calls : &at->timeline->spans, at->index);
}

/* ---- what launches of graphs ran --------------------------------------------------- */

/* The launch of a graph that enqueued what has this number and this time of the host. */
static size_t graph_call(const sl_timeline *timeline, uint64_t correlation, int64_t host_start_ns,
                         int64_t host_end_ns)
{
    const sl_launch_note *note = sl_timeline_find_launch(timeline, correlation);
    if (!note || note->correlation == correlation) return SL_NOT_FOUND;
    size_t at = sl_timeline_find_call(timeline, note->correlation);
    if (at == SL_NOT_FOUND) return SL_NOT_FOUND;
    sl_call call = sl_timeline_call(timeline, at);
    bool same = call.kind == SL_CALL_PLAIN && call.host_start_ns == host_start_ns
                && call.host_end_ns == host_end_ns;
    return same ? at : SL_NOT_FOUND;
}

size_t sl_timeline_span_launch(const sl_timeline *timeline, const sl_span *span)
{
    sl_node_note node;
    bool is_node = sl_timeline_find_node(timeline, span->correlation, &node);
    size_t call = graph_call(timeline, span->correlation, span->host_start_ns, span->host_end_ns);
    bool found = call != SL_NOT_FOUND
                 && (!is_node || sl_timeline_call(timeline, call).correlation == node.launch);
    return found ? call : SL_NOT_FOUND;
}

size_t sl_timeline_call_launch(const sl_timeline *timeline, const sl_call *call)
{
    bool is_edge = call->kind == SL_CALL_EVENT_RECORD || call->kind == SL_CALL_STREAM_WAIT;
    return is_edge ? graph_call(timeline, call->correlation, call->host_start_ns, call->host_end_ns)
                   : SL_NOT_FOUND;
}

uint64_t sl_timeline_node_number(const sl_timeline *timeline, const sl_node_note *node)
{
    bool from_file = sl_timeline_device(timeline)->backend[0] == '\0' && node->graph != 0;
    return (uint64_t)node->node + (from_file ? 0 : 1);
}
