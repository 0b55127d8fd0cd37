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

static sl__observer on;

/* Switches it off. The script continues. */
static void give_up(sl__checker *checker, sl_device *device)
{
    clear(checker);
    sl__races_finish(checker);
    checker->starved = false;
    checker->mode = SL_CHECK_OFF;
    sl__unobserve(&on);
    sl__device_fail_later(device, SL_ENOMEM, "the race checker ran out of memory and is off");
}

static sl_status call(sl_plain_call which, sl_buffer *buffer, sl_stream *stream, sl_error *err)
{
    return which == SL_PLAIN_FREE_ASYNC && !sl__race->starved
               ? sl__race_free_async(sl__race, buffer, stream, err)
               : SL_OK;
}

/* What a call allocates or frees, then what it happened to wait for. */
static void called(sl_device *device, sl_plain_call which, sl_buffer *buffer, sl_stream *stream,
                   bool waited)
{
    sl__checker *checker = sl__race;
    const char *name = sl__plain_call_names[which];
    bool frees = which == SL_PLAIN_FREE || which == SL_PLAIN_FREE_HOST;
    if (checker->starved) return;
    if (which == SL_PLAIN_MALLOC_ASYNC) sl__race_allocated(checker, buffer, stream);
    if (frees) sl__race_freed(checker, buffer, name, waited);
    if ((frees || which == SL_PLAIN_FREE_ASYNC) && !checker->starved)
        sl__race_is_freed(checker, buffer, name);
    if (waited && !checker->starved) sl__race_call_waited(device, name);
}

static void reaped(sl_device *device)
{
    if (sl__race->starved) give_up(sl__race, device);
    if (sl__race->has_unreported) sl__races_report(sl__race);
}

/* clang-format off */
static sl__observer on = {
    .needs_order = true,
    .call = call,
    .called = called,
    .thread = sl__race_thread_news,
    .meeting_closed = sl__race_ranks_closed,
    .reaped = reaped,
#define X(what) .what = sl__race_##what,
    SL__RACE_OBSERVES(X)
#undef X
};
/* clang-format on */

/* ---- on and off ---- */

sl_status sl_check(sl_check_mode mode, sl_error *err)
{
    if (mode != SL_CHECK_OFF && mode != SL_CHECK_WARN && mode != SL_CHECK_ERROR)
        return sl_fail(err, SL_EINVAL, "there is no such mode of the race checker");
    if (sl__host_func_depth)
        return sl_fail(err, SL_ESTATE, "a host function must not switch the race checker");
    sl__checker *checker = sl__race_make();
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
