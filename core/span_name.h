/* span_name.h - what operations are called in timelines and reports. */
#ifndef SL_SPAN_NAME_H
#define SL_SPAN_NAME_H

#include "backend.h"

/* The device's text id of an operation's name: "matmul_f32", "Memcpy HtoD (Pinned -> Device)",
 * "Memset (Device)", "host_func". `flags` are sl_span.flags. 0: out of memory. */
uint32_t sl__span_name(sl_device *device, const sl_work *work, unsigned flags);

/* The same of what the host computes or copies itself: "rand_f32 on the CPU",
 * "Memcpy HtoH (Pageable -> Pinned)". */
uint32_t sl__host_work_name(sl_device *device, const sl_work *work, unsigned flags);

/* The flags that say where a copy's host memory is; of a buffer as it is now. */
unsigned sl__span_places(const sl_buffer *dst, const sl_buffer *src);

#endif
