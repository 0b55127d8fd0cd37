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
    sl__json_uint(&w->file, ",\"graph id\":", node.graph);
    sl__json_int(&w->file, ",\"graph node id\":",
                 (int64_t)((uint64_t)node.graph << 32 | (uint64_t)node.node));
    if (node.priority) sl__json_int(&w->file, ",\"captured priority\":", node.priority);
    if (own_call || span->kind == SL_SPAN_HOST_FUNC)
        sl__json_uint(&w->file, ",\"launched by\":", node.launch);
    if (own_call) return;
    sl__json_uint(&w->file, ",\"issue\":", span->correlation);
    if (span->where)
        sl__json_string(&w->file, ",\"where\":", sl_timeline_text(w->timeline, span->where));
    sl__write_call_flags(w, span);
}

void sl__write_call_flags(sl__writer *w, const sl_span *span)
{
    if (span->flags & SL_SPAN_HOST_WAITED) sl__json_raw(&w->file, ",\"host waited\":true");
    if (span->flags & SL_SPAN_QUEUE_FULL) sl__json_raw(&w->file, ",\"queue full\":true");
    if (span->flags & SL_SPAN_LOADED) sl__json_raw(&w->file, ",\"loaded\":true");
}

void sl__write_launch(sl__writer *w, const sl_call *call)
{
    const sl_launch_note *note = sl_timeline_find_launch(w->timeline, call->correlation);
    if (!note || note->correlation != call->correlation || call->kind != SL_CALL_PLAIN) return;
    sl__json_uint(&w->file, ",\"graph id\":", note->graph);
    sl__json_string(&w->file, ",\"graph\":", sl_timeline_text(w->timeline, note->name));
    sl__json_uint(&w->file, ",\"nodes\":", note->n_nodes);
    sl__json_uint(&w->file, ",\"last issue\":", note->last);
    if (note->priorities) sl__json_raw(&w->file, ",\"keeps priorities\":true");
    if (note->uploads) sl__json_raw(&w->file, ",\"uploads\":true");
}

void sl__write_edge_begin(sl__writer *w, const sl_call *edge, uint64_t launch)
{
    int64_t at_ns = edge->device_ns ? edge->device_ns : edge->host_start_ns;
    sl__write_begin(w, "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"" SL__EDGE "\"");
    sl__json_string(&w->file, ",\"name\":", sl_call_name(w->timeline, edge));
    sl__write_place(w, sl__pid_of(w, edge->stream), sl__written_stream(w, edge->stream));
    sl__json_milli(&w->file, ",\"ts\":", at_ns - w->base_ns);
    sl__json_uint(&w->file, ",\"args\":{\"External id\":", edge->correlation);
    sl__json_uint(&w->file, ",\"launched by\":", launch);
    if (edge->where)
        sl__json_string(&w->file, ",\"where\":", sl_timeline_text(w->timeline, edge->where));
}
