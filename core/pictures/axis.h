/* axis.h - the range of time that a chart shows, and round tick values for its axis. */
#ifndef SL_PICTURES_AXIS_H
#define SL_PICTURES_AXIS_H

#include "../timeline/timeline.h"

#define SL__TICK_BYTES 32

typedef struct sl__axis {
    int64_t step_ns;  /* 1, 2 or 5 times a power of ten */
    int64_t unit_ns;  /* of the labels: 1, 1e3, 1e6 or 1e9 */
    const char *unit; /* "ns", "us", "ms", "s" */
    int decimals;     /* of the labels */
} sl__axis;

/* A range as users give it, in ns since the first span; *to_ns 0 becomes longest_ns, which is the
 * timeline's makespan or more. SL_EINVAL says what is wrong with it. A range of no length is
 * allowed for a timeline of no length. */
sl_status sl__range_resolve(const sl_timeline *timeline, int64_t longest_ns, int64_t from_ns,
                            int64_t *to_ns, sl_error *err);

/* The smallest step that leaves a tick `slack` columns more than its label is
 * wide, on `columns` columns that show from_ns to to_ns (0 <= from < to). */
void sl__axis_choose(sl__axis *axis, int64_t from_ns, int64_t to_ns, int columns, int slack);

/* The label of a tick, without its unit; returns its length. */
int sl__axis_label(const sl__axis *axis, int64_t tick_ns, char text[SL__TICK_BYTES]);

/* The first tick at or after from_ns. */
int64_t sl__axis_first(const sl__axis *axis, int64_t from_ns);

#endif
