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

/* The parts of the inputs; the same value if both are the same part. False: out of memory. */
static bool slice_inputs(const sl_work *work, sim_value *const in[2], sim_value *part[2])
{
    const size_t bytes[2] = { sim_work_bytes(work, 0), sim_work_bytes(work, 1) };
    const bool same = in[0] && in[0] == in[1] && bytes[0] == bytes[1]
                      && work->in_offset[0] == work->in_offset[1];
    for (int i = 0; i < 2; i++) {
        if (!in[i]) continue;
        part[i] = i == 1 && same ? sim_value_retain(part[0])
                                 : sim_value_slice(in[i], work->in_offset[i], bytes[i]);
        if (!part[i]) return false;
    }
    return true;
}

sim_value *sim_value_apply_part(const sl_work *work, sim_value *holds, sim_value *in0,
                                sim_value *in1)
{
    const size_t bytes = sim_work_bytes(work, 2);
    sim_value *const in[2] = { in0, in1 };
    sim_value *part[2] = { NULL, NULL }, *made = NULL, *value = NULL;
    if (slice_inputs(work, in, part)) made = sim_value_apply(work, bytes, part[0], part[1], NULL);
    if (made) value = sim_value_splice(holds, work->out_offset, made, 0, bytes);
    sim_value_release(made);
    sim_value_release(part[0]);
    sim_value_release(part[1]);
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
