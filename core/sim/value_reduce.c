/* value_reduce.c - making the value of several ranks' values, reduced element by element. */
#include "value_node.h"

/* Constants make a constant, however large. */
static sim_value *fold(const sim_reduced *r, size_t bytes)
{
    uint8_t pattern[SIM_PATTERN];
    for (int i = 0; i < r->n; i++)
        if (r->in[i]->form != VALUE_CONSTANT || r->in[i]->bytes < SIM_PATTERN) return NULL;
    return sim_reduced_piece(r, 0, SIM_PATTERN, pattern) ? sim_value_new_constant(bytes, pattern)
                                                         : NULL;
}

sim_value *sim_value_reduce(sl_reduction reduction, sl_dtype dtype, sim_value *const *in, int n)
{
    const size_t bytes = in[0]->bytes;
    sim_reduced *r = malloc(sizeof *r + (size_t)n * sizeof r->in[0]);
    if (!r) return NULL;
    *r = (sim_reduced){ .dtype = dtype, .reduction = reduction, .n = n };
    for (int i = 0; i < n; i++)
        r->in[i] = in[i];
    sim_value *value = fold(r, bytes);
    if (!value) value = sim_value_new_node(VALUE_REDUCED, bytes);
    if (!value || value->form == VALUE_CONSTANT) {
        free(r);
        return value;
    }
    value->as.reduced = r;
    for (int i = 0; i < n; i++)
        sim_value_retain(in[i]);
    return sim_value_bound(value);
}
