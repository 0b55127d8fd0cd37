/* spool_streams.h - the contexts and streams of a recorded process.
 *
 * CUPTI numbers streams within a context, and from 7 on. A process may have several contexts on a
 * GPU: one after the other, as cudaDeviceReset leaves them, or side by side. Each has a NULL stream
 * of its own, and its synchronisations wait for its own work. So a number among a timeline's
 * records says whose stream it is:
 *
 *   bits 32 and up   the process
 *   bits 24 to 31    which of the process's contexts on that GPU, from 0
 *   bits 0 to 23     CUPTI's number
 */
#ifndef SL_TRACES_SPOOL_STREAMS_H
#define SL_TRACES_SPOOL_STREAMS_H

#include "../record/spool.h"
#include "trace_records.h"

typedef struct sl__spool_context {
    uint32_t id, device, null_stream;
    uint32_t nth; /* of its GPU, from 0 */
} sl__spool_context;

typedef struct sl__spool_streams { /* all zero but for the process: none */
    uint64_t process;              /* its index */
    sl__spool_context *contexts;
    size_t n_contexts, cap_contexts;
    spool_stream *made;
    size_t n_made, cap_made;
} sl__spool_streams;

/* SL_ENOMEM. */
sl_status sl__spool_context_add(sl__spool_streams *s, const spool_context *context, sl_error *err);
sl_status sl__spool_stream_add(sl__spool_streams *s, const spool_stream *stream, sl_error *err);

/* Once all are there. */

/* The device of a context; 0: there is no such context. */
uint32_t sl__spool_device(const sl__spool_streams *s, uint32_t context);
/* A stream's number among the records; SL__NO_STREAM for SPOOL_NONE. */
int64_t sl__spool_stream(const sl__spool_streams *s, uint32_t context, uint32_t stream);
/* That of the context's NULL stream; SL__NO_STREAM for the first context of the first process,
 * since that is meant where no stream is said. */
int64_t sl__spool_null_stream(const sl__spool_streams *s, uint32_t context);
/* Numbers the streams of the process's works, from `first_work` on, which have CUPTI's numbers, and
 * names them, `pid` before the name if it is not 0; says how all were made. SL_ENOMEM. */
sl_status sl__spool_streams_settle(sl__spool_streams *s, sl__records *records, size_t first_work,
                                   uint32_t pid, sl_error *err);

void sl__spool_streams_free(sl__spool_streams *s);

#endif
