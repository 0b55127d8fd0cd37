/* notes.c - lists of notes of spans, by correlation. */
#include "fields.h"

#include <stdlib.h>
#include <string.h>

#include "../base.h"

static const struct {
    size_t bytes;
    const char *what;
} kinds[SL__NOTE_KINDS] = {
    [SL__COLLECTIVES] = { sizeof(sl_collective_note), "collectives" },
    [SL__EXCHANGES] = { sizeof(sl_exchange_note), "exchanges between ranks" },
    [SL__PEERS] = { sizeof(sl_peer_note), "copies between devices" },
    [SL__THREADS] = { sizeof(sl_thread_note), "calls of other threads" },
    [SL__NODES] = { sizeof(sl_node_note), "nodes" },
    [SL__LAUNCHES] = { sizeof(sl_launch_note), "launches" },
    [SL__MEMORY] = { sizeof(sl_memory_note), "allocations" },
};

const sl__notes *sl__timeline_notes(const sl_timeline *timeline) { return timeline->notes; }

/* Every note begins with its correlation. */
SL__ORDER(by_correlation, uint64_t, *x);

sl_status sl__note_add(sl_timeline *timeline, sl__note_kind kind, const void *note, sl_error *err)
{
    sl__notes *list = &timeline->notes[kind];
    size_t bytes = kinds[kind].bytes;
    if (timeline->summary) return SL_OK;
    if (list->n == list->cap && !sl__grow(&list->at, &list->cap, list->n + 1, bytes, false))
        return sl__no_memory(err, "more than %zu %s of a timeline", list->n, kinds[kind].what);
    char *end = (char *)list->at + list->n * bytes;
    if (list->n > 0 && by_correlation(note, end - bytes) < 0) list->is_unsorted = true;
    memcpy(end, note, bytes);
    list->n++;
    return SL_OK;
}

const void *sl__note_find(const sl_timeline *timeline, sl__note_kind kind, uint64_t correlation)
{
    const sl__notes *list = &timeline->notes[kind];
    return list->n ? bsearch(&correlation, list->at, list->n, kinds[kind].bytes, by_correlation)
                   : NULL;
}

void sl__notes_sort(sl__notes *notes)
{
    for (int kind = 0; kind < SL__NOTE_KINDS; kind++) {
        if (notes[kind].is_unsorted)
            qsort(notes[kind].at, notes[kind].n, kinds[kind].bytes, by_correlation);
        notes[kind].is_unsorted = false;
        sl__trim(&notes[kind].at, &notes[kind].cap, notes[kind].n, kinds[kind].bytes);
    }
}

void sl__notes_forget(sl__notes *list)
{
    free(list->at);
    *list = (sl__notes){ 0 };
}

void sl__notes_free(sl__notes *notes)
{
    for (int kind = 0; kind < SL__NOTE_KINDS; kind++)
        free(notes[kind].at);
}
