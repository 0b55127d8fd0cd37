/* as_graphs.h - the recorded schedule, played again with its operations in graphs: the host makes one
 * call for all that it issues between two waits. */
#ifndef SL_TIMELINE_AS_GRAPHS_H
#define SL_TIMELINE_AS_GRAPHS_H

#include "replay.h"

typedef struct sl__stretch_of_calls { /* what one graph has */
    size_t n_kernels, n_copies;       /* its nodes; kernels: whatever is no copy */
    size_t first, last;               /* items */
    int64_t end_ns;                   /* of the last node, as recorded */
    int64_t call_ns;                  /* of its launch */
} sl__stretch_of_calls;

struct sl__graphs {
    const sl_graph_costs *costs;
    uint32_t *of; /* by item: which graph it is in, from 1; 0: none */
    sl__stretch_of_calls *at;
    size_t n, cap;
    int64_t *ahead_ns;  /* by item: how long before the call's end the device has it */
    uint8_t *from;      /* by item: on which engine its time was decided */
    uint8_t *lane_from; /* by lane: the same of its last end */
};

/* Which items a capture could contain, between what it could not: calls in which the host waits,
 * work of the host, allocations, launches of graphs. On failure there is something to free, too. */
sl_status sl__graphs_find(const sl__operations *ops, const sl_graph_costs *costs,
                          sl__graphs *graphs, sl_error *err);
void sl__graphs_free(sl__graphs *graphs);

/* ---- for a pass (replay.c), of items that are in a graph ---- */

static inline bool sl__graphs_have(const sl__graphs *graphs, size_t item)
{
    return graphs && graphs->of[item] != 0;
}
/* Its call, which would begin at played->host_start_ns: the launch, or nothing. */
void sl__graphs_call(sl__pass *pass, size_t item);
/* When it starts if its engine is free from `free_ns` on. */
int64_t sl__graphs_start_ns(sl__pass *pass, size_t item, int64_t free_ns);
/* Any item's end has come. Before the pass notes it. */
void sl__graphs_end(sl__pass *pass, size_t item);

#endif
