/* threads.c - which thread of the host made a call: notes of those that the first thread did not
 * make. */
#include "notes.h"

sl_status sl_timeline_add_thread(sl_timeline *timeline, const sl_thread_note *note, sl_error *err)
{
    if (note->thread == 0 || note->thread >= SL_MOST_THREADS)
        return sl_fail(err, SL_EINVAL, "a call was made by thread %u: not from 1 to %d",
                       (unsigned)note->thread, SL_MOST_THREADS - 1);
    return sl__note_add(timeline, SL__THREADS, note, err);
}

uint32_t sl_timeline_thread(const sl_timeline *timeline, uint64_t correlation)
{
    const sl_thread_note *note = sl__note_find(timeline, SL__THREADS, correlation);

    return note ? note->thread : 0;
}

uint32_t sl_timeline_thread_count(const sl_timeline *timeline)
{
    const sl__notes *list = &sl__timeline_notes(timeline)[SL__THREADS];
    const sl_thread_note *notes = list->at;
    uint32_t last = 0;

    for (size_t i = 0; i < list->n; i++)
        if (notes[i].thread > last) last = notes[i].thread;
    return last + 1;
}
