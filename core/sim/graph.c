/* graph.c - captures, which only describe operations, and executable graphs. */
#include "sim.h"

#include <stdlib.h>

/* ---- captures ---- */

sl_status sim_capture_begin(sl_stream *stream, sl_capture_mode mode, sl_error *err)
{
    sim_device *dev = (sim_device *)stream->device;
    (void)mode, (void)err; /* core checks what a capture forbids */
    sim_host_spend_us(dev, dev->profile.graph_begin_us);
    return SL_OK;
}

sl_status sim_capture_end(sl_stream *stream, sl_graph *graph, sl_error *err)
{
    sim_device *dev = (sim_device *)stream->device;
    (void)graph, (void)err;
    sim_host_spend_us(dev, dev->profile.graph_end_us);
    return SL_OK;
}

sl_status sim_capture_status(sl_stream *stream, sl_capture_status *capture, sl_error *err)
{
    (void)err;
    *capture = stream->branch ? SL_CAPTURE_STATUS_ACTIVE : SL_CAPTURE_STATUS_NONE;
    return SL_OK;
}

/* ---- executable graphs ---- */

static bool is_work(const sl_node *node)
{
    return node->op->work.kind != SL_WORK_EVENT_RECORD && node->op->work.kind != SL_WORK_EVENT_WAIT;
}

static void free_parts(sim_graph *graph)
{
    free(graph->ops);
    free(graph->wait);
    free(graph->first_after);
    free(graph->after);
    free(graph->roots);
    graph->ops = NULL;
    graph->wait = NULL;
    graph->first_after = graph->after = graph->roots = NULL;
}

static bool allocate_parts(sim_graph *graph)
{
    const sl_body *body = graph->base.body;
    graph->ops = calloc((size_t)body->n_work + 1, sizeof *graph->ops);
    graph->wait = calloc((size_t)body->n_nodes + 1, sizeof *graph->wait);
    graph->first_after = calloc((size_t)body->n_nodes + 2, sizeof *graph->first_after);
    graph->after = calloc(body->n_before + 1, sizeof *graph->after);
    graph->roots = calloc((size_t)body->n_work + 1, sizeof *graph->roots);
    return graph->ops && graph->wait && graph->first_after && graph->after && graph->roots;
}

static void find_roots(sim_graph *graph)
{
    const sl_body *body = graph->base.body;
    graph->n_roots = 0;
    for (uint32_t i = 0; i < body->n_nodes; i++) {
        graph->wait[i] = (sim_node_wait){ .left = body->nodes[i].n_before };
        if (is_work(&body->nodes[i]) && body->nodes[i].n_before == 0)
            graph->roots[graph->n_roots++] = i;
    }
    graph->first_engine = graph->n_roots ? body->nodes[graph->roots[0]].op->engine
                                         : SL_ENGINE_COMPUTE;
}

/* The edges, which a body has by their second node, by their first one: counted, then filled in from
 * the end of each node's part. */
static void turn_edges(sim_graph *graph)
{
    const sl_body *body = graph->base.body;
    uint32_t *first = graph->first_after;
    for (size_t k = 0; k < body->n_before; k++)
        first[body->before[k]]++;
    for (uint32_t i = 1; i <= body->n_nodes; i++)
        first[i] += first[i - 1];
    for (uint32_t i = body->n_nodes; i-- > 0;)
        for (uint32_t k = body->nodes[i].n_before; k-- > 0;)
            graph->after[--first[body->before[body->nodes[i].first_before + k]]] = i;
}

static void link_free(sim_graph *graph)
{
    graph->free_ops = NULL;
    for (uint32_t i = graph->base.body->n_work; i-- > 0;) {
        graph->ops[i].fifo_next = graph->free_ops;
        graph->free_ops = &graph->ops[i];
    }
}

static void note_reads(sim_graph *graph, const sl_body *body)
{
    graph->reads = false;
    for (uint32_t i = 0; i < body->n_nodes; i++)
        graph->reads |= (body->nodes[i].op->span_flags & SL_SPAN_SRC_PAGEABLE) != 0;
}

sl_status sim_graph_open(sl_graph *base, sl_error *err)
{
    sim_graph *graph = (sim_graph *)base;
    sim_device *dev = (sim_device *)base->device;
    if (!allocate_parts(graph)) {
        free_parts(graph);
        return sl_fail(err, SL_ENOMEM, "out of host memory to instantiate a graph of %u nodes",
                       (unsigned)base->body->n_work);
    }
    find_roots(graph);
    turn_edges(graph);
    link_free(graph);
    note_reads(graph, base->body);
    dev->graph_nodes += base->body->n_work;
    return SL_OK;
}

/* Its nodes and edges stay the same. */
sl_status sim_graph_update(sl_graph *base, sl_graph *from, sl_error *err)
{
    (void)err;
    note_reads((sim_graph *)base, from->body);
    return SL_OK;
}

void sim_graph_close(sl_graph *base)
{
    sim_graph *graph = (sim_graph *)base;
    sim_device *dev = (sim_device *)base->device;
    if (!graph->ops) return;
    dev->graph_nodes -= base->body->n_work;
    free_parts(graph);
}
