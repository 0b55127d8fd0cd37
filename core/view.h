/* view.h - tensors that share a buffer. A buffer lists all that see it, so that what happens
 * to the memory (freed by a plain call, page-locked, moved) happens to each of them. */
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

/* A copy of `n_bytes`: onto itself, or the two lie apart. */
sl_status sl__view_check_apart(const sl_tensor *dst, const sl_tensor *src, size_t n_bytes,
                               sl_error *err);

/* The memory has gone: all tensors that see it are freed. */
void sl__view_drop_all(sl_buffer *buffer);

/* The memory has been page-locked, or is no longer. */
void sl__view_set_place(sl_buffer *buffer, sl_place place);

#endif
