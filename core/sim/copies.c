/* copies.c - copy engines: one for each direction, or one for all copies if the profile has only
 * one. Without any (async_engine_count 0), copies take turns with kernels in order of arrival.
 *
 * An engine stays with the channel that it served last while that channel has a copy for it. Then
 * it goes to the next channel that has one (docs/design/simulator.md, section 5, has the
 * measurements). A leg's channel it leaves after each piece, since the next one waits for a signal.
 *
 * A copy moves in chunks. A pinned copy is one chunk; a pageable copy moves one staging buffer at a
 * time, as the host fills (H2D) or empties (D2H) them. While copies run in both directions, each
 * runs at duplex_factor of its speed. A copy between two GPUs that goes through the host's memory
 * (relay.c) has two legs, which the engines take as they take copies. */
#include "copies.h"
#include "host.h"
#include "sim_graph.h"

static sim_copy_engine *engine_of(const sim_op *op)
{
    sim_device *dev = sim_device_of(op);
    if (dev->profile.async_engine_count < 2) return &dev->engine[SIM_ENGINE_H2D];
    const uint8_t kind = op->base.work.copy_kind;
    return &dev->engine[kind == SL_SPAN_MEMCPY_H2D   ? SIM_ENGINE_H2D
                        : kind == SL_SPAN_MEMCPY_D2H ? SIM_ENGINE_D2H
                                                     : SIM_ENGINE_D2D];
}

static bool is_pageable(const sim_op *op)
{
    return (op->base.span_flags & (SL_SPAN_SRC_PAGEABLE | SL_SPAN_DST_PAGEABLE)) != 0;
}

static void enqueue_chunk(sim_op *op)
{
    op->queued = true;
    sim_fifo_push(&engine_of(op)->waiting, op);
    sim_device_of(op)->copies_dirty = true;
}

static bool has_cleared_bytes(const sim_op *op)
{
    return op->moved.sent < op->moved.staged || op->base.work.bytes == 0;
}

void sim_copies_submit(sim_op *op)
{
    if (op->relays) {
        sim_machine *machine = sim_device_of(op)->machine;
        const double us = sim_device_of(op)->profile.peer_host_latency_us;
        op->fluid.node.what = SIM_RELAY_START;
        sim_heap_set(&machine->heap, &op->fluid.node, sim_later(machine->now, sim_us_to_ps(us)));
    } else if (has_cleared_bytes(op)) {
        enqueue_chunk(op);
    }
}

void sim_copies_feed(sim_op *op, size_t staged)
{
    op->moved.staged = staged;
    if (op->ready && !op->queued && has_cleared_bytes(op)) enqueue_chunk(op);
}

static double bytes_per_ps(const sim_op *op)
{
    const sim_profile *p = &sim_device_of(op)->profile;
    const uint8_t kind = op->base.work.copy_kind;
    double gb_per_s = sim_is_leg(op)               ? p->peer_host_gb_per_s
                      : kind == SL_SPAN_MEMCPY_H2D ? p->h2d_gb_per_s
                      : kind == SL_SPAN_MEMCPY_D2H ? p->d2h_gb_per_s
                                                   : p->d2d_gb_per_s;
    return gb_per_s * 1e-3; /* GB/s are 1e9 bytes in 1e12 ps */
}

double sim_copies_alone_us(sim_op *op)
{
    if (sim_peer_through_host(&op->base)) return sim_relay_us(&op->base);
    if (op->base.work.copy_kind == SL_SPAN_MEMCPY_P2P) return sim_peer_copy_us(&op->base);
    return (double)op->base.work.bytes / bytes_per_ps(op) / SIM_PS_PER_US;
}

/* When the engine can start the copy: changing to another channel takes engine_turn_us. */
static sim_ps free_at(const sim_device *dev, const sim_copy_engine *engine, const sim_op *op)
{
    if (!engine->channel || op->channel == engine->channel) return engine->last.at;
    return sim_later(engine->last.at, sim_us_to_ps(dev->profile.engine_turn_us));
}

/* Notes what kept the copy from starting when it was ready. If a chunk of another copy ended just
 * now and the engine went on to this one, that copy; else, for a pageable copy, the host that fills
 * the staging buffers. */
static void note_start(sim_device *dev, const sim_copy_engine *engine, sim_op *op)
{
    const sim_turn *kernel = &dev->chip.last;
    bool followed = engine->last.seq && free_at(dev, engine, op) == dev->machine->now;
    bool behind_kernel = sim_takes_turns(dev) && kernel->seq && kernel->at == dev->machine->now;
    if (op->base.ready_ns == dev->machine->now / SIM_PS_PER_NS) return;
    op->base.start_cause = followed || behind_kernel ? SL_CAUSE_ENGINE : SL_CAUSE_HOST_BLOCKED;
    op->base.start_by = followed ? engine->last.seq : behind_kernel ? kernel->seq : op->base.seq;
}

/* The time of a pinned copy alone, which is one chunk. */
static double pinned_ps(const sim_op *op)
{
    const sim_profile *p = &sim_device_of(op)->profile;
    const uint8_t kind = op->base.work.copy_kind;
    if (kind == SL_SPAN_MEMCPY_P2P) return sim_peer_copy_us(&op->base) * SIM_PS_PER_US;
    const sim_table *us = kind == SL_SPAN_MEMCPY_H2D   ? &p->copy_us_h2d
                          : kind == SL_SPAN_MEMCPY_D2H ? &p->copy_us_d2h
                                                       : NULL;
    if (us && us->n > 0) return sim_table_us(us, (double)op->moved.chunk) * SIM_PS_PER_US;
    return (double)op->moved.chunk / bytes_per_ps(op) + p->copy_latency_us * SIM_PS_PER_US;
}

/* What the host has just written comes from the processor's caches, and more slowly. */
static double upload_ps(const sim_op *op)
{
    const double gb_per_s = sim_device_of(op)->profile.h2d_written_gb_per_s;
    const double alone_ps = pinned_ps(op);
    const double written_ps = (double)op->moved.chunk / (gb_per_s * 1e-3);
    return written_ps > alone_ps ? alone_ps + op->moved.written * (written_ps - alone_ps)
                                 : alone_ps;
}

/* How long the first chunk takes. */
static double first_ps(const sim_op *op)
{
    const sim_profile *p = &sim_device_of(op)->profile;
    if (sim_is_leg(op)) return (double)op->moved.chunk / bytes_per_ps(op);
    if (is_pageable(op))
        return (double)op->moved.chunk / bytes_per_ps(op) + p->copy_latency_us * SIM_PS_PER_US;
    return op->base.work.copy_kind == SL_SPAN_MEMCPY_H2D ? upload_ps(op) : pinned_ps(op);
}

/* The copy starts with the first of its first leg; what comes before that is its latency. */
static void relay_starts(const sim_op *leg)
{
    sim_op *op = leg->relays->op;
    const double us = sim_device_of(op)->profile.peer_host_latency_us;
    if (leg != &leg->relays->leg[SIM_LEG_OUT]) return;
    op->base.start_cause = leg->base.start_cause;
    op->base.start_by = leg->base.start_by;
    sim_capture(op);
    op->base.start_ns = (sim_device_of(op)->machine->now - sim_us_to_ps(us)) / SIM_PS_PER_NS;
    sim_queue_leave_channel(op);
}

static void start_chunk(sim_device *dev, sim_copy_engine *engine, sim_op *op)
{
    size_t cleared = op->moved.staged - op->moved.sent;
    const bool in_pieces = is_pageable(op) || sim_is_leg(op);
    op->moved.chunk = in_pieces && op->moved.piece < cleared ? op->moved.piece : cleared;
    double work_ps = op->moved.sent == 0 ? first_ps(op)
                                         : (double)op->moved.chunk / bytes_per_ps(op);
    engine->active = op;
    if (op->moved.sent == 0) {
        note_start(dev, engine, op);
        if (sim_is_leg(op)) {
            relay_starts(op);
        } else {
            sim_capture(op);
            sim_queue_leave_channel(op);
        }
    }
    op->fluid.node.what = SIM_COPY_END;
    sim_fluid_start(&op->fluid, dev->machine->now, work_ps);
}

/* Whether the engine waits for the next copy of the channel that it served last, which may follow
 * within copy_gap_us. It does not wait if a record, a wait, or a copy for another engine comes next
 * there, or one for which the host has not yet filled a staging buffer. */
static bool goes_on(const sim_device *dev, const sim_copy_engine *engine)
{
    const sim_op *head = engine->channel ? engine->channel->head : NULL;
    if (engine->leaves || !head || head->ready || !head->fluid.node.slot) return false;
    if (head->base.work.kind != SL_WORK_MEMCPY || engine_of(head) != engine
        || !has_cleared_bytes(head))
        return false;
    sim_ps gap = sim_us_to_ps(dev->profile.copy_gap_us);
    return head->fluid.node.at <= sim_later(engine->last.at, gap);
}

/* How many channels the engine passes on its way to the copy's: it goes through them in their
 * order. It begins with the one that it served last while that has a copy for it, else it comes
 * back to that one last. */
static ptrdiff_t turns_to(const sim_device *dev, const sim_copy_engine *engine, const sim_op *op)
{
    const sim_ps gap = sim_us_to_ps(dev->profile.copy_gap_us);
    const bool stays = !engine->leaves && dev->machine->now <= sim_later(engine->last.at, gap);
    const ptrdiff_t turns = op->channel - engine->channel;
    return turns < 0 || (turns == 0 && !stays) ? turns + 2 * dev->n_copy_connections : turns;
}

static sim_op *pick(sim_device *dev, sim_copy_engine *engine)
{
    sim_op *first = engine->waiting.head, *before_first = NULL;
    if (engine->channel && !(first->fifo_next && sim_chance_turns(dev)))
        for (sim_op *op = first; op->fifo_next; op = op->fifo_next)
            if (turns_to(dev, engine, op->fifo_next) < turns_to(dev, engine, first)) {
                first = op->fifo_next;
                before_first = op;
            }
    if (!before_first) return sim_fifo_pop(&engine->waiting);
    before_first->fifo_next = first->fifo_next;
    if (engine->waiting.tail == first) engine->waiting.tail = before_first;
    return first;
}

static void take_next(sim_device *dev, sim_copy_engine *engine)
{
    if (goes_on(dev, engine)
        || (sim_takes_turns(dev) && sim_chip_goes_first(dev, engine->waiting.head)))
        return;
    sim_op *op = pick(dev, engine);
    sim_ps at = free_at(dev, engine, op);
    if (at <= dev->machine->now) {
        start_chunk(dev, engine, op);
        return;
    }
    engine->next = op;
    op->fluid.node.what = SIM_COPY_START;
    sim_heap_set(&dev->machine->heap, &op->fluid.node, at);
}

void sim_copies_start(sim_op *op)
{
    sim_device *dev = sim_device_of(op);
    engine_of(op)->next = NULL;
    start_chunk(dev, engine_of(op), op);
    dev->copies_dirty = true;
}

/* Of a copy to or from the host beside one the other way. */
static double both_ways_rate(const sim_device *dev, const sim_op *op)
{
    return sim_is_leg(op) ? dev->profile.peer_host_duplex_factor : dev->profile.duplex_factor;
}

void sim_copies_dispatch(sim_device *dev)
{
    dev->copies_dirty = false;
    for (int i = 0; i < SIM_COPY_ENGINES; i++) {
        sim_copy_engine *engine = &dev->engine[i];
        if (engine->waiting.head && !engine->active && !engine->next) take_next(dev, engine);
    }
    const bool both = dev->engine[SIM_ENGINE_H2D].active && dev->engine[SIM_ENGINE_D2H].active;
    for (int i = 0; i < SIM_COPY_ENGINES; i++) {
        sim_op *op = dev->engine[i].active;
        if (!op) continue;
        sim_fluid_set_rate(&dev->machine->heap, &op->fluid, dev->machine->now,
                           both && i != SIM_ENGINE_D2D ? both_ways_rate(dev, op) : 1);
    }
}

/* ---- legs ---- */

static void feed_leg(sim_op *leg, size_t bytes)
{
    sim_copies_feed(leg, bytes);
    sim_settle_too(sim_device_of(leg));
}

static void feed_legs(sim_relay *relay)
{
    feed_leg(&relay->leg[SIM_LEG_OUT], sim_relay_most_out(relay));
    feed_leg(&relay->leg[SIM_LEG_IN], relay->leg[SIM_LEG_OUT].moved.sent);
}

void sim_copies_relay(sim_op *op)
{
    sim_relay_open(op);
    if (sim_relay_has_turn(op->relays)) feed_legs(op->relays);
}

static void leg_moved(const sim_op *leg)
{
    sim_relay *relay = leg->relays;
    sim_op *op = relay->op;
    feed_legs(relay);
    if (leg == &relay->leg[SIM_LEG_OUT] && leg->moved.sent == op->base.work.bytes) {
        sim_relay *next = sim_relay_leaves(relay);
        if (next) feed_legs(next);
    }
    if (relay->leg[SIM_LEG_IN].moved.sent < op->base.work.bytes) return;
    sim_settle_too(sim_device_of(op));
    sim_relays_release(op);
    sim_op_ended(op, sim_device_of(op)->machine->now);
}

/* ---- the end of a chunk ---- */

void sim_copies_chunk_end(sim_op *op)
{
    sim_device *dev = sim_device_of(op);
    engine_of(op)->active = NULL;
    engine_of(op)->last = (sim_turn){ dev->machine->now, op->base.seq };
    engine_of(op)->channel = op->channel;
    engine_of(op)->leaves = sim_is_leg(op);
    dev->copies_dirty = true;
    if (sim_takes_turns(dev)) dev->chip.dirty = true;
    op->queued = false;
    op->moved.sent += op->moved.chunk;
    size_t emptied = op->moved.chunk < op->moved.in_ring ? op->moved.chunk : op->moved.in_ring;
    op->moved.in_ring -= emptied;
    dev->ring_used -= emptied;
    if (sim_is_leg(op))
        leg_moved(op);
    else if (op->moved.sent == op->base.work.bytes)
        sim_op_ended(op, dev->machine->now);
    else if (has_cleared_bytes(op))
        enqueue_chunk(op);
}
