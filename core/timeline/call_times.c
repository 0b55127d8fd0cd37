/* call_times.c - what the host took for calls of a recording (call_times.h). */
#include "operations.h"

#include <string.h>

/* A copy of pageable memory that begins later than this after its call waited for other work. */
#define BEGINS_WITHIN_NS 200000
/* What two calls of a thread that are further apart show is work of the script's. */
#define MOST_GAP_NS 200000

const char *sl_timed_call_name(sl_timed_call_kind kind)
{
    static const char *const names[] = {
#define X(id, name) name,
        SL_TIMED_CALL_MAP(X)
#undef X
    };
    return names[kind];
}

/* The kind of an operation's call, or SL_TIMED_CALL_KINDS: none that counts. */
static sl_timed_call_kind kind_of_span(const sl_timeline *timeline, const sl_span *span)
{
    if (span->flags & (SL_SPAN_LOADED | SL_SPAN_QUEUE_FULL)) return SL_TIMED_CALL_KINDS;
    switch ((sl_span_kind)span->kind) {
    case SL_SPAN_KERNEL:
        return strncmp(sl_timeline_text(timeline, span->name), "matmul", 6) == 0
                   ? SL_TIMED_CALL_KINDS
                   : SL_TIMED_CALL_LAUNCH;
    case SL_SPAN_MEMCPY_H2D:
        return sl__span_is_pageable(span) ? SL_TIMED_CALL_UPLOAD : SL_TIMED_CALL_COPY;
    case SL_SPAN_MEMCPY_D2H:
        return sl__span_is_pageable(span) ? SL_TIMED_CALL_DOWNLOAD : SL_TIMED_CALL_COPY;
    case SL_SPAN_MEMCPY_D2D: return SL_TIMED_CALL_COPY;
    case SL_SPAN_MEMSET: return SL_TIMED_CALL_MEMSET;
    case SL_SPAN_HOST_FUNC: return SL_TIMED_CALL_HOST_FUNC;
    case SL_SPAN_COLLECTIVE:
    case SL_SPAN_MEMCPY_P2P:
    case SL_SPAN_KINDS: break;
    }
    return SL_TIMED_CALL_KINDS;
}

static bool is_staged(sl_timed_call_kind kind)
{
    return kind == SL_TIMED_CALL_UPLOAD || kind == SL_TIMED_CALL_DOWNLOAD;
}

/* From when an upload's call or a download's copy began to the end of the call; 0: it waited. */
static int64_t staging_ns(const sl_span *span, sl_timed_call_kind kind)
{
    if (kind == SL_TIMED_CALL_DOWNLOAD)
        return span->host_end_ns - sl__max(span->host_start_ns, span->start_ns);
    if (span->start_ns - span->host_start_ns > BEGINS_WITHIN_NS) return 0;
    return span->host_end_ns - span->host_start_ns;
}

/* A call in the order of issue. */
typedef struct issued {
    sl_timed_call_kind kind;
    uint32_t thread;
    uint64_t bytes;
    int64_t start_ns, staging_ns;
    int64_t recording_ns; /* what the recorder took of it */
} issued;

static issued of_span(const sl_timeline *timeline, const sl_span *span)
{
    issued call = { .kind = kind_of_span(timeline, span),
                    .start_ns = span->host_start_ns,
                    .bytes = span->bytes,
                    .thread = sl_timeline_thread(timeline, span->correlation),
                    .recording_ns = sl_timeline_recording_of_span_ns(timeline, span) };
    if (is_staged(call.kind)) call.staging_ns = staging_ns(span, call.kind);
    return call;
}

static issued of_call(const sl_timeline *timeline, const sl_call *call)
{
    const bool counts = call->kind == SL_CALL_STREAM_WAIT && !call->queue_full;
    return (issued){ .kind = counts ? SL_TIMED_CALL_WAIT : SL_TIMED_CALL_KINDS,
                     .start_ns = call->host_start_ns,
                     .thread = sl_timeline_thread(timeline, call->correlation),
                     .recording_ns = sl_timeline_recording_of_call_ns(timeline, call) };
}

/* What `call` took, with the one behind it, without what the recorder took. */
static int64_t length_ns(const issued *call, const issued *next)
{
    if (is_staged(call->kind)) return call->staging_ns;
    if (call->thread != next->thread || next->start_ns - call->start_ns > MOST_GAP_NS) return 0;
    return next->start_ns - call->start_ns - call->recording_ns;
}

/* The next in the order of issue of spans from *i and calls from *k on; nodes of graphs and what
 * was captured have no calls of their own. False: there is none. */
static bool take_next(const sl_timeline *timeline, size_t *i, size_t *k, issued *next)
{
    const size_t n_spans = sl_timeline_span_count(timeline);
    const size_t n_calls = sl_timeline_call_count(timeline);
    while (*i < n_spans || *k < n_calls) {
        const sl_span span = *i < n_spans ? sl_timeline_span(timeline, *i) : (sl_span){ 0 };
        const sl_call call = *k < n_calls ? sl_timeline_call(timeline, *k) : (sl_call){ 0 };
        const bool is_span = *k == n_calls || (*i < n_spans && span.correlation < call.correlation);
        if (is_span) {
            *i += 1;
            if (sl_timeline_span_launch(timeline, &span) != SL_NOT_FOUND) continue;
            *next = of_span(timeline, &span);
        } else {
            *k += 1;
            if (sl_timeline_call_launch(timeline, &call) != SL_NOT_FOUND) continue;
            *next = of_call(timeline, &call);
        }
        return true;
    }
    return false;
}

/* What a profile's figures have besides CUDA's part is not that of another program's calls. */
static bool counts(const sl_timeline *timeline, const issued *call)
{
    return call->kind != SL_TIMED_CALL_KINDS
           && (is_staged(call->kind) || !sl__timeline_is_foreign(timeline));
}

size_t sl_timeline_call_times(const sl_timeline *timeline, sl_timed_call *samples, size_t most)
{
    issued call, next;
    size_t i = 0, k = 0, n = 0;
    if (!take_next(timeline, &i, &k, &call)) return 0;
    while (n < most) {
        const bool has_next = take_next(timeline, &i, &k, &next);
        const int64_t ns = has_next ? length_ns(&call, &next) : call.staging_ns;
        if (ns > 0 && counts(timeline, &call))
            samples[n++] = (sl_timed_call){ call.kind, ns, call.bytes };
        if (!has_next) break;
        call = next;
    }
    return n;
}
