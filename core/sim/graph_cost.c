/* graph_cost.c - what graphs cost the host, from the profile (docs/design/simulator.md, section 10,
 * has the measurements). */
#include "graph.h"

static const sim_profile *profile_of(const sim_graph *graph)
{
    return &((const sim_device *)graph->base.device)->profile;
}

static bool is_on_engine(const sl_op *op)
{
    return op->work.kind == SL_WORK_MEMCPY && op->engine != SL_ENGINE_COMPUTE;
}

static double launch_us(const sim_profile *p, uint32_t kernels)
{
    return p->host_graph_launch_us.n > 0 ? sim_table_us(&p->host_graph_launch_us, kernels)
                                         : p->host_launch_us;
}

static int64_t ns(double us) { return (int64_t)(1000 * us + 0.5); }

sl_graph_costs sim_graph_costs(const sim_profile *p)
{
    sl_graph_costs costs = {
        .branch_ns = ns(p->host_graph_branch_us),
        .copy_ns = ns(p->host_graph_copy_us),
        .memset_ns = ns(p->host_graph_memset_us),
        .host_func_ns = ns(p->host_graph_host_func_us),
        .submit_ns = ns(p->host_graph_submit_us),
        .root_ns = ns(p->graph_root_us),
        .gap_ns = ns(p->graph_gap_us),
        .copy_gap_ns = ns(p->copy_gap_us),
        .switch_ns = ns(p->graph_switch_us),
        .fork_ns = ns(p->graph_fork_us),
        .join_ns = ns(p->graph_join_us),
        .cross_ns = ns(p->graph_cross_us),
        .launch_gap_ns = ns(p->graph_launch_gap_us),
        .turn_ns = ns(p->engine_turn_us),
        .func_in_ns = ns(p->host_func_in_us),
        .func_out_ns = ns(p->host_func_out_us),
    };
    uint32_t kernels = 1;
    for (int k = 0; k < SL_GRAPH_LAUNCHES; k++, kernels *= 10)
        costs.launch_ns[k] = ns(launch_us(p, kernels));
    return costs;
}

/* ---- captures ---- */

double sim_graph_capture_us(const sim_op *op)
{
    const sim_profile *p = &sim_device_of(op)->profile;
    switch ((sl_work_kind)op->base.work.kind) {
    case SL_WORK_KERNEL: return p->host_graph_capture_kernel_us;
    case SL_WORK_MEMCPY: return p->host_graph_capture_copy_us;
    case SL_WORK_MEMSET: return p->host_graph_capture_memset_us;
    case SL_WORK_HOST_FUNC: return p->host_graph_capture_host_func_us;
    case SL_WORK_EVENT_RECORD:
    case SL_WORK_EVENT_WAIT: return p->host_graph_capture_event_us;
    case SL_WORK_GRAPH:
    case SL_WORK_COLLECTIVE: break;
    }
    return 0;
}

/* ---- instantiating and updating ---- */

double sim_graph_instantiate_us(const sim_graph *graph)
{
    const sim_profile *p = profile_of(graph);
    const sim_graph_counts *n = &graph->counts;
    const double others = (double)n->copies + n->memsets + n->host_funcs;
    const double nodes = others + n->kernels, edges = (double)n->edges - (nodes - n->roots);
    return sim_table_us(&p->host_graph_instantiate_us, n->kernels)
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
    const sim_profile *p = profile_of(graph);
    const sim_graph_counts *n = &graph->counts;
    const uint32_t roots = n->roots > 1 ? n->roots : 1; /* their cost is in `pushed` */
    const double upload_us = graph->base.launches == 0 ? n->kernels * p->host_graph_upload_us : 0;
    return launch_us(p, n->kernels) + upload_us
           + (n->width > roots ? n->width - roots : 0) * p->host_graph_branch_us
           + n->cross * p->host_graph_cross_node_us;
}

static double push_us(const sim_profile *p, const sl_op *op)
{
    if (is_on_engine(op)) return p->host_graph_copy_us;
    if (op->work.kind == SL_WORK_MEMSET) return p->host_graph_memset_us;
    return op->work.kind == SL_WORK_HOST_FUNC ? p->host_graph_host_func_us : 0;
}

/* The call gives kernels to the device with the first node of their branch, and every other node by
 * itself. */
void sim_graph_set_push(sim_graph *graph)
{
    const sim_profile *p = profile_of(graph);
    const sl_body *body = graph->base.body;
    uint32_t root = 0;
    double us = 0;
    for (uint32_t i = 0; i < body->n_nodes; i++) {
        const bool is_root = root < graph->counts.roots && graph->roots[root] == i;
        const double own_us = push_us(p, body->nodes[i].op)
                              + (is_root && root > 0 ? p->host_graph_branch_us : 0);
        root += is_root;
        us += own_us;
        graph->node[i].push = own_us > 0 ? sim_us_to_ps(us) : 0;
    }
    graph->pushed = sim_us_to_ps(us);
}
