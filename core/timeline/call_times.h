/* call_times.h - what the host took for calls of a recording: the samples from which
 * bindings/host_part.lua finds the figures of the host. One row a kind, and its name in scripts.
 *
 * A call that stages pageable memory counts from when the copy could begin to the call's end. Of
 * all others the time to the next call of the thread counts, less what the recorder took: the
 * script's own part is in it, as it is in the figures of a profile.
 */
#ifndef SL_TIMELINE_CALL_TIMES_H
#define SL_TIMELINE_CALL_TIMES_H

#include "spans.h"

#define SL_TIMED_CALL_MAP(X)                                                          \
    X(LAUNCH, "launch")     /* of a kernel that is no product, and has been loaded */ \
    X(COPY, "memcpy_async") /* of pinned memory, or within the GPU */                 \
    X(MEMSET, "memset")                                                               \
    X(HOST_FUNC, "host_func")                                                         \
    X(WAIT, "wait")          /* of a stream for an event */                           \
    X(UPLOAD, "h2d_staging") /* copies of pageable memory */                          \
    X(DOWNLOAD, "d2h_staging")

typedef enum sl_timed_call_kind {
#define X(id, name) SL_TIMED_CALL_##id,
    SL_TIMED_CALL_MAP(X)
#undef X
        SL_TIMED_CALL_KINDS
} sl_timed_call_kind;

typedef struct sl_timed_call {
    sl_timed_call_kind kind;
    int64_t ns;     /* > 0 */
    uint64_t bytes; /* of a copy, else 0 */
} sl_timed_call;

/* The first `most` samples of a finished timeline, in the order of issue; returns how many. Calls
 * that waited for the device, loaded code, or found a full launch queue are none; of a timeline of
 * another program only copies of pageable memory count. */
size_t sl_timeline_call_times(const sl_timeline *timeline, sl_timed_call *samples, size_t most);

const char *sl_timed_call_name(sl_timed_call_kind kind); /* "launch" */

#endif
