/* graph_edges.c - the edges of what could be graphs, as a capture finds them: an operation comes
 * behind the last ones of its stream; a record keeps these, and a wait adds them to its own
 * stream's.
 */
#include <stdlib.h>

#include "../base.h"
#include "../timeline/store.h"
#include "as_graphs.h"

typedef struct set { /* in graphs->sets */
    uint32_t first, n, graph;
} set;

typedef struct linking {
    const sl__operations *ops;
    sl__graphs *graphs;
    uint32_t graph;
    set *lanes;       /* by lane: what its next operation comes behind */
    uint32_t *marks;  /* by item: the last one, + 1, that has looked at it */
    uint32_t *leave;  /* by item: edges from it so far */
    uint32_t *widths; /* by depth */
    bool failed;
} linking;

/* ---- sets ------------------------------------------------------------------------------- */

static void put(linking *l, uint32_t item)
{
    sl__graphs *g = l->graphs;
    bool fits = g->n_sets < UINT32_MAX && SL__GROW(g->sets, g->cap_sets, g->n_sets + 1);
    if (fits) g->sets[g->n_sets++] = item;
    l->failed |= !fits;
}

/* Those of the set that have not been put for this item yet. */
static void put_set(linking *l, size_t i, set from)
{
    for (uint32_t k = 0; k < from.n && !l->failed; k++) {
        uint32_t item = l->graphs->sets[from.first + k];
        if (l->marks[item] != i + 1) put(l, item);
        l->marks[item] = (uint32_t)i + 1;
    }
}

static set join(linking *l, size_t i, set a, set b)
{
    set joined = { (uint32_t)l->graphs->n_sets, 0, l->graph };
    if (b.n == 0) return a;
    put_set(l, i, a);
    put_set(l, i, b);
    joined.n = (uint32_t)l->graphs->n_sets - joined.first;
    return joined;
}

static set set_of_lane(const linking *l, size_t lane)
{
    return l->lanes[lane].graph == l->graph ? l->lanes[lane] : (set){ 0, 0, l->graph };
}

/* What is behind an item of this graph. */
static set set_of_item(const linking *l, size_t item)
{
    const sl__graph_node *node = &l->graphs->nodes[item];
    if (item == SL__NO_ITEM || l->graphs->of[item] != l->graph) return (set){ 0, 0, l->graph };
    return (set){ node->behind, node->n_behind, l->graph };
}

/* ---- edges ------------------------------------------------------------------------------ */

static sl__node_list behind_of(const void *of, uint32_t item)
{
    const sl__graphs *graphs = of;
    const sl__graph_node *node = &graphs->nodes[item];
    return (sl__node_list){ graphs->sets + node->behind, node->n_behind };
}

static void add_edges(linking *l, size_t i, set behind)
{
    sl__graphs *g = l->graphs;
    g->nodes[i].first = (uint32_t)g->n_edges;
    sl__mark_implied((sl__node_list){ g->sets + behind.first, behind.n }, behind_of, g, l->marks,
                     (uint32_t)i + 1);
    for (uint32_t k = 0; k < behind.n && !l->failed; k++) {
        uint32_t from = g->sets[behind.first + k];
        if (g->nodes[from].depth + 1 > g->nodes[i].depth)
            g->nodes[i].depth = g->nodes[from].depth + 1;
        if (l->marks[from] == i + 1) continue;
        l->failed = !SL__GROW(g->edges, g->cap_edges, g->n_edges + 1);
        if (!l->failed) g->edges[g->n_edges++] = (sl__edge){ from, l->leave[from]++ };
    }
    g->nodes[i].n_edges = (uint32_t)(g->n_edges - g->nodes[i].first);
}

static void note_behind(linking *l, size_t i, set behind)
{
    l->graphs->nodes[i].behind = behind.first;
    l->graphs->nodes[i].n_behind = behind.n;
}

static void link_span(linking *l, size_t i, size_t lane)
{
    const sl__item *item = &l->ops->items[i];
    set behind = set_of_lane(l, lane);
    bool guessed = item->ready_cause == SL_CAUSE_EVENT && item->ready_by < i
                   && l->graphs->of[item->ready_by] == l->graph
                   && sl__item_span(l->ops, item->ready_by);
    if (guessed) {
        set one = { (uint32_t)l->graphs->n_sets, 1, l->graph };
        put(l, (uint32_t)item->ready_by);
        if (!l->failed) behind = join(l, i, behind, one);
    }
    note_behind(l, i, behind);
    add_edges(l, i, behind);
    l->lanes[lane] = (set){ (uint32_t)l->graphs->n_sets, 1, l->graph };
    put(l, (uint32_t)i);
}

static void link_item(linking *l, size_t i)
{
    const sl_call *call = sl__item_call(l->ops, i);
    if (!l->ops->items[i].in_stream) return;
    size_t lane = l->ops->items[i].issue.lane;
    if (!call) {
        link_span(l, i, lane);
        return;
    }
    if (call->kind == SL_CALL_STREAM_WAIT) {
        size_t record = sl__operations_find(l->ops, call->target);
        if (record != SL__NO_ITEM && record < i)
            l->lanes[lane] = join(l, i, set_of_lane(l, lane), set_of_item(l, record));
    }
    note_behind(l, i, set_of_lane(l, lane));
}

/* ---- what a launch takes ------------------------------------------------------------------- */

static void count_node(linking *l, sl__one_graph *graph, size_t i)
{
    const sl_span *span = sl__item_span(l->ops, i);
    sl__graph_node *node = &l->graphs->nodes[i];
    if (!span) return;
    const bool is_memset = span->kind == SL_SPAN_MEMSET;
    node->root = node->n_edges == 0 ? graph->size.roots++ : 0;
    int64_t own_ns = sl__ns_of_us(sl_graph_push_us(l->graphs->costs, sl_engine_on_gpu(span->engine),
                                                   is_memset, node->root > 0));
    graph->push_ns += own_ns;
    node->push_ns = own_ns > 0 ? graph->push_ns : 0;
    graph->size.kernels += sl__is_on_sms(span) && !is_memset;
    graph->size.width = (uint32_t)sl__max_unsigned(graph->size.width, ++l->widths[node->depth]);
}

/* Where branches begin or end. */
static uint32_t count_crossings(const linking *l, const sl__one_graph *graph)
{
    uint32_t cross = 0;
    for (size_t i = graph->first; i <= graph->last; i++) {
        const sl__graph_node *node = &l->graphs->nodes[i];
        if (!sl__item_span(l->ops, i) || node->n_edges == 0) continue;
        cross += node->n_edges > 1 || l->leave[l->graphs->edges[node->first].from] > 1;
    }
    return cross;
}

static void link_graph(linking *l, sl__one_graph *graph)
{
    for (size_t i = graph->first; i <= graph->last; i++)
        l->widths[i - graph->first] = 0;
    for (size_t i = graph->first; i <= graph->last && !l->failed && !sl__stops_at(i); i++) {
        link_item(l, i);
        count_node(l, graph, i);
    }
    if (l->failed) return;
    graph->size.cross = count_crossings(l, graph);
    graph->call_ns = sl__ns_of_us(sl_graph_call_us(l->graphs->costs, &graph->size, false))
                     + graph->push_ns;
}

/* ---- all ------------------------------------------------------------------------------------ */

sl_status sl__graphs_link(const sl__operations *ops, sl__graphs *graphs, sl_error *err)
{
    linking l = { .ops = ops, .graphs = graphs };
    l.lanes = calloc(ops->rules.lanes.n + 1, sizeof *l.lanes);
    l.marks = calloc(ops->n + 1, sizeof *l.marks);
    l.leave = calloc(ops->n + 1, sizeof *l.leave);
    l.widths = calloc(ops->n + 1, sizeof *l.widths);
    graphs->nodes = calloc(ops->n + 1, sizeof *graphs->nodes);
    l.failed = !l.lanes || !l.marks || !l.leave || !l.widths || !graphs->nodes;
    for (size_t g = 0; g < graphs->n && !l.failed && !sl__stops_at(g); g++) {
        l.graph = (uint32_t)g + 1;
        if (graphs->of[graphs->at[g].first] == l.graph) link_graph(&l, &graphs->at[g]);
    }
    free(l.lanes);
    free(l.marks);
    free(l.leave);
    free(l.widths);
    if (l.failed) return sl__no_memory(err, "%zu operations in graphs", ops->n);
    return sl_interrupt_check(err);
}
