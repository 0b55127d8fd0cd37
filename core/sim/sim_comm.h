/* sim_comm.h - collectives of simulated GPUs.
 *
 *   sim_comm.c      the interface to core: communicators, enqueueing, aborting
 *   comm_meeting.c  what ranks do together: it begins when all have come, and ends for all at once
 *   comm_cost.c     blocks and time of a collective, from the profile
 *   comm_values.c   what it leaves in memory
 *   comm_turns.c    the kernels of one communicator run one after the other
 *   deadlock.c      who waits for whom when nothing can go on
 *
 * A collective is a kernel on each of its GPUs. Its blocks come to the SMs as those of any other,
 * hold them and wait, until those of all ranks are there. From then on it moves its bytes, and is
 * over on all GPUs at once. SENDs and RECVs that one group puts into one stream are one kernel, as
 * in NCCL: the first of them, the carrier, has the blocks and comes for all.
 */
#ifndef SIM_SIM_COMM_H
#define SIM_SIM_COMM_H

#include "queue.h"

typedef struct sim_comm {
    sl_comm base;
    bool aborted;
    sim_op *latest, *before; /* unfinished kernels of the latest group, and of the one before */
} sim_comm;

static inline bool sim_is_aborted(const sim_op *op)
{
    return ((const sim_comm *)op->base.comm)->aborted;
}

/* From the first side that joins until it is over, it is one of its machine's. */
struct sim_meeting {
    sl_meeting base;
    sim_fluid fluid; /* SIM_MEETING_END; it has a rate from when all have come */
    sim_meeting *next, **link;
    int32_t joined, came; /* how many sides have been enqueued, have their blocks */
    sim_op *ops;          /* those that joined, linked by meeting_next, the latest first */
    double link_share;    /* of a GPU's link that it takes */
};

static inline sim_meeting *sim_meeting_of(const sim_op *op)
{
    return (sim_meeting *)op->base.meeting;
}

/* That rank's, if it has joined. */
static inline sim_op *sim_meeting_side(const sim_meeting *m, int rank)
{
    sim_op *op = m->ops;
    while (op && op->base.comm->rank != rank)
        op = op->part.meeting_next;
    return op;
}

/* comm_meeting.c */
void sim_collective_came(sim_op *op); /* all blocks of its kernel are on the SMs */
void sim_collectives_set_rates(sim_device *dev);
void sim_meeting_end(sim_meeting *meeting); /* its SIM_MEETING_END */
sim_device *sim_meeting_device(const sim_meeting *meeting);
void sim_meeting_join(sim_op *op);
void sim_meeting_leave(sim_op *op); /* undoes that; other threads may have joined others since */
void sim_meetings_abort(sim_machine *machine, const sl_comm_ranks *all);

/* comm_turns.c */
void sim_turns_begin(sim_comm *comm); /* of a new group */
void sim_turns_take(sim_op *op);      /* it has been issued, as one of the latest group */

/* comm_cost.c */
typedef struct sim_comm_plan {
    double us, link_share;
    int32_t blocks, threads;
} sim_comm_plan;
/* Of one rank's part, as its GPU's profile has it. */
sim_comm_plan sim_comm_plan_of(const sl_op *op);
void sim_comm_launch(const sim_device *dev, const sim_comm_plan *plan, sim_launch *launch);

/* comm_values.c */
/* From the captured inputs of all sides, what each has in its output (op->value[1]). */
void sim_comm_compute(sim_meeting *meeting);

#endif
