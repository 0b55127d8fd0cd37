/* queue.c - the order of operations in streams and hardware channels.
 *
 * An operation comes forward (SIM_READY) when it is visible to the device, is the head of its
 * channel, and all its dependencies have ended. It leaves the channel when all its blocks are
 * placed (a kernel), when it has started (a copy, a host function) or is satisfied (a record, a
 * wait). Until then it blocks the channel for other streams that share it. */
#include "copies.h"
#include "sim_graph.h"

#include <stdlib.h>

/* ---- small parts ---- */

void sim_queue_figures(sim_device *dev)
{
    const sim_profile *p = &dev->profile;
    dev->delay = (sim_delays){
        .submit = sim_us_to_ps(p->submit_us),
        .graph_submit = sim_us_to_ps(p->host_graph_submit_us),
        .stream_gap = sim_us_to_ps(p->stream_gap_us),
        .copy_gap = sim_us_to_ps(p->copy_gap_us),
        .launch_gap = sim_us_to_ps(p->graph_launch_gap_us),
        .engine_switch = sim_us_to_ps(p->engine_switch_us),
        .record = sim_us_to_ps(p->record_us),
    };
}

bool sim_queue_open(sim_device *dev)
{
    sim_queue_figures(dev);
    dev->n_connections = (int32_t)dev->profile.connections;
    dev->n_copy_connections = (int32_t)dev->profile.copy_connections;
    dev->channel = calloc((size_t)(dev->n_connections + 2 * dev->n_copy_connections),
                          sizeof *dev->channel);
    return dev->channel != NULL;
}

void sim_queue_close(sim_device *dev) { free(dev->channel); }

/* Streams map to channels by their order of creation; the NULL stream is 0. */
void sim_stream_init(sim_stream *stream)
{
    sim_device *dev = (sim_device *)stream->base.device;
    uint32_t id = stream->base.id;
    stream->compute = &dev->channel[id % (uint32_t)dev->n_connections];
    for (int i = 0; i < 2; i++)
        stream->copy[i] = sim_copy_channel(dev, id, i > 0);
    stream->last_channel = stream->compute;
    stream->work_done_at = -SIM_LAST_PS;
    for (int i = 0; i < SL_ENGINES; i++)
        stream->awaited[i].at = -SIM_LAST_PS;
    stream->awaited_last = -SIM_LAST_PS;
    stream->level = sim_chip_level(dev, stream->base.priority);
    if (stream->base.legacy) dev->legacy = stream;
}

sim_channel *sim_queue_channel(const sim_op *op)
{
    const sim_stream *stream = sim_stream_of(op);
    if (op->base.work.kind == SL_WORK_EVENT_RECORD || op->base.work.kind == SL_WORK_EVENT_WAIT)
        return stream->last_channel;
    if (sim_takes_copy_engine(op))
        return stream->copy[op->base.work.copy_kind == SL_SPAN_MEMCPY_D2H];
    return stream->compute;
}

/* Its number as a cause: a timeline shows the nodes of a launch, not the launch. */
static uint64_t shown_as(const sim_op *op)
{
    return op->base.graph && op->nodes.last ? op->nodes.last : op->base.seq;
}

/* ---- coming forward ---- */

static void come_forward(sim_op *op)
{
    sim_device *dev = sim_device_of(op);
    if ((op->channel->head != op && !sim_is_carried(op)) || op->deps_left > 0 || op->ready
        || op->fluid.node.slot)
        return;
    op->fluid.node.what = SIM_READY;
    sim_heap_set(&dev->machine->heap, &op->fluid.node,
                 op->ready_at > dev->machine->now ? op->ready_at : dev->machine->now);
}

static void dependency_ended(sim_op *op)
{
    op->deps_left--;
    come_forward(op);
}

/* The operation is not ready before `at`, because of `cause` and operation `by`. Of several causes
 * the latest in time is the one reported. Of two at the same time the first stays, but any other
 * cause replaces a shared channel, which the script did not ask for. */
static void not_before(sim_op *op, sim_ps at, sl_cause cause, uint64_t by)
{
    bool later = op->ready_at == at ? op->base.ready_cause == SL_CAUSE_CHANNEL : op->ready_at < at;
    if (!later) return;
    op->ready_at = at;
    op->base.ready_cause = (uint8_t)cause;
    op->base.ready_by = by;
}

static sim_ps switch_ps(const sim_op *op) { return sim_device_of(op)->delay.engine_switch; }

/* Signalling another engine takes engine_switch_us; the same engine goes on without. Host functions
 * have latencies of their own. */
static bool switches_engine(sl_engine from, sl_engine to)
{
    return from != to && from != SL_ENGINE_HOST && to != SL_ENGINE_HOST;
}

/* Between the last real work of its stream and `op`. */
static sim_ps gap_ps(const sim_op *op)
{
    const sim_delays *delay = &sim_device_of(op)->delay;
    sl_engine from = sl_engine_on_gpu(sim_stream_of(op)->work_done_engine);
    sl_engine to = sl_engine_on_gpu(op->base.engine);
    if (switches_engine(from, to)) return delay->engine_switch;
    if (sim_stream_of(op)->launch_done && op->base.graph) return delay->launch_gap;
    return from == to && to != SL_ENGINE_COMPUTE && to != SL_ENGINE_HOST ? delay->copy_gap
                                                                         : delay->stream_gap;
}

/* Records and waits need no gap. A gap begins at the end of the stream's last real work, even if
 * that ended before the call. What the stream has waited for may have run on other engines. */
static void keep_gap(sim_op *op)
{
    const sim_stream *stream = sim_stream_of(op);
    if (!sl_is_work(&op->base) || sim_is_carried(op)) return;
    not_before(op, sim_later(stream->work_done_at, gap_ps(op)), SL_CAUSE_STREAM_ORDER,
               stream->work_done);
    sim_ps signal = switch_ps(op);
    if (sim_later(stream->awaited_last, signal) < op->ready_at) return;
    for (uint8_t engine = 0; engine < SL_ENGINES; engine++)
        if (switches_engine(sl_engine_on_gpu(engine), sl_engine_on_gpu(op->base.engine)))
            not_before(op, sim_later(stream->awaited[engine].at, signal), SL_CAUSE_STREAM_ORDER,
                       stream->awaited[engine].seq);
}

/* `op` comes next in its stream, after one that ended at `at`. */
static void follow(sim_op *op, sim_ps at, uint64_t by)
{
    not_before(op, at, SL_CAUSE_STREAM_ORDER, by);
    keep_gap(op);
    dependency_ended(op);
}

void sim_queue_leave_channel(sim_op *op)
{
    sim_channel *channel = op->channel;
    if (op->node_of || sim_is_carried(op)) return;
    channel->head = op->channel_next;
    if (!channel->head) {
        channel->tail = NULL;
        return;
    }
    if (channel->head->base.stream != op->base.stream)
        not_before(channel->head, sim_device_of(op)->machine->now, SL_CAUSE_CHANNEL, shown_as(op));
    come_forward(channel->head);
}

/* ---- ending ---- */

static void stream_idle(sim_stream *stream)
{
    if (!stream->busy_link) return;
    SL__UNLINK(stream, busy_next, busy_link);
    stream->busy_link = NULL;
}

static void stream_busy(sim_stream *stream)
{
    sim_device *dev = (sim_device *)stream->base.device;
    if (stream->busy_link || !sim_takes_part(stream)) return;
    SL__PUSH(dev->busy, stream, busy_next, busy_link);
}

/* When `later`, which waits for `op` of another stream, sees that it is done. */
static sim_ps seen_at(const sim_op *op, const sim_op *later, sim_ps done_at)
{
    return sim_later(done_at, sim_us_to_ps(sim_peer_signal_us(later, op->base.stream->device)));
}

static void release_dependents(sim_op *op, sim_ps done_at)
{
    if (!op->dependents) return;
    sim_device *dev = sim_device_of(op);
    sim_ps elsewhere_at = sim_later(done_at, switch_ps(op));
    while (op->dependents) {
        sim_edge *edge = op->dependents;
        op->dependents = edge->next;
        sim_ps at = seen_at(op, edge->op, done_at);
        bool elsewhere = sl_is_work(&op->base) && sl_is_work(&edge->op->base) && elsewhere_at > at
                         && switches_engine(op->base.engine, edge->op->base.engine);
        not_before(edge->op, elsewhere ? elsewhere_at : at, (sl_cause)edge->cause, shown_as(op));
        dependency_ended(edge->op);
        sim_edge_free(dev->machine, edge);
    }
}

/* One whose call goes on comes when that returns: another thread may reap. */
void sim_queue_give_to_core(sim_op *op)
{
    sim_device *dev = sim_device_of(op);
    if (op->in_call) return;
    op->base.next = NULL;
    if (dev->done_tail)
        dev->done_tail->base.next = &op->base;
    else
        dev->done_head = op;
    dev->done_tail = op;
}

void sim_queue_done(sim_op *op, sim_ps done_at)
{
    sim_device *dev = sim_device_of(op);
    sim_stream *stream = sim_stream_of(op);
    const bool is_work = sl_is_work(&op->base);
    op->done = true;
    if (is_work) {
        sim_publish(op);
        stream->work_done_engine = op->base.engine;
        stream->launch_done = op->base.graph != NULL;
    }
    if (is_work || sim_is_timed_record(op)) {
        stream->work_done_at = done_at;
        stream->work_done = shown_as(op);
    }
    if (op->base.work.kind != SL_WORK_HOST_FUNC && op->base.work.kind != SL_WORK_EVENT_RECORD)
        op->base.end_ns = done_at / SIM_PS_PER_NS;
    op->channel->unfinished--;
    dev->unfinished--;
    if (op->base.comm) sim_turns_leave(op);
    if (stream->before_barrier[SIM_BARRIER_ALL] || stream->before_barrier[SIM_BARRIER_BLOCKING])
        sim_barriers_ended(stream, op);
    stream->head = op->stream_next;
    if (!stream->head) {
        stream->tail = NULL;
        stream_idle(stream);
        if (!stream->base.non_blocking) dev->blocking_done = shown_as(op);
    }
    if (!is_work) sim_record_ended(op, done_at);
    if (op->stream_next) follow(op->stream_next, done_at, shown_as(op));
    release_dependents(op, done_at);
    sim_queue_give_to_core(op);
}

/* ---- issuing ---- */

static bool waits_for_done_record(const sim_op *op)
{
    return op->base.work.kind == SL_WORK_EVENT_WAIT && op->record && op->record->done
           && !sim_waits_in_own_stream(op);
}

/* Of another stream: cross_stream_us later, or later still if it is another GPU's. */
static sim_ps record_seen_at(const sim_op *op)
{
    const double us = sim_peer_signal_us(op, op->base.event->device);
    return sim_later(op->record->done_at, sim_us_to_ps(us));
}

static bool may_need_relays(const sim_op *op)
{
    const uint8_t kind = op->base.work.kind;
    return (kind == SL_WORK_MEMCPY || kind == SL_WORK_GRAPH)
           && sim_device_of(op)->machine->n_devices > 1;
}

static bool reserve(sim_op *op, int64_t edges)
{
    sim_device *dev = sim_device_of(op);
    if (edges > 0 && !sim_edges_reserve(dev->machine, edges)) return false;
    if (may_need_relays(op) && !sim_relays_reserve(op)) return false;
    if (!sim_machine_reserve_next(dev->machine)) {
        sim_relays_release(op);
        return false;
    }
    if (op->base.work.kind != SL_WORK_EVENT_RECORD) return true;
    op->record = sim_record_new(dev->machine);
    return op->record != NULL;
}

bool sim_queue_reserve(sl_op *const *ops, size_t n)
{
    const int64_t edges = sim_dependencies_at_most(ops, n);
    for (size_t i = 0; i < n; i++) {
        sim_device *dev = sim_device_of(ops[i]);
        if (i > 0 && dev->machine == sim_device_of(ops[i - 1])->machine) continue;
        if (!sim_machine_reserve(dev->machine, n) || !sim_edges_reserve(dev->machine, edges))
            return false;
    }
    return true;
}

static void enter_stream(sim_op *op)
{
    sim_stream *stream = sim_stream_of(op);
    if (stream->tail) {
        stream->tail->stream_next = op;
        op->deps_left++;
    } else {
        stream->head = op;
        keep_gap(op);
    }
    stream->tail = op;
    stream_busy(stream);
}

static void link_channel(sim_channel *channel, sim_op *op)
{
    if (channel->tail)
        channel->tail->channel_next = op;
    else
        channel->head = op;
    channel->tail = op;
}

static void enter_channel(sim_op *op)
{
    if (!sim_is_carried(op)) link_channel(op->channel, op);
    op->channel->unfinished++;
    sim_stream_of(op)->last_channel = op->channel;
    come_forward(op);
}

/* Until the device sees it. */
static sim_ps submit_ps(const sim_op *op)
{
    const sim_delays *delay = &sim_device_of(op)->delay;
    return op->base.graph ? delay->graph_submit : delay->submit;
}

bool sim_queue_issue(sim_op *op)
{
    sim_device *dev = sim_device_of(op);
    const int64_t edges = sim_dependencies_count(op);
    if (!reserve(op, edges)) return false;
    op->fluid.node.seq = dev->machine->issued = op->base.seq;
    op->ready_at = sim_later(dev->machine->host_at, submit_ps(op));
    if (op->base.ready_cause == SL_CAUSE_NONE) op->base.ready_cause = SL_CAUSE_LATENCY;
    if (edges > 0) sim_dependencies_add(op);
    sim_barriers_passed(sim_stream_of(op));
    if (waits_for_done_record(op))
        not_before(op, record_seen_at(op), SL_CAUSE_EVENT, op->base.wait_target);
    if (op->base.work.kind == SL_WORK_EVENT_RECORD) sim_record_issued(op);
    if (op->base.graph) {
        sim_graph_of(op)->latest = op;
        op->nodes.visible_at = op->ready_at;
    }
    enter_stream(op);
    if (op->relays && !op->base.graph) sim_relay_enter(op);
    dev->unfinished++;
    enter_channel(op);
    return true;
}
