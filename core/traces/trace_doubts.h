/* trace_doubts.h - what is in doubt about a trace, while it is read. */
#ifndef SL_TRACES_TRACE_DOUBTS_H
#define SL_TRACES_TRACE_DOUBTS_H

#include "../text/text.h"
#include "../timeline/timeline.h"

/* What was found of one kind; all zero: nothing. */
typedef struct sl__doubted {
    size_t n, of;           /* so many of so many */
    int64_t ns;             /* their time, >= 0 */
    int64_t from_ns, to_ns; /* when the first begins and the last ends; both 0: not known */
    sl_text what;           /* more about them, if the kind's sentence has it */
} sl__doubted;

/* Tells the timeline of every kind that was found. SL_ENOMEM. */
sl_status sl__doubts_tell(const sl__doubted doubted[SL_DOUBTS], sl_timeline *timeline,
                          sl_error *err);

#endif
