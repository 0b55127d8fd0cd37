/* graph_run.c - a launch of a graph: its nodes run on the chip, the copy engines and the thread of
 * host functions as any operation does, but in the order of the graph's edges, and in no hardware
 * channel.
 *
 * A node gets an operation of its own when the last node before it has ended. When all have ended,
 * so has the launch. */
#include "sim.h"

#include <stdlib.h>

static sim_graph *graph_of(const sim_op *launch) { return (sim_graph *)launch->base.graph; }

static const sim_op *captured(const sim_op *launch, uint32_t i)
{
    return (const sim_op *)launch->base.body->nodes[i].op;
}

/* ---- pageable sources ---- */

bool sim_graph_read(sim_op *launch)
{
    const sl_body *body = launch->base.body;
    if (!graph_of(launch)->reads) return true;
    launch->read = calloc(body->n_nodes, sizeof *launch->read);
    if (!launch->read) return false;
    for (uint32_t i = 0; i < body->n_nodes; i++)
        if (body->nodes[i].op->span_flags & SL_SPAN_SRC_PAGEABLE)
            launch->read[i] = sim_value_retain(((sim_buffer *)body->nodes[i].op->in[0])->value);
    return true;
}

void sim_graph_forget(sim_op *launch)
{
    for (uint32_t i = 0; launch->read && i < launch->base.body->n_nodes; i++)
        sim_value_release(launch->read[i]);
    free(launch->read);
    launch->read = NULL;
}

static void take_source(sim_op *launch, sim_op *op)
{
    op->staged = op->piece = op->base.work.bytes;
    if (op->base.span_flags & SL_SPAN_SRC_PAGEABLE) {
        op->value[0] = launch->read[op->node];
        launch->read[op->node] = NULL;
    } else if (op->base.span_flags & SL_SPAN_SRC_PINNED) {
        op->written = sim_engine_reads(op->base.in[0], op->base.work.bytes);
    }
}

/* ---- nodes come forward ---- */

/* A product may find its inputs in the L2, or no longer, unlike when it was captured. */
static void choose_cost(sim_op *op)
{
    if (op->base.work.kind != SL_WORK_KERNEL || op->base.work.kernel != SL_KERNEL_MATMUL) return;
    sim_launch launch;
    const bool warm = sim_finds_warm(&op->base);
    if (warm != op->warm
        && sim_costs_launch(sim_device_of(op), &op->base.work, warm, &launch, NULL) == SL_OK)
        op->launch = launch;
}

/* Without graph->priorities a node has that of the stream of the launch. */
static sim_op *new_op(sim_op *launch, uint32_t i)
{
    sim_graph *graph = graph_of(launch);
    sim_op *op = graph->free_ops;
    graph->free_ops = op->fifo_next;
    *op = *captured(launch, i);
    if (!graph->base.priorities) op->base.stream = launch->base.stream;
    op->base.seq = op->fluid.node.seq = launch->base.seq + 1 + i;
    op->node_of = graph;
    op->node = i;
    if (op->base.work.kind == SL_WORK_MEMCPY) take_source(launch, op);
    choose_cost(op);
    sim_touch_operands(&op->base);
    return op;
}

static void come_forward(sim_op *op, sim_ps at, sl_cause cause, uint64_t by)
{
    op->base.ready_cause = (uint8_t)cause;
    op->base.ready_by = by;
    op->fluid.node.what = SIM_READY;
    sim_heap_set(&sim_device_of(op)->heap, &op->fluid.node, at);
}

static void end_launch(sim_op *launch, sim_ps done_at)
{
    sim_graph *graph = graph_of(launch);
    if (graph->latest == launch) graph->latest = NULL;
    sim_graph_forget(launch);
    sim_queue_done(launch, done_at);
}

void sim_graph_start(sim_op *launch)
{
    sim_device *dev = sim_device_of(launch);
    sim_graph *graph = graph_of(launch);
    graph->launch = launch;
    graph->left = launch->base.body->n_work;
    launch->base.start_ns = dev->now / SIM_PS_PER_NS;
    sim_queue_leave_channel(launch);
    for (uint32_t i = 0; i < graph->n_roots; i++)
        come_forward(new_op(launch, graph->roots[i]), dev->now, (sl_cause)launch->base.ready_cause,
                     launch->base.ready_by);
    if (graph->left == 0) end_launch(launch, dev->now);
}

/* ---- nodes end ---- */

static double gap_us(const sim_op *launch, uint32_t from, uint32_t to)
{
    const sim_profile *p = &sim_device_of(launch)->profile;
    const uint8_t a = captured(launch, from)->base.engine, b = captured(launch, to)->base.engine;
    if (a == SL_ENGINE_HOST || b == SL_ENGINE_HOST) return 0; /* has latencies of its own */
    return a != b ? p->engine_switch_us : a == SL_ENGINE_COMPUTE ? p->graph_gap_us : p->copy_gap_us;
}

static void release_node(sim_op *launch, uint32_t from, uint32_t to, sim_ps done_at)
{
    const sl_node *nodes = launch->base.body->nodes;
    sim_node_wait *wait = &graph_of(launch)->wait[to];
    sim_ps at = sim_later(done_at, sim_us_to_ps(gap_us(launch, from, to)));
    if (at >= wait->ready_at) {
        wait->ready_at = at;
        wait->by = from;
        wait->cause = nodes[from].lane == nodes[to].lane ? SL_CAUSE_STREAM_ORDER : SL_CAUSE_EVENT;
    }
    if (--wait->left > 0) return;
    come_forward(new_op(launch, to), wait->ready_at, (sl_cause)wait->cause,
                 launch->base.seq + 1 + wait->by);
    *wait = (sim_node_wait){ .left = nodes[to].n_before }; /* for the next launch */
}

static void note_run(const sim_op *launch, const sim_op *op)
{
    if (!launch->base.runs) return;
    launch->base.runs[op->node] = (sl_node_run){
        .start_ns = op->base.start_ns,
        .end_ns = op->base.end_ns,
        .ready_ns = op->base.ready_ns,
        .ready_by = op->base.ready_by,
        .start_by = op->base.start_by,
        .ready_cause = op->base.ready_cause,
        .start_cause = op->base.start_cause,
    };
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
    uint32_t node = op->node;
    sim_publish(op);
    if (op->base.work.kind != SL_WORK_HOST_FUNC) op->base.end_ns = done_at / SIM_PS_PER_NS;
    note_run(launch, op);
    launch->last_node = op->base.seq;
    launch->base.engine = op->base.engine;
    free_op(graph, op);
    for (uint32_t k = graph->first_after[node]; k < graph->first_after[node + 1]; k++)
        release_node(launch, node, graph->after[k], done_at);
    if (--graph->left == 0) end_launch(launch, done_at);
}
