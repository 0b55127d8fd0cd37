/* graph_call.c - the call of a launch: it reads and fills pageable memory, and gives the nodes to
 * the device. */
#include "sim_graph.h"
#include "host.h"

#include <stdlib.h>

/* Copies of more than h2d_async_bytes wait in the call for the stream's earlier work, as those of
 * streams do. */
static sl_status wait_before_reading(sim_op *launch, sl_error *err)
{
    const sl_body *body = launch->base.body;
    const double most = sim_device_of(launch)->profile.h2d_async_bytes;
    for (uint32_t i = 0; i < body->n_nodes; i++) {
        const sl_op *op = body->nodes[i].op;
        if (op->span_flags & SL_SPAN_SRC_PAGEABLE && (double)op->work.bytes > most)
            return sim_host_wait_stream(sim_stream_of(launch), err);
    }
    return SL_OK;
}

sl_status sim_graph_read(sim_op *launch, sl_error *err)
{
    const sl_body *body = launch->base.body;
    double us = 0;
    launch->nodes.to_drain = sim_graph_of(launch)->n_drained;
    if (sim_graph_of(launch)->n_read == 0) return SL_OK;
    sl_status status = wait_before_reading(launch, err);
    if (status != SL_OK) return status;
    launch->nodes.read = calloc(body->n_nodes, sizeof *launch->nodes.read);
    if (!launch->nodes.read) return sl__no_memory(err, "the simulator");
    for (uint32_t i = 0; i < body->n_nodes; i++) {
        const sl_op *op = body->nodes[i].op;
        if (!(op->span_flags & SL_SPAN_SRC_PAGEABLE)) continue;
        us += sim_host_stage_us(op->side[0].buffer, op->work.bytes);
        launch->nodes.read[i] = sim_value_retain(((sim_buffer *)op->side[0].buffer)->value);
    }
    launch->nodes.reading = sim_us_to_ps(us);
    return SL_OK;
}

static bool has_drained(const void *what) { return ((const sim_op *)what)->nodes.to_drain == 0; }

/* The host waits for the copies to pageable memory, and then copies what they have brought. */
static sl_status drain(sim_op *launch, sl_error *err)
{
    const sl_body *body = launch->base.body;
    sim_device *dev = sim_device_of(launch);
    uint32_t steps = 0;
    sl_status status = sim_host_catch_up(dev, err);
    while (status == SL_OK && !has_drained(launch))
        status = sim_host_step(dev, has_drained, launch, &steps, err);
    if (status != SL_OK) return status;
    sim_host_meet_device(dev);
    for (uint32_t i = 0; i < body->n_nodes; i++)
        if (body->nodes[i].op->span_flags & SL_SPAN_DST_PAGEABLE)
            sim_host_spend_us(dev, sim_host_drain_us(body->nodes[i].op->side[SL_OUTPUT].buffer,
                                                     body->nodes[i].op->work.bytes));
    return sim_host_catch_up(dev, err);
}

sl_status sim_graph_push(sim_op *launch, sl_error *err)
{
    sim_device *dev = sim_device_of(launch);
    const double us = (double)sim_graph_of(launch)->pushed / SIM_PS_PER_US;
    sim_host_spend_us(dev,
                      us * sim_chance_factor(dev) + (double)launch->nodes.reading / SIM_PS_PER_US);
    return launch->nodes.to_drain > 0 ? drain(launch, err) : SL_OK;
}
