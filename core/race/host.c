/* host.c - what the host touches and frees, itself or in a host function. */
#include "../device.h"
#include "state.h"

/* ---- the host's accesses --------------------------------------------------------- */

/* A host function from before the checker was on, of which nothing is known. */
static bool is_unknown(void)
{
    return sl__host_func_depth > 0 && !sl__race.running;
}

static sl__actor actor_now(void)
{
    if (!sl__race.running)
        return sl__order_host();
    return (sl__actor){ .point = sl__race.running->point, .is_late = true };
}

/* Met, and noted where something to come may race with it: what the host enqueues comes after
 * it, host functions that are waiting may not. */
static bool touch_by_host(sl__touch *t, sl_device *device, const char *what)
{
    const sl__point *point = &t->actor->point;
    bool late = t->actor->is_late;

    t->access.epoch = point->epoch;
    t->access.slot = point->slot;
    t->access.first = t->first;
    t->access.end = t->end;
    t->access.by = late ? SL__BY_HOST_FUNC : SL__BY_HOST;
    t->access.seq = late ? sl__race.running_seq : 0;
    t->access.what = sl__race_text(what);
    t->access.where = sl__race_where(device);
    t->access.host_ns = device->backend->host_now_ns(device);
    sl__touch_meet(t);
    if (sl__race.starved)
        return false;
    if (t->is_refused || (!late && sl__race.n_waiting == 0))
        return true;
    return sl__touch_note(t);
}

sl_status sl__race_host(sl_buffer *buffer, sl_race_access_kind kind, const char *what,
                        size_t first, size_t n_bytes, sl_error *err)
{
    const sl__actor actor = actor_now();
    sl__touch t = {
        .buffer = buffer, .actor = &actor, .first = first, .end = first + n_bytes,
        .access = { .kind = (uint8_t)kind },
    };

    if (is_unknown())
        return SL_OK;
    if (!touch_by_host(&t, buffer->device, what)) {
        sl__race_give_up(buffer->device);
        return SL_OK;
    }
    return t.is_refused ? sl__found_fail(err) : SL_OK;
}

void sl__race_freed(sl_buffer *buffer, const char *what, bool waited)
{
    const sl__actor actor = sl__order_host();
    sl__touch t = {
        .buffer = buffer, .actor = &actor, .end = buffer->bytes, .has_happened = true,
        .frees_by_waiting = waited,
        .access = { .kind = SL_ACCESS_FREE },
    };

    if (!touch_by_host(&t, buffer->device, what))
        sl__race_give_up(buffer->device);
}

sl_status sl__race_free_async(sl_buffer *buffer, sl_stream *stream, sl_error *err)
{
    sl_device *device = stream->device;
    sl__actor actor;
    sl__touch t = {
        .buffer = buffer, .actor = &actor, .end = buffer->bytes,
        .access = {
            .kind = SL_ACCESS_FREE, .by = SL__BY_STREAM, .end = buffer->bytes,
            .where = device->core->where,
            .what = sl__strings_intern(&device->core->strings, "cudaFreeAsync"),
        },
    };

    if (!sl__order_next(stream, NULL, &actor)) {
        sl__race_give_up(device);
        return SL_OK;
    }
    t.access.epoch = actor.point.epoch;
    t.access.slot = actor.point.slot;
    sl__touch_meet(&t);
    if (sl__race.starved) {
        sl__race_give_up(device);
        return SL_OK;
    }
    if (!t.is_refused) {
        sl__order_happens(stream->race);
        return SL_OK;
    }
    sl__order_undo(stream->race);
    return sl__found_fail(err);
}

/* ---- host functions -------------------------------------------------------------- */

void sl__race_host_func_begin(const sl_op *op)
{
    uint32_t slot = op->stream->race ? op->stream->race->slot : 0;

    sl__race.running = NULL;
    for (size_t i = 0; i < sl__race.n_waiting; i++)
        if (sl__race.waiting[i].point.slot == slot
            && sl__race.waiting[i].point.epoch == op->race_epoch)
            sl__race.running = &sl__race.waiting[i];
    sl__race.running_seq = op->seq;
}

void sl__race_host_func_end(void)
{
    sl__race.running = NULL;
}
