/* view.h - tensors that share a buffer. A buffer lists all of its tensors, so that what happens to
 * the memory (freed by a CUDA call, page-locked, moved to another device) applies to each. */
#ifndef SL_VIEW_H
#define SL_VIEW_H

#include "tensor.h"

/* Of two tensors with the same buffer: whether the first `a_bytes` of one and `b_bytes` of the
 * other have a byte in common. */
static inline bool sl__view_overlap(const sl_tensor *a, const sl_tensor *b, size_t a_bytes,
                                    size_t b_bytes)
{
    return a_bytes > 0 && b_bytes > 0 && a->offset < b->offset + b_bytes
           && b->offset < a->offset + a_bytes;
}

/* One is the other, or both are the same part of a buffer. */
static inline bool sl__view_same_bytes(const sl_tensor *a, const sl_tensor *b)
{
    return a->buffer == b->buffer && a->offset == b->offset && a->bytes == b->bytes;
}

/* SL_EINVAL if the first `n_bytes` of both overlap, unless they are the same bytes. */
sl_status sl__view_check_apart(const sl_tensor *dst, const sl_tensor *src, size_t n_bytes,
                               sl_error *err);

/* Frees all tensors of the buffer, whose memory has been freed. */
void sl__view_drop_all(sl_buffer *buffer);

/* Sets the place of the buffer and of its tensors, after page-locking or its end. */
void sl__view_set_place(sl_buffer *buffer, sl_place place);

#endif
