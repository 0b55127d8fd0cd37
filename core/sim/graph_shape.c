/* graph_shape.c - roots, edges and size of an executable graph. */
#include "sim_graph.h"

#include <stdlib.h>

#include "../base.h"

typedef struct scratch {
    bool *is_kept;     /* per edge of the body */
    uint32_t *implied; /* per node: the last node, + 1, that was found to be behind it twice */
    uint32_t *depth;   /* per node: steps behind a root */
    uint32_t *at_depth;
} scratch;

/* ---- edges ---- */

static sl__node_list before_node(const void *of, uint32_t node)
{
    const sl_body *body = of;
    return (sl__node_list){ body->before + body->nodes[node].first_before,
                            body->nodes[node].n_before };
}

/* An edge from a to c says nothing if there are edges from a to b and from b to c. */
static void keep_edges(sim_graph *graph, scratch *s, uint32_t i)
{
    const sl_body *body = graph->base.body;
    const sl__node_list before = before_node(body, i);
    sl__mark_implied(before, before_node, body, s->implied, i + 1);
    for (uint32_t k = 0; k < before.n; k++) {
        if (s->implied[before.at[k]] == i + 1) continue;
        s->is_kept[body->nodes[i].first_before + k] = true;
        graph->node[i].n_before++;
    }
    graph->node[i].left = graph->node[i].n_before;
}

/* The edges, which a body has by their second node, by their first one: counted, then filled in
 * from the end of each node's part. */
static void turn_edges(sim_graph *graph, const scratch *s)
{
    const sl_body *body = graph->base.body;
    uint32_t *first = graph->first_after;
    for (size_t k = 0; k < body->n_before; k++)
        first[body->before[k]] += s->is_kept[k];
    for (uint32_t i = 1; i <= body->n_nodes; i++)
        first[i] += first[i - 1];
    for (uint32_t i = body->n_nodes; i-- > 0;)
        for (uint32_t k = body->nodes[i].n_before; k-- > 0;) {
            const size_t edge = body->nodes[i].first_before + k;
            if (s->is_kept[edge]) graph->after[--first[body->before[edge]]] = i;
        }
}

/* ---- size ---- */

static void count_node(sim_graph_counts *counts, const sl_op *op)
{
    switch (sl_work_row_of(op->work.kind)->cost) {
    case SL_COST_MEMSET: counts->memsets++; break;
    case SL_COST_HOST_FUNC: counts->host_funcs++; break;
    case SL_COST_COPY:
        *(op->engine == SL_ENGINE_COMPUTE ? &counts->size.kernels : &counts->copies) += 1;
        break;
    case SL_COST_LAUNCH:
    case SL_COST_GRAPH:
    case SL_COST_COLLECTIVE: counts->size.kernels++; break;
    case SL_COST_RECORD:
    case SL_COST_WAIT: break;
    }
}

static void note_depth(sim_graph *graph, scratch *s, uint32_t i)
{
    const sl_body *body = graph->base.body;
    const sl_node *node = &body->nodes[i];
    for (uint32_t k = 0; k < node->n_before; k++) {
        const uint32_t depth = s->depth[body->before[node->first_before + k]] + 1;
        if (depth > s->depth[i]) s->depth[i] = depth;
    }
    const uint32_t width = ++s->at_depth[s->depth[i]];
    if (width > graph->counts.size.width) graph->counts.size.width = width;
}

static uint32_t n_after(const sim_graph *graph, uint32_t i)
{
    return graph->first_after[i + 1] - graph->first_after[i];
}

/* Where branches begin or end. */
static void count_crossings(sim_graph *graph, const scratch *s)
{
    const sl_body *body = graph->base.body;
    for (uint32_t i = 0; i < body->n_nodes; i++) {
        bool crosses = graph->node[i].n_before > 1;
        for (uint32_t k = 0; k < body->nodes[i].n_before && !crosses; k++) {
            const size_t edge = body->nodes[i].first_before + k;
            crosses = s->is_kept[edge] && n_after(graph, body->before[edge]) > 1;
        }
        graph->counts.size.cross += crosses;
    }
}

static void shape(sim_graph *graph, scratch *s)
{
    const sl_body *body = graph->base.body;
    graph->counts = (sim_graph_counts){ .edges = body->n_before };
    for (uint32_t i = 0; i < body->n_nodes; i++) {
        if (!sl_is_work(body->nodes[i].op)) continue;
        count_node(&graph->counts, body->nodes[i].op);
        note_depth(graph, s, i);
        keep_edges(graph, s, i);
        if (body->nodes[i].n_before == 0) graph->roots[graph->counts.size.roots++] = i;
    }
    turn_edges(graph, s);
    count_crossings(graph, s);
    graph->first_engine = graph->counts.size.roots ? body->nodes[graph->roots[0]].op->engine
                                                   : SL_ENGINE_COMPUTE;
}

/* ---- memory ---- */

static void scratch_free(scratch *s)
{
    free(s->is_kept);
    free(s->implied);
    free(s->depth);
    free(s->at_depth);
}

static bool scratch_open(scratch *s, const sl_body *body)
{
    const size_t nodes = (size_t)body->n_nodes + 1;
    s->is_kept = calloc(body->n_before + 1, sizeof *s->is_kept);
    s->implied = calloc(nodes, sizeof *s->implied);
    s->depth = calloc(nodes, sizeof *s->depth);
    s->at_depth = calloc(nodes, sizeof *s->at_depth);
    return s->is_kept && s->implied && s->depth && s->at_depth;
}

static bool allocate(sim_graph *graph)
{
    const sl_body *body = graph->base.body;
    const size_t nodes = (size_t)body->n_nodes + 1;
    graph->node = calloc(nodes, sizeof *graph->node);
    graph->first_after = calloc(nodes, sizeof *graph->first_after);
    graph->after = calloc(body->n_before + 1, sizeof *graph->after);
    graph->roots = calloc(nodes, sizeof *graph->roots);
    return graph->node && graph->first_after && graph->after && graph->roots;
}

bool sim_graph_shape(sim_graph *graph)
{
    scratch s;
    const bool has_room = scratch_open(&s, graph->base.body);
    const bool done = has_room && allocate(graph);
    if (done) shape(graph, &s);
    scratch_free(&s);
    if (has_room && !done) sim_graph_shape_free(graph);
    return done;
}

void sim_graph_shape_free(sim_graph *graph)
{
    free(graph->node);
    free(graph->first_after);
    free(graph->after);
    free(graph->roots);
    graph->node = NULL;
    graph->first_after = graph->after = graph->roots = NULL;
}
