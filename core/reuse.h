/* reuse.h - memory that is freed in a stream goes to the next tensor of that stream at once,
 * as in PyTorch's allocator and with cudaFreeAsync, then cudaMallocAsync.
 *
 * A buffer's home is the stream that it was made in. When nobody but operations in flight
 * holds a buffer, and all of these are in its home stream, a new buffer of that stream that is
 * as large, or not smaller than about half of it, takes the memory over: the new one's
 * operations come behind the old one's. The old buffer is then the lender, the new one the
 * heir. That ends when the lender's operations have retired.
 *
 * Only operations of the home stream come behind the lender's. So when the heir's first use
 * is in another stream, it gets memory of its own (here PyTorch has a race); and when it is of
 * a part, for then another stream may use the rest without an order between the two. Memory
 * that other streams use is not given on before they have done so.
 */
#ifndef SL_REUSE_H
#define SL_REUSE_H

#include "backend.h"

/* An operation of `stream` comes to hold the buffer. */
static inline void sl__reuse_hold(sl_buffer *buffer, sl_stream *stream)
{
    buffer->uses++;
    if (stream->id != buffer->home || stream->device != buffer->device)
        buffer->foreign_uses++;
    else
        buffer->home_stream = stream;
}

/* And no longer; its reference goes afterwards. */
static inline void sl__reuse_let_go(sl_buffer *buffer, const sl_stream *stream)
{
    buffer->uses--;
    if (stream->id != buffer->home || stream->device != buffer->device)
        buffer->foreign_uses--;
}

/* A reference has gone: if only operations hold the buffer, its memory may be taken over. */
void sl__reuse_offer(sl_buffer *buffer);

/* The buffer's lender, from what was freed in `stream`; NULL: there is none. */
sl_buffer *sl__reuse_borrow(sl_buffer *buffer, sl_stream *stream);

/* It was not taken: `lender` has its memory as before. */
void sl__reuse_return(sl_buffer *buffer, sl_buffer *lender);

/* Before the backend closes the buffer, and after. */
void sl__reuse_closing(sl_buffer *buffer);
void sl__reuse_closed(sl_buffer *buffer);

/* The stream is closed. */
void sl__reuse_stream_closed(sl_stream *stream);

#endif
