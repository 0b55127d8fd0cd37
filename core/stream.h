/* stream.h - functions of streams for the rest of the core. */
#ifndef SL_STREAM_H
#define SL_STREAM_H

#include "backend.h"

/* Opens a stream that belongs to its device: one reference, none to the device.
 * `legacy` is the NULL stream, id 0. */
sl_status sl__stream_open_owned(sl_device *device, bool legacy, const char *name,
                                sl_stream **stream, sl_error *err);

/* Checks before a call on `stream`: it is open, and sl__device_enter. */
sl_status sl__stream_enter(sl_stream *stream, const char *what, sl_error *err);

/* Checks that it is open and belongs to `device`, the device of a call's operands. */
sl_status sl__stream_check_device(const sl_stream *stream, const sl_device *device, sl_error *err);

/* cudaStreamSynchronize, recorded; does not settle. */
sl_status sl__stream_wait_idle(sl_stream *stream, sl_error *err);

/* The same, reported to the race checker as a wait of the host. */
sl_status sl__stream_wait(sl_stream *stream, sl_error *err);

#endif
