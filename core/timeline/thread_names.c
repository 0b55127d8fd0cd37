/* thread_names.c - what is known of the threads of the host. */
#include "thread_names.h"

#include <inttypes.h>

#include "../base.h"
#include "fields.h"

sl_status sl_timeline_set_host_thread(sl_timeline *timeline, uint32_t thread,
                                      const sl_host_thread *is, sl_error *err)
{
    sl__host_threads *threads = &timeline->host_threads;
    sl_status status = sl__refuse_finished(timeline, err);
    if (status != SL_OK) return status;
    if (thread >= SL_MOST_THREADS || is->caller > thread
        || is->name >= sl_timeline_text_count(timeline))
        return sl_fail(err, SL_EINVAL,
                       "thread %" PRIu32 " of the host has caller %" PRIu32 " and name %" PRIu32
                       ": the timeline has %zu texts, and threads below %d",
                       thread, is->caller, is->name, sl_timeline_text_count(timeline),
                       SL_MOST_THREADS);
    if (!SL__GROW(threads->at, threads->cap, (size_t)thread + 1))
        return sl__no_memory(err, "%" PRIu32 " threads of the host", thread);
    for (; threads->n <= thread; threads->n++)
        threads->at[threads->n] = (sl_host_thread){ .caller = (uint32_t)threads->n };
    threads->at[thread] = *is;
    return SL_OK;
}

uint32_t sl_timeline_known_threads(const sl_timeline *timeline)
{
    return (uint32_t)timeline->host_threads.n;
}

sl_host_thread sl_timeline_host_thread(const sl_timeline *timeline, uint32_t thread)
{
    const sl__host_threads *threads = &timeline->host_threads;
    return thread < threads->n ? threads->at[thread] : (sl_host_thread){ .caller = thread };
}

const char *sl_timeline_thread_name(const sl_timeline *timeline, uint32_t thread)
{
    return sl_timeline_text(timeline, sl_timeline_host_thread(timeline, thread).name);
}

size_t sl_timeline_find_range_of_caller(const sl_timeline *timeline, sl_host_range_kind kind,
                                        uint32_t thread, int64_t ns)
{
    const sl__host_threads *threads = &timeline->host_threads;
    size_t found = sl_timeline_find_host_range(timeline, kind, thread, ns);
    if (found != SL_NOT_FOUND || thread >= threads->n) return found;
    int64_t start_ns = INT64_MIN;
    for (uint32_t other = 0; other < threads->n; other++) {
        if (other == thread || threads->at[other].caller != threads->at[thread].caller) continue;
        const size_t at = sl_timeline_find_host_range(timeline, kind, other, ns);
        if (at == SL_NOT_FOUND || sl_timeline_host_range(timeline, at).start_ns < start_ns)
            continue;
        found = at;
        start_ns = sl_timeline_host_range(timeline, at).start_ns;
    }
    return found;
}
