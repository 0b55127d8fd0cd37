/* buffer.h - memory. Tensors and operations in flight hold references to it. */
#ifndef SL_BUFFER_H
#define SL_BUFFER_H

#include "backend.h"

/* Gives the caller one reference. If the backend has no memory left, calls the pressure hook and
 * tries again; for a tensor in device memory also waits for the work in flight and tries once more.
 * SL_ENOMEM: `err` lists what is live. */
sl_status sl__buffer_create(sl_device *device, size_t bytes, sl_place place, sl_alloc_how how,
                            sl_stream *stream, sl_buffer **buffer, sl_error *err);
/* NULL is fine, for both. */
static inline sl_buffer *sl__buffer_retain(sl_buffer *buffer)
{
    if (buffer) buffer->refs++;
    return buffer;
}
void sl__buffer_release(sl_buffer *buffer);

/* Calls the pressure hook, and retires what has ended. */
void sl__buffer_relieve(sl_device *device);

/* Called before an operation of `stream` uses `bytes` of a buffer whose memory is lent (reuse.h).
 * If the operation does not come behind the lender's, or leaves a part for other streams to use,
 * the buffer gets memory of its own. May wait for the device, when there is no other memory. */
sl_status sl__buffer_settle(sl_buffer *buffer, const sl_stream *stream, size_t bytes,
                            sl_error *err);

/* The same before a call that frees the buffer's memory in any stream. NULL is fine. */
sl_status sl__buffer_settle_all(sl_buffer *buffer, sl_error *err);

/* The memory of a plain call is freed by cudaFreeAsync in `stream`, or by another call (NULL). */
void sl__buffer_freed(sl_buffer *buffer, sl_stream *stream);

/* Counts `n_bytes` more as live, in the buffer's place. */
void sl__buffer_count(sl_buffer *buffer, int64_t n_bytes);

/* SL_ENOMEM if all live bytes of the process, with the buffer's, would exceed 63 bits. */
sl_status sl__buffer_check_total(const sl_buffer *buffer, sl_error *err);

/* Puts the buffer into the list of its device, and takes it out. */
void sl__buffer_enlist(sl_buffer *buffer);
void sl__buffer_delist(sl_buffer *buffer);

/* Adds to the error what is live in the place where `buffer` found no memory. */
void sl__buffer_add_live(sl_buffer *buffer, sl_error *err);

/* Makes host memory belong to another device of the same backend. */
void sl__buffer_move(sl_buffer *buffer, sl_device *device);

/* After cudaHostRegister or cudaHostUnregister: PAGEABLE <-> PINNED. */
void sl__buffer_set_place(sl_buffer *buffer, sl_place place);

#endif
