/* copies.h - copies by the copy engines, between a GPU and the host and between GPUs. */
#ifndef SIM_COPIES_H
#define SIM_COPIES_H

#include "sim.h"

/* copies.c */
void sim_copies_submit(sim_op *op);              /* a ready copy */
void sim_copies_feed(sim_op *op, size_t staged); /* more of it may move */
void sim_copies_start(sim_op *op);               /* its SIM_COPY_START */
void sim_copies_relay(sim_op *op);               /* its SIM_RELAY_START */
void sim_copies_dispatch(sim_device *dev);
void sim_copies_chunk_end(sim_op *op);
double sim_copies_alone_us(sim_op *op); /* moving all of it, undisturbed */

/* relay.c */
/* What the operation will need, so that nothing can fail later; false: out of memory. */
bool sim_relays_reserve(sim_op *op);
void sim_relays_release(sim_op *op);
void sim_relays_lend(sim_op *launch, sim_op *node); /* to a node that goes through the host */
void sim_relay_enter(sim_op *op);                   /* takes its turn among those of its source */
void sim_relay_open(sim_op *op);                    /* its legs move when it has its turn */
bool sim_relay_has_turn(const sim_relay *relay);
sim_relay *sim_relay_leaves(const sim_relay *relay); /* gives the next one if it is open */
size_t sim_relay_most_out(const sim_relay *relay); /* how many bytes the first leg may have moved */
double sim_relay_us(const sl_op *op);              /* of the copy, undisturbed */
/* How long the call goes on while the copy moves: the driver gives the engines piece by piece. */
double sim_relay_call_us(const sim_op *op);
static inline bool sim_is_leg(const sim_op *op)
{
    return op->relays && op->relays->op && op->relays->op != op;
}

/* peers.c */
/* That of a GPU in `peers`. */
static inline uint64_t sim_peer_bit(const sl_device *device)
{
    return (uint64_t)1 << device->info.index;
}
/* Whether it is a copy between two GPUs that have no access to each other's memory now. */
bool sim_peer_through_host(const sl_op *op);
double sim_peer_copy_us(const sl_op *op); /* of a copy between two GPUs, which nothing disturbs */
/* How long it takes until `op` sees what `earlier` of another stream has done. */
double sim_peer_signal_us(const sim_op *op, const sl_device *earlier);

#endif
