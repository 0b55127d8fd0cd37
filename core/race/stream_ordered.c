/* stream_ordered.c - memory that is freed in the order of a stream: cudaFreeAsync. */
#include "../device.h"
#include "state.h"

sl_status sl__race_free_async(sl__checker *checker, sl_buffer *buffer, sl_stream *stream,
                              sl_error *err)
{
    sl_device *device = stream->device;
    sl__actor actor;
    sl__touch t = {
        .checker = checker, .buffer = buffer, .actor = &actor, .end = buffer->bytes,
        .access = {
            .kind = SL_ACCESS_FREE, .by = SL__BY_STREAM, .end = buffer->bytes,
            .where = device->core->where,
            .what = sl__strings_intern(&device->core->strings, "cudaFreeAsync"),
        },
    };

    if (!sl__order_next(checker, stream, NULL, &actor)) {
        sl__race_give_up(checker, device);
        return SL_OK;
    }
    t.access.epoch = actor.point.epoch;
    t.access.slot = actor.point.slot;
    sl__touch_check(&t);
    if (checker->starved) {
        sl__race_give_up(checker, device);
        return SL_OK;
    }
    if (!t.is_refused) {
        sl__order_happens(checker, stream->race);
        return SL_OK;
    }
    sl__order_undo(checker, stream->race);
    return sl__races_fail(checker, err);
}
