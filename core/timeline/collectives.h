/* collectives.h - what a timeline knows of spans that are collectives. */
#ifndef SL_TIMELINE_COLLECTIVES_H
#define SL_TIMELINE_COLLECTIVES_H

#include "timeline.h"

typedef struct sl__collectives { /* all zero: none */
    sl_collective_note *notes;
    size_t n, cap;
    bool is_unsorted;
} sl__collectives;

/* The timeline's. */
sl__collectives *sl__timeline_collectives(sl_timeline *timeline);

/* By correlation. */
void sl__collectives_sort(sl__collectives *collectives);
void sl__collectives_free(sl__collectives *collectives);

#endif
