/* stream_ordered.c - memory that is allocated and freed in the order of a stream: cudaMallocAsync
 * and cudaFreeAsync. */
#include "../device.h"
#include "state.h"

/* A call that does something to all bytes of the memory, as an operation of the stream. False: out
 * of memory. */
static bool begin(sl__checker *checker, sl_buffer *buffer, sl_stream *stream,
                  sl_race_access_kind kind, sl__actor *actor, sl__touch *t)
{
    sl__device_core *core = stream->device->core;
    if (!sl__order_next(checker, stream, NULL, actor)) return false;
    *t = sl__touch_of_all(checker, buffer, kind, actor);
    t->access.where = core->where;
    t->access.what = sl__strings_intern(&core->strings, kind == SL_ACCESS_FREE ? "cudaFreeAsync"
                                                                               : "cudaMallocAsync");
    return true;
}

/* In the NULL stream it comes after what is in blocking streams, but puts nothing there that would
 * keep these apart. */
static void happens(sl__checker *checker, const sl_stream *stream)
{
    if (stream->legacy)
        sl__order_undo(checker, stream->race);
    else
        sl__order_happens(checker, stream->race);
}

void sl__race_allocated(sl__checker *checker, sl_buffer *buffer, sl_stream *stream)
{
    sl__actor actor;
    sl__touch t;
    if (begin(checker, buffer, stream, SL_ACCESS_ALLOCATE, &actor, &t) && sl__touch_note(&t))
        happens(checker, stream);
    else
        checker->starved = true;
}

sl_status sl__race_free_async(sl__checker *checker, sl_buffer *buffer, sl_stream *stream,
                              sl_error *err)
{
    sl__actor actor;
    sl__touch t;
    if (!begin(checker, buffer, stream, SL_ACCESS_FREE, &actor, &t)) {
        checker->starved = true;
        return SL_OK;
    }
    sl__touch_check(&t);
    if (checker->starved) return SL_OK;
    if (!t.is_refused) {
        happens(checker, stream);
        return SL_OK;
    }
    sl__order_undo(checker, stream->race);
    return sl__races_fail(checker, err);
}
