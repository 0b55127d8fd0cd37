/* as_graphs.c - what the recorded work would take as graphs.
 *
 * Between two things that a capture cannot contain, all operations become the nodes of one graph, if
 * there are two at least. The first of their calls becomes the launch, the others and the short
 * pauses between them are gone. A node starts when the launch has given it to the device, what it has
 * edges from has ended and a gap has passed, and its engine lets it.
 *
 * A graph is launched in one stream, and what comes next waits for all of it. Where work that was
 * issued later ran before the last of a graph's nodes had ended, that would not be the same program:
 * such operations stay as they are.
 */
#include "as_graphs.h"

#include <stdlib.h>
#include <string.h>

#include "store.h"

#define LOOP_CALL_NS 10000 /* a plain call that returns sooner only asks for something */

/* ---- what a capture can contain ----------------------------------------------------- */

static bool can_capture_span(const sl_span *span)
{
    return !(span->flags & (SL_SPAN_HOST_WAITED | SL_SPAN_LOADED)) && !sl__span_is_pageable(span);
}

/* It is no work and none of the calls that a capture forbids: a question, an object made. */
static bool is_harmless(const sl__operations *ops, const sl_call *call)
{
    static const char *const forbidden[] = { "Synchronize", "Query",    "ElapsedTime", "Malloc",
                                             "cudaFree",    "cudaHost", "Graph",       "Capture" };
    const char *name = sl_call_name(ops->timeline, call);
    if (call->waited_for_device || call->host_end_ns - call->host_start_ns >= LOOP_CALL_NS)
        return false;
    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++)
        if (strstr(name, forbidden[i])) return false;
    return true;
}

static bool can_capture(const sl__operations *ops, size_t i)
{
    const sl_span *span = sl__item_span(ops, i);
    const sl_call *call = sl__item_call(ops, i);
    if (ops->items[i].issue.launch > 0) return false;
    if (span) return can_capture_span(span);
    switch ((sl_call_kind)call->kind) {
    case SL_CALL_EVENT_RECORD:
    case SL_CALL_STREAM_WAIT: return true;
    case SL_CALL_PLAIN: return is_harmless(ops, call);
    default: return false;
    }
}

/* ---- graphs --------------------------------------------------------------------------- */

static void count_item(sl__graphs *graphs, const sl__operations *ops, size_t i)
{
    sl__one_graph *at = &graphs->at[graphs->n - 1];
    at->last = i;
    if (ops->items[i].in_stream) at->end_ns = sl__max_ns(at->end_ns, ops->items[i].end_ns);
    at->n_nodes += sl__item_span(ops, i) != NULL;
}

static bool open_graph(sl__graphs *graphs, size_t i)
{
    if (!sl__reserve((void **)&graphs->at, graphs->n, &graphs->cap, sizeof *graphs->at))
        return false;
    graphs->at[graphs->n++] = (sl__one_graph){ .first = i, .last = i, .end_ns = SL__NEVER };
    return true;
}

static bool cut(sl__graphs *graphs, const sl__operations *ops)
{
    bool open = false;
    for (size_t i = 0; i < ops->n && !sl__stops_at(i); i++) {
        bool pause = i > 0
                     && ops->items[i].host_start_ns - ops->items[i - 1].host_end_ns
                            >= SL__SHORT_PAUSE_NS;
        if (!can_capture(ops, i)) {
            open = false;
            continue;
        }
        if ((!open || pause) && !open_graph(graphs, i)) return false;
        open = true;
        count_item(graphs, ops, i);
    }
    return true;
}

/* Work that was issued behind a graph ran before its end, or it is not worth one. */
static void choose(sl__graphs *graphs, const sl__operations *ops)
{
    int64_t next_ns = INT64_MAX;
    size_t i = ops->n;
    for (size_t g = graphs->n; g-- > 0;) {
        const sl__one_graph *at = &graphs->at[g];
        for (; i > at->last + 1; i--)
            if (ops->items[i - 1].in_stream)
                next_ns = sl__min_ns(next_ns, ops->items[i - 1].start_ns);
        bool chosen = at->n_nodes >= 2 && at->end_ns <= next_ns;
        for (size_t k = at->first; k <= at->last; k++)
            graphs->of[k] = chosen ? (uint32_t)g + 1 : 0;
    }
}

sl_status sl__graphs_find(const sl__operations *ops, const sl_graph_costs *costs,
                          sl__graphs *graphs, sl_error *err)
{
    *graphs = (sl__graphs){ .costs = costs };
    graphs->of = calloc(ops->n + 1, sizeof *graphs->of);
    const bool one_thread = ops->n_threads == 1; /* else calls in order are of several */
    if (!graphs->of || (one_thread && !cut(graphs, ops)))
        return sl_fail(err, SL_ENOMEM, "no memory to put %zu operations in graphs", ops->n);
    choose(graphs, ops);
    return sl__graphs_link(ops, graphs, err);
}

void sl__graphs_free(sl__graphs *graphs)
{
    free(graphs->of);
    free(graphs->at);
    free(graphs->nodes);
    free(graphs->edges);
    free(graphs->sets);
    *graphs = (sl__graphs){ 0 };
}

/* ---- a pass ------------------------------------------------------------------------------ */

static const sl__one_graph *graph_of(const sl__pass *p, size_t i)
{
    return &p->graphs->at[p->graphs->of[i] - 1];
}

void sl__graphs_call(sl__pass *p, size_t i)
{
    sl__played *played = &p->r->played[i];
    if (p->graphs->of[i] != p->graph) {
        p->graph = p->graphs->of[i];
        p->launched_ns = played->host_start_ns + graph_of(p, i)->call_ns;
    } else {
        played->host_start_ns = p->launched_ns;
    }
    played->host_end_ns = p->launched_ns;
}

static int64_t gap_ns(const sl_graph_costs *costs, sl_engine from, sl_engine to)
{
    if (from == SL_ENGINE_HOST || to == SL_ENGINE_HOST)
        return (from == SL_ENGINE_HOST ? costs->func_out_ns : 0)
               + (to == SL_ENGINE_HOST ? costs->func_in_ns : 0);
    return from != to                ? costs->switch_ns
           : to == SL_ENGINE_COMPUTE ? costs->gap_ns
                                     : costs->copy_gap_ns;
}

/* A node tells those behind it one after the other; one that is behind several takes longer. */
static int64_t signal_ns(const sl_graph_costs *costs, const sl__graph_node *node,
                         const sl__edge *edge)
{
    bool is_join = node->n_edges > 1;
    return edge->nth * (is_join ? costs->cross_ns : costs->fork_ns)
           + (is_join ? costs->join_ns : 0);
}

static int64_t behind_edges_ns(const sl__pass *p, size_t i)
{
    const sl__operations *ops = p->r->ops;
    const sl__graph_node *node = &p->graphs->nodes[i];
    const sl_graph_costs *costs = p->graphs->costs;
    int64_t ns = SL__NEVER;
    for (uint32_t k = 0; k < node->n_edges; k++) {
        const sl__edge *edge = &p->graphs->edges[node->first + k];
        if (ops->items[edge->from].end_ns > ops->items[i].start_ns) continue;
        int64_t gap = gap_ns(costs, sl_engine_on_gpu(sl__item_span(ops, edge->from)->engine),
                             sl_engine_on_gpu(sl__item_span(ops, i)->engine));
        ns = sl__max_ns(ns, p->r->played[edge->from].end_ns + gap + signal_ns(costs, node, edge));
    }
    return ns;
}

/* What the item's stream has come behind so far, also outside of the graph. */
static int64_t stream_ns(const sl__pass *p, size_t i)
{
    const sl__operations *ops = p->r->ops;
    const sl_call *call = sl__item_call(ops, i);
    size_t by = call && call->kind == SL_CALL_STREAM_WAIT ? sl__operations_find(ops, call->target)
                                                          : SL__NO_ITEM;
    const sl__played_stream
        *s = &p->r->streams[ops->items[i].issue.lane];
    int64_t ns = s->tail_ns;
    if (s->is_blocking)
        ns = sl__max_ns(ns, s->is_null ? p->of[s->place].blocking_ns : p->of[s->place].null_ns);
    if (by < i && ops->items[by].end_ns <= ops->items[i].start_ns)
        ns = sl__max_ns(ns, p->r->played[by].end_ns);
    return ns;
}

/* A copy engine that has served another stream turns to this one. */
static int64_t turn_ns(const sl__pass *p, const sl_span *span)
{
    bool is_copy = !sl__is_on_sms(span) && span->engine != SL_ENGINE_HOST;
    size_t *served = &p->graphs->served[sl__unit_of(p->r->ops->timeline, span)], before = *served;
    *served = (size_t)span->stream + 1;
    return is_copy && before && before != *served ? p->graphs->costs->turn_ns : 0;
}

int64_t sl__graphs_start_ns(sl__pass *p, size_t i, int64_t free_ns)
{
    const sl__graph_node *node = &p->graphs->nodes[i];
    const sl_span *span = sl__item_span(p->r->ops, i);
    const sl_graph_costs *costs = p->graphs->costs;
    const sl__one_graph *graph = graph_of(p, i);
    int64_t behind_ns = stream_ns(p, i);
    int64_t submitted_ns = p->r->played[i].host_end_ns - graph->push_ns + costs->submit_ns;
    if (!span)
        return behind_ns == SL__NEVER ? p->r->played[i].host_end_ns - graph->call_ns : behind_ns;
    if (node->n_edges == 0) {
        int64_t first_ns = submitted_ns;
        if (behind_ns != SL__NEVER)
            first_ns = sl__max_ns(first_ns, behind_ns + costs->launch_gap_ns);
        behind_ns = first_ns + node->root * costs->root_ns;
    }
    int64_t turned_ns = turn_ns(p, span);
    if (free_ns != SL__NEVER) free_ns += turned_ns;
    return sl__max_ns(sl__max_ns(behind_ns, behind_edges_ns(p, i)),
                      sl__max_ns(submitted_ns + node->push_ns, free_ns));
}

/* ---- all ---------------------------------------------------------------------------------- */

static void sum_up(const sl__graphs *graphs, const sl__operations *ops, sl_as_graphs *found)
{
    for (size_t g = 0; g < graphs->n; g++) {
        const sl__one_graph *at = &graphs->at[g];
        if (graphs->of[at->first] == 0) continue;
        found->n_graphs++;
        found->n_nodes += at->n_nodes;
        found->issue_ns = sl__add_ns(
            found->issue_ns,
            sl__max_ns(0, ops->items[at->last].host_end_ns - ops->items[at->first].host_start_ns));
    }
}

static sl_status play(const sl__operations *ops, sl__graphs *graphs, sl_as_graphs *found,
                      sl_error *err)
{
    sl__replay replay;
    uint16_t *left_out = calloc(ops->n + 1, sizeof *left_out);
    if (!left_out) return sl_fail(err, SL_ENOMEM, "no memory to replay %zu operations", ops->n);
    sl_status status = sl__replay_open(ops, &replay, err);
    if (status == SL_OK) {
        found->makespan_ns = sl__replay_with_graphs_ns(&replay, left_out, graphs);
        status = sl_interrupt_check(err);
        sl__replay_close(&replay);
    }
    free(left_out);
    return status;
}

sl_status sl_timeline_as_graphs(const sl_timeline *timeline, const sl_graph_costs *costs,
                                sl_as_graphs *found, sl_error *err)
{
    sl__operations ops;
    sl__graphs graphs = { 0 };
    *found = (sl_as_graphs){ .makespan_ns = sl_timeline_makespan_ns(timeline) };
    sl_status status = sl__operations_collect(timeline, true, &ops, err);
    if (status != SL_OK) return status;
    status = sl__graphs_find(&ops, costs, &graphs, err);
    if (status == SL_OK) sum_up(&graphs, &ops, found);
    if (status == SL_OK && found->n_graphs > 0) status = play(&ops, &graphs, found, err);
    sl__graphs_free(&graphs);
    sl__operations_free(&ops);
    return status;
}
