/* relay.c - copies between two GPUs without access to each other's memory: what goes through the
 * host's memory, in pieces. One leg brings a piece there on the source's engine to the host, the
 * other takes it on the destination's engine from the host, while the next one comes
 * (docs/design/simulator.md, section 5). Those from one GPU move in the order of their calls.
 * copies.c moves the pieces. */
#include "copies.h"
#include "host.h"

#include <stdlib.h>

enum {
    MOST_PIECES = 1024, /* those of a large copy are larger, to save steps of the simulation */
    RING_PIECES = 2     /* in the host's memory at a time: one is filled, one is emptied */
};

/* ---- the memory of relays ---- */

static sim_relay *relay_new(sim_machine *machine)
{
    sim_relay *relay = machine->free_relays;
    if (relay)
        machine->free_relays = relay->next;
    else if (!(relay = malloc(sizeof *relay)))
        return NULL;
    relay->op = NULL;
    machine->n_relays++;
    return relay;
}

static void relay_free(sim_machine *machine, sim_relay *relay)
{
    relay->next = machine->free_relays;
    machine->free_relays = relay;
    machine->n_relays--;
}

void sim_relays_release(sim_op *op)
{
    sim_machine *machine = sim_device_of(op)->machine;
    while (op->relays) {
        sim_relay *relay = op->relays;
        op->relays = relay->next;
        relay_free(machine, relay);
    }
}

static bool is_peer_copy(const sl_work *work)
{
    return work->kind == SL_WORK_MEMCPY && work->copy_kind == SL_SPAN_MEMCPY_P2P;
}

/* A launch of a graph takes one for each node that may need it. */
static uint32_t relays_needed(const sim_op *op)
{
    const sl_body *body = op->base.graph ? op->base.body : NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; body && i < body->n_nodes; i++)
        n += is_peer_copy(&body->nodes[i].op->work);
    return body ? n : sim_peer_through_host(&op->base);
}

bool sim_relays_reserve(sim_op *op)
{
    for (uint32_t n = relays_needed(op); n > 0; n--) {
        sim_relay *relay = relay_new(sim_device_of(op)->machine);
        if (!relay) {
            sim_relays_release(op);
            return false;
        }
        relay->next = op->relays;
        op->relays = relay;
    }
    return true;
}

void sim_relays_lend(sim_op *launch, sim_op *node)
{
    sim_relay *relay = launch->relays;
    if (!relay || !sim_peer_through_host(&node->base)) return;
    launch->relays = relay->next;
    relay->next = NULL;
    node->relays = relay;
    sim_relay_enter(node);
}

/* ---- turns ---- */

static sim_relay **turns_of(const sl_op *op)
{
    return &((sim_device *)op->side[0].buffer->device)->relays;
}

/* In the order of the calls, whichever is ready first, but for a node behind one that moves. So
 * nothing waits for what was called later, which may wait for it. */
void sim_relay_enter(sim_op *op)
{
    sim_relay **at = turns_of(&op->base), *relay = op->relays;
    if (*at && (*at)->op) at = &(*at)->after;
    while (*at && (*at)->seq < op->base.seq)
        at = &(*at)->after;
    relay->seq = op->base.seq;
    relay->after = *at;
    *at = relay;
}

bool sim_relay_has_turn(const sim_relay *relay) { return *turns_of(&relay->op->base) == relay; }

sim_relay *sim_relay_leaves(const sim_relay *relay)
{
    sim_relay *next = *turns_of(&relay->op->base) = relay->after;
    return next && next->op ? next : NULL;
}

/* ---- a relay ---- */

/* In the copy's own place among the channels of either device. */
static sim_channel *channel_of(const sim_op *op, const sim_device *dev, bool is_d2h)
{
    const sim_device *own = sim_device_of(op);
    const ptrdiff_t place = op->channel - own->channel - own->n_connections;
    return sim_copy_channel(dev, (uint32_t)(place % own->n_copy_connections), is_d2h);
}

static void open_leg(sim_relay *relay, int i, sim_op *op, sl_device *at, uint8_t copy_kind)
{
    sim_device *dev = (sim_device *)at;
    const size_t most = op->base.work.bytes / MOST_PIECES;
    const size_t piece = (size_t)dev->profile.peer_host_piece_bytes;
    relay->leg[i] = (sim_op){
        .base = { .stream = &dev->driver_stream, .seq = op->base.seq },
        .relays = relay,
        .channel = channel_of(op, dev, copy_kind == SL_SPAN_MEMCPY_D2H),
        .moved.piece = piece > most ? piece : most,
        .ready = true,
        .ready_at = dev->machine->now,
    };
    relay->leg[i].base.work = op->base.work;
    relay->leg[i].base.work.copy_kind = copy_kind;
    relay->leg[i].base.ready_ns = dev->machine->now / SIM_PS_PER_NS;
    relay->leg[i].fluid.node.seq = op->base.seq;
}

void sim_relay_open(sim_op *op)
{
    sim_relay *relay = op->relays;
    relay->op = op;
    open_leg(relay, SIM_LEG_OUT, op, op->base.side[0].buffer->device, SL_SPAN_MEMCPY_D2H);
    open_leg(relay, SIM_LEG_IN, op, op->base.side[SL_OUTPUT].buffer->device, SL_SPAN_MEMCPY_H2D);
}

size_t sim_relay_most_out(const sim_relay *relay)
{
    const sim_op *out = &relay->leg[SIM_LEG_OUT];
    const size_t most = relay->leg[SIM_LEG_IN].moved.sent + RING_PIECES * out->moved.piece;
    return most < out->base.work.bytes ? most : out->base.work.bytes;
}

/* The pieces of both legs overlap, but for the first of one and the last of the other. */
double sim_relay_us(const sl_op *op)
{
    const sim_profile *p = &((const sim_device *)op->stream->device)->profile;
    const double bytes = (double)op->work.bytes, piece = p->peer_host_piece_bytes;
    return p->peer_host_latency_us
           + (bytes + (bytes < piece ? bytes : piece)) / (p->peer_host_gb_per_s * 1e3);
}

double sim_relay_call_us(const sim_op *op)
{
    const double mib = (double)op->base.work.bytes / (1 << 20);
    return sim_device_of(op)->profile.peer_host_call_us_per_mib * mib
           * sim_chance_factor(sim_device_of(op));
}
