/* copy.h - what copies have in common, for tensors and for the plain calls. */
#ifndef SL_COPY_H
#define SL_COPY_H

#include "backend.h"

/* Both tensors are open and meet on *device, which may be called; so may both peers. */
sl_status sl__copy_enter(const sl_tensor *dst, const sl_tensor *src, const char *what,
                         sl_device **device, sl_error *err);

/* Neither side is on a device. */
bool sl__copy_is_on_host(const sl_tensor *dst, const sl_tensor *src);

/* The sl_span_kind of a copy; at least one side is a device. */
uint8_t sl__copy_kind(const sl_tensor *dst, const sl_tensor *src);

/* `stream` is one of `device`, on which they meet; between peers, of either. */
sl_status sl__copy_check_stream(const sl_tensor *dst, const sl_tensor *src,
                                const sl_stream *stream, const sl_device *device, sl_error *err);

/* The first `bytes` of a host tensor to another, done on return; settles. */
sl_status sl__copy_on_host(sl_tensor *dst, sl_tensor *src, size_t bytes, sl_dtype dtype,
                           sl_error *err);

#endif
