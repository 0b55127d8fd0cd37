/* kineto_write_graphs.c - launches of graphs, as kineto writes them: the launch is a call of the
 * host, and all that it ran has its correlation. What only we know of it is among our own keys (see
 * kineto.h).
 */
#include <inttypes.h>

#include "../timeline/store.h"
#include "kineto.h"
#include "kineto_write.h"

void sl__write_node(sl__writer *w, const sl_span *span)
{
    sl_node_note node;
    if (!sl_timeline_find_node(w->timeline, span->correlation, &node)) return;
    bool own_call = sl_timeline_span_launch(w->timeline, span) == SL_NOT_FOUND;
    sl__write_number(w, ",\"graph id\":", node.graph);
    sl__write_int(
        w, ",\"graph node id\":", (int64_t)((uint64_t)node.graph << 32 | (uint64_t)node.node));
    if (node.priority) sl__write_int(w, ",\"captured priority\":", node.priority);
    if (own_call || span->kind == SL_SPAN_HOST_FUNC)
        sl__write_number(w, ",\"launched by\":", node.launch);
    if (own_call) return;
    sl__write_number(w, ",\"issue\":", span->correlation);
    if (span->where) sl__write_text(w, ",\"where\":", sl_timeline_text(w->timeline, span->where));
    sl__write_call_flags(w, span);
}

void sl__write_call_flags(sl__writer *w, const sl_span *span)
{
    sl__write_flag(w, ",\"host waited\":true", span->flags & SL_SPAN_HOST_WAITED);
    sl__write_flag(w, ",\"queue full\":true", span->flags & SL_SPAN_QUEUE_FULL);
    sl__write_flag(w, ",\"loaded\":true", span->flags & SL_SPAN_LOADED);
}

void sl__write_launch(sl__writer *w, const sl_call *call)
{
    const sl_launch_note *note = sl_timeline_find_launch(w->timeline, call->correlation);
    if (!note || note->correlation != call->correlation || call->kind != SL_CALL_PLAIN) return;
    sl__write_number(w, ",\"graph id\":", note->graph);
    sl__write_text(w, ",\"graph\":", sl_timeline_text(w->timeline, note->name));
    sl__write_number(w, ",\"nodes\":", note->n_nodes);
    sl__write_number(w, ",\"last issue\":", note->last);
    sl__write_flag(w, ",\"keeps priorities\":true", note->priorities);
    sl__write_flag(w, ",\"uploads\":true", note->uploads);
}

void sl__write_edge_begin(sl__writer *w, const sl_call *edge, uint64_t launch)
{
    int64_t at_ns = edge->device_ns ? edge->device_ns : edge->host_start_ns;
    sl__write_begin(w, "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"" SL__EDGE "\"");
    sl__write_text(w, ",\"name\":", sl_call_name(w->timeline, edge));
    sl__write_place(w, sl__pid_of(w, edge->stream), sl__written_stream(w, edge->stream));
    sl__write_time(w, ",\"ts\":", at_ns - w->base_ns);
    sl__write_number(w, ",\"args\":{\"External id\":", edge->correlation);
    sl__write_number(w, ",\"launched by\":", launch);
    if (edge->where) sl__write_text(w, ",\"where\":", sl_timeline_text(w->timeline, edge->where));
}
