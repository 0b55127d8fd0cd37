/* behind.h - which operations each one comes behind by the rules of streams (rules.h), also by way
 * of what the host had waited for when it issued it.
 *
 * Of two operations that it comes behind, where one comes behind the other, the later one is
 * enough. What a group of collectives has in one stream is one kernel: its spans are one
 * operation. */
#ifndef SL_TIMELINE_BEHIND_H
#define SL_TIMELINE_BEHIND_H

#include "spans.h"

typedef struct sl_behind sl_behind;

/* SL_ENOMEM; on failure there is nothing to close. The timeline must outlive it. NULL may be
 * closed. */
sl_status sl_behind_open(const sl_timeline *timeline, sl_behind **behind, sl_error *err);
void sl_behind_close(sl_behind *behind);

int64_t sl_behind_first_ns(const sl_behind *behind); /* the first start of a span */
/* How many streams there are, from 0 on in order of their ids; the device's place of one, and how
 * many spans it has. */
size_t sl_behind_streams(const sl_behind *behind);
size_t sl_behind_stream(const sl_behind *behind, size_t stream, int *place);

typedef struct sl_behind_span {
    sl_span span;
    const sl_collective_note *note; /* or NULL */
    size_t stream;
    size_t op; /* its operation's number, from 0 in order of issue */
    const size_t
        *after; /* the operations that this one comes behind; valid until the next question */
    size_t n_after;
} sl_behind_span;

/* The next span in order of issue. False: there is none. */
bool sl_behind_next(sl_behind *behind, sl_behind_span *span);
/* What the operation of the last span comes behind on one device only. Gives how many. */
size_t sl_behind_on(sl_behind *behind, int place, const size_t **after);

#endif
