/* host_func_thread.c - the helper thread that runs host functions. */
#include "queue.h"

/* One helper thread runs them one after the other, in the order of their arrival. */
static void schedule_host_func(sim_device *dev)
{
    sim_op *op = dev->host_funcs.head;
    if (!op || op->fluid.node.slot || dev->machine->running_host_func) return;
    sim_ps at = op->ready_at > dev->host_func_free_at ? op->ready_at : dev->host_func_free_at;
    op->fluid.node.what = SIM_HOST_FUNC_START;
    sim_heap_set(&dev->machine->heap, &op->fluid.node, at);
}

void sim_host_func_submit(sim_op *op)
{
    sim_device *dev = sim_device_of(op);
    op->ready_at = sim_later(dev->machine->now, sim_us_to_ps(dev->profile.host_func_in_us));
    sim_fifo_push(&dev->host_funcs, op);
    schedule_host_func(dev);
}

void sim_host_func_start(sim_op *op)
{
    sim_device *dev = sim_device_of(op);
    sim_fifo_pop(&dev->host_funcs);
    sim_capture(op);
    bool waited = dev->host_func_free_at == dev->machine->now && op->ready_at < dev->machine->now;
    if (op->base.start_ns != op->base.ready_ns)
        op->base.start_cause = waited ? SL_CAUSE_ENGINE : SL_CAUSE_LATENCY;
    op->base.start_by = waited ? dev->last_host_func : 0;
    dev->last_host_func = op->base.seq;
    dev->machine->running_host_func = op;
    dev->machine->host_func_ps = 0;
    op->base.host_fn(op->base.host_ud, NULL); /* core keeps its error */
    dev->machine->running_host_func = NULL;
    sim_ps end = sim_later(dev->machine->now, dev->machine->host_func_ps);
    dev->host_func_free_at = end;
    op->base.end_ns = end / SIM_PS_PER_NS;
    op->fluid.node.what = SIM_HOST_FUNC_END;
    sim_heap_set(&dev->machine->heap, &op->fluid.node,
                 sim_later(end, sim_us_to_ps(dev->profile.host_func_out_us)));
    schedule_host_func(dev);
}
