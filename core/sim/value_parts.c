/* value_parts.c - operations on parts of values. */
#include "value_node.h"

/* A range of `value` as a new value. */
sim_value *sim_value_slice(sim_value *value, size_t offset, size_t bytes)
{
    if (offset == 0 && bytes == value->bytes) return sim_value_retain(value);
    sim_value *nothing = sim_value_bytes_set(bytes, 0);
    if (!nothing) return NULL;
    sim_value *part = sim_value_splice(nothing, 0, value, offset, bytes);
    sim_value_release(nothing);
    return part;
}

/* The parts of the inputs; the same value where two are the same part. False: out of memory. */
static bool slice_inputs(const sl_operand *side, sim_value *const in[SL_INPUTS],
                         sim_value *part[SL_INPUTS])
{
    for (int i = 0; i < SL_INPUTS; i++) {
        const size_t bytes = side[i].bytes, offset = side[i].offset;
        if (!in[i]) continue;
        for (int j = 0; j < i && !part[i]; j++)
            if (in[j] == in[i] && side[j].bytes == bytes && side[j].offset == offset)
                part[i] = sim_value_retain(part[j]);
        if (!part[i]) part[i] = sim_value_slice(in[i], offset, bytes);
        if (!part[i]) return false;
    }
    return true;
}

sim_value *sim_value_apply_part(const sl_work *work, const sl_operand *side, sim_value *holds,
                                sim_value *const in[SL_INPUTS])
{
    const size_t bytes = side[SL_OUTPUT].bytes;
    sim_value *part[SL_INPUTS] = { NULL }, *made = NULL, *value = NULL;
    if (slice_inputs(side, in, part)) made = sim_value_apply(work, bytes, part, NULL);
    if (made) value = sim_value_splice(holds, side[SL_OUTPUT].offset, made, 0, bytes);
    sim_value_release(made);
    for (int i = 0; i < SL_INPUTS; i++)
        sim_value_release(part[i]);
    return value;
}

void sim_value_drop_hidden(sim_value *value)
{
    if (value->form != VALUE_SPLICE) return;
    const size_t offset = value->as.splice.dst_offset, bytes = value->as.splice.count;
    for (int i = 0; i < SIM_VALUE_SHORTCUTS && value->refs == 1 && value->form == VALUE_SPLICE;
         i++) {
        sim_value *below = value->as.splice.base;
        if (below->form != VALUE_SPLICE
            || !sim_value_covers(offset, bytes, below->as.splice.dst_offset,
                                 below->as.splice.count)) {
            value = below;
            continue;
        }
        value->as.splice.base = sim_value_retain(below->as.splice.base);
        sim_value_release(below);
    }
}
