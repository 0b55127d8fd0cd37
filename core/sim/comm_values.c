/* comm_values.c - what a collective leaves in memory: values of what the ranks have captured. */
#include "sim_comm.h"

#include <stdlib.h>

/* A range of the rank's input, counted from where that begins. NULL: out of memory. */
static sim_value *input_part(const sim_meeting *m, int rank, size_t offset, size_t bytes)
{
    const sim_op *op = sim_meeting_side(m, rank);
    return sim_value_slice(op->value[0], op->base.side[0].offset + offset, bytes);
}

/* From `offset` on so many bytes of all inputs, reduced. */
static sim_value *reduced(const sim_meeting *m, size_t offset, size_t bytes)
{
    const sl_work *work = &m->ops->base.work;
    const int n = m->base.all->size;
    sim_value **part = calloc((size_t)n, sizeof *part), *value = NULL;
    int made = 0;
    while (part && made < n && (part[made] = input_part(m, made, offset, bytes)))
        made++;
    if (made == n)
        value = sim_value_reduce((sl_reduction)work->reduction, (sl_dtype)work->dtype, part, n);
    for (int i = 0; part && i < made; i++)
        sim_value_release(part[i]);
    free(part);
    return value;
}

/* All inputs, one behind the other. */
static sim_value *gathered(const sim_meeting *m)
{
    const size_t bytes = m->ops->base.side[0].bytes;
    sim_value *value = sim_value_bytes_set(bytes * (size_t)m->base.all->size, 0);
    for (int rank = 0; value && rank < m->base.all->size; rank++) {
        const sim_op *op = sim_meeting_side(m, rank);
        sim_value *next = sim_value_splice(value, bytes * (size_t)rank, op->value[0],
                                           op->base.side[0].offset, bytes);
        sim_value_release(value);
        value = next;
    }
    return value;
}

/* What the side gets that reads nothing else than `from`. */
static sim_value *sent(const sim_op *from)
{
    return sim_value_slice(from->value[0], from->base.side[0].offset, from->base.side[0].bytes);
}

/* A value that all sides share, or NULL if each has its own. */
static sim_value *shared(const sim_meeting *m)
{
    const sl_work *work = &m->ops->base.work;
    switch ((sl_collective)work->collective) {
    case SL_ALL_REDUCE: return reduced(m, 0, m->ops->base.side[SL_OUTPUT].bytes);
    case SL_ALL_GATHER: return gathered(m);
    case SL_BROADCAST: return sent(sim_meeting_side(m, (int)work->peer));
    case SL_REDUCE_SCATTER:
    case SL_SEND:
    case SL_RECV:
    case SL_COLLECTIVES: break;
    }
    return NULL;
}

static const sim_op *sender(const sim_meeting *m)
{
    const sim_op *op = m->ops;
    while (op->base.work.collective != SL_SEND)
        op = op->part.meeting_next;
    return op;
}

static sim_value *own(const sim_meeting *m, const sim_op *op)
{
    const size_t bytes = op->base.side[SL_OUTPUT].bytes;
    if (op->base.work.collective == SL_RECV) return sent(sender(m));
    return reduced(m, bytes * (size_t)op->base.comm->rank, bytes);
}

void sim_comm_compute(sim_meeting *m)
{
    const sl_collective collective = (sl_collective)m->ops->base.work.collective;
    const bool is_shared = collective == SL_ALL_REDUCE || collective == SL_ALL_GATHER
                           || collective == SL_BROADCAST;
    sim_value *value = is_shared ? shared(m) : NULL;
    for (sim_op *op = m->ops; op; op = op->part.meeting_next) {
        if (!op->base.side[SL_OUTPUT].buffer) continue;
        op->value[1] = is_shared ? sim_value_retain(value) : own(m, op);
        if (!op->value[1]) sim_device_of(op)->out_of_memory = true;
    }
    sim_value_release(value);
}
