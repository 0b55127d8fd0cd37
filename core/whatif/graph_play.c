/* graph_play.c - when the calls and operations of what could be graphs begin in a replay. */
#include "../timeline/store.h"
#include "as_graphs.h"

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

/* From a node to one behind it. */
static int64_t edge_ns(const sl_graph_costs *costs, sl_engine from, sl_engine to,
                       const sl__graph_node *node, const sl__edge *edge)
{
    double gap_us;
    if (from == SL_ENGINE_HOST || to == SL_ENGINE_HOST)
        gap_us = (from == SL_ENGINE_HOST ? costs->func_out_us : 0)
                 + (to == SL_ENGINE_HOST ? costs->func_in_us : 0);
    else
        gap_us = sl_graph_gap_us(costs, from, to);
    return sl__ns_of_us(gap_us + sl_graph_signal_us(costs, edge->nth, node->n_edges > 1));
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
        int64_t gap = edge_ns(costs, sl_engine_on_gpu(sl__item_span(ops, edge->from)->engine),
                              sl_engine_on_gpu(sl__item_span(ops, i)->engine), node, edge);
        ns = sl__max(ns, p->r->played[edge->from].end_ns + gap);
    }
    return ns;
}

/* A copy engine that has served another stream turns to this one. */
static int64_t turn_ns(const sl__pass *p, const sl_span *span)
{
    bool is_copy = !sl__is_on_sms(span) && span->engine != SL_ENGINE_HOST;
    size_t *served = &p->graphs->served[sl__unit_of(p->r->ops->timeline, span)], before = *served;
    *served = (size_t)span->stream + 1;
    return is_copy && before && before != *served ? sl__ns_of_us(p->graphs->costs->turn_us) : 0;
}

int64_t sl__graphs_start_ns(sl__pass *p, size_t i, int64_t free_ns)
{
    const sl__graph_node *node = &p->graphs->nodes[i];
    const sl_span *span = sl__item_span(p->r->ops, i);
    const sl_graph_costs *costs = p->graphs->costs;
    const sl__one_graph *graph = graph_of(p, i);
    int64_t behind_ns = sl__pass_behind_ns(p, i); /* also outside of the graph */
    int64_t submitted_ns = p->r->played[i].host_end_ns - graph->push_ns
                           + sl__ns_of_us(costs->submit_us);
    if (!span)
        return behind_ns == SL__NEVER ? p->r->played[i].host_end_ns - graph->call_ns : behind_ns;
    if (node->n_edges == 0) {
        int64_t first_ns = submitted_ns;
        if (behind_ns != SL__NEVER)
            first_ns = sl__max(first_ns, behind_ns + sl__ns_of_us(costs->launch_gap_us));
        behind_ns = first_ns + sl__ns_of_us(node->root * costs->root_us);
    }
    int64_t turned_ns = turn_ns(p, span);
    if (free_ns != SL__NEVER) free_ns += turned_ns;
    return sl__max(sl__max(behind_ns, behind_edges_ns(p, i)),
                   sl__max(submitted_ns + node->push_ns, free_ns));
}
