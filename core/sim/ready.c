/* ready.c - where an operation goes that has come forward: to the SMs, a copy engine, the thread of
 * host functions, or to its end at once. */
#include "copies.h"
#include "sim_comm.h"
#include "sim_graph.h"

static void record_ready(sim_op *op)
{
    sim_device *dev = sim_device_of(op);
    op->record->at = dev->machine->now;
    op->base.start_ns = op->base.end_ns = dev->machine->now / SIM_PS_PER_NS;
    sim_queue_leave_channel(op);
    if (sim_is_timed_record(op)) {
        op->fluid.node.what = SIM_RECORD_END;
        sim_heap_set(&dev->machine->heap, &op->fluid.node,
                     sim_later(dev->machine->now, dev->delay.record));
    } else {
        sim_queue_done(op, dev->machine->now);
    }
}

static void end_at_once(sim_op *op)
{
    const sim_ps now = sim_device_of(op)->machine->now;
    op->base.start_ns = now / SIM_PS_PER_NS;
    sim_queue_leave_channel(op);
    sim_op_ended(op, now);
}

/* What another one has carried is over when that is; what was aborted is over at once. */
static void collective_ready(sim_op *op)
{
    const bool is_over = op->part.carrier != op || sim_is_aborted(op);
    if (is_over)
        end_at_once(op);
    else
        sim_chip_submit(op);
}

void sim_ready(sim_op *op)
{
    sim_device *dev = sim_device_of(op);
    op->ready = true;
    op->ready_at = dev->machine->now;
    op->base.ready_ns = dev->machine->now / SIM_PS_PER_NS;
    switch ((sl_work_kind)op->base.work.kind) {
    case SL_WORK_EVENT_RECORD: record_ready(op); break;
    case SL_WORK_EVENT_WAIT:
        sim_record_awaited(op);
        end_at_once(op);
        break;
    case SL_WORK_HOST_FUNC:
        sim_queue_leave_channel(op);
        sim_host_func_submit(op);
        break;
    case SL_WORK_MEMCPY:
        if (sim_takes_copy_engine(op)) {
            sim_copies_submit(op);
            break;
        }
        /* fall through */
    case SL_WORK_KERNEL:
    case SL_WORK_MEMSET: sim_chip_submit(op); break;
    case SL_WORK_WAIT_VALUE:
        if (!sim_word_arrived(op)) break; /* comes forward again when the value has changed */
        /* fall through */
    case SL_WORK_WRITE_VALUE: end_at_once(op); break;
    case SL_WORK_GRAPH: sim_graph_start(op); break;
    case SL_WORK_COLLECTIVE: collective_ready(op); break;
    }
}
