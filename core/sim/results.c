/* results.c - what an operation leaves in memory when it ends. */
#include "sim.h"

static bool is_whole(const sl_buffer *buffer, size_t offset, size_t bytes)
{
    return !buffer || (offset == 0 && bytes == buffer->bytes);
}

/* Whether each operand of a kernel is all that its buffer has. */
static bool takes_whole_buffers(const sl_op *op)
{
    const sl_work *work = &op->work;
    return is_whole(op->out, work->out_offset, sim_work_bytes(work, 2))
           && is_whole(op->in[0], work->in_offset[0], sim_work_bytes(work, 0))
           && is_whole(op->in[1], work->in_offset[1], sim_work_bytes(work, 1));
}

/* What the output's buffer holds from the operation's end on. NULL: out of memory. */
static sim_value *result(const sim_op *op, sim_value *holds)
{
    const sl_work *work = &op->base.work;
    sim_value *const *in = op->value;
    size_t bytes = op->base.out->bytes;
    bool whole = work->kind == SL_WORK_KERNEL ? takes_whole_buffers(&op->base)
                                              : work->bytes == bytes;
    switch (work->kind) {
    case SL_WORK_MEMCPY:
        return sim_value_splice(holds, work->out_offset, in[0], work->in_offset[0], work->bytes);
    case SL_WORK_MEMSET:
        return whole ? sim_value_bytes_set(bytes, work->byte_value)
                     : sim_value_memset(holds, work->out_offset, work->bytes, work->byte_value);
    default:
        return whole ? sim_value_apply(work, bytes, in[0], in[1], holds)
                     : sim_value_apply_part(work, holds, in[0], in[1]);
    }
}

void sim_publish(sim_op *op)
{
    sim_buffer *out = (sim_buffer *)op->base.out;
    if (out) {
        sim_value *value = result(op, out->value);
        if (value) {
            sim_value_release(out->value);
            out->value = value;
        } else {
            sim_device_of(op)->out_of_memory = true;
        }
    }
    for (int i = 0; i < 2; i++) {
        sim_value_release(op->value[i]);
        op->value[i] = NULL;
    }
    if (out) sim_value_drop_hidden(out->value);
}
