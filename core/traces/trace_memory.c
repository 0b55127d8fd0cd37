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
SL__ORDER(by_allocator, sl__sample, x->pid, x->device, x->sample.at_ns);

static bool is_of_gpu(const sl__match *m, const sl__sample *sample)
{
    return !m->takes_one || sample->device == m->device;
}

/* From what each allocator has to by how much that is more than it had, modulo 2^64: each process
 * has one for each GPU. */
static void take_differences(sl__sample *samples, size_t n)
{
    sl_memory_sample had = { 0 };
    for (size_t i = 0; i < n; i++) {
        sl_memory_sample *sample = &samples[i].sample;
        const sl_memory_sample has = *sample;
        if (i > 0
            && (samples[i].pid != samples[i - 1].pid || samples[i].device != samples[i - 1].device))
            had = (sl_memory_sample){ 0 };
        sample->allocated_bytes -= had.allocated_bytes;
        sample->reserved_bytes -= had.reserved_bytes;
        had = has;
    }
}

/* A sum of any number of differences, which each fit into an int64_t: 128 bits. */
typedef struct total {
    uint64_t high, low;
} total;

static void add(total *to, uint64_t difference)
{
    to->low += difference;
    to->high += to->low < difference; /* the carry */
    if (difference > INT64_MAX) to->high--;
}

static uint64_t value_of(const total *of)
{
    return of->high == 0 ? sl__min(of->low, (uint64_t)INT64_MAX) : INT64_MAX;
}

/* What all allocators have together, of the GPU that the timeline is of. Times count from the first
 * event, but in our files. */
static sl_status add_samples(const sl__match *m, sl_error *err)
{
    const sl__records *records = m->records;
    sl__sample *all = records->samples;
    size_t n = 0;
    total allocated = { 0 }, reserved = { 0 };
    sl_status status = SL_OK;
    for (size_t i = 0; i < records->n_samples; i++)
        if (is_of_gpu(m, &all[i])) all[n++] = all[i];
    sl__sort(all, n, sizeof *all, by_allocator);
    take_differences(all, n);
    sl__sort(all, n, sizeof *all, by_time);
    for (size_t i = 0; i < n && status == SL_OK; i++) {
        sl_memory_sample sample = { .at_ns = all[i].sample.at_ns };
        if (!records->own && records->timed) sample.at_ns -= records->first_ns;
        add(&allocated, all[i].sample.allocated_bytes);
        add(&reserved, all[i].sample.reserved_bytes);
        sample.allocated_bytes = value_of(&allocated);
        sample.reserved_bytes = value_of(&reserved);
        status = sl_timeline_add_memory_sample(records->timeline, &sample, err);
        if (status == SL_EINVAL) status = SL_OK; /* years away from all operations */
    }
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
