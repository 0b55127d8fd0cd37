/* start_causes.h - what kept a kernel from starting, once it was ready: notes it in the operation's
 * start_cause and start_by, as placement.c comes by. */
#ifndef SIM_START_CAUSES_H
#define SIM_START_CAUSES_H

#include "sim.h"

static inline int32_t sim_level_of(const sim_op *op) { return sim_stream_of(op)->level; }

/* When and with what priority the kernel came. */
static inline sim_arrival sim_arrival_of(const sim_op *op)
{
    return (sim_arrival){ op->ready_at, op->base.seq, sim_level_of(op) };
}

/* `urgent` has its turn while other kernels wait. Notes the one that would have it if there were no
 * priorities. If that one starts at the same instant, priority has not delayed it. */
void sim_start_note_overtaken(sim_device *dev, const sim_op *urgent);

/* The kernel arrives, and others wait for their turn. If there is room for it, only the first of
 * those delays it (leftover policy). */
void sim_start_note_behind(sim_device *dev, sim_op *op);

/* The kernel has its turn and no room: the cause is the kernel that makes room, not the one that
 * was before it in the queue. */
void sim_start_forget_behind(sim_op *op);

/* Its first blocks start. */
void sim_start_note(sim_device *dev, sim_op *op);

#endif
