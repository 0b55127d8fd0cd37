/* stream_ordered.c - memory that is allocated and freed in the order of a stream: cudaMallocAsync
 * and cudaFreeAsync. */
#include "../device.h"
#include "state.h"

/* What a call does to all bytes of the memory, as an operation of the stream. False: out of
 * memory. */
static bool touch_all(sl__checker *checker, sl_buffer *buffer, sl_stream *stream, sl__touch *t,
                      sl__actor *actor)
{
    if (!sl__order_next(checker, stream, NULL, actor)) return false;
    t->checker = checker;
    t->buffer = buffer;
    t->actor = actor;
    t->end = t->access.end = buffer->bytes;
    t->access.by = SL__BY_STREAM;
    t->access.where = stream->device->core->where;
    t->access.epoch = actor->point.epoch;
    t->access.slot = actor->point.slot;
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

static uint32_t text_in(const sl_stream *stream, const char *text)
{
    return sl__strings_intern(&stream->device->core->strings, text);
}

void sl__race_allocated(sl__checker *checker, sl_buffer *buffer, sl_stream *stream)
{
    sl__actor actor;
    sl__touch t = {
        .access = { .kind = SL_ACCESS_ALLOCATE, .what = text_in(stream, "cudaMallocAsync") },
    };
    if (!touch_all(checker, buffer, stream, &t, &actor) || !sl__touch_note(&t)) {
        checker->starved = true;
        return;
    }
    happens(checker, stream);
}

sl_status sl__race_free_async(sl__checker *checker, sl_buffer *buffer, sl_stream *stream,
                              sl_error *err)
{
    sl__actor actor;
    sl__touch t = {
        .access = { .kind = SL_ACCESS_FREE, .what = text_in(stream, "cudaFreeAsync") },
    };
    bool done = touch_all(checker, buffer, stream, &t, &actor);
    if (done) sl__touch_check(&t);
    if (!done || checker->starved) {
        checker->starved = true;
        return SL_OK;
    }
    if (!t.is_refused) {
        happens(checker, stream);
        return SL_OK;
    }
    sl__order_undo(checker, stream->race);
    return sl__races_fail(checker, err);
}
