/* as_graphs.h - the recorded schedule, played again with its operations in graphs: the host makes
 * one call for all that it issues between two waits. */
#ifndef SL_WHATIF_AS_GRAPHS_H
#define SL_WHATIF_AS_GRAPHS_H

#include "../graph_costs.h"
#include "program.h"

static inline int64_t sl__ns_of_us(double us) { return (int64_t)(1000 * us + 0.5); }

typedef struct sl__edge {
    uint32_t from; /* an item */
    uint32_t nth;  /* of the edges that leave it, from 0 */
} sl__edge;

typedef struct sl__graph_node { /* by item; of a record or a wait only what captures need */
    uint32_t behind, n_behind;  /* in graphs->sets: what its stream comes behind */
    uint32_t first, n_edges;    /* those that no others imply */
    uint32_t depth;             /* steps from a node without edges */
    uint32_t root;              /* which of the nodes without edges */
    int64_t push_ns;            /* until the call has given it to the device */
} sl__graph_node;

typedef struct sl__one_graph {
    size_t first, last; /* items */
    int64_t end_ns;     /* of the last node, as recorded */
    uint32_t n_nodes;
    sl_graph_size size;
    int64_t call_ns, push_ns; /* of its launch, and what of that comes behind its submission */
} sl__one_graph;

typedef struct sl__graphs {
    const sl_graph_costs *costs;
    uint32_t *of; /* by item: which graph it is in, from 1; 0: none */
    sl__one_graph *at;
    size_t n, cap;
    sl__graph_node *nodes; /* by item */
    sl__edge *edges;
    size_t n_edges, cap_edges;
    uint32_t *sets; /* of items */
    size_t n_sets, cap_sets;
} sl__graphs;

/* Which items a capture could contain, between what it could not: calls in which the host waits,
 * work of the host, allocations, launches of graphs. On failure there is something to free, too. */
sl_status sl__graphs_find(const sl__operations *ops, const sl_graph_costs *costs,
                          sl__graphs *graphs, sl_error *err);
void sl__graphs_free(sl__graphs *graphs);

/* The edges of the graphs, and what their launches take (graph_edges.c). SL_ENOMEM. */
sl_status sl__graphs_link(const sl__operations *ops, sl__graphs *graphs, sl_error *err);

#endif
