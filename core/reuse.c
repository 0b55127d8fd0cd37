/* reuse.c - lists of freed memory by stream, and who lends to whom. */
#include "reuse.h"

#include <stdlib.h>

#include "buffer.h"
#include "device.h"

/* By size class; memory of tensors, and memory of cudaMallocAsync. */
typedef struct sl__freed {
    sl_buffer *tensors[SL_SIZE_CLASSES];
    sl_buffer *async[SL_SIZE_CLASSES];
} sl__freed;

/* ---- the lists ---- */

static sl_buffer **lists_for(sl__freed *freed, const sl_buffer *buffer)
{
    return buffer->how == SL_ALLOC_TENSOR ? freed->tensors : freed->async;
}

/* Out of host memory for the lists: nothing is lent. */
static void enlist(sl_buffer *buffer, sl_stream *stream)
{
    if (!stream->freed) stream->freed = calloc(1, sizeof *stream->freed);
    if (!stream->freed) return;
    sl_buffer **list = &lists_for(stream->freed, buffer)[sl_size_class(buffer->bytes)];
    SL__PUSH(*list, buffer, freed_next, freed_link);
}

static void delist(sl_buffer *buffer)
{
    if (!buffer->freed_link) return;
    SL__UNLINK(buffer, freed_next, freed_link);
    buffer->freed_next = NULL;
    buffer->freed_link = NULL;
}

/* The stream in which later operations may use the memory. NULL: there is none. */
static sl_stream *stream_of(const sl_buffer *buffer)
{
    if (buffer->how == SL_ALLOC_ASYNC) return buffer->freed_in;
    return buffer->how == SL_ALLOC_TENSOR && buffer->foreign_uses == 0 ? buffer->home_stream : NULL;
}

void sl__reuse_offer(sl_buffer *buffer)
{
    if (buffer->uses == 0 || buffer->refs > buffer->uses || buffer->place != SL_ON_DEVICE
        || buffer->bytes == 0 || buffer->heir || buffer->freed_link)
        return;
    sl_stream *stream = stream_of(buffer);
    if (stream) enlist(buffer, stream);
}

/* Its operations have retired, and what only they held has been released. */
void sl__reuse_stream_closed(sl_stream *stream)
{
    free(stream->freed);
    stream->freed = NULL;
}

/* ---- lending ---- */

/* One of the buffer's size class, else the smallest that is at most about twice as large: memory
 * is not lent in parts, so a much larger one would be wasted. */
static sl_buffer *find_lender(sl__freed *freed, const sl_buffer *buffer)
{
    enum { TWICE = 8 };
    sl_buffer **lists = lists_for(freed, buffer);
    const unsigned first = sl_size_class(buffer->bytes);
    for (unsigned at = first; at <= first + TWICE && at < SL_SIZE_CLASSES; at++)
        if (lists[at]) return lists[at];
    return NULL;
}

sl_buffer *sl__reuse_borrow(sl_buffer *buffer, sl_stream *stream)
{
    if (!stream || !stream->freed || buffer->place != SL_ON_DEVICE || buffer->how == SL_ALLOC_PLAIN
        || buffer->bytes == 0)
        return NULL;
    sl_buffer *lender = find_lender(stream->freed, buffer);
    if (!lender) return NULL;
    delist(lender);
    sl__buffer_count(lender, -sl_lent_bytes(lender, buffer));
    lender->heir = buffer;
    buffer->lender = lender;
    return lender;
}

void sl__reuse_return(sl_buffer *buffer, sl_buffer *lender)
{
    buffer->lender = NULL;
    lender->heir = NULL;
    sl__buffer_count(lender, sl_lent_bytes(lender, buffer));
    sl__reuse_offer(lender);
}

void sl__reuse_closing(sl_buffer *buffer) { delist(buffer); }

void sl__reuse_closed(sl_buffer *buffer)
{
    if (buffer->heir) buffer->heir->lender = NULL;
    if (buffer->lender) sl__reuse_return(buffer, buffer->lender);
}
