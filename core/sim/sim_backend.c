/* sim_backend.c - the simulator's functions for core/backend.h: opening, enqueueing, waiting. sim.h
 * lists the files that have the rules. */
#include "host.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "blas.h"
#include "comm.h"
#include "graph.h"
#include "interrupt.h"
#include "value_memory.h"

static sim_device *device_of_stream(const sl_stream *stream)
{
    return (sim_device *)stream->device;
}

/* ---- device ---- */

static sl_status sim_device_count(int *count, sl_error *err)
{
    (void)err;
    *count = SIM_MOST_DEVICES;
    return SL_OK;
}

/* The profile, which has a name, is known only when the device is open. */
static sl_status sim_device_name(int index, char *name, size_t name_bytes, sl_error *err)
{
    (void)index, (void)err;
    snprintf(name, name_bytes, "simulated GPU");
    return SL_OK;
}

static void fill_info(sim_device *dev)
{
    const sim_profile *p = &dev->profile;
    sl_device_info *info = &dev->base.info;
    snprintf(info->name, sizeof info->name, "%s", p->name);
    snprintf(info->profile, sizeof info->profile, "%s", p->profile);
    info->simulated = true;
    info->repeats = info->times_at_once = info->knows_causes = info->needs_no_code = true;
    info->sm_count = (int)p->sm_count;
    info->async_engine_count = (int)p->async_engine_count;
    info->memory_bytes = isinf(p->memory_bytes) ? INT64_MAX : (int64_t)p->memory_bytes;
    info->compute_capability_major = p->compute_capability_major;
    info->compute_capability_minor = p->compute_capability_minor;
    info->priority_least = (int)p->priority_least;
    info->priority_greatest = (int)p->priority_greatest;
    info->max_threads_per_block = (int)p->max_threads_per_block;
    info->max_shared_bytes_per_block = (int64_t)p->shared_bytes_per_block;
    info->graph = sim_graph_costs(p);
}

static void sim_device_close(sl_device *base)
{
    sim_device *dev = (sim_device *)base;
    sim_ordered_close(dev);
    sim_chip_close(dev);
    sim_costs_close(dev);
    sim_queue_close(dev);
    sim_machine_leave(dev);
    sim_profile_free(&dev->profile);
}

static sl_status sim_device_open(sl_device *base, const sl_setting *settings, size_t n_settings,
                                 sl_error *err)
{
    sim_device *dev = (sim_device *)base;
    sl_status status = sim_profile_read(&dev->profile, settings, n_settings, err);
    if (status != SL_OK) return status;
    status = sim_machine_join(dev, (sim_device *)base->beside, err);
    if (status != SL_OK) {
        sim_profile_free(&dev->profile);
        return status;
    }
    fill_info(dev);
    dev->driver_stream.device = base;
    sim_host_forget_calls(dev);
    sim_interrupt_flag = base->interrupted;
    sim_memory_keep(dev->profile.values_kept != 0);
    if (!sim_queue_open(dev) || !sim_chip_open(dev) || !sim_costs_open(dev)) {
        sim_device_close(base);
        return sl__no_memory(err, "a simulated device");
    }
    return SL_OK;
}

/* ---- streams and events ---- */

static sl_status sim_stream_open(sl_stream *base, const char *name, sl_error *err)
{
    (void)name;
    sim_device *dev = device_of_stream(base);
    sim_stream *stream = (sim_stream *)base;
    if (!base->legacy) {
        sl_status status = sim_call_make(dev, SIM_CALL_STREAM_CREATE, NULL, 0, NULL, err);
        if (status != SL_OK) return status;
    }
    sim_stream_init(stream);
    SL__PUSH(dev->streams, stream, all_next, all_link);
    if (!base->legacy) sim_host_spend_us(dev, dev->profile.host_stream_create_us);
    return SL_OK;
}

static void sim_stream_close(sl_stream *base)
{
    sim_stream *stream = (sim_stream *)base;
    sim_ordered_stream_closed(stream);
    SL__UNLINK(stream, all_next, all_link);
}

static sl_status sim_event_open(sl_event *base, sl_error *err)
{
    sim_device *dev = (sim_device *)base->device;
    sim_host_spend_us(dev, dev->profile.host_event_create_us);
    return sim_call_make(dev, SIM_CALL_EVENT_CREATE, NULL, 0, NULL, err);
}

static void sim_event_close(sl_event *base)
{
    sim_record_release(((const sim_device *)base->device)->machine, ((sim_event *)base)->record);
}

/* ---- enqueueing ---- */

static bool runs_on_sms(const sim_device *dev, const sl_work *work)
{
    return work->kind == SL_WORK_KERNEL || work->kind == SL_WORK_MEMSET
           || (work->kind == SL_WORK_MEMCPY && sim_copies_on_sm(dev, work));
}

static void describe(sim_op *op)
{
    sl_op *base = &op->base;
    const sl_work *work = &base->work;
    base->engine = (uint8_t)sl_work_row_of(work->kind)->engine;
    if (work->kind == SL_WORK_GRAPH) base->engine = ((const sim_graph *)base->graph)->first_engine;
    if (work->kind != SL_WORK_MEMCPY) return;
    if (!sim_copies_on_sm(sim_device_of(op), work))
        base->engine = (uint8_t)sl_copy_engine(base->stream->device->info.async_engine_count,
                                               (sl_span_kind)work->copy_kind);
    op->staged = base->span_flags & (SL_SPAN_SRC_PAGEABLE | SL_SPAN_DST_PAGEABLE) ? 0 : work->bytes;
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

/* Only kernels have registers and shared memory: CUPTI does not report those of memsets and
 * copies. */
void sim_describe_launch(sl_op *op, const sim_launch *launch)
{
    const sim_profile *profile = &((const sim_device *)op->stream->device)->profile;
    op->blocks = launch->grid;
    op->kernels_after = launch->reduce_blocks > 0;
    op->kernels = 1 + op->kernels_after;
    op->threads = (uint16_t)(op->work.threads ? op->work.threads : (uint32_t)launch->threads);
    if (op->work.kind != SL_WORK_KERNEL && op->work.kind != SL_WORK_COLLECTIVE) return;
    op->registers = (uint16_t)(launch->registers / launch->threads);
    op->shared_bytes = (uint32_t)(launch->shared_bytes - (int64_t)profile->shared_reserved_bytes);
}

static sl_status choose_launch(sim_op *op, sl_error *err)
{
    sim_device *dev = sim_device_of(op);
    sim_known_launch *known = sim_launch_known(dev, &op->base.work);
    sl_status status;
    op->warm = sim_finds_warm(&op->base);
    if (known) {
        status = sim_launch_when(dev, known, op->warm, err);
        op->launch = known->launch;
    } else {
        status = sim_costs_launch(dev, &op->base.work, op->warm, &op->launch, err);
    }
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
    if (runs_on_sms(dev, &op->base.work)) {
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
        op->written = sim_engine_reads(op->base.side[0].buffer, op->base.work.bytes);
}

static void forget_capture(sim_op *op)
{
    sim_record_release(sim_device_of(op)->machine, op->record);
    sim_value_release(op->value[0]);
    op->record = NULL;
    op->value[0] = NULL;
    sim_graph_forget(op);
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

static sl_status sim_enqueue(sl_op *base, sl_error *err)
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
    if (!sim_queue_issue(op)) {
        forget_capture(op);
        return sl__no_memory(err, "the simulator");
    }
    /* From here on the call has succeeded. What the host could not stage for lack of memory moves
     * when there is memory again; a wait that finds the device stuck reports it. */
    op->in_call = dev->machine->threads != NULL;
    bool staged = after_issue(op, NULL) == SL_OK;
    sim_touch_operands(&op->base);
    if (!staged && op->piece > 0 && !op->done) sim_copies_feed(op, base->work.bytes);
    base->host_end_ns = dev->machine->host_at / SIM_PS_PER_NS;
    if (op->in_call) call_returns(op);
    return SL_OK;
}

static sl_op *sim_reap(sl_device *base)
{
    sim_device *dev = (sim_device *)base;
    sl_op *chain = dev->done_head ? &dev->done_head->base : NULL;
    dev->done_head = dev->done_tail = NULL;
    return chain;
}

/* ---- asking and waiting ---- */

static sl_status values_lost(sim_device *dev, sl_error *err)
{
    if (!dev->out_of_memory) return SL_OK;
    dev->out_of_memory = false;
    return sl_fail(err, SL_ENOMEM, "the simulator ran out of host memory: a result was lost");
}

static sl_status synchronized(sim_device *dev, sl_status status, sl_error *err)
{
    if (status != SL_OK) return status;
    sim_ordered_trim(dev);
    return values_lost(dev, err);
}

static sl_status sim_stream_query(sl_stream *base, bool *done, sl_error *err)
{
    sim_device *dev = device_of_stream(base);
    sim_host_spend_us(dev, dev->profile.host_query_us);
    sl_status status = sim_host_catch_up(dev, err);
    *done = sim_host_sees_idle((sim_stream *)base);
    return status == SL_OK ? values_lost(dev, err) : status;
}

static sl_status sim_stream_synchronize(sl_stream *base, sl_error *err)
{
    sim_device *dev = device_of_stream(base);
    sim_host_spend_us(dev, dev->profile.host_synchronize_us);
    return synchronized(dev, sim_host_wait_stream((sim_stream *)base, err), err);
}

static sl_status sim_event_query(sl_event *base, bool *done, sl_error *err)
{
    sim_device *dev = (sim_device *)base->device;
    sim_host_spend_us(dev, dev->profile.host_query_us);
    sl_status status = sim_host_catch_up(dev, err);
    const sim_record *record = ((sim_event *)base)->record;
    *done = !record || record->done;
    return status == SL_OK ? values_lost(dev, err) : status;
}

static sl_status sim_event_synchronize(sl_event *base, sl_error *err)
{
    sim_device *dev = (sim_device *)base->device;
    sim_host_spend_us(dev, dev->profile.host_synchronize_us);
    sl_status status = sim_host_catch_up(dev, err);
    sim_record *record = ((sim_event *)base)->record;
    if (status == SL_OK && record && !record->done) status = sim_host_wait_record(dev, record, err);
    return synchronized(dev, status, err);
}

/* A timestamp is a whole number of ticks of the device's timer. */
static double tick_ns(const sim_device *dev, sim_ps at)
{
    double tick = dev->profile.event_tick_ns;
    double ticks = (double)at / (tick * SIM_PS_PER_NS);
    return (double)(int64_t)ticks * tick;
}

static sl_status sim_event_elapsed(sl_event *start, sl_event *end, double *ms, sl_error *err)
{
    sim_device *dev = (sim_device *)start->device;
    sl_status status = sim_host_catch_up(dev, err);
    if (status != SL_OK) return status;
    const sim_record *a = ((sim_event *)start)->record, *b = ((sim_event *)end)->record;
    if (!a->done || !b->done)
        return sl_fail(err, SL_ESTATE, "the %s event has not completed; synchronize first",
                       a->done ? "end" : "start");
    *ms = (tick_ns(dev, b->at) - tick_ns(dev, a->at)) / 1e6;
    return SL_OK;
}

static sl_status sim_device_synchronize(sl_device *base, sl_error *err)
{
    sim_device *dev = (sim_device *)base;
    sim_host_spend_us(dev, dev->profile.host_synchronize_us);
    return synchronized(dev, sim_host_wait_idle(dev, err), err);
}

/* ---- the host ---- */

static int64_t sim_host_now_ns(sl_device *base)
{
    sim_device *dev = (sim_device *)base;
    sim_ps at = dev->machine->running_host_func
                    ? sim_later(dev->machine->now, dev->machine->host_func_ps)
                    : dev->machine->host_at;
    return at / SIM_PS_PER_NS;
}

static sl_status sim_host_work(sl_device *base, int64_t duration_ns, sl_error *err)
{
    sim_device *dev = (sim_device *)base;
    sim_host_spend_us(dev, (double)duration_ns / 1e3);
    sl_status status = sim_host_catch_up(dev, err);
    return status == SL_OK && duration_ns > 0 ? sim_host_check_time(dev, err) : status;
}

/* The pool's part of a call that names memory of cudaMallocAsync. */
static void call_pool(sim_device *dev, sl_plain_call call, const sim_stream *stream, size_t bytes)
{
    if (call == SL_PLAIN_MALLOC_ASYNC)
        sim_ordered_take(dev, stream, bytes);
    else
        sim_ordered_give(dev, stream, bytes);
}

/* Memory that the call frees goes with its buffer: buffer_close. */
static sl_status sim_plain_call(sl_device *base, sl_plain_call call, sl_buffer *buffer,
                                sl_stream *stream, size_t bytes, bool *waited, sl_error *err)
{
    sim_device *dev = (sim_device *)base;
    const bool ordered = buffer && buffer->how == SL_ALLOC_ASYNC;
    const sim_call as = ordered && call == SL_PLAIN_FREE ? SIM_CALL_FREE_ORDERED : (sim_call)call;
    sl_status status = ordered ? sim_host_catch_up(dev, err) : SL_OK;
    if (status == SL_OK) status = sim_call_make(dev, as, (sim_stream *)stream, bytes, waited, err);
    if (status == SL_OK && ordered) call_pool(dev, call, (sim_stream *)stream, bytes);
    return status == SL_OK ? sim_host_catch_up(dev, err) : status;
}

/* ---- recording: operations have their times when they are reaped ---- */

static sl_status sim_record_begin(sl_device *base, const char *name, sl_error *err)
{
    (void)name, (void)err;
    sim_host_forget_calls((sim_device *)base);
    return SL_OK;
}

static void sim_record_collect(sl_device *base, sl_activity_fn fn, void *ud)
{
    (void)base, (void)fn, (void)ud;
}

static void sim_record_end(sl_device *base) { (void)base; }

const sl_backend sl_sim_backend = {
    .abi_version = SL_BACKEND_ABI,
    .name = "sim",
    .device_bytes = sizeof(sim_device),
    .stream_bytes = sizeof(sim_stream),
    .event_bytes = sizeof(sim_event),
    .buffer_bytes = sizeof(sim_buffer),
    .op_bytes = sizeof(sim_op),
    .graph_bytes = sizeof(sim_graph),
    .custom_bytes = sizeof(sim_custom),
    .comm_bytes = sizeof(sim_comm),
    .thread_bytes = sizeof(sim_thread),
    .peer_copies = true,
    .comm_alone = true,
    .device_count = sim_device_count,
    .device_name = sim_device_name,
    .device_open = sim_device_open,
    .device_close = sim_device_close,
    .device_set_figures = sim_device_set_figures,
    .stream_open = sim_stream_open,
    .stream_close = sim_stream_close,
    .event_open = sim_event_open,
    .event_close = sim_event_close,
    .buffer_open = sim_buffer_open,
    .buffer_close = sim_buffer_close,
    .buffer_part = sim_buffer_part,
    .enqueue = sim_enqueue,
    .reap = sim_reap,
    .capture_begin = sim_capture_begin,
    .capture_end = sim_capture_end,
    .capture_status = sim_capture_status,
    .graph_open = sim_graph_open,
    .graph_update = sim_graph_update,
    .graph_close = sim_graph_close,
    .custom_key = sim_custom_key,
    .custom_build = sim_custom_build,
    .custom_open = sim_custom_open,
    .custom_close = sim_custom_close,
    .custom_occupancy = sim_custom_occupancy,
    .comm_open = sim_comm_open,
    .comm_close = sim_comm_close,
    .comm_abort = sim_comm_abort,
    .comm_enqueue = sim_comm_enqueue,
    .stream_query = sim_stream_query,
    .stream_synchronize = sim_stream_synchronize,
    .event_query = sim_event_query,
    .event_synchronize = sim_event_synchronize,
    .event_elapsed = sim_event_elapsed,
    .device_synchronize = sim_device_synchronize,
    .thread_open = sim_thread_open,
    .thread_turn = sim_thread_turn,
    .thread_end = sim_thread_end,
    .thread_query = sim_thread_query,
    .thread_join = sim_thread_join,
    .host_now_ns = sim_host_now_ns,
    .host_work = sim_host_work,
    .host_compute = sim_host_compute,
    .host_read = sim_host_read,
    .host_write = sim_host_write,
    .host_pin = sim_host_pin,
    .plain_call = sim_plain_call,
    .memory_info = sim_memory_info,
    .peer_access = sim_peer_access,
    .record_begin = sim_record_begin,
    .record_collect = sim_record_collect,
    .record_end = sim_record_end,
    .pending_s = sim_buffer_pending_s,
    .preload = sim_blas_load,
};
