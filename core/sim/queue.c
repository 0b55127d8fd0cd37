/* queue.c - the order of operations: streams, hardware channels, the NULL stream's barriers,
 * records and waits.
 *
 * An operation comes forward (SIM_READY) when it is visible to the device, is the head of its
 * channel, and all its dependencies have ended. It leaves the channel when all its blocks are
 * placed (a kernel), when it has started (a copy, a host function) or is satisfied (a record, a
 * wait). Until then it blocks the channel for other streams that share it. */
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
    sim_channel *copies = dev->channel + dev->n_connections;
    stream->compute = &dev->channel[id % (uint32_t)dev->n_connections];
    stream->copy[0] = &copies[id % (uint32_t)dev->n_copy_connections];
    stream->copy[1] = stream->copy[0];
    if (dev->profile.async_engine_count > 1) stream->copy[1] += dev->n_copy_connections;
    stream->last_channel = stream->compute;
    stream->work_done_at = -SIM_LAST_PS;
    for (int i = 0; i < SL_ENGINES; i++)
        stream->awaited[i].at = -SIM_LAST_PS;
    stream->awaited_last = -SIM_LAST_PS;
    stream->level = sim_chip_level(dev, stream->base.priority);
    if (stream->base.legacy) dev->legacy = stream;
}

static bool is_copy_engine_work(const sim_op *op)
{
    return op->base.work.kind == SL_WORK_MEMCPY
           && !sim_copies_on_sm((const sim_device *)op->base.stream->device, &op->base.work);
}

sim_channel *sim_queue_channel(const sim_op *op)
{
    const sim_stream *stream = sim_stream_of(op);
    if (op->base.work.kind == SL_WORK_EVENT_RECORD || op->base.work.kind == SL_WORK_EVENT_WAIT)
        return stream->last_channel;
    if (is_copy_engine_work(op)) return stream->copy[op->base.work.copy_kind == SL_SPAN_MEMCPY_D2H];
    return stream->compute;
}

/* A timed record takes time on the device, so a gap follows it. */
static bool is_timed_record(const sim_op *op)
{
    return op->base.work.kind == SL_WORK_EVENT_RECORD && op->base.event->timing;
}

/* Its number as a cause: a timeline shows the nodes of a launch, not the launch. */
static uint64_t shown_as(const sim_op *op) { return op->last_node ? op->last_node : op->base.seq; }

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

static void record_ready(sim_op *op)
{
    sim_device *dev = sim_device_of(op);
    op->record->at = dev->machine->now;
    op->base.start_ns = op->base.end_ns = dev->machine->now / SIM_PS_PER_NS;
    sim_queue_leave_channel(op);
    if (is_timed_record(op)) {
        op->fluid.node.what = SIM_RECORD_END;
        sim_heap_set(&dev->machine->heap, &op->fluid.node,
                     sim_later(dev->machine->now, dev->delay.record));
    } else {
        sim_queue_done(op, dev->machine->now);
    }
}

static bool waits_in_own_stream(const sim_op *op)
{
    return op->base.event->device == op->base.stream->device
           && op->base.wait_target_stream == op->base.stream->id;
}

/* Notes when, and on which engine, the record was done that this wait was for: the stream's next
 * work may run on another engine. It follows the wait, and the wait has the record as its cause. */
static void note_awaited(sim_op *op)
{
    if (!op->record || waits_in_own_stream(op)) return;
    sim_turn *awaited = &sim_stream_of(op)->awaited[op->record->engine];
    if (op->record->done_at <= awaited->at) return;
    *awaited = (sim_turn){ op->record->done_at, op->base.seq };
    if (awaited->at > sim_stream_of(op)->awaited_last)
        sim_stream_of(op)->awaited_last = awaited->at;
}

void sim_queue_ready(sim_op *op)
{
    sim_device *dev = sim_device_of(op);
    op->ready = true;
    op->ready_at = dev->machine->now;
    op->base.ready_ns = dev->machine->now / SIM_PS_PER_NS;
    switch ((sl_work_kind)op->base.work.kind) {
    case SL_WORK_EVENT_RECORD: record_ready(op); break;
    case SL_WORK_EVENT_WAIT:
        op->base.start_ns = dev->machine->now / SIM_PS_PER_NS;
        note_awaited(op);
        sim_queue_leave_channel(op);
        sim_queue_done(op, dev->machine->now);
        break;
    case SL_WORK_HOST_FUNC:
        sim_queue_leave_channel(op);
        sim_host_func_submit(op);
        break;
    case SL_WORK_MEMCPY:
        if (is_copy_engine_work(op)) {
            sim_copies_submit(op); /* leaves the channel once it starts */
            break;
        }
        sim_chip_submit(op);
        break;
    case SL_WORK_KERNEL:
    case SL_WORK_MEMSET: sim_chip_submit(op); break;
    case SL_WORK_WAIT_VALUE:
        if (!sim_word_arrived(op)) break; /* comes forward again when the value has changed */
        /* fall through */
    case SL_WORK_WRITE_VALUE:
        op->base.start_ns = dev->machine->now / SIM_PS_PER_NS;
        sim_queue_leave_channel(op);
        sim_op_ended(op, dev->machine->now);
        break;
    case SL_WORK_GRAPH: sim_graph_start(op); break;
    case SL_WORK_COLLECTIVE: sim_collective_ready(op); break;
    }
}

/* ---- ending ---- */

static void stream_idle(sim_stream *stream)
{
    if (!stream->busy_link) return;
    SL__UNLINK(stream, busy_next, busy_link);
    stream->busy_link = NULL;
}

/* Only blocking streams take part in the NULL stream's rules. */
static bool takes_part(const sim_stream *stream)
{
    return !stream->base.legacy && !stream->base.non_blocking;
}

static void stream_busy(sim_stream *stream)
{
    sim_device *dev = (sim_device *)stream->base.device;
    if (stream->busy_link || !takes_part(stream)) return;
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

/* Of a record of an event, and of a wait for one. */
static void note_record(sim_op *op, sim_ps done_at)
{
    if (!op->record) return;
    if (op->base.work.kind == SL_WORK_EVENT_RECORD) {
        op->record->done = true;
        op->record->done_at = done_at;
        op->record->engine = sim_stream_of(op)->work_done_engine;
        op->record->op = NULL;
    }
    sim_record_release(sim_device_of(op)->machine, op->record);
    op->record = NULL;
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
    if (is_work || is_timed_record(op)) {
        stream->work_done_at = done_at;
        stream->work_done = shown_as(op);
    }
    if (op->base.work.kind != SL_WORK_HOST_FUNC && op->base.work.kind != SL_WORK_EVENT_RECORD)
        op->base.end_ns = done_at / SIM_PS_PER_NS;
    op->channel->unfinished--;
    dev->unfinished--;
    if (op->turn_link) sim_turns_leave(op);
    if (stream->before_barrier[SIM_BARRIER_ALL] || stream->before_barrier[SIM_BARRIER_BLOCKING])
        sim_barriers_ended(stream, op);
    stream->head = op->stream_next;
    if (!stream->head) {
        stream->tail = NULL;
        stream_idle(stream);
        if (!stream->base.non_blocking) dev->blocking_done = shown_as(op);
    }
    note_record(op, done_at);
    if (op->stream_next) follow(op->stream_next, done_at, shown_as(op));
    release_dependents(op, done_at);
    sim_queue_give_to_core(op);
}

void sim_op_ended(sim_op *op, sim_ps done_at)
{
    if (op->node_of)
        sim_graph_node_ended(op, done_at);
    else
        sim_queue_done(op, done_at);
}

/* ---- issuing ---- */

/* The unfinished record of another stream that `op` waits for, or NULL. A record of its own stream
 * comes earlier anyway. */
static sim_op *awaited_record(const sim_op *op)
{
    bool waits = op->base.work.kind == SL_WORK_EVENT_WAIT && op->record && !op->record->done;
    return waits && op->record->op->base.stream != op->base.stream ? op->record->op : NULL;
}

/* The awaited record of another stream is done; it is seen here cross_stream_us later, or later
 * still if it is another GPU's. */
static bool waits_for_done_record(const sim_op *op)
{
    return op->base.work.kind == SL_WORK_EVENT_WAIT && op->record && op->record->done
           && !waits_in_own_stream(op);
}

static bool waits_for_legacy(const sim_op *op)
{
    const sim_stream *stream = sim_stream_of(op);
    const sim_device *dev = (const sim_device *)stream->base.device;
    return dev->legacy->tail && !stream->base.legacy && !stream->base.non_blocking
           && dev->legacy->tail->base.seq > stream->legacy_seen;
}

/* The unfinished launch of the same executable graph in another stream, or NULL. */
static sim_op *earlier_launch(const sim_op *op)
{
    sim_op *latest = op->base.graph ? ((sim_graph *)op->base.graph)->latest : NULL;
    return latest && latest->base.stream != op->base.stream ? latest : NULL;
}

static int64_t edges_needed(const sim_op *op)
{
    const sim_device *dev = (const sim_device *)op->base.stream->device;
    int64_t n = (awaited_record(op) != NULL) + (earlier_launch(op) != NULL);
    if (sim_barriers_ahead(sim_stream_of(op)))
        n += sim_barriers_each(sim_stream_of(op), NULL, NULL);
    if (op->base.comm) n += sim_turns_each(op, NULL);
    if (!dev->legacy) return n;
    n += waits_for_legacy(op);
    if (op->base.stream->legacy)
        for (const sim_stream *s = dev->busy; s; s = s->busy_next)
            n++;
    return n;
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

/* The blocking streams that the operations make busy. */
static int64_t count_newly_busy(sl_op *const *ops, size_t n)
{
    int64_t found = 0;
    for (size_t i = 0; i < n; i++) {
        sim_stream *stream = sim_stream_of((sim_op *)ops[i]);
        if (stream->counted || stream->busy_link || !takes_part(stream)) continue;
        stream->counted = true;
        found++;
    }
    for (size_t i = 0; i < n; i++)
        sim_stream_of((sim_op *)ops[i])->counted = false;
    return found;
}

/* For operations of others that come before it here: each of the NULL stream may wait for every
 * blocking stream, and each of a blocking stream for the NULL stream. */
static int64_t more_edges(const sl_op *op, int64_t newly_busy)
{
    return op->stream->legacy ? newly_busy : takes_part(sim_stream_of((const sim_op *)op));
}

bool sim_queue_reserve(sl_op *const *ops, size_t n)
{
    const int64_t newly_busy = count_newly_busy(ops, n);
    int64_t edges = 0;
    for (size_t i = 0; i < n; i++)
        edges += edges_needed((const sim_op *)ops[i]) + more_edges(ops[i], newly_busy);
    for (size_t i = 0; i < n; i++) {
        sim_device *dev = sim_device_of(ops[i]);
        if (i > 0 && dev->machine == sim_device_of(ops[i - 1])->machine) continue;
        if (!sim_machine_reserve(dev->machine, n) || !sim_edges_reserve(dev->machine, edges))
            return false;
    }
    return true;
}

static void wait_for(sim_op *op, sim_op *earlier, sl_cause cause)
{
    sim_device *dev = sim_device_of(op);
    sim_edge *edge = dev->machine->free_edges; /* reserved */
    dev->machine->free_edges = edge->next;
    edge->op = op;
    edge->cause = (uint8_t)cause;
    edge->next = earlier->dependents;
    earlier->dependents = edge;
    op->deps_left++;
}

/* Once there is a NULL stream. An operation in it waits for the last one of every blocking stream; the
 * next one of a blocking stream waits for the last NULL-stream one (CUDA Runtime API, "Stream
 * synchronization behavior"; tests/both/streams.t.lua). */
static void null_stream_barriers(sim_op *op)
{
    sim_device *dev = sim_device_of(op);
    sim_stream *stream = sim_stream_of(op);
    if (stream->base.legacy) {
        for (sim_stream *s = dev->busy; s; s = s->busy_next)
            wait_for(op, s->tail, SL_CAUSE_NULL_STREAM);
    } else if (waits_for_legacy(op)) {
        wait_for(op, dev->legacy->tail, SL_CAUSE_NULL_STREAM);
        stream->legacy_seen = dev->legacy->tail->base.seq;
    }
}

/* A wait for a call's barrier is reported as one for the NULL stream, which orders work in the same
 * way. */
static void wait_behind_barrier(void *op, sim_op *earlier)
{
    wait_for(op, earlier, SL_CAUSE_NULL_STREAM);
}

static void call_barriers(sim_op *op)
{
    if (!sim_barriers_ahead(sim_stream_of(op))) return;
    sim_barriers_each(sim_stream_of(op), wait_behind_barrier, op);
    sim_barriers_passed(sim_stream_of(op));
}

static void make_latest_record(sim_op *op)
{
    sim_event *event = (sim_event *)op->base.event;
    op->record->op = op;
    op->record->refs = 2; /* the operation's and the event's */
    sim_record_release(sim_device_of(op)->machine, event->record);
    event->record = op->record;
}

static void make_latest_launch(sim_op *op)
{
    if (earlier_launch(op)) wait_for(op, earlier_launch(op), SL_CAUSE_GRAPH);
    ((sim_graph *)op->base.graph)->latest = op;
}

static void wait_turn(sim_op *op, sim_op *earlier) { wait_for(op, earlier, SL_CAUSE_COMM); }

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
    const int64_t edges = edges_needed(op);
    if (!reserve(op, edges)) return false;
    op->fluid.node.seq = dev->machine->issued = op->base.seq;
    op->ready_at = op->visible_at = sim_later(dev->machine->host_at, submit_ps(op));
    if (op->base.ready_cause == SL_CAUSE_NONE) op->base.ready_cause = SL_CAUSE_LATENCY;
    if (edges > 0 && dev->legacy) null_stream_barriers(op);
    call_barriers(op);
    if (edges > 0 && awaited_record(op))
        wait_for(op, awaited_record(op), SL_CAUSE_EVENT);
    else if (waits_for_done_record(op))
        not_before(op,
                   sim_later(op->record->done_at,
                             sim_us_to_ps(sim_peer_signal_us(op, op->base.event->device))),
                   SL_CAUSE_EVENT, op->base.wait_target);
    if (op->base.work.kind == SL_WORK_EVENT_RECORD) make_latest_record(op);
    if (op->base.graph) make_latest_launch(op);
    if (op->base.comm) (void)sim_turns_each(op, wait_turn);
    enter_stream(op);
    if (op->relays && !op->base.graph) sim_relay_enter(op);
    dev->unfinished++;
    enter_channel(op);
    return true;
}
