/* part_time.h - the time of a part that has several stretches of the host's time: what lies between
 * them, and in which none of its work runs, is left out, so that it is no wait of anybody. */
#ifndef SL_TIMELINE_PART_TIME_H
#define SL_TIMELINE_PART_TIME_H

#include "overlap.h"

typedef struct sl__part_time { /* all zero: nothing is left out */
    sl__union kept;
    size_t cap;
    int64_t *left_out_ns; /* before each of them */
} sl__part_time;

/* An interval that stays; an empty one has no effect. False: no memory. */
bool sl__part_time_keep(sl__part_time *time, int64_t start_ns, int64_t end_ns);
/* The same of an operation: its call, and from its start on the device, with what a launch takes,
 * to its end. */
bool sl__part_time_keep_span(sl__part_time *time, const sl_span *span);
/* When all are there. SL_ENOMEM. */
sl_status sl__part_time_settle(sl__part_time *time, sl_error *err);
/* What a time becomes; what is left out becomes the end of what comes before it. Of two times the
 * later one never becomes the earlier one. O(log n). */
int64_t sl__part_time_at(const sl__part_time *time, int64_t ns);
/* Says it of the part, if anything is left out. Before settle nothing is. SL_ENOMEM. */
sl_status sl__part_time_doubt(const sl__part_time *time, sl_timeline *part, sl_error *err);
void sl__part_time_free(sl__part_time *time);

#endif
