/* graph_costs.h - what launching a graph costs: one model for the simulated GPU, and for what
 * recorded work would take in graphs. docs/design/simulator.md, section 10, has them measured. */
#ifndef SL_GRAPH_COSTS_H
#define SL_GRAPH_COSTS_H

#include "streamlab.h"

/* What of a graph its launch depends on. */
typedef struct sl_graph_size {
    uint32_t kernels; /* all that runs on SMs but memsets */
    uint32_t roots;   /* nodes that come behind no other */
    uint32_t width;   /* how many are the same number of steps behind those, at most */
    uint32_t cross;   /* nodes behind several, or behind one with several behind it */
} sl_graph_size;

/* The call for a chain of so many kernels, between the rows of the table and beyond the last. */
static inline double sl_graph_chain_us(const sl_graph_costs *costs, double kernels)
{
    const double *x = costs->launch_kernels, *y = costs->launch_us;
    int i = 0;
    while (i + 2 < SL_GRAPH_LAUNCHES && x[i + 2] > x[i + 1] && x[i + 1] <= kernels)
        i++;
    if (!(x[i + 1] > x[i]) || kernels <= x[i]) return y[i];
    const double rise = y[i + 1] - y[i], run = x[i + 1] - x[i];
    if (kernels <= x[i + 1]) return y[i] + (kernels - x[i]) / run * rise;
    return y[i + 1] + (kernels - x[i + 1]) * (rise > 0 ? rise / run : 0);
}

/* A launch's call up to the first node that it gives to the device. */
static inline double sl_graph_call_us(const sl_graph_costs *costs, const sl_graph_size *size,
                                      bool is_first)
{
    const uint32_t roots = size->roots > 1 ? size->roots
                                           : 1; /* their cost is in sl_graph_push_us */
    const double upload_us = is_first ? size->kernels * costs->upload_us : 0;
    return sl_graph_chain_us(costs, size->kernels) + upload_us
           + (size->width > roots ? size->width - roots : 0) * costs->branch_us
           + size->cross * costs->cross_node_us;
}

/* What the call takes for the node itself: it gives kernels to the device with the first node of
 * their branch, and every other node by itself. `is_further_root`: a root, but not the first. */
static inline double sl_graph_push_us(const sl_graph_costs *costs, sl_engine engine, bool is_memset,
                                      bool is_further_root)
{
    const double own_us = is_memset                     ? costs->memset_us
                          : engine == SL_ENGINE_HOST    ? costs->host_func_us
                          : engine == SL_ENGINE_COMPUTE ? 0
                                                        : costs->copy_us;
    return own_us + (is_further_root ? costs->branch_us : 0);
}

/* From a node's end to the next one, of these engines of the GPU. */
static inline double sl_graph_gap_us(const sl_graph_costs *costs, sl_engine from, sl_engine to)
{
    return from != to                ? costs->switch_us
           : to == SL_ENGINE_COMPUTE ? costs->gap_us
                                     : costs->copy_gap_us;
}

/* More for the `nth` of the nodes behind a node, from 0: they get the signal one after the other.
 * That takes longer if it is behind several nodes itself. */
static inline double sl_graph_signal_us(const sl_graph_costs *costs, uint32_t nth, bool is_join)
{
    return nth * (is_join ? costs->cross_us : costs->fork_us) + (is_join ? costs->join_us : 0);
}

#endif
