/* notes.h - what is known of some spans beyond what every span has: lists of notes, each of which
 * begins with the correlation of its span. */
#ifndef SL_TIMELINE_NOTES_H
#define SL_TIMELINE_NOTES_H

#include "timeline.h"

typedef enum sl__note_kind {
    SL__COLLECTIVES,
    SL__EXCHANGES,
    SL__PEERS,
    SL__LAUNCHES, /* of calls, */
    SL__MEMORY,   /* and these */
    SL__THREADS,  /* until finish: of what has not been found yet, */
    SL__NODES,    /* and of these */
    SL__NOTE_KINDS
} sl__note_kind;

typedef struct sl__notes { /* all zero: none */
    void *at;
    size_t n, cap;
    bool is_unsorted;
} sl__notes;

/* The timeline's, by kind. */
const sl__notes *sl__timeline_notes(const sl_timeline *timeline);

/* SL_ENOMEM. */
sl_status sl__note_add(sl_timeline *timeline, sl__note_kind kind, const void *note, sl_error *err);
/* That of a span, or NULL. Once they are sorted. */
const void *sl__note_find(const sl_timeline *timeline, sl__note_kind kind, uint64_t correlation);

/* meetings.c: sets when the ranks of collectives met, where no backend has said so and all ranks'
 * spans are there. On a real GPU that is when the last of them started, as its clocks agree to some
 * microseconds. Once they and the spans are sorted. */
void sl__notes_meet(sl_timeline *timeline);

/* Of one kind: they are not needed any more. */
void sl__notes_forget(sl__notes *list);
/* Of all kinds, by correlation, once all are there. */
void sl__notes_sort(sl__notes *notes);
void sl__notes_free(sl__notes *notes);

#endif
