/* comm_turns.c - the kernels of one communicator run one after the other, whatever their streams.
 *
 * NCCL has each of them wait for the one before, through an event of its own (ncclLaunchPrepare in
 * src/enqueue.cc of NCCL 2.28). Those of one group are one kernel there; here they may run at the
 * same time in several streams, and the next group's come behind all of them. */
#include "sim_comm.h"

void sim_turns_leave(sim_op *op)
{
    if (!op->part.turn_link) return;
    SL__UNLINK(op, part.turn_next, part.turn_link);
    op->part.turn_next = NULL;
    op->part.turn_link = NULL;
}

/* What is left of the group before ends before the latest one, which waits for it. */
void sim_turns_begin(sim_comm *comm)
{
    if (!comm->latest) return;
    while (comm->before)
        sim_turns_leave(comm->before);
    comm->before = comm->latest;
    comm->before->part.turn_link = &comm->before;
    comm->latest = NULL;
}

int64_t sim_turns_each(sim_op *op, sim_wait_fn wait)
{
    const sim_comm *comm = (const sim_comm *)op->base.comm;
    int64_t n = 0;
    if (!comm || sim_is_carried(op)) return 0;
    for (sim_op *earlier = comm->before; earlier; earlier = earlier->part.turn_next) {
        if (earlier->base.stream == op->base.stream) continue;
        if (wait) wait(op, earlier);
        n++;
    }
    return n;
}

void sim_turns_take(sim_op *op)
{
    sim_comm *comm = (sim_comm *)op->base.comm;
    if (sim_is_carried(op)) return;
    SL__PUSH(comm->latest, op, part.turn_next, part.turn_link);
}
