/* cache_state.c - whether a buffer is in a cache: it is until more bytes than the cache holds have
 * been used after it. One count is for the GPU's L2, one for the host's caches, both in the order
 * of the calls. Real caches evict by other rules, but in all of them operands are found right after
 * their use and not after gigabytes of others. */
#include "cache_state.h"

#include "costs.h"

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

/* What is read twice in a row is one use. */
void sim_touch_operands(const sl_op *op)
{
    const sl_operand *before = NULL;
    for (uint32_t i = 0; i < op->n_operands; before = &op->operand[i++]) {
        const sl_operand *o = &op->operand[i];
        const bool writes = o->access & SL_WRITES;
        if (!o->buffer || (before && before->buffer == o->buffer && !writes)) continue;
        sim_touch(o->buffer, o->bytes);
        if (writes && o->buffer->place == SL_PAGEABLE) sim_host_writes(o->buffer);
    }
}

static const sim_profile *profile_of(const sl_op *op)
{
    return &((const sim_device *)op->stream->device)->profile;
}

static bool gemm_finds_warm(const sl_op *op)
{
    const double half_bytes = profile_of(op)->l2_bytes / 2;
    for (int i = 0; i < SL_INPUTS; i++)
        if (op->side[i].buffer
            && sim_warm_part(op->side[i].buffer, op->side[i].bytes, half_bytes) == 0)
            return false;
    return true;
}

/* All of a tensor while no more than a quarter of l2_bytes was used since, and with it; none from
 * three quarters on. */
static double l2_part(const sl_buffer *base, size_t bytes, double l2_bytes)
{
    const double part = 2 * (3.0 / 4) * sim_warm_part(base, bytes, l2_bytes * 3 / 4);
    return part < 1 ? part : 1;
}

static double custom_finds_warm(const sl_op *op)
{
    const double l2_bytes = profile_of(op)->l2_bytes;
    double warm = 0, all = 0;
    for (uint32_t i = 0; i < op->n_operands; i++) {
        const sl_operand *o = &op->operand[i];
        if (!o->buffer) continue;
        warm += (double)o->bytes * l2_part(o->buffer, o->bytes, l2_bytes);
        all += (double)o->bytes;
    }
    return all > 0 ? warm / all : 1;
}

double sim_finds_warm(const sl_op *op)
{
    if (op->work.kind != SL_WORK_KERNEL) return 0;
    if (op->custom) return sim_depends_on_l2(&op->work) ? custom_finds_warm(op) : 0;
    return op->work.kernel == SL_KERNEL_MATMUL && gemm_finds_warm(op);
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
