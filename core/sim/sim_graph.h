/* sim_graph.h - executable graphs and their launches.
 *
 *   sim_graph.c    captures, executable graphs
 *   graph_shape.c  their roots, edges and size
 *   graph_cost.c   what they cost the host, from the profile
 *   graph_call.c   the call of a launch
 *   graph_run.c    its nodes
 */
#ifndef SIM_SIM_GRAPH_H
#define SIM_SIM_GRAPH_H

#include "../graph_costs.h"
#include "queue.h"

/* A node of an executable graph, before it comes forward. */
typedef struct sim_graph_node {
    sim_ps ready_at; /* not earlier, because of node `by` */
    uint32_t by, left;
    uint32_t n_before; /* nodes that it comes right behind */
    uint8_t cause;     /* sl_cause */
    sim_ps push;       /* how far into its call a launch gives it to the device */
} sim_graph_node;

/* What of it costs time. */
typedef struct sim_graph_counts {
    sl_graph_size size;
    uint32_t copies, memsets, host_funcs;
    size_t edges;
} sim_graph_counts;

/* An executable graph. Its launches run one after the other, in the order of the calls
 * (cudaGraphLaunch in the CUDA Runtime API). */
struct sim_graph {
    sl_graph base;
    sim_op *launch;         /* that runs */
    sim_op *latest;         /* launch, unless it has ended; else NULL */
    uint32_t left;          /* nodes of the launch that have not ended */
    sim_op *ops, *free_ops; /* memory for the nodes that have come forward */
    sim_graph_node *node;   /* per node of the body */
    /* The nodes right behind node i begin at after[first_after[i]]. */
    uint32_t *first_after, *after;
    uint32_t *roots;
    sim_graph_counts counts;
    uint8_t first_engine;       /* sl_engine: of the first root */
    uint32_t n_read, n_drained; /* copies from and to pageable memory */
    /* How long the call of a launch goes on after the first node that it gives to the device. */
    sim_ps pushed;
};

/* graph_shape.c */
/* Finds roots, edges and counts of an executable graph, from its body. False: out of memory. */
bool sim_graph_shape(sim_graph *graph);
void sim_graph_shape_free(sim_graph *graph);

/* graph_cost.c */
double sim_graph_capture_us(const sim_op *op); /* a call that adds a node */
double sim_graph_instantiate_us(const sim_graph *graph);
double sim_graph_update_us(const sim_graph *graph);
/* A launch's call up to the first node that it gives to the device. */
double sim_graph_launch_us(const sim_graph *graph);
void sim_graph_set_push(sim_graph *graph);                  /* node[].push, pushed */
sl_graph_costs sim_graph_costs(const sim_profile *profile); /* of device->info */

static inline sim_graph *sim_graph_of(const sim_op *launch)
{
    return (sim_graph *)launch->base.graph;
}

/* graph_call.c */
/* In the call of a launch: waits where it must, and reads pageable sources. */
sl_status sim_graph_read(sim_op *launch, sl_error *err);
/* After issue: gives the nodes to the device, and waits for copies to pageable memory. */
sl_status sim_graph_push(sim_op *launch, sl_error *err);

/* graph_run.c */
void sim_graph_start(sim_op *launch); /* it is ready */
void sim_graph_node_ended(sim_op *node, sim_ps done_at);
static inline void sim_op_ended(sim_op *op, sim_ps done_at)
{
    if (op->node_of)
        sim_graph_node_ended(op, done_at);
    else
        sim_queue_done(op, done_at);
}
void sim_graph_forget(sim_op *launch); /* what it has read */

#endif
