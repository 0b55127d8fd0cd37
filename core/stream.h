/* stream.h - what the rest of the core asks of streams. */
#ifndef SL_STREAM_H
#define SL_STREAM_H

#include "backend.h"

/* Opens a stream that belongs to its device: one reference, none to the device.
 * `legacy` is the NULL stream, id 0. */
sl_status sl__stream_open_owned(sl_device *device, bool legacy, const char *name,
                                sl_stream **stream, sl_error *err);

/* For a call on `stream`: it is there, and sl__device_enter. */
sl_status sl__stream_enter(sl_stream *stream, const char *what, sl_error *err);

/* It is there, and it is one of `device`, which the operands of a call are on. */
sl_status sl__stream_check_device(const sl_stream *stream, const sl_device *device,
                                  sl_error *err);

/* cudaStreamSynchronize and its note in recordings; does not settle. */
sl_status sl__stream_wait_idle(sl_stream *stream, sl_error *err);

/* The same, and the race checker knows that the host has waited. */
sl_status sl__stream_wait(sl_stream *stream, sl_error *err);

#endif
