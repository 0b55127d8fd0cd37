/* buffer.h - memory. A tensor holds one buffer; operations in flight hold it too. */
#ifndef SL_BUFFER_H
#define SL_BUFFER_H

#include "backend.h"

/* One reference for the caller. When the backend has no memory left, the pressure hook
 * is asked once, and the backend once more; for a tensor on a real device also after the
 * work in flight, which the call then waits for. SL_ENOMEM says what is live. */
sl_status sl__buffer_create(sl_device *device, size_t bytes, sl_place place, sl_alloc_how how,
                            sl_stream *stream, sl_buffer **buffer, sl_error *err);
sl_buffer *sl__buffer_retain(sl_buffer *buffer);    /* NULL is fine */
void sl__buffer_release(sl_buffer *buffer);

/* Asks the pressure hook, and retires what has ended. */
void sl__buffer_relieve(sl_device *device);

/* Retires all work; recordings note the wait. */
sl_status sl__buffer_wait_for_device(sl_device *device, sl_error *err);

/* So many more bytes of the buffer's kind are live. */
void sl__buffer_count(sl_buffer *buffer, int64_t n_bytes);

/* Host memory comes to belong to another device of the same backend. */
void sl__buffer_move(sl_buffer *buffer, sl_device *device);

/* After cudaHostRegister or cudaHostUnregister: PAGEABLE <-> PINNED. */
void sl__buffer_set_place(sl_buffer *buffer, sl_place place);

#endif
