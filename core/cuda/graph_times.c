/* graph_times.c - which node of a launch a record of CUPTI's belongs to, and the times of host
 * functions in graphs.
 *
 * All records of a launch have the number of its call, and each that of its node in the executable
 * graph. Its lower half is the number of the node within the graph; the executable graph, a copy
 * of the captured one, has the same. So that is asked of the captured nodes.
 */
#include <stdlib.h>

#include "cuda_activity.h"

struct cuda_node_ids { /* of a graph; sorted */
    int32_t refs;
    uint32_t n;
    struct node_id {
        uint32_t id, index; /* CUPTI's number within the graph, and the node of the body */
    } nodes[];
};

typedef struct cuda_recorded { /* a launch in a recording */
    uint64_t seq;
    cuda_node_ids *ids;
} cuda_recorded;

/* ---- the numbers of nodes ---- */

SL__ORDER(compare_ids, struct node_id, x->id);

static cuda_node_ids *ask_ids(const cuda_graph *graph, cuda_node_id_fn ask)
{
    cuda_node_ids *ids = malloc(sizeof *ids + graph->n_nodes * sizeof *ids->nodes);
    if (!ids) return NULL;
    ids->refs = 1;
    ids->n = 0;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        uint64_t id = 0;
        if (ask(graph->nodes[i].handle, &id))
            ids->nodes[ids->n++] = (struct node_id){ (uint32_t)id, graph->nodes[i].index };
    }
    qsort(ids->nodes, ids->n, sizeof *ids->nodes, compare_ids);
    return ids;
}

void cuda_node_ids_release(cuda_node_ids *ids)
{
    if (ids && --ids->refs == 0) free(ids);
}

/* ---- launches ---- */

void cuda_graph_times_before(cuda_op *launch, cuda_node_id_fn ask)
{
    cuda_graph *graph = (cuda_graph *)launch->base.graph;
    if (!graph->ids) graph->ids = ask_ids(graph, ask);
}

/* Without memory the nodes of the launch have no times. */
void cuda_graph_times_after(cuda_activity *activity, cuda_op *launch)
{
    cuda_node_ids *ids = ((cuda_graph *)launch->base.graph)->ids;
    if (!ids || !SL__GROW(activity->launches, activity->cap_launches, activity->n_launches + 1))
        return;
    activity->launches[activity->n_launches++] = (cuda_recorded){ launch->base.seq, ids };
    ids->refs++;
}

static const cuda_recorded *find_launch(const cuda_activity *activity, uint64_t seq)
{
    size_t at;
    SL__SEARCH(at, activity->n_launches, activity->launches[at].seq < seq);
    return at < activity->n_launches && activity->launches[at].seq == seq ? &activity->launches[at]
                                                                          : NULL;
}

bool cuda_graph_times_find(const cuda_activity *activity, uint64_t launch, uint64_t graph_node,
                           uint64_t *seq)
{
    const cuda_recorded *recorded = find_launch(activity, launch);
    const struct node_id key = { .id = (uint32_t)graph_node };
    const struct node_id *found = !recorded ? NULL
                                            : bsearch(&key, recorded->ids->nodes, recorded->ids->n,
                                                      sizeof key, compare_ids);
    if (found) *seq = launch + 1 + found->index;
    return found;
}

/* ---- host functions ---- */

void cuda_activity_func_ran(const cuda_device *dev, uint64_t seq, int64_t start_ns, int64_t end_ns)
{
    cuda_activity *activity = dev->activity;
    if (dev->recording == 0) return;
    if (!SL__GROW(activity->funcs, activity->cap_funcs, activity->n_funcs + 1)) return;
    activity->funcs[activity->n_funcs++] = (sl_activity){ .seq = seq,
                                                          .start_ns = start_ns,
                                                          .end_ns = end_ns };
}

void cuda_graph_times_collect(cuda_activity *activity, sl_activity_fn fn, void *ud)
{
    for (size_t i = 0; i < activity->n_funcs; i++)
        fn(ud, &activity->funcs[i]);
    activity->n_funcs = 0;
}

void cuda_graph_times_clear(cuda_activity *activity)
{
    for (size_t i = 0; i < activity->n_launches; i++)
        cuda_node_ids_release(activity->launches[i].ids);
    free(activity->launches);
    free(activity->funcs);
    activity->launches = NULL;
    activity->funcs = NULL;
    activity->n_launches = activity->cap_launches = 0;
    activity->n_funcs = activity->cap_funcs = 0;
}
