/* graph_run.c - a launch of a graph: its nodes run on the chip, the copy engines and the thread of
 * host functions as any operation does, but in the order of the graph's edges, and in no hardware
 * channel: branches do not wait for each other there.
 *
 * A node gets an operation of its own when the last node before it has ended. When all have ended,
 * so has the launch. */
#include "cache_state.h"
#include "copies.h"
#include "costs.h"
#include "sim_graph.h"

#include <stdlib.h>

static const sl_op *captured(const sim_op *launch, uint32_t i)
{
    return launch->base.body->nodes[i].op;
}

/* ---- nodes come forward ---- */

/* The engines take the copies of a graph's branches in turns, as those of as many streams. */
static sim_channel *channel_of(const sim_op *launch, const sim_op *op)
{
    const uint32_t lane = launch->base.body->nodes[op->node].lane;
    return sim_copy_channel(sim_device_of(launch), lane,
                            op->base.work.copy_kind == SL_SPAN_MEMCPY_D2H);
}

static void prepare_copy(sim_op *launch, sim_op *op)
{
    op->channel = channel_of(launch, op);
    op->moved.staged = op->moved.piece = op->base.work.bytes;
    if (op->base.span_flags & SL_SPAN_SRC_PAGEABLE) {
        op->value[0] = launch->nodes.read[op->node];
        launch->nodes.read[op->node] = NULL;
    } else if (op->base.span_flags & SL_SPAN_SRC_PINNED) {
        op->moved.written = sim_engine_reads(op->base.side[0].buffer, op->base.work.bytes);
    }
}

/* A kernel may find its inputs in the L2, or no longer, unlike when it was captured. */
static void choose_cost(sim_op *op)
{
    sim_launch launch;
    const double warm = sim_finds_warm(&op->base);
    if (warm != op->warm
        && sim_launch_of(sim_device_of(op), &op->base.work, warm, &launch, NULL) == SL_OK)
        op->launch = launch;
}

/* Without graph->priorities a node has that of the stream of the launch. */
static sim_op *new_op(sim_op *launch, uint32_t i)
{
    sim_graph *graph = sim_graph_of(launch);
    sim_op *op = graph->free_ops;
    graph->free_ops = op->fifo_next;
    *op = *(const sim_op *)captured(launch, i);
    if (!graph->base.priorities) op->base.stream = launch->base.stream;
    op->base.seq = op->fluid.node.seq = launch->base.seq + 1 + i;
    op->node_of = graph;
    op->node = i;
    if (sim_takes_copy_engine(op)) prepare_copy(launch, op);
    sim_relays_lend(launch, op);
    if (sim_runs_on_sms(op)) choose_cost(op);
    sim_touch_operands(&op->base);
    return op;
}

/* When the call has given it to the device. */
static sim_ps visible_at(const sim_op *launch, uint32_t i)
{
    const sim_ps at = sim_later(launch->nodes.visible_at, sim_graph_of(launch)->node[i].push);
    const bool is_read = captured(launch, i)->span_flags & SL_SPAN_SRC_PAGEABLE;
    return is_read ? sim_later(at, launch->nodes.reading) : at;
}

static void come_forward(sim_op *launch, uint32_t i, sim_ps at, sl_cause cause, uint64_t by)
{
    sim_op *op = new_op(launch, i);
    const sim_ps visible = visible_at(launch, i);
    op->base.ready_cause = (uint8_t)(visible > at ? SL_CAUSE_LATENCY : cause);
    op->base.ready_by = visible > at ? 0 : by;
    op->fluid.node.what = SIM_READY;
    sim_heap_set(&sim_device_of(op)->machine->heap, &op->fluid.node, visible > at ? visible : at);
}

void sim_graph_forget(sim_op *launch)
{
    for (uint32_t i = 0; launch->nodes.read && i < launch->base.body->n_nodes; i++)
        sim_value_release(launch->nodes.read[i]);
    free(launch->nodes.read);
    launch->nodes.read = NULL;
}

static void end_launch(sim_op *launch, sim_ps done_at)
{
    sim_graph *graph = sim_graph_of(launch);
    if (graph->latest == launch) graph->latest = NULL;
    sim_graph_forget(launch);
    sim_relays_release(launch);
    sim_queue_done(launch, done_at);
}

/* Its first nodes start one after the other. */
void sim_graph_start(sim_op *launch)
{
    sim_device *dev = sim_device_of(launch);
    sim_graph *graph = sim_graph_of(launch);
    const sim_ps step = sim_us_to_ps(dev->base.info.graph.root_us);
    sim_ps at = dev->machine->now;
    graph->launch = launch;
    graph->left = launch->base.body->n_work;
    launch->base.start_ns = dev->machine->now / SIM_PS_PER_NS;
    sim_queue_leave_channel(launch);
    for (uint32_t i = 0; i < graph->counts.size.roots; i++, at = sim_later(at, step))
        come_forward(launch, graph->roots[i], at, (sl_cause)launch->base.ready_cause,
                     launch->base.ready_by);
    if (graph->left == 0) end_launch(launch, dev->machine->now);
}

/* ---- nodes end ---- */

/* A host function has latencies of its own (host_func_thread.c). */
static double gap_us(const sim_op *launch, uint32_t from, uint32_t to)
{
    const sl_engine a = sl_engine_on_gpu(captured(launch, from)->engine);
    const sl_engine b = sl_engine_on_gpu(captured(launch, to)->engine);
    if (a == SL_ENGINE_HOST || b == SL_ENGINE_HOST) return 0;
    return sl_graph_gap_us(&launch->base.stream->device->info.graph, a, b);
}

static double signal_us(const sim_op *launch, uint32_t to, uint32_t nth)
{
    return sl_graph_signal_us(&launch->base.stream->device->info.graph, nth,
                              sim_graph_of(launch)->node[to].n_before > 1);
}

static void release_node(sim_op *launch, uint32_t from, uint32_t nth, sim_ps done_at)
{
    sim_graph *graph = sim_graph_of(launch);
    const sl_node *nodes = launch->base.body->nodes;
    const uint32_t to = graph->after[graph->first_after[from] + nth];
    sim_graph_node *node = &graph->node[to];
    const double us = gap_us(launch, from, to) + signal_us(launch, to, nth);
    const sim_ps at = sim_later(done_at, sim_us_to_ps(us));
    if (at >= node->ready_at) {
        node->ready_at = at;
        node->by = from;
        node->cause = nodes[from].lane == nodes[to].lane ? SL_CAUSE_STREAM_ORDER : SL_CAUSE_EVENT;
    }
    if (--node->left > 0) return;
    come_forward(launch, to, node->ready_at, (sl_cause)node->cause,
                 launch->base.seq + 1 + node->by);
    node->left = node->n_before; /* for the next launch */
    node->ready_at = 0;
}

static void free_op(sim_graph *graph, sim_op *op)
{
    op->fifo_next = graph->free_ops;
    graph->free_ops = op;
}

void sim_graph_node_ended(sim_op *op, sim_ps done_at)
{
    sim_graph *graph = op->node_of;
    sim_op *launch = graph->launch;
    const uint32_t node = op->node;
    const uint32_t n_after = graph->first_after[node + 1] - graph->first_after[node];
    sim_publish(op);
    if (op->base.work.kind != SL_WORK_HOST_FUNC) op->base.end_ns = done_at / SIM_PS_PER_NS;
    if (launch->base.runs) launch->base.runs[node] = op->base.run;
    launch->nodes.last = op->base.seq;
    launch->base.engine = op->base.engine;
    launch->nodes.to_drain -= (op->base.span_flags & SL_SPAN_DST_PAGEABLE) != 0;
    free_op(graph, op);
    for (uint32_t nth = 0; nth < n_after; nth++)
        release_node(launch, node, nth, done_at);
    if (--graph->left == 0) end_launch(launch, done_at);
}
