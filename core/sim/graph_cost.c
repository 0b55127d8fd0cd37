/* graph_cost.c - what graphs cost the host, from the profile (docs/design/simulator.md, section 10,
 * has the measurements). */
#include "sim_graph.h"

static const sim_profile *profile_of(const sim_graph *graph)
{
    return &((const sim_device *)graph->base.device)->profile;
}

sl_graph_costs sim_graph_costs(const sim_profile *p)
{
    const sim_table *launch = &p->host_graph_launch_us;
    sl_graph_costs costs = {
        .upload_us = p->host_graph_upload_us,
        .branch_us = p->host_graph_branch_us,
        .cross_node_us = p->host_graph_cross_node_us,
        .copy_us = p->host_graph_copy_us,
        .memset_us = p->host_graph_memset_us,
        .host_func_us = p->host_graph_host_func_us,
        .submit_us = p->host_graph_submit_us,
        .root_us = p->graph_root_us,
        .gap_us = p->graph_gap_us,
        .copy_gap_us = p->copy_gap_us,
        .switch_us = p->graph_switch_us,
        .fork_us = p->graph_fork_us,
        .join_us = p->graph_join_us,
        .cross_us = p->graph_cross_us,
        .launch_gap_us = p->graph_launch_gap_us,
        .turn_us = p->engine_turn_us,
        .func_in_us = p->host_func_in_us,
        .func_out_us = p->host_func_out_us,
    };
    costs.launch_us[0] = p->host_launch_us; /* whatever it has */
    for (size_t i = 0; i < launch->n; i++) {
        costs.launch_kernels[i] = launch->x[i];
        costs.launch_us[i] = launch->y[i];
    }
    return costs;
}

/* ---- captures ---- */

double sim_graph_capture_us(const sim_op *op)
{
    const sim_profile *p = &sim_device_of(op)->profile;
    switch (sl_work_row_of(op->base.work.kind)->cost) {
    case SL_COST_LAUNCH: return p->host_graph_capture_kernel_us;
    case SL_COST_COPY: return p->host_graph_capture_copy_us;
    case SL_COST_MEMSET: return p->host_graph_capture_memset_us;
    case SL_COST_HOST_FUNC: return p->host_graph_capture_host_func_us;
    case SL_COST_RECORD:
    case SL_COST_WAIT: return p->host_graph_capture_event_us;
    case SL_COST_GRAPH:
    case SL_COST_COLLECTIVE: break;
    }
    return 0;
}

/* ---- instantiating and updating ---- */

double sim_graph_instantiate_us(const sim_graph *graph)
{
    const sim_profile *p = profile_of(graph);
    const sim_graph_counts *n = &graph->counts;
    const double others = (double)n->copies + n->memsets + n->host_funcs;
    const double nodes = others + n->size.kernels;
    const double edges = (double)n->edges - (nodes - n->size.roots);
    return sim_table_us(&p->host_graph_instantiate_us, n->size.kernels)
           + others * p->host_graph_instantiate_other_us
           + edges * p->host_graph_instantiate_edge_us;
}

double sim_graph_update_us(const sim_graph *graph)
{
    return sim_table_us(&profile_of(graph)->host_graph_update_us, graph->base.body->n_work);
}

/* ---- launches ---- */

double sim_graph_launch_us(const sim_graph *graph)
{
    return sl_graph_call_us(&graph->base.device->info.graph, &graph->counts.size,
                            graph->base.launches == 0);
}

void sim_graph_set_push(sim_graph *graph)
{
    const sl_graph_costs *costs = &graph->base.device->info.graph;
    const sl_body *body = graph->base.body;
    uint32_t root = 0;
    double us = 0;
    for (uint32_t i = 0; i < body->n_nodes; i++) {
        const bool is_root = root < graph->counts.size.roots && graph->roots[root] == i;
        const sl_op *op = body->nodes[i].op;
        const double own_us = sl_is_work(op) ? sl_graph_push_us(costs, sl_engine_on_gpu(op->engine),
                                                                sl_work_row_of(op->work.kind)->cost
                                                                    == SL_COST_MEMSET,
                                                                is_root && root > 0)
                                             : 0;
        root += is_root;
        us += own_us;
        graph->node[i].push = own_us > 0 ? sim_us_to_ps(us) : 0;
    }
    graph->pushed = sim_us_to_ps(us);
}
