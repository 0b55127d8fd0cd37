/* sim_backend.c - the simulator's functions for core/backend.h: opening, reaping, waiting. sim.h
 * lists the files that have the rules. */
#include "costs.h"
#include "host.h"
#include "sim_backend.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "blas.h"
#include "sim_comm.h"
#include "sim_graph.h"
#include "interrupt_flag.h"
#include "value_memory.h"

static sim_device *device_of_stream(const sl_stream *stream)
{
    return (sim_device *)stream->device;
}

/* ---- device ---- */

sl_status sim_device_count(int *count, sl_error *err)
{
    (void)err;
    *count = SIM_MOST_DEVICES;
    return SL_OK;
}

/* The profile, which has a name, is known only when the device is open. */
sl_status sim_device_name(int index, char *name, size_t name_bytes, sl_error *err)
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

void sim_device_close(sl_device *base)
{
    sim_device *dev = (sim_device *)base;
    sim_ordered_close(dev);
    sim_chip_close(dev);
    sim_costs_close(dev);
    sim_queue_close(dev);
    sim_machine_leave(dev);
    sim_profile_free(&dev->profile);
}

sl_status sim_device_open(sl_device *base, const sl_setting *settings, size_t n_settings,
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
    sim_calls_figures(dev);
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

sl_status sim_stream_open(sl_stream *base, const char *name, sl_error *err)
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

void sim_stream_close(sl_stream *base)
{
    sim_stream *stream = (sim_stream *)base;
    sim_ordered_stream_closed(stream);
    SL__UNLINK(stream, all_next, all_link);
}

sl_status sim_event_open(sl_event *base, sl_error *err)
{
    sim_device *dev = (sim_device *)base->device;
    sim_host_spend_us(dev, dev->profile.host_event_create_us);
    return sim_call_make(dev, SIM_CALL_EVENT_CREATE, NULL, 0, NULL, err);
}

void sim_event_close(sl_event *base)
{
    sim_record_release(((const sim_device *)base->device)->machine, ((sim_event *)base)->record);
}

/* ---- reaping, asking and waiting ---- */

sl_op *sim_reap(sl_device *base)
{
    sim_device *dev = (sim_device *)base;
    sl_op *chain = dev->done_head ? &dev->done_head->base : NULL;
    dev->done_head = dev->done_tail = NULL;
    return chain;
}

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

sl_status sim_stream_query(sl_stream *base, bool *done, sl_error *err)
{
    sim_device *dev = device_of_stream(base);
    sim_host_spend_us(dev, dev->profile.host_query_us);
    sl_status status = sim_host_catch_up(dev, err);
    *done = sim_host_sees_idle((sim_stream *)base);
    return status == SL_OK ? values_lost(dev, err) : status;
}

sl_status sim_stream_synchronize(sl_stream *base, sl_error *err)
{
    sim_device *dev = device_of_stream(base);
    sim_host_spend_us(dev, dev->profile.host_synchronize_us);
    return synchronized(dev, sim_host_wait_stream((sim_stream *)base, err), err);
}

sl_status sim_event_query(sl_event *base, bool *done, sl_error *err)
{
    sim_device *dev = (sim_device *)base->device;
    sim_host_spend_us(dev, dev->profile.host_query_us);
    sl_status status = sim_host_catch_up(dev, err);
    const sim_record *record = ((sim_event *)base)->record;
    *done = !record || record->done;
    return status == SL_OK ? values_lost(dev, err) : status;
}

sl_status sim_event_synchronize(sl_event *base, sl_error *err)
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

sl_status sim_event_elapsed(sl_event *start, sl_event *end, double *ms, sl_error *err)
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

sl_status sim_device_synchronize(sl_device *base, sl_error *err)
{
    sim_device *dev = (sim_device *)base;
    sim_host_spend_us(dev, dev->profile.host_synchronize_us);
    return synchronized(dev, sim_host_wait_idle(dev, err), err);
}

bool sim_end_wait(sl_device *base)
{
    const sim_machine *machine = ((const sim_device *)base)->machine;
    const sim_meeting *m = sim_stuck_meeting(machine);
    sim_op *op = m ? NULL : sim_stuck_word(machine);
    if (m) sim_comm_abort(m->ops->base.comm->all);
    if (op) sim_word_end(op);
    return m || op;
}

/* ---- the host ---- */

int64_t sim_host_now_ns(sl_device *base)
{
    sim_device *dev = (sim_device *)base;
    sim_ps at = dev->machine->running_host_func
                    ? sim_later(dev->machine->now, dev->machine->host_func_ps)
                    : dev->machine->host_at;
    return at / SIM_PS_PER_NS;
}

sl_status sim_host_work(sl_device *base, int64_t duration_ns, sl_error *err)
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
sl_status sim_plain_call(sl_device *base, sl_plain_call call, sl_buffer *buffer, sl_stream *stream,
                         size_t bytes, bool *waited, sl_error *err)
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

sl_status sim_record_begin(sl_device *base, const char *name, sl_error *err)
{
    (void)name, (void)err;
    sim_host_forget_calls((sim_device *)base);
    return SL_OK;
}

void sim_record_collect(sl_device *base, sl_activity_fn fn, void *ud)
{
    (void)base, (void)fn, (void)ud;
}

void sim_record_end(sl_device *base) { (void)base; }

static sl_status enqueue(sl_op *const *ops, size_t n, sl_error *err)
{
    return ops[0]->comm ? sim_comm_enqueue(ops, n, err) : sim_enqueue(ops[0], err);
}

/* clang-format off */
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
    .meeting_bytes = sizeof(sim_meeting),
    .thread_bytes = sizeof(sim_thread),
    .peer_copies = true,
    .comm_alone = true,
    .device_set_figures = sim_device_set_figures,
    .enqueue = enqueue,
    .custom_key = sl_emulate_key,
    .custom_build = sl_emulate_build,
    .thread_open = sim_thread_open,
    .thread_turn = sim_thread_turn,
    .thread_end = sim_thread_end,
    .thread_query = sim_thread_query,
    .thread_join = sim_thread_join,
    .pending_s = sim_buffer_pending_s,
    .preload = sim_blas_load,
#define X(entry) .entry = sim_##entry,
    SL_BACKEND_ENTRIES(X)
#undef X
};
/* clang-format on */
