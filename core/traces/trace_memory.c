/* trace_memory.c - what the calls of a trace allocate and free, and what an allocator says. */
#include <stdlib.h>

#include "../timeline/overlap.h"
#include "../timeline/store.h"
#include "trace_match.h"

SL__ORDER(by_call, sl__memory, x->note.correlation, x->note.frees, x->note.bytes,
          x->note.reserved_bytes, x->note.kind);

/* Whether it is memory of a GPU that the timeline is not of. */
static bool is_elsewhere(const sl__match *m, const sl__memory *memory)
{
    return m->takes_one && memory->device >= 0 && memory->device != m->device;
}

SL__ORDER(by_time, sl__sample, x->sample.at_ns);

/* What each process has said last: each has an allocator of its own. */
typedef struct allocators {
    sl__sample *last;
    size_t n, cap;
} allocators;

static uint64_t sum(uint64_t a, uint64_t b) { return sl__min(a + b, (uint64_t)INT64_MAX); }

/* Notes what one says, and makes it that of all of them together. */
static bool take(allocators *a, sl__sample *sample)
{
    size_t i = 0;
    while (i < a->n && a->last[i].pid != sample->pid)
        i++;
    if (i == a->n) {
        if (!SL__GROW(a->last, a->cap, a->n + 1)) return false;
        a->n++;
    }
    a->last[i] = *sample;
    for (size_t k = 0; k < a->n; k++) {
        const sl_memory_sample *other = &a->last[k].sample;
        if (k == i) continue;
        sample->sample.allocated_bytes = sum(sample->sample.allocated_bytes,
                                             other->allocated_bytes);
        sample->sample.reserved_bytes = sum(sample->sample.reserved_bytes, other->reserved_bytes);
    }
    return true;
}

static bool is_of_gpu(const sl__match *m, const sl__sample *sample)
{
    return !m->takes_one || sample->device == m->device;
}

/* Those of the GPU that the timeline is of. Times count from the first event, but in our files. */
static sl_status add_samples(const sl__match *m, sl_error *err)
{
    const sl__records *records = m->records;
    allocators all = { 0 };
    sl_status status = SL_OK;
    sl__sort(records->samples, records->n_samples, sizeof *records->samples, by_time);
    for (size_t i = 0; i < records->n_samples && status == SL_OK; i++) {
        sl__sample sample = records->samples[i];
        if (!is_of_gpu(m, &sample)) continue;
        if (!take(&all, &sample)) {
            status = sl__no_memory(err, "%zu processes with an allocator", all.n + 1);
            break;
        }
        if (!records->own && records->timed) sample.sample.at_ns -= records->first_ns;
        status = sl_timeline_add_memory_sample(records->timeline, &sample.sample, err);
        if (status == SL_EINVAL) status = SL_OK; /* years away from all operations */
    }
    free(all.last);
    return status;
}

/* A call has one note, also where a file has several. */
sl_status sl__memory_note_all(const sl__match *m, sl_error *err)
{
    const sl__records *records = m->records;
    sl__memory *all = records->memory;
    sl_status status = SL_OK;
    for (size_t i = 0; i < records->n_memory; i++)
        all[i].note.correlation = is_elsewhere(m, &all[i])
                                      ? 0
                                      : sl__issue_of(m, all[i].note.correlation);
    sl__sort(all, records->n_memory, sizeof *all, by_call);
    for (size_t i = 0; i < records->n_memory && status == SL_OK; i++) {
        const sl_memory_note *note = &all[i].note;
        const bool more = i + 1 < records->n_memory
                          && all[i + 1].note.correlation == note->correlation;
        if (note->correlation && !more)
            status = sl_timeline_add_memory(records->timeline, note, err);
    }
    return status == SL_OK ? add_samples(m, err) : status;
}
