/* sim_graph.c - captures, which only describe operations, and executable graphs. */
#include "sim_graph.h"
#include "host.h"
#include "sim_backend.h"

#include <stdlib.h>

/* ---- captures ---- */

sl_status sim_capture_begin(sl_stream *stream, sl_capture_mode mode, sl_error *err)
{
    sim_device *dev = (sim_device *)stream->device;
    (void)mode, (void)err; /* core checks what a capture forbids */
    sim_host_spend_us(dev, dev->profile.host_graph_begin_us);
    return SL_OK;
}

sl_status sim_capture_end(sl_stream *stream, sl_graph *graph, sl_error *err)
{
    sim_device *dev = (sim_device *)stream->device;
    (void)err;
    sim_host_spend_us(dev, dev->profile.host_graph_end_us);
    (void)graph;
    return SL_OK;
}

sl_status sim_capture_status(sl_stream *stream, sl_capture_status *capture, sl_error *err)
{
    (void)err;
    *capture = stream->branch ? SL_CAPTURE_STATUS_ACTIVE : SL_CAPTURE_STATUS_NONE;
    return SL_OK;
}

/* ---- executable graphs ---- */

static void link_free(sim_graph *graph)
{
    graph->free_ops = NULL;
    for (uint32_t i = graph->base.body->n_work; i-- > 0;) {
        graph->ops[i].fifo_next = graph->free_ops;
        graph->free_ops = &graph->ops[i];
    }
}

/* Memory may have been page-locked since the capture that it is updated from. */
static void count_pageable(sim_graph *graph, const sl_body *body)
{
    graph->n_read = graph->n_drained = 0;
    for (uint32_t i = 0; i < body->n_nodes; i++) {
        graph->n_read += (body->nodes[i].op->span_flags & SL_SPAN_SRC_PAGEABLE) != 0;
        graph->n_drained += (body->nodes[i].op->span_flags & SL_SPAN_DST_PAGEABLE) != 0;
    }
}

sl_status sim_graph_open(sl_graph *base, sl_error *err)
{
    sim_graph *graph = (sim_graph *)base;
    sim_device *dev = (sim_device *)base->device;
    graph->ops = calloc((size_t)base->body->n_work + 1, sizeof *graph->ops);
    if (!graph->ops || !sim_graph_shape(graph)) {
        free(graph->ops);
        graph->ops = NULL;
        return sl__no_memory(err, "an executable graph of %u nodes", (unsigned)base->body->n_work);
    }
    link_free(graph);
    count_pageable(graph, base->body);
    sim_graph_set_push(graph);
    dev->graph_nodes += base->body->n_work;
    sim_host_spend_us(dev, sim_graph_instantiate_us(graph));
    return SL_OK;
}

/* Nodes and edges stay the same. */
sl_status sim_graph_update(sl_graph *base, sl_graph *from, sl_error *err)
{
    sim_graph *graph = (sim_graph *)base;
    (void)err;
    count_pageable(graph, from->body);
    sim_host_spend_us((sim_device *)base->device, sim_graph_update_us(graph));
    return SL_OK;
}

void sim_graph_close(sl_graph *base)
{
    sim_graph *graph = (sim_graph *)base;
    sim_device *dev = (sim_device *)base->device;
    if (!graph->ops) return;
    dev->graph_nodes -= base->body->n_work;
    free(graph->ops);
    sim_graph_shape_free(graph);
}
