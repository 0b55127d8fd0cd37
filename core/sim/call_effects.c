/* call_effects.c - what calls cost, and their implicit synchronisation: the host waits, or a
 * barrier orders work on the device.
 *
 * For plain calls, copies and launches the profile's table `calls` says what the call waits for and
 * whether it puts a barrier into the device. Rules that hold on every GPU are elsewhere: a blocking
 * copy waits (enqueue.c), and the NULL stream orders work (queue.c).
 */
#include "host.h"

static const double MIB = 1024.0 * 1024.0;

static bool is_pageable(const sl_buffer *buffer) { return buffer->place == SL_PAGEABLE; }

static sim_call copy_call(const sl_op *op)
{
    const sl_work *work = &op->work;
    int sync = (work->flags & SL_WORK_SYNC) != 0, call;
    if (work->copy_kind == SL_SPAN_MEMCPY_H2D)
        call = is_pageable(op->side[0].buffer) ? SIM_CALL_COPY_H2D_PAGEABLE
                                               : SIM_CALL_COPY_H2D_PINNED;
    else if (work->copy_kind == SL_SPAN_MEMCPY_D2H)
        call = is_pageable(op->side[SL_OUTPUT].buffer) ? SIM_CALL_COPY_D2H_PAGEABLE
                                                       : SIM_CALL_COPY_D2H_PINNED;
    else
        call = SIM_CALL_COPY_D2D;
    return (sim_call)(call + sync * (SIM_CALL_SYNC_COPY_D2D - SIM_CALL_COPY_D2D));
}

/* A memset in the NULL stream is cudaMemset. */
static sim_call call_of(const sl_op *op)
{
    switch (sl_work_row_of(op->work.kind)->cost) {
    case SL_COST_COPY: return copy_call(op);
    case SL_COST_MEMSET: return op->stream->legacy ? SIM_CALL_MEMSET : SIM_CALL_MEMSET_ASYNC;
    case SL_COST_HOST_FUNC: return SIM_CALL_HOST_FUNC;
    case SL_COST_RECORD: return SIM_CALL_EVENT_RECORD;
    case SL_COST_WAIT: return SIM_CALL_EVENT_WAIT;
    case SL_COST_LAUNCH:
    case SL_COST_GRAPH:
    case SL_COST_COLLECTIVE: break;
    }
    return SIM_CALL_LAUNCH;
}

static size_t bytes_of(const sl_op *op)
{
    bool has = op->work.kind == SL_WORK_MEMCPY || op->work.kind == SL_WORK_MEMSET;
    return has ? op->work.bytes : 0;
}

/* A call without a stream waits for what the NULL stream would: all blocking streams. */
static sl_status wait_as_profiled(sim_device *dev, const sim_call_cost *cost, sim_stream *stream,
                                  sl_error *err)
{
    if (cost->waits == SIM_DEVICE) return sim_host_wait_idle(dev, err);
    if (!stream) stream = dev->legacy;
    return stream ? sim_host_wait_stream(stream, err) : SL_OK;
}

/* Those that change which memory there is. */
static bool keeps_lock(sim_call call) { return (int)call <= SL_PLAIN_HOST_UNREGISTER; }

static void spend(sim_device *dev, sim_call call, double us)
{
    const bool in_turns = dev->machine->threads && !dev->machine->running_host_func;
    if (in_turns) sim_threads_await_lock(dev->machine);
    sim_host_spend_us(dev, us);
    if (in_turns && keeps_lock(call)) sim_threads_keep_lock(dev->machine);
}

sl_status sim_call_make(sim_device *dev, sim_call call, sim_stream *stream, size_t bytes,
                        bool *waited, sl_error *err)
{
    const sim_call_cost *cost = &dev->profile.calls[call];
    const bool applies = (double)bytes >= cost->from_bytes;
    if (waited) *waited = applies && cost->waits != SIM_NOTHING;
    if (applies && cost->waits) {
        sl_status status = wait_as_profiled(dev, cost, stream, err);
        if (status != SL_OK) return status;
    }
    if (applies && cost->serialises) {
        sl_status status = sim_host_catch_up(dev, err);
        if (status != SL_OK) return status;
        sim_barriers_put(dev, cost->serialises);
    }
    spend(dev, call, cost->us + cost->us_per_mib * (double)bytes / MIB);
    return SL_OK;
}

/* As most calls have none. */
static bool has_no_effect(const sim_call_cost *cost)
{
    return !cost->waits && !cost->serialises && cost->us == 0 && cost->us_per_mib == 0;
}

void sim_calls_figures(sim_device *dev)
{
    dev->enqueues_only = true;
    for (int call = SIM_CALL_LAUNCH; call <= SIM_CALL_HOST_FUNC; call++)
        dev->enqueues_only &= has_no_effect(&dev->profile.calls[call]);
}

sl_status sim_call_enqueue(sim_op *op, sl_error *err)
{
    sim_device *dev = sim_device_of(op);
    if (dev->enqueues_only) return SL_OK;
    const sim_call call = call_of(&op->base);
    if (has_no_effect(&dev->profile.calls[call])) return SL_OK;
    return sim_call_make(dev, call, sim_stream_of(op), bytes_of(&op->base), NULL, err);
}
