/* value_cost.c - how long it would take to compute a value. */
#include "value_node.h"

static double node_flops(const sim_value *value)
{
    if (value->form == VALUE_RECIPE) return sim_job_flops(&value->as.recipe.job);
    if (value->form == VALUE_LAUNCH) return sim_launched_flops(value->as.launch);
    if (value->form == VALUE_OUTPUT) return 0;
    if (value->form == VALUE_REDUCED) return (double)value->bytes * value->as.reduced->n;
    const sim_value *base = value->as.splice.base;
    bool copies_base = base->refs > 1 || sim_value_is_direct(base);
    return ((double)value->as.splice.count + (copies_base ? (double)value->bytes : 0)) / 4;
}

static double node_seconds(const sim_value *value)
{
    /* One core: products by a BLAS library or, at a third of that, a plain loop. */
    const double product_flops_per_s = 5e9, flops_per_s = 1e9;
    bool product = value->form == VALUE_RECIPE && value->as.recipe.job.kernel == SL_KERNEL_MATMUL;
    return node_flops(value) / (product ? product_flops_per_s : flops_per_s);
}

/* The cost of computing `value`, each node counted once; stops counting above `limit`. */
static double pending_cost(sim_value *value, double (*node_cost)(const sim_value *value),
                           double limit)
{
    double cost = 0;
    sim_value *last = value;
    value->link = NULL;
    value->marked = 1;
    for (sim_value *node = value; node && cost <= limit; node = node->link) {
        cost += node_cost(node);
        for (int i = 0; i < sim_value_inputs(node); i++) {
            sim_value *input = sim_value_input(node, i);
            if (!input || input->marked || sim_value_is_computed(input)) continue;
            input->marked = 1;
            input->link = NULL;
            last->link = input;
            last = input;
        }
    }
    for (sim_value *node = value; node; node = node->link)
        node->marked = 0;
    return cost;
}

double sim_value_pending_flops(sim_value *value, double limit_flops)
{
    return pending_cost(value, node_flops, limit_flops);
}

double sim_value_pending_s(sim_value *value, double limit_s)
{
    return sim_value_is_direct(value) ? 0 : pending_cost(value, node_seconds, limit_s);
}
