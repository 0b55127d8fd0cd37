/* dependencies.c - the unfinished operations that one waits for when it enters its stream, beside
 * those of the stream itself: an edge each, which the queue takes away when they have ended. */
#include "sim_graph.h"

#include <stdlib.h>

/* The unfinished record of another stream that `op` waits for, or NULL. A record of its own stream
 * comes earlier anyway. */
static sim_op *awaited_record(const sim_op *op)
{
    const sim_record *record = op->record;
    const bool is_other = record && !record->done && record->op->base.stream != op->base.stream;
    return is_other ? record->op : NULL;
}

static bool waits_for_legacy(const sim_op *op)
{
    const sim_stream *stream = sim_stream_of(op);
    const sim_device *dev = (const sim_device *)stream->base.device;
    return dev->legacy->tail && sim_takes_part(stream)
           && dev->legacy->tail->base.seq > stream->legacy_seen;
}

/* The unfinished launch of the same executable graph in another stream, or NULL. */
static sim_op *earlier_launch(const sim_op *op)
{
    sim_op *latest = sim_graph_of(op)->latest;
    return latest && latest->base.stream != op->base.stream ? latest : NULL;
}

/* ---- edges ---- */

bool sim_edges_reserve(sim_machine *machine, int64_t n)
{
    for (const sim_edge *edge = machine->free_edges; edge && n > 0; edge = edge->next)
        n--;
    for (; n > 0; n--) {
        sim_edge *edge = malloc(sizeof *edge);
        if (!edge) return false;
        sim_edge_free(machine, edge);
    }
    return true;
}

static void wait_for(sim_op *op, sim_op *earlier, sl_cause cause)
{
    sim_machine *machine = sim_device_of(op)->machine;
    sim_edge *edge = machine->free_edges; /* reserved */
    machine->free_edges = edge->next;
    edge->op = op;
    edge->cause = (uint8_t)cause;
    edge->next = earlier->dependents;
    earlier->dependents = edge;
    op->deps_left++;
}

static void wait_turn(sim_op *op, sim_op *earlier) { wait_for(op, earlier, SL_CAUSE_COMM); }

/* A wait for a call's barrier is reported as one for the NULL stream, which orders work in the same
 * way. */
static void wait_behind_barrier(sim_op *op, sim_op *earlier)
{
    wait_for(op, earlier, SL_CAUSE_NULL_STREAM);
}

/* An operation in the NULL stream waits for the last one of every blocking stream; the next one of
 * a blocking stream waits for the last NULL-stream one (CUDA Runtime API, "Stream synchronization
 * behavior"; tests/both/streams.t.lua). */
static int64_t null_stream(sim_op *op, bool link)
{
    sim_device *dev = sim_device_of(op);
    sim_stream *stream = sim_stream_of(op);
    int64_t n = 0;
    for (sim_stream *s = stream->base.legacy ? dev->busy : NULL; s; s = s->busy_next, n++)
        if (link) wait_for(op, s->tail, SL_CAUSE_NULL_STREAM);
    if (!waits_for_legacy(op)) return n;
    if (link) {
        wait_for(op, dev->legacy->tail, SL_CAUSE_NULL_STREAM);
        stream->legacy_seen = dev->legacy->tail->base.seq;
    }
    return n + 1;
}

static int64_t one(sim_op *op, sim_op *earlier, sl_cause cause, bool link)
{
    if (earlier && link) wait_for(op, earlier, cause);
    return earlier != NULL;
}

/* How many there are; `link`: and op waits for them. */
static inline int64_t each(sim_op *op, bool link)
{
    int64_t n = sim_device_of(op)->legacy ? null_stream(op, link) : 0;
    if (sim_barriers_ahead(sim_stream_of(op)))
        n += sim_barriers_each(op, link ? wait_behind_barrier : NULL);
    if (op->base.work.kind == SL_WORK_KERNEL) return n; /* the most frequent ones */
    if (op->base.work.kind == SL_WORK_EVENT_WAIT)
        n += one(op, awaited_record(op), SL_CAUSE_EVENT, link);
    if (op->base.graph) n += one(op, earlier_launch(op), SL_CAUSE_GRAPH, link);
    return op->base.comm ? n + sim_turns_each(op, link ? wait_turn : NULL) : n;
}

int64_t sim_dependencies_count(const sim_op *op) { return each((sim_op *)op, false); }

void sim_dependencies_add(sim_op *op) { (void)each(op, true); }

/* ---- of several operations ---- */

/* The blocking streams that the operations make busy. */
static int64_t count_newly_busy(sl_op *const *ops, size_t n)
{
    int64_t found = 0;
    for (size_t i = 0; i < n; i++) {
        sim_stream *stream = sim_stream_of((sim_op *)ops[i]);
        if (stream->counted || stream->busy_link || !sim_takes_part(stream)) continue;
        stream->counted = true;
        found++;
    }
    for (size_t i = 0; i < n; i++)
        sim_stream_of((sim_op *)ops[i])->counted = false;
    return found;
}

/* Each of the NULL stream may also wait for every blocking stream that one before it here makes
 * busy, and each of a blocking stream for one of the NULL stream. */
int64_t sim_dependencies_at_most(sl_op *const *ops, size_t n)
{
    const int64_t newly_busy = count_newly_busy(ops, n);
    int64_t edges = 0;
    for (size_t i = 0; i < n; i++) {
        const sim_op *op = (const sim_op *)ops[i];
        edges += sim_dependencies_count(op);
        edges += op->base.stream->legacy ? newly_busy : sim_takes_part(sim_stream_of(op));
    }
    return edges;
}
