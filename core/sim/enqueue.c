/* enqueue.c - the call that enqueues an operation: what it costs the host, and what it waits for
 * before and after its operation has entered the stream. sim_comm.c does so for collectives. */
#include "cache_state.h"
#include "copies.h"
#include "costs.h"
#include "host.h"
#include "sim_backend.h"

#include "sim_graph.h"

static void describe(sim_op *op)
{
    sl_op *base = &op->base;
    const sl_work *work = &base->work;
    base->engine = (uint8_t)sl_work_row_of(work->kind)->engine;
    if (work->kind == SL_WORK_GRAPH) base->engine = ((const sim_graph *)base->graph)->first_engine;
    if (!sim_takes_copy_engine(op)) return;
    base->engine = (uint8_t)sl_copy_engine(base->stream->device->info.async_engine_count,
                                           (sl_span_kind)work->copy_kind);
    op->moved.staged = base->span_flags & (SL_SPAN_SRC_PAGEABLE | SL_SPAN_DST_PAGEABLE)
                           ? 0
                           : work->bytes;
}

/* With lazy_load_us, the first use of each kind of kernel loads its code: the host
 * waits for the device (CUDA's guide, "Lazy Loading"), then for the loader. */
static sl_status load_kernel(sim_op *op, sl_error *err)
{
    sim_device *dev = sim_device_of(op);
    const sl_work *work = &op->base.work;
    bool *loaded = op->base.custom ? &((sim_custom *)op->base.custom->kernel)->loaded
                                   : &dev->loaded[work->kernel][work->dtype];
    if (work->kind != SL_WORK_KERNEL || dev->profile.lazy_load_us == 0 || *loaded) return SL_OK;
    sl_status status = sim_host_wait_idle(dev, err);
    if (status == SL_OK) {
        sim_host_spend_us(dev, dev->profile.lazy_load_us);
        *loaded = true;
        op->base.span_flags |= SL_SPAN_LOADED;
    }
    return status;
}

static bool waits_in_call(const sim_op *op)
{
    if (op->base.span_flags & SL_SPAN_SRC_PAGEABLE) return op->base.work.flags & SL_WORK_SYNC;
    return op->base.span_flags & SL_SPAN_DST_PAGEABLE;
}

/* A pageable copy to the host, and a blocking one (cudaMemcpy) from the host, wait in the call for
 * the stream's earlier work (docs/design/simulator.md, section 5). What they wait for is reported
 * as for any other operation. */
static sl_status wait_before_copy(sim_op *op, sl_error *err)
{
    sim_device *dev = sim_device_of(op);
    sim_stream *stream = sim_stream_of(op);
    if (!waits_in_call(op)) return SL_OK;
    sl_status status = sim_host_catch_up(dev, err);
    if (status != SL_OK || sim_host_sees_idle(stream)) return status;
    uint64_t last = stream->tail ? stream->tail->base.seq : 0;
    status = sim_host_wait_stream(stream, err);
    bool other = stream->base.legacy && dev->blocking_done != last;
    op->base.ready_cause = other ? SL_CAUSE_NULL_STREAM : SL_CAUSE_STREAM_ORDER;
    op->base.ready_by = other ? dev->blocking_done : last;
    return status;
}

static sl_status queue_stuck(const sim_machine *machine, sl_error *err)
{
    sl_status status = sim_stuck(machine, err);
    if (status != SL_OK) return status;
    return sl_fail(err, SL_ESTATE, "the launch queue is full and does not move");
}

/* A channel holds launch_queue_depth unfinished operations. */
static bool has_room(const void *op)
{
    const double most = sim_device_of(op)->profile.launch_queue_depth;
    return ((const sim_op *)op)->channel->unfinished < (int64_t)most;
}

/* If it has no room the call waits. */
sl_status sim_wait_for_queue(sim_op *op, sl_error *err)
{
    sim_device *dev = sim_device_of(op);
    uint32_t steps = 0;
    sl_status status = sim_host_catch_up(dev, err);
    op->channel = sim_queue_channel(op);
    while (status == SL_OK && !has_room(op)) {
        op->base.span_flags |= SL_SPAN_QUEUE_FULL;
        op->base.ready_cause = SL_CAUSE_NONE; /* instead of what a copy waited for before */
        op->base.ready_by = 0;
        if (sim_stopped(dev, &steps))
            status = sl_fail(err, SL_EINTERRUPT, "interrupted");
        else if (!(dev->machine->threads && sim_threads_wait(dev->machine, has_room, op))
                 && !sim_step(dev->machine))
            status = queue_stuck(dev->machine, err);
        sim_host_meet_device(dev);
    }
    return status;
}

/* A block of a kernel that says so has as many threads as it asks for, also where whole warps of
 * them run. Only kernels have registers and shared memory: CUPTI does not report those of memsets
 * and copies. */
void sim_describe_launch(sl_op *op, const sim_launch *launch)
{
    const sim_profile *profile = &((const sim_device *)op->stream->device)->profile;
    const bool is_kernel = op->work.kind == SL_WORK_KERNEL;
    op->blocks = launch->grid;
    op->kernels_after = launch->reduce_blocks > 0;
    op->kernels = 1 + op->kernels_after;
    op->threads = (uint16_t)(is_kernel && op->work.threads ? op->work.threads
                                                           : (uint32_t)launch->threads);
    if (!is_kernel && op->work.kind != SL_WORK_COLLECTIVE) return;
    op->registers = (uint16_t)(launch->registers / launch->threads);
    op->shared_bytes = (uint32_t)(launch->shared_bytes - (int64_t)profile->shared_reserved_bytes);
}

static sl_status choose_launch(sim_op *op, sl_error *err)
{
    sim_device *dev = sim_device_of(op);
    op->warm = sim_finds_warm(&op->base);
    sl_status status = sim_launch_of(dev, &op->base.work, op->warm, &op->launch, err);
    if (status == SL_OK) sim_describe_launch(&op->base, &op->launch);
    return status;
}

static sl_status prepare(sim_op *op, sl_error *err)
{
    sim_device *dev = sim_device_of(op);
    sl_status status = sim_host_check_time(dev, err);
    if (status != SL_OK) return status;
    if (op->base.work.kind == SL_WORK_KERNEL && op->base.work.kernel == SL_KERNEL_TRAP)
        return sl_fail(err, SL_EUNSUPPORTED, "a simulated GPU does not fail");
    describe(op);
    if (op->base.work.kind == SL_WORK_MEMCPY && sim_copies_alone_us(op) > SIM_LONGEST_US)
        return sl_fail(err, SL_EINVAL, "copying %zu bytes would take more than eleven days",
                       op->base.work.bytes);
    if (sim_runs_on_sms(op)) {
        status = choose_launch(op, err);
        if (op->base.work.flags & SL_WORK_GUESSED) op->base.span_flags |= SL_SPAN_GUESSED;
    }
    if (status == SL_OK) status = load_kernel(op, err);
    return status;
}

/* What the call does after its operation has entered the stream. */
static sl_status after_issue(sim_op *op, sl_error *err)
{
    const sl_work *work = &op->base.work;
    if (op->base.graph) return sim_graph_push(op, err);
    if (op->base.span_flags & SL_SPAN_SRC_PAGEABLE) return sim_host_stage_h2d(op, err);
    if (op->base.span_flags & SL_SPAN_DST_PAGEABLE) {
        op->base.span_flags |= SL_SPAN_HOST_WAITED;
        return sim_host_drain_d2h(op, err);
    }
    if (op->relays) sim_host_spend_us(sim_device_of(op), sim_relay_call_us(op));
    bool within_device = work->kind == SL_WORK_MEMCPY && work->copy_kind == SL_SPAN_MEMCPY_D2D;
    if ((work->flags & SL_WORK_SYNC) && !within_device) {
        op->base.span_flags |= SL_SPAN_HOST_WAITED;
        return sim_host_wait_op(op, err);
    }
    return SL_OK;
}

/* A wait refers to the record that is the latest now; pageable sources are read now. */
static void capture_at_call(sim_op *op)
{
    if (op->base.work.kind == SL_WORK_EVENT_WAIT) {
        op->record = ((sim_event *)op->base.event)->record;
        if (op->record) op->record->refs++;
    }
    if (op->base.span_flags & SL_SPAN_SRC_PAGEABLE)
        op->value[0] = sim_value_retain(((sim_buffer *)op->base.side[0].buffer)->value);
    if (op->base.span_flags & SL_SPAN_SRC_PINNED)
        op->moved.written = sim_engine_reads(op->base.side[0].buffer, op->base.work.bytes);
}

static void forget_capture(sim_op *op)
{
    if (op->base.work.kind == SL_WORK_EVENT_WAIT)
        sim_record_release(sim_device_of(op)->machine, op->record);
    if (op->base.graph) sim_graph_forget(op);
    sim_value_release(op->value[0]);
    op->value[0] = NULL;
}

/* The operation becomes a node. */
static sl_status enqueue_captured(sim_op *op, sl_error *err)
{
    sl_status status = prepare(op, err);
    if (status != SL_OK) return status;
    sim_touch_operands(&op->base);
    if (op->base.span_flags & SL_SPAN_DST_PAGEABLE) op->base.span_flags |= SL_SPAN_HOST_WAITED;
    sim_host_spend_us(sim_device_of(op), sim_graph_capture_us(op));
    op->base.host_end_ns = sim_device_of(op)->machine->host_at / SIM_PS_PER_NS;
    return SL_OK;
}

/* What was done before that is reaped from now on. */
static void call_returns(sim_op *op)
{
    op->in_call = false;
    if (op->done) sim_queue_give_to_core(op);
}

sl_status sim_enqueue(sl_op *base, sl_error *err)
{
    sim_op *op = (sim_op *)base;
    sim_device *dev = sim_device_of(op);
    base->host_start_ns = dev->machine->host_at / SIM_PS_PER_NS;
    if (base->captured) return enqueue_captured(op, err);
    sl_status status = prepare(op, err);
    if (status == SL_OK) status = sim_call_enqueue(op, err);
    if (status == SL_OK) status = wait_before_copy(op, err);
    if (status != SL_OK) return status;
    sim_host_spend_us(dev, sim_call_us(dev, sim_host_enqueue_us(op)));
    status = sim_wait_for_queue(op, err);
    if (status == SL_OK && base->graph) status = sim_graph_read(op, err);
    if (status != SL_OK) return status;
    if (base->stream->device->threads) base->stream->device->threads->renumber(&base, 1);
    capture_at_call(op);
    sim_look_into_channel(op);
    if (!sim_queue_issue(op)) {
        forget_capture(op);
        return sl__no_memory(err, "the simulator");
    }
    /* From here on the call has succeeded. What the host could not stage for lack of memory moves
     * when there is memory again; a wait that finds the device stuck reports it. */
    op->in_call = dev->machine->threads != NULL;
    bool staged = after_issue(op, NULL) == SL_OK;
    sim_touch_operands(&op->base);
    if (!staged && sim_takes_copy_engine(op) && op->moved.piece > 0 && !op->done)
        sim_copies_feed(op, base->work.bytes);
    base->host_end_ns = dev->machine->host_at / SIM_PS_PER_NS;
    if (op->in_call) call_returns(op);
    return SL_OK;
}
