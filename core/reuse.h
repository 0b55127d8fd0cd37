/* reuse.h - the next tensor of a stream gets memory that was freed in that stream before the work
 * that uses it has completed, as in PyTorch's allocator and with cudaFreeAsync followed by
 * cudaMallocAsync.
 *
 * A buffer's home is the stream that it was made in. When only operations in flight hold a buffer,
 * and all of these are in its home stream, a new buffer of that stream may take over the memory if
 * it is as large, or not smaller than about half: the operations of the new buffer come behind
 * those of the old one. The old buffer is then the lender, the new one the heir, until the lender's
 * operations have retired.
 *
 * Only operations of the home stream come behind the lender's. So the heir gets memory of its own
 * when its first use is in another stream (here PyTorch has a race), or uses a part only: another
 * stream could then use the rest, and nothing would order the two. Memory that operations of other
 * streams use is not lent before they have retired.
 */
#ifndef SL_REUSE_H
#define SL_REUSE_H

#include "backend.h"

/* An operation of `stream` starts to hold the buffer. */
static inline void sl__reuse_hold(sl_buffer *buffer, sl_stream *stream)
{
    buffer->uses++;
    if (stream->id != buffer->home || stream->device != buffer->device)
        buffer->foreign_uses++;
    else
        buffer->home_stream = stream;
}

/* It no longer does; its reference is dropped afterwards. */
static inline void sl__reuse_let_go(sl_buffer *buffer, const sl_stream *stream)
{
    buffer->uses--;
    if (stream->id != buffer->home || stream->device != buffer->device) buffer->foreign_uses--;
}

/* Called when a reference has been dropped: if only operations hold the buffer, its memory may be
 * lent. */
void sl__reuse_offer(sl_buffer *buffer);

/* Finds a lender for the buffer among what was freed in `stream`. NULL: there is none. */
sl_buffer *sl__reuse_borrow(sl_buffer *buffer, sl_stream *stream);

/* Undoes that: `lender` has its memory as before. */
void sl__reuse_return(sl_buffer *buffer, sl_buffer *lender);

/* Before the backend closes the buffer, and after. */
void sl__reuse_closing(sl_buffer *buffer);
void sl__reuse_closed(sl_buffer *buffer);

/* Called when the stream is closed. */
void sl__reuse_stream_closed(sl_stream *stream);

#endif
