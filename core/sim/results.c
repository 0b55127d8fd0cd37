/* results.c - what an operation leaves in memory when it ends. */
#include "sim.h"

#include <stdlib.h>

#include "value_launch.h"

static bool is_whole(const sl_buffer *buffer, size_t offset, size_t bytes)
{
    return !buffer || (offset == 0 && bytes == buffer->bytes);
}

/* Whether each operand of a kernel is all that its buffer has. */
static bool takes_whole_buffers(const sim_op *op)
{
    const sl_op *base = &op->base;
    const sl_work *work = &base->work;
    bool whole = is_whole(base->out, work->out_offset, op->bytes[SL_OUTPUT]);
    for (int i = 0; i < SL_INPUTS; i++)
        whole = whole && is_whole(base->in[i], work->in_offset[i], op->bytes[i]);
    return whole;
}

/* What the output's buffer holds from the operation's end on. NULL: out of memory. */
static sim_value *result(const sim_op *op, sim_value *holds)
{
    const sl_work *work = &op->base.work;
    sim_value *const *in = op->value;
    size_t bytes = op->base.out->bytes;
    bool whole = work->kind == SL_WORK_KERNEL ? takes_whole_buffers(op) : work->bytes == bytes;
    switch (work->kind) {
    case SL_WORK_MEMCPY:
        return sim_value_splice(holds, work->out_offset, in[0], work->in_offset[0], work->bytes);
    case SL_WORK_MEMSET:
        return whole ? sim_value_bytes_set(bytes, work->byte_value)
                     : sim_value_memset(holds, work->out_offset, work->bytes, work->byte_value);
    default:
        return whole ? sim_value_apply(work, bytes, in, holds)
                     : sim_value_apply_part(work, holds, in);
    }
}

/* ---- custom kernels ---- */

void sim_capture_custom(sim_op *op)
{
    const sl_custom_call *call = op->base.custom;
    op->args = calloc(call->n + 1, sizeof *op->args);
    for (uint32_t i = 0; op->args && i < call->n; i++)
        if (call->kernel->args[i].access & SL_READS)
            op->args[i] = sim_value_retain(((sim_buffer *)call->arg[i].buffer)->value);
}

/* What an argument's buffer held: when the launch began if it is read; else now, at its end. */
static sim_value *launch_values(const sim_op *op)
{
    const sl_custom_call *call = op->base.custom;
    sim_value *values[SL_MOST_ARGS] = { NULL };
    if (!op->args) return NULL;
    for (uint32_t i = 0; i < call->n; i++) {
        const sim_buffer *buffer = (const sim_buffer *)call->arg[i].buffer;
        if (buffer) values[i] = op->args[i] ? op->args[i] : buffer->value;
    }
    return sim_value_launch(op->base.custom, ((sim_custom *)call->kernel)->emulated, values);
}

static bool publish_region(sim_value *launch, uint32_t i)
{
    sl_buffer *base;
    size_t offset, bytes;
    if (!sim_value_launch_region(launch, i, &base, &offset, &bytes)) return true;
    sim_buffer *buffer = (sim_buffer *)base;
    sim_value *output = sim_value_output(launch, i, bytes);
    sim_value *value = output ? sim_value_splice(buffer->value, offset, output, 0, bytes) : NULL;
    sim_value_release(output);
    if (!value) return false;
    sim_value_release(buffer->value);
    buffer->value = value;
    sim_value_drop_hidden(value);
    return true;
}

static void publish_custom(sim_op *op)
{
    sim_value *launch = launch_values(op);
    bool done = launch != NULL;
    for (uint32_t i = 0; done && i < sim_value_launch_regions(launch); i++)
        done = publish_region(launch, i);
    if (!done) sim_device_of(op)->out_of_memory = true;
    sim_value_release(launch);
    for (uint32_t i = 0; op->args && i < op->base.custom->n; i++)
        sim_value_release(op->args[i]);
    free(op->args);
    op->args = NULL;
}

static void release_inputs(sim_op *op)
{
    for (int i = 0; i < SL_INPUTS; i++) {
        if (!op->value[i]) continue;
        sim_value_release(op->value[i]);
        op->value[i] = NULL;
    }
}

/* A collective's result was computed when it ended; an aborted one has none. */
static void publish_collective(sim_op *op)
{
    sim_buffer *out = (sim_buffer *)op->base.out;
    if (op->value[1]) {
        sim_value *value = sim_value_splice(out->value, op->base.work.out_offset, op->value[1], 0,
                                            sim_collective_out_bytes(&op->base.work));
        if (value) {
            sim_value_release(out->value);
            out->value = value;
            sim_value_drop_hidden(value);
        } else {
            sim_device_of(op)->out_of_memory = true;
        }
    }
    release_inputs(op);
}

void sim_publish(sim_op *op)
{
    if (op->base.comm) {
        publish_collective(op);
        return;
    }
    if (op->base.custom) {
        publish_custom(op);
        return;
    }
    sim_buffer *out = (sim_buffer *)op->base.out;
    if (!out) return; /* and no inputs */
    sim_value *value = result(op, out->value);
    if (value) {
        sim_value_release(out->value);
        out->value = value;
    } else {
        sim_device_of(op)->out_of_memory = true;
    }
    release_inputs(op);
    sim_value_drop_hidden(out->value);
}
