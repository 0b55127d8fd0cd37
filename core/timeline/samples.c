/* samples.c - what an allocator says of its memory, by time. */
#include "fields.h"

#include <inttypes.h>

sl_status sl_timeline_add_memory_sample(sl_timeline *timeline, const sl_memory_sample *sample,
                                        sl_error *err)
{
    sl__samples *samples = &timeline->samples;
    sl_status status = sl__refuse_finished(timeline, err);
    if (status != SL_OK || timeline->summary) return status;
    if (sample->at_ns <= -SL__TIME_LIMIT_NS || sample->at_ns >= SL__TIME_LIMIT_NS
        || sample->allocated_bytes > INT64_MAX || sample->reserved_bytes > INT64_MAX)
        return sl_fail(err, SL_EINVAL,
                       "memory at %" PRId64 " ns (within 2^61) is %" PRIu64 " bytes of %" PRIu64
                       " (below 2^63)",
                       sample->at_ns, sample->allocated_bytes, sample->reserved_bytes);
    if (samples->n > 0 && sample->at_ns < samples->at[samples->n - 1].at_ns)
        return sl_fail(err, SL_EINVAL,
                       "memory at %" PRId64 " ns comes behind memory at %" PRId64
                       " ns: samples are added in order of time",
                       sample->at_ns, samples->at[samples->n - 1].at_ns);
    if (!SL__GROW(samples->at, samples->cap, samples->n + 1))
        return sl__no_memory(err, "more than %zu samples of memory", samples->n);
    samples->at[samples->n++] = *sample;
    return SL_OK;
}

const sl_memory_sample *sl_timeline_memory_samples(const sl_timeline *timeline, size_t *n)
{
    *n = timeline->samples.n;
    return timeline->samples.at;
}

void sl__samples_settle(sl__samples *samples) { SL__TRIM(samples->at, samples->cap, samples->n); }
