/* sim_comm.h - collectives of simulated GPUs.
 *
 *   comm.c        the interface to core: communicators, enqueueing, aborting
 *   meeting.c     what ranks do together: it begins when all have come, and ends for all at once
 *   comm_cost.c   blocks and time of a collective, from the profile
 *   comm_values.c what it leaves in memory
 *   comm_turns.c  the kernels of one communicator run one after the other
 *   stuck.c  who waits for whom when nothing can go on
 *
 * A collective is a kernel on each of its GPUs. Its blocks come to the SMs as those of any other,
 * hold them and wait, until those of all ranks are there. From then on it moves its bytes, and is
 * over on all GPUs at once. SENDs and RECVs that one group puts into one stream are one kernel, as
 * in NCCL: the first of them, the carrier, has the blocks and comes for all.
 */
#ifndef SIM_SIM_COMM_H
#define SIM_SIM_COMM_H

#include "sim.h"

typedef struct sim_comm {
    sl_comm base;
    bool aborted;
    sim_op *latest, *before; /* unfinished kernels of the latest group, and of the one before */
} sim_comm;

static inline bool sim_is_aborted(const sim_op *op)
{
    return ((const sim_comm *)op->base.comm)->aborted;
}

/* What the sides of one collective, or a SEND and its RECV, do together. */
struct sim_meeting {
    sl__entry entry;
    sim_fluid fluid; /* SIM_MEETING_END; it has a rate from when all have come */
    sim_meeting *next, **link;
    const sl_comm_ranks *all;
    uint64_t number;
    int32_t from, to;            /* of a SEND and its RECV; -1: a collective of all ranks */
    int32_t sides, called, came; /* how many there are, have been called, have their blocks */
    sim_op *ops;                 /* those called, linked by meeting_next, the latest first */
    double link_share;           /* of a GPU's link that it takes */
};

/* meeting.c */
/* The operation's meeting, a new one if no other side has been called. NULL: out of memory. */
sim_meeting *sim_meeting_join(sim_op *op);
void sim_meeting_leave(sim_op *op); /* undoes that */
void sim_meetings_abort(sim_machine *machine, const sl_comm_ranks *all);

/* comm_turns.c */
void sim_turns_begin(sim_comm *comm); /* of a new group */
void sim_turns_take(sim_op *op);      /* it has been issued, as one of the latest group */

/* comm_cost.c */
typedef struct sim_comm_plan {
    const char *algorithm, *protocol; /* "ring", "tree"; "LL", "LL128", "Simple" */
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
