/* copy.h - what the copies of tensors and cudaMemcpy share. */
#ifndef SL_COPY_H
#define SL_COPY_H

#include "backend.h"

/* Checks that both tensors are open, that a copy between them is possible, and that its *device
 * (sl__tensor_meet), or both of two peers, can be called. */
sl_status sl__copy_enter(const sl_tensor *dst, const sl_tensor *src, const char *what,
                         sl_device **device, sl_error *err);

/* Neither side is on a device. */
bool sl__copy_is_on_host(const sl_tensor *dst, const sl_tensor *src);

/* The sl_span_kind of a copy; at least one side is a device. */
uint8_t sl__copy_kind(const sl_tensor *dst, const sl_tensor *src);

/* SL_EDEVICE unless `stream` is of `device`, on which the copy runs; between peers, of either. */
sl_status sl__copy_check_stream(const sl_tensor *dst, const sl_tensor *src, const sl_stream *stream,
                                const sl_device *device, sl_error *err);

/* Copies the first `bytes` of a host tensor to another before it returns; settles. */
sl_status sl__copy_on_host(sl_tensor *dst, sl_tensor *src, size_t bytes, sl_dtype dtype,
                           sl_error *err);

#endif
