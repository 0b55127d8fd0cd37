/* stops.h - for loops over the spans of a timeline: the user stops them. */
#ifndef SL_TIMELINE_STOPS_H
#define SL_TIMELINE_STOPS_H

#include "../streamlab.h"

/* Whether the loop is to end before its i-th round; looked at now and then. Who ends one
 * fails with sl_interrupt_check. */
static inline bool sl__stops_at(size_t i)
{
    return i % 4096 == 4095 && sl_interrupt_wanted();
}

#endif
