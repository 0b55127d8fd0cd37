/* host_calls.c - what the host did, call by call. */
#include "pictures.h"

#include <stdlib.h>

#include "../timeline/store.h"

/* The host fed a pageable copy whose call had not returned when the device began. */
static uint8_t span_does(const sl_span *span)
{
    bool pageable = span->flags & (SL_SPAN_SRC_PAGEABLE | SL_SPAN_DST_PAGEABLE);
    bool waited = span->flags & SL_SPAN_HOST_WAITED;
    if (waited || (pageable && span->host_end_ns > span->start_ns)) return SL_DOES_COPY;
    return span->flags & SL_SPAN_QUEUE_FULL ? SL_DOES_QUEUE : SL_DOES_ISSUE;
}

static uint8_t call_does(const sl_call *call)
{
    switch ((sl_call_kind)call->kind) {
    case SL_CALL_EVENT_RECORD:
    case SL_CALL_STREAM_WAIT: return call->queue_full ? SL_DOES_QUEUE : SL_DOES_ISSUE;
    case SL_CALL_STREAM_SYNC:
    case SL_CALL_EVENT_SYNC:
    case SL_CALL_DEVICE_SYNC: return SL_DOES_WAIT;
    case SL_CALL_HOST_WORK: return SL_DOES_WORK;
    case SL_CALL_PLAIN:
    case SL_CALL_KINDS: break;
    }
    return call->waited_for_device ? SL_DOES_WAIT : SL_DOES_CALL;
}

sl_host_look sl_host_call_look(int does)
{
    return does == SL_DOES_WORK                            ? SL_HOST_WORKS
           : does == SL_DOES_CALL || does == SL_DOES_ISSUE ? SL_HOST_CALLS
                                                           : SL_HOST_WAITS;
}

SL__ORDER(by_start, sl_host_call, x->start_ns, x->correlation);

/* Leaves out calls that took no time, and those that the trace does not have. */
static bool append(sl_host_calls *list, size_t *cap, const sl_host_call *call)
{
    if (call->end_ns <= call->start_ns) return true;
    if (!SL__GROW(list->at, *cap, list->n + 1)) return false;
    list->at[list->n++] = *call;
    return true;
}

static bool collect_calls(const sl_timeline *timeline, sl_host_calls *list)
{
    const size_t n_spans = sl_timeline_span_count(timeline);
    const size_t n_calls = sl_timeline_call_count(timeline);
    size_t cap = 0;
    bool fine = true;
    for (size_t i = 0; i < n_spans && fine; i++) {
        sl_span s = sl_timeline_span(timeline, i);
        if (sl_timeline_span_launch(timeline, &s) != SL_NOT_FOUND) continue; /* it is a call */
        fine = append(list, &cap,
                      &(sl_host_call){ s.host_start_ns, s.host_end_ns, s.correlation, s.stream,
                                       s.name, s.where, 0, span_does(&s), s.kind, true });
    }
    for (size_t i = 0; i < n_calls && fine; i++) {
        sl_call c = sl_timeline_call(timeline, i);
        if (sl_timeline_call_launch(timeline, &c) != SL_NOT_FOUND) continue;
        fine = append(list, &cap,
                      &(sl_host_call){ c.host_start_ns, c.host_end_ns, c.correlation, c.stream,
                                       c.name, c.where, 0, call_does(&c), c.kind, false });
    }
    return fine;
}

static void set_threads(const sl_timeline *timeline, sl_host_calls *list)
{
    list->n_threads = sl_timeline_thread_count(timeline);
    for (size_t i = 0; list->n_threads > 1 && i < list->n; i++)
        list->at[i].thread = sl_timeline_thread(timeline, list->at[i].correlation);
}

sl_status sl_host_calls_find(const sl_timeline *timeline, sl_host_calls *list, sl_error *err)
{
    *list = (sl_host_calls){ 0 };
    if (!collect_calls(timeline, list)) {
        sl_host_calls_free(list);
        return sl__no_memory(err, "the calls of the host");
    }
    set_threads(timeline, list);
    if (list->n > 0) qsort(list->at, list->n, sizeof *list->at, by_start);
    return SL_OK;
}

void sl_host_calls_free(sl_host_calls *list)
{
    free(list->at);
    *list = (sl_host_calls){ 0 };
}

const char *sl_host_call_name(const sl_timeline *timeline, const sl_host_call *call, bool brief)
{
    static const struct {
        const char *full, *brief;
    } names[SL_CALL_KINDS] = {
        [SL_CALL_STREAM_SYNC] = { "stream synchronize", "sync" },
        [SL_CALL_EVENT_SYNC] = { "event synchronize", "sync" },
        [SL_CALL_DEVICE_SYNC] = { "device synchronize", "sync" },
        [SL_CALL_EVENT_RECORD] = { "event record", "record" },
        [SL_CALL_STREAM_WAIT] = { "wait for event", "wait" },
        [SL_CALL_HOST_WORK] = { "host work", "work" },
        [SL_CALL_PLAIN] = { "call", "call" },
    };
    const char *name = sl_timeline_text(timeline, call->name);
    bool own = call->kind == SL_CALL_PLAIN || call->kind == SL_CALL_HOST_WORK;
    if (!call->of_span)
        return *name && (own || !brief) ? name
               : brief                  ? names[call->kind].brief
                                        : names[call->kind].full;
    bool named = sl_span_kind_is_kernel(call->kind) || call->kind == SL_SPAN_HOST_FUNC;
    if (named && *name) return name;
    return brief ? sl_brief_label(call->kind) : sl_looks[call->kind].label;
}
