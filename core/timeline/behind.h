/* behind.h - which operations each one comes behind by the rules of streams (rules.h), also by way of
 * what the host had waited for when it issued it.
 *
 * Operations are added in order of issue. For each one there is a clock: of every stream, how many
 * operations it comes behind. Of two that it comes behind, where one comes behind the other, the
 * later one is enough. */
#ifndef SL_TIMELINE_BEHIND_H
#define SL_TIMELINE_BEHIND_H

#include "rules.h"

typedef struct sl__behind_lane {
    size_t first; /* its operations: from here on, */
    uint32_t n;   /* so many so far */
} sl__behind_lane;

typedef struct sl__behind {
    sl__rules rules;
    sl__behind_lane *lanes;
    uint32_t *clocks; /* a figure a lane: by joint, then by operation, stream after stream */
    size_t *targets;  /* of the last question: operations, by lane */
    size_t n_targets;
} sl__behind;

#define SL__NO_OP SIZE_MAX

/* SL_ENOMEM. On failure there is nothing to close. */
sl_status sl__behind_open(const sl_timeline *timeline, sl__behind *behind, sl_error *err);
void sl__behind_close(sl__behind *behind);

/* The next span or call of a reading of the rules. Gives the number of a span, below that of spans,
 * and fills targets; else SL__NO_OP. */
size_t sl__behind_add(sl__behind *behind, const sl__issue *issue);

/* The last operation of a lane, or SL__NO_OP. */
size_t sl__behind_last(const sl__behind *behind, uint32_t lane);
/* Fills targets with those that an operation comes behind on one device, or on all. */
#define SL__EVERY_PLACE (-1)
void sl__behind_find(sl__behind *behind, size_t op, int place);

#endif
