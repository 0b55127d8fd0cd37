/* behind.h - which operations each one has to come behind: those of its stream, of streams whose events
 * it waits for, of the NULL stream, and those that the host had waited for when it issued it.
 *
 * Operations are added in order of issue. For each one there is a clock: of every stream, how many
 * operations it comes behind. Of two that it comes behind, where one comes behind the other, the later
 * one is enough. */
#ifndef SL_TIMELINE_BEHIND_H
#define SL_TIMELINE_BEHIND_H

#include "lanes.h"

typedef struct sl__behind_lane {
    int place;
    bool is_null, is_blocking; /* as in sl__played_stream */
    size_t first;              /* its operations: from here on, */
    uint32_t n;                /* so many so far */
} sl__behind_lane;

typedef struct sl__behind {
    const sl_timeline *timeline;
    sl__lanes index;
    sl__behind_lane *lanes;
    uint32_t *clocks;          /* index.n figures for each of these: */
    size_t next, host;         /* the next operation of each lane; what the host has waited for */
    size_t null, blocking;     /* by place: the NULL stream, the other blocking ones */
    size_t ops;                /* operations, stream after stream */
    size_t records, n_records; /* records of events, in order of issue */
    uint64_t *record_numbers;  /* their correlations */
    size_t *targets;           /* of the last question: operations, by lane */
    size_t n_targets;
} sl__behind;

#define SL__NO_OP SIZE_MAX

/* SL_ENOMEM. On failure there is nothing to close. */
sl_status sl__behind_open(const sl_timeline *timeline, sl__behind *behind, sl_error *err);
void sl__behind_close(sl__behind *behind);

/* The next one, in order of issue with the calls. Gives its number, below the number of spans; fills
 * targets. */
size_t sl__behind_add(sl__behind *behind, const sl_span *span);
void sl__behind_call(sl__behind *behind, const sl_call *call);

/* The last operation of a stream, or SL__NO_OP. */
size_t sl__behind_last(const sl__behind *behind, uint32_t stream);
/* Fills targets with those that an operation comes behind on one device, or on all. */
#define SL__EVERY_PLACE (-1)
void sl__behind_find(sl__behind *behind, size_t op, int place);

#endif
