/* cache_state.c - whether a buffer is in a cache: it is until more bytes than the cache holds have
 * been used after it. One count is for the GPU's L2, one for the host's caches, both in the order
 * of the calls. Real caches evict by other rules, but in all of them operands are found right after
 * their use and not after gigabytes of others. */
#include "sim.h"

static double *traffic_of(const sl_buffer *buffer)
{
    sim_device *dev = (sim_device *)buffer->device;
    return buffer->place == SL_ON_DEVICE ? &dev->traffic_device : &dev->traffic_host;
}

void sim_touch(sl_buffer *base, size_t bytes)
{
    double *traffic = traffic_of(base);
    *traffic += (double)bytes;
    ((sim_buffer *)base)->touched = *traffic;
    if (base->place == SL_PAGEABLE) ((sim_device *)base->device)->host_worked += (double)bytes;
}

void sim_chill(sl_buffer *base) { ((sim_buffer *)base)->touched = -(double)SIM_LAST_PS; }

double sim_warm_part(const sl_buffer *base, size_t bytes, double cache_bytes)
{
    double since = *traffic_of(base) - ((const sim_buffer *)base)->touched;
    double part = cache_bytes > 0 ? 1 - (since + (double)bytes) / cache_bytes : 0;
    return part > 0 ? part : 0;
}

void sim_touch_operands(sim_op *sim)
{
    sl_op *op = &sim->base;
    if (!op->out && !op->in[0] && !op->custom) return;
    for (int i = 0; i < SL_INPUTS; i++)
        if (op->in[i] && !(i > 0 && op->in[i] == op->in[i - 1]))
            sim_touch(op->in[i], sim->bytes[i]);
    if (op->out) sim_touch(op->out, sim->bytes[SL_OUTPUT]);
    for (uint32_t i = 0; op->custom && i < op->custom->n; i++)
        if (op->custom->arg[i].buffer)
            sim_touch(op->custom->arg[i].buffer, op->custom->arg[i].bytes);
    if (op->out && op->out->place == SL_PAGEABLE) sim_host_writes(op->out);
}

static bool product_finds_warm(const sim_op *op)
{
    const double half_bytes = sim_device_of(op)->profile.l2_bytes / 2;
    for (int i = 0; i < SL_INPUTS; i++)
        if (op->base.in[i] && sim_warm_part(op->base.in[i], op->bytes[i], half_bytes) == 0)
            return false;
    return true;
}

/* All of a tensor while no more than a quarter of l2_bytes was used since, and with it; none from three
 * quarters on. */
static double l2_part(const sl_buffer *base, size_t bytes, double l2_bytes)
{
    const double part = 2 * (3.0 / 4) * sim_warm_part(base, bytes, l2_bytes * 3 / 4);
    return part < 1 ? part : 1;
}

static double custom_finds_warm(const sl_op *op)
{
    const double l2_bytes = ((const sim_device *)op->stream->device)->profile.l2_bytes;
    double warm = 0, all = 0;
    for (uint32_t i = 0; i < op->custom->n; i++) {
        const double bytes = (double)op->custom->arg[i].bytes;
        if (!op->custom->arg[i].buffer) continue;
        warm += bytes * l2_part(op->custom->arg[i].buffer, op->custom->arg[i].bytes, l2_bytes);
        all += bytes;
    }
    return all > 0 ? warm / all : 1;
}

double sim_finds_warm(const sim_op *op)
{
    if (op->base.work.kind != SL_WORK_KERNEL) return 0;
    if (op->base.custom) return custom_finds_warm(&op->base);
    return op->base.work.kernel == SL_KERNEL_MATMUL && product_finds_warm(op);
}

void sim_host_writes(sl_buffer *base) { ((sim_buffer *)base)->written = *traffic_of(base); }

double sim_engine_reads(sl_buffer *base, size_t bytes)
{
    const sim_device *dev = (const sim_device *)base->device;
    sim_buffer *buffer = (sim_buffer *)base;
    const double since = *traffic_of(base) - buffer->written + (double)bytes;
    const double kept = dev->profile.host_written_bytes;
    buffer->written = -(double)SIM_LAST_PS;
    return since < kept ? 1 - since / kept : 0;
}

double sim_host_reads(sl_buffer *base, size_t bytes)
{
    sim_buffer *buffer = (sim_buffer *)base;
    const bool written = buffer->written > -(double)SIM_LAST_PS;
    buffer->written = -(double)SIM_LAST_PS;
    return written ? 0
                   : sim_warm_part(base, bytes,
                                   ((const sim_device *)base->device)->profile.host_cache_bytes);
}
