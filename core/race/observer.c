/* observer.c - the race checker as an observer of the core: switching it on and off, and what the
 * core tells it. */
#include "../device.h"
#include "replays.h"
#include "state.h"

static void clear(sl__checker *checker)
{
    while (checker->memories)
        sl__touch_forget(checker->memories);
    sl__race_records_clear(checker);
    sl__replay_clear(checker);
    sl__race_ranks_clear(checker);
    sl__waiting_clear(checker);
    sl__threads_clear(checker);
    sl__order_clear(checker);
}

/* `on` is told all, `leaving` only when to report the last races. */
static sl__observer on, leaving;

/* Switches it off. The script continues. */
static void give_up(sl__checker *checker, sl_device *device)
{
    clear(checker);
    sl__races_finish(checker);
    checker->starved = false;
    checker->mode = SL_CHECK_OFF;
    sl__unobserve(&on);
    sl__observe(&leaving);
    sl__device_fail_later(device, SL_ENOMEM, "the race checker ran out of memory and is off");
}

/* The end of what has been told. */
static void end(sl_device *device)
{
    if (sl__race->starved) give_up(sl__race, device);
}

/* ---- operations ---- */

static sl_status enqueue(sl_op *const *ops, size_t n, sl_error *err)
{
    sl_status status = sl__race_enqueue(sl__race, ops, n, err);
    end(ops[0]->stream->device);
    return status;
}

static void cancelled(sl_op *const *ops, size_t n) { sl__race_cancelled(sl__race, ops, n); }

static void enqueued(sl_op *const *ops, size_t n)
{
    sl__race_enqueued(sl__race, ops, n);
    end(ops[0]->stream->device);
}

static void retired(const sl_op *op) { sl__race_retired(sl__race, op); }

static void part_enqueued(sl__race_ranks **of, const sl_op *op)
{
    sl__race_rank_called(sl__race, of, op);
    end(op->stream->device);
}

static void met(sl__race_ranks **of, sl_device *device)
{
    sl__race_ranks_met(sl__race, of);
    end(device);
}

/* ---- the host ---- */

static void waited_for_stream(sl_stream *stream, sl_race_accident accident)
{
    if (accident == SL_ACCIDENT_UNKNOWN)
        sl__race_waited_stream(sl__race, stream);
    else
        sl__race_waited_stream_by_accident(sl__race, stream, accident);
    end(stream->device);
}

static void waited_for_event(sl_event *event)
{
    sl__race_waited_event(sl__race, event);
    end(event->device);
}

static void waited_for_device(sl_device *device)
{
    sl__race_waited_device(sl__race, device);
    end(device);
}

static sl_status access(const sl_operand *list, int n, sl_error *err)
{
    sl_status status = sl__race_host(sl__race, list, n, err);
    end(list[0].buffer->device);
    return status;
}

static sl_status call(sl_plain_call which, sl_buffer *buffer, sl_stream *stream, sl_error *err)
{
    sl_status status;
    if (which != SL_PLAIN_FREE_ASYNC) return SL_OK;
    status = sl__race_free_async(sl__race, buffer, stream, err);
    end(buffer->device);
    return status;
}

/* What a call allocates or frees, then what it happened to wait for. */
static void note_call(sl__checker *checker, sl_device *device, sl_plain_call which,
                      sl_buffer *buffer, sl_stream *stream, bool waited)
{
    const char *name = sl__plain_call_names[which];
    bool frees = which == SL_PLAIN_FREE || which == SL_PLAIN_FREE_HOST;
    if (which == SL_PLAIN_MALLOC_ASYNC) sl__race_allocated(checker, buffer, stream);
    if (frees) sl__race_freed(checker, buffer, name, waited);
    if ((frees || which == SL_PLAIN_FREE_ASYNC) && !checker->starved)
        sl__race_is_freed(checker, buffer, name);
    if (waited && !checker->starved) sl__race_waited_device_by_accident(checker, device, name);
}

static void called(sl_device *device, sl_plain_call which, sl_buffer *buffer, sl_stream *stream,
                   bool waited)
{
    note_call(sl__race, device, which, buffer, stream, waited);
    end(device);
}

static void thread(sl_device *device, uint32_t number, sl__thread_news news)
{
    switch (news) {
    case SL__THREAD_STARTED: sl__race_thread_started(sl__race, number); break;
    case SL__THREAD_RUNS: sl__race_thread_runs(sl__race, number); break;
    case SL__THREAD_ENDED: sl__race_thread_ended(sl__race, number, false); break;
    case SL__THREAD_JOINED: sl__race_thread_ended(sl__race, number, true); break;
    }
    end(device);
}

static void host_function(const sl_op *op, uint64_t run)
{
    if (op)
        sl__race_host_func_begin(sl__race, op, run);
    else
        sl__race_host_func_end(sl__race);
}

/* ---- objects ---- */

static void device_closed(sl_device *device) { sl__race_device_closed(sl__race, device); }

static void stream_closed(sl_stream *stream) { sl__race_stream_closed(sl__race, stream); }

static void reaped(sl_device *device)
{
    (void)device;
    if (sl__race->has_unreported) sl__races_report(sl__race);
    sl__unobserve(&leaving);
}

static sl__observer leaving = { .reaped = reaped };
static sl__observer on = {
    .needs_order = true,
    .enqueue = enqueue,
    .cancelled = cancelled,
    .enqueued = enqueued,
    .retired = retired,
    .part_enqueued = part_enqueued,
    .met = met,
    .waited_for_stream = waited_for_stream,
    .waited_for_event = waited_for_event,
    .waited_for_device = waited_for_device,
    .access = access,
    .call = call,
    .called = called,
    .thread = thread,
    .host_function = host_function,
    .device_closed = device_closed,
    .stream_closed = stream_closed,
    .event_closed = sl__race_event_closed,
    .buffer_closed = sl__race_buffer_closed,
    .graph_closed = sl__race_graph_closed,
    .meeting_closed = sl__race_ranks_closed,
    .graph_updated = sl__race_graph_updated,
    .reaped = reaped,
};

/* ---- on and off ---- */

sl_status sl_check(sl_check_mode mode, sl_error *err)
{
    sl__checker *checker;
    if (mode != SL_CHECK_OFF && mode != SL_CHECK_WARN && mode != SL_CHECK_ERROR)
        return sl_fail(err, SL_EINVAL, "there is no such mode of the race checker");
    if (sl__host_func_depth)
        return sl_fail(err, SL_ESTATE, "a host function must not switch the race checker");
    checker = sl__race_make();
    if (!checker) return sl__no_memory(err, "the race checker");
    clear(checker);
    if (mode == SL_CHECK_OFF) {
        sl__races_finish(checker); /* what is listed stays */
        sl__races_report(checker);
        sl__unobserve(&on);
    } else {
        sl__races_clear(checker);
        sl__strings_free(&checker->strings);
        checker->starved = false;
        sl__observe(&on);
    }
    checker->mode = mode;
    return SL_OK;
}

sl_check_mode sl_check_get_mode(void) { return sl__race ? sl__race->mode : SL_CHECK_OFF; }
