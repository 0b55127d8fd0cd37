/* trace_memory.c - what the calls of a trace allocate and free, and what an allocator says. */
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

/* Those of the GPU that the timeline is of. Times count from the first event, but in our files. */
static sl_status add_samples(const sl__match *m, sl_error *err)
{
    const sl__records *records = m->records;
    sl_status status = SL_OK;
    sl__sort(records->samples, records->n_samples, sizeof *records->samples, by_time);
    for (size_t i = 0; i < records->n_samples && status == SL_OK; i++) {
        sl_memory_sample sample = records->samples[i].sample;
        if (m->takes_one && records->samples[i].device != m->device) continue;
        if (!records->own && records->timed) sample.at_ns -= records->first_ns;
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
