/* lookup.c - spans, calls and notes by their correlation, in order of which a finished timeline has
 * them.
 */
#include "store.h"

#include <stddef.h>

/* Of `n` elements of `size` bytes, each with its correlation at `offset`, the index of the one with
 * this correlation, or SL_NOT_FOUND. */
static size_t find(const void *array, size_t n, size_t size, size_t offset, uint64_t correlation)
{
    const char *base = array;
    size_t low = 0;
    for (size_t high = n; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (*(const uint64_t *)(base + middle * size + offset) < correlation)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < n && *(const uint64_t *)(base + low * size + offset) == correlation;
    return found ? low : SL_NOT_FOUND;
}

size_t sl_timeline_find_span(const sl_timeline *timeline, uint64_t correlation)
{
    size_t n;
    const sl_span *spans = sl__timeline_spans(timeline, &n);
    return find(spans, n, sizeof *spans, offsetof(sl_span, correlation), correlation);
}

size_t sl_timeline_find_call(const sl_timeline *timeline, uint64_t correlation)
{
    size_t n;
    const sl_call *calls = sl__timeline_calls(timeline, &n);
    return find(calls, n, sizeof *calls, offsetof(sl_call, correlation), correlation);
}

const sl_node_note *sl_timeline_find_node(const sl_timeline *timeline, uint64_t correlation)
{
    size_t n;
    const sl_node_note *nodes = sl_timeline_nodes(timeline, &n);
    size_t at = find(nodes, n, sizeof *nodes, offsetof(sl_node_note, correlation), correlation);
    return at != SL_NOT_FOUND ? &nodes[at] : NULL;
}

/* The last one that is not behind the correlation: what it ran has the numbers after its own. */
const sl_launch_note *sl_timeline_find_launch(const sl_timeline *timeline, uint64_t correlation)
{
    size_t n, low = 0;
    const sl_launch_note *launches = sl_timeline_launches(timeline, &n);
    for (size_t high = n; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (launches[middle].correlation <= correlation)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && correlation <= launches[low - 1].last ? &launches[low - 1] : NULL;
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
    const sl_node_note *node = sl_timeline_find_node(timeline, span->correlation);
    size_t call = node ? graph_call(timeline, span->correlation, span->host_start_ns,
                                    span->host_end_ns)
                       : SL_NOT_FOUND;
    bool found = call != SL_NOT_FOUND
                 && sl_timeline_call(timeline, call).correlation == node->launch;
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
